# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run replaces the password of a credentials Secret: a Secret beside it says so until the end; pure.

It has the new password, too, which is on the BMC before it is in the credentials Secret, and the file of a run that was
killed may be on another machine. It stands beside the credentials Secret and not in it: BMO takes each new version of
that one for new credentials. Who may create Secrets may have made it: a password of it is only tried, and is only kept
when the BMC accepts it already.
"""
from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ..._common.files import holder as holders
from ..._common.problems.problem import Problem
from ..._kube.objects import secret_data

Object = Mapping[str, Any]

CODE = "bmc-rotation"
LABEL, LABEL_VALUE = "metal3.baremetal/rotation", "bmc-password"
SELECTOR = f"{LABEL}={LABEL_VALUE}"
HOLDER = "metal3.baremetal/rotation-holder"
_ONE_RUN = "one run at a time for a BMC"


def name_of(secret: str) -> str:
    """Return the name of the Secret beside a credentials Secret."""
    return f"{secret}-rotation"


def claim(secret: str, namespace: str, password: str, holder: str) -> dict[str, Any]:
    """Return the object by which a run claims a rotation.

    :param secret: name of the credentials Secret
    :param password: the new one
    :param holder: this run, see ``holder_of``
    """
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": name_of(secret), "namespace": namespace, "labels": {LABEL: LABEL_VALUE},
                         "annotations": {HOLDER: holder}},
            "data": {"password": base64.b64encode(password.encode()).decode()}}


def is_claim(found: Object) -> bool:
    """Return whether a Secret is a claim."""
    labels = (found.get("metadata") or {}).get("labels")
    return isinstance(labels, dict) and labels.get(LABEL) == LABEL_VALUE


def password_of(found: Object | None) -> str:
    """Return the new password of a claim, empty when it has none."""
    return secret_data.text(found, "password")


def holder_in(found: Object | None) -> str:
    """Return whose claim it is, empty for a Secret of somebody else's."""
    metadata = (found or {}).get("metadata") or {}
    return str((metadata.get("annotations") or {}).get(HOLDER) or "")


def elsewhere(host: str, found: Object, holder: str, take_over: str | None) -> list[Problem]:
    """Return the problem of a rotation that another machine has begun, and may be at still.

    :param host: of the BMC
    :param found: the claim
    :param holder: this run
    :param take_over: name of the machine from which it is taken over
    """
    return holders.elsewhere(
        CODE, host, ("the rotation", "leave another password on the BMC than in the Secret"), holder_in(found), holder,
        take_over, "Ansible", "bmc_credentials_take_over")


def running(host: str) -> Problem:
    """Return the problem of a rotation that another process of this machine is at."""
    return Problem(CODE, host, "", "another run on this machine that replaces its password", _ONE_RUN,
                   "wait until it has ended, then run again")


def unfinished(host: str, secret: str, has_file: bool) -> Problem:
    """Return the problem of a BMC that has the password of a rotation that was not finished, of which this is none.

    :param secret: name of the credentials Secret
    :param has_file: whether passwords are generated into a file
    """
    how = "another password_file, one without this host" if has_file else "password_file and without bmc.new_password"
    return Problem(CODE, host, "bmc.new_password", "another password than that of a rotation that has not ended, which "
                   f"the BMC has already (Secret {name_of(secret)})", "that one",
                   f"finish that rotation first: run with its own password, or with {how}, which takes it over; "
                   "then run again with this one")


def taken_by(found: Object) -> str:
    """Return why a claim can't be written: what is there by now."""
    begun_by = holder_in(found)
    if not begun_by:
        return f"Secret {found['metadata']['name']} is somebody else's; delete or rename it"
    return f"another run has begun to replace the password since it was read, on machine {holders.parts(begun_by)[0]}"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plane that lets go says of a move while the one that takes over is stopped; writes nothing."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..checks import preflight
from ..handover import former_reading, provisioning_reading
from ..objects import record
from ..objects.reading import Side
from . import texts

# Of the checks that need an answer of the other plane.
_UNASKED = ("names and servers that are taken there, versions, rights, room and quotas there, whether its Ironic "
            "reaches BMCs and nodes, and a rehearsal")


def silence(client: Any) -> str:
    """Return why an API server does not answer; empty when it does, whatever it says.

    :param client: a KubeClient
    """
    try:
        client.get(KNOWN["Namespace"], None, "kube-system")
    except KubeError as exc:
        return exc.message if exc.reason == "Unreachable" else ""
    return ""


def planned(client: Any, params: Mapping[str, Any], to_server: str, why: str) -> dict[str, Any]:
    """Return the result of the module ``plane_move`` in check mode.

    :param client: a KubeClient of the plane that lets go
    :param params: the module's parameters
    :param to_server: URL of the API server that does not answer
    :param why: of :func:`silence`
    :raises RefusedError: when something is in the way that is found here
    :raises KubeError: when this plane can't be asked
    """
    here = Side(client, params["namespace"])
    begun = here.record if here.record is not None and here.record.state == record.MOVING else None
    warnings = [f"{to_server} is asked by a run without check mode, when it has been started; not checked are "
                f"{_UNASKED} ({why})"]
    moving = here.graph()
    if begun is None:
        problems, unseen = preflight.of_source(here, moving, params)
        former, unread = former_reading.checked(here, params, False, True)
        if problems or former:
            raise RefusedError(problems + former)
        warnings += unseen + unread
        what = record.made(here.uid, "", moving, "")
    else:
        what = begun
    # What has moved already leaves nothing here.
    is_due = begun is not None or bool(moving.moved)
    unconfirmed = texts.unconfirmed_move(params["confirm"], texts.hosts(what), to_server) if is_due else []
    return {"changed": is_due, "due": is_due, "begun": begun is not None, "to_server": to_server,
            **texts.counted(what), "rehearsal": None, "fits": [], "from_uid": here.uid, "to_uid": "",
            **former_reading.result(here, params, texts.hosts(what)), **provisioning_reading.Both().result(),
            "diff": texts.difference(moving), "warnings": warnings, "confirmation": texts.words(unconfirmed)}

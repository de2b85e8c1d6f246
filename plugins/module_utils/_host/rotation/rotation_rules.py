# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the password of a host's BMC is not replaced; pure.

BMO 0.13 looks at credentials in the states in which it registers a host. While it deploys, inspects or cleans, Ironic
may need the BMC just when it still has the old password.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._bmc.addresses.address import BmcAddress, readable
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.objects import secret_data
from ..._kube.objects.finalizers import HINT, deletion_of, is_going
from ..actions.actions import STEADY
from ..description import annotations as host_annotations
from ..description.objects import stored_secret_name
from ..state import lock as host_lock
from ..state.goals import state_of

Object = Mapping[str, Any]

CODE = "host-credentials"
# A run that was killed may have left a host that cannot be registered.
_ALLOWED = (*STEADY, "registering")


def credentials_of(secret: Object | None) -> tuple[str, str]:
    """Return user name and password of a credentials Secret, empty where it has none."""
    return secret_data.text(secret, "username"), secret_data.text(secret, "password")


def address_of(bmh: Object) -> BmcAddress | None:
    """Return a host's BMC address, None when it can't be read."""
    return readable(((bmh.get("spec") or {}).get("bmc") or {}).get("address"))


def check(host: Mapping[str, Any], bmh: Object | None, secret: Object | None, namespace: str,
          now: float) -> list[Problem]:
    """Return why the password of a host's BMC is not replaced now.

    :param host: dict with ``name``, ``address`` (BmcAddress) and ``bmc`` (the options of the entry)
    :param bmh: the stored BareMetalHost, or None
    :param secret: its credentials Secret, or None
    :param now: seconds since 1970
    """
    name = host["name"]
    if bmh is None:
        return [Problem(CODE, name, "name", "no BareMetalHost", f"one in namespace {namespace}",
                        "enrol the host first, or use bmc_account for servers that are not enrolled")]
    stored = address_of(bmh)
    problems = []
    if stored is None or stored.identity != host["address"].identity:
        problems.append(Problem(CODE, name, "bmc.address", show(str(host["address"])),
                                f"{stored or 'none that can be read'}, which the BareMetalHost has",
                                "correct it, or enrol the host with it first"))
    locked = host_lock.problem(name, "bmc.new_password", bmh, now)
    problems += [locked] if locked else []
    return problems + _busy(name, bmh) + _secret(host, bmh, secret)


def _busy(name: str, bmh: Object) -> list[Problem]:
    """Return what keeps BMO from taking new credentials at once."""
    spec, status, annotations = bmh.get("spec") or {}, bmh.get("status") or {}, host_annotations.of(bmh)
    state = state_of(bmh)
    if is_going(bmh):
        found, hint = f"a host that is {deletion_of(bmh)}", HINT
    elif host_annotations.PAUSED in annotations:
        found, hint = "a host that is paused: BMO would not log in with the new password", "resume it first"
    elif host_annotations.DETACHED in annotations or status.get("operationalStatus") == "detached":
        found, hint = "a host that is detached: BMO would not log in with the new password", "attach it first"
    elif state not in _ALLOWED:
        found, hint = f"a host in state {state}", "wait until BMO has done its work, then run again"
    elif status.get("operationalStatus") == "servicing":
        found, hint = "a host that is being serviced", "wait until BMO has done its work, then run again"
    elif state in STEADY and _power_changes(spec, status, annotations):
        found, hint = "a host whose power is about to change", "wait until it has changed, then run again"
    else:
        return []
    return [Problem(CODE, name, "bmc.new_password", found, f"one of {', '.join(STEADY)}, at rest", hint)]


def _power_changes(spec: Object, status: Object, annotations: Mapping[str, str]) -> bool:
    if host_annotations.REBOOT in annotations:
        return True
    held = any(key.startswith(host_annotations.REBOOT + "/") for key in annotations)
    wanted, powered = bool(spec.get("online")), bool(status.get("poweredOn"))
    return wanted != powered and not (held and not powered)


def _secret(host: Mapping[str, Any], bmh: Object, secret: Object | None) -> list[Problem]:
    name, wanted = host["name"], stored_secret_name(bmh)
    username, password = credentials_of(secret)
    if not wanted or not username or not password:
        return [Problem(CODE, name, "bmc.username",
                        f"Secret {wanted} without user name and password" if wanted else "no credentials Secret",
                        "a host whose Secret has both", "enrol the host with bmc.username and bmc.password first")]
    given = host["bmc"].get("username")
    if given and given != username:
        return [Problem(CODE, name, "bmc.username", show(given), f"{show(username)}, which Secret {wanted} has",
                        "correct it, or enrol the host with it first")]
    return []


def check_others(group: Sequence[Mapping[str, Any]], others: Sequence[tuple[Object, Object | None]]) -> list[Problem]:
    """Return the hosts that would lose their BMC, because they share a Secret or an account and are not in the run.

    :param group: dicts with ``name``, ``address``, ``username``, ``secret`` (its name) and ``namespace``
    :param others: BareMetalHosts that are not in the run, of all namespaces that may be read, with their Secrets
    """
    problems = []
    for bmh, secret in others:
        metadata, address = bmh["metadata"], address_of(bmh)
        username = credentials_of(secret)[0]
        for host in group:
            same_secret = metadata.get("namespace") == host["namespace"] and stored_secret_name(bmh) == host["secret"]
            same_account = address is not None and address.bmc == host["address"].bmc and username == host["username"]
            if same_secret or same_account:
                what = f"Secret {host['secret']}" if same_secret else "one account of one BMC"
                problems.append(Problem(
                    CODE, host["name"], "hosts",
                    f"{metadata.get('namespace')}/{metadata['name']} shares {what} and is not in the run",
                    "all hosts that share a password, changed together",
                    "run on both, or give each a Secret and an account of its own"))
                break
    return problems

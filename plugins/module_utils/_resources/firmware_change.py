# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the Bare Metal Operator changes a host's firmware, and whether it can; pure.

While the host is prepared (before it becomes available), or when it is switched on again after it was provisioned and
its HostUpdatePolicy says ``onReboot`` (``doServiceIfNeeded`` in BMO 0.13's ``baremetalhost_controller.go``).
"""
from __future__ import annotations

from typing import Any

from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._host.state import power_coming
from .._host.state.firmware_due import CHANGED, POLICY, VALID, is_allowed
from .._host.state.goals import RUNNING, error_of, state_of
from .._kube.objects.conditions import condition, is_observed, is_true
from .base import HOST, Object, ObjectIndex, host_verdict, is_working


def change_verdict(obj: Any, index: ObjectIndex, policy_field: str, before: Any) -> Verdict:
    """Return the Verdict on a change that is not in force yet.

    :param obj: a HostFirmwareSettings or HostFirmwareComponents
    :param index: an ObjectIndex with hosts and HostUpdatePolicies
    :param policy_field: field of the policy that counts
    :param before: the host before the wait, or None
    """
    host = index.host_of(obj)
    verdict = host_verdict(host, before)
    if verdict.outcome == FAILED or verdict.cause:
        return verdict
    if is_working(host):
        return Verdict(WAITING, f"BMO is at it (host {working_state(host)})", "")
    if state_of(host) in RUNNING:
        if not _is_changed_by_reboots(obj, index, policy_field):
            return Verdict(
                FAILED, f"the host is {state_of(host)}, and its HostUpdatePolicy does not say {policy_field}: onReboot",
                "create the policy with host_update_policy and reboot the host, or deprovision it")
        return _next_start(host)
    return Verdict(WAITING, f"waits until BMO prepares the host (state {state_of(host)})", "")


def start_verdict(obj: Any, index: ObjectIndex, policy_field: str, before: Any) -> Verdict:
    """Return the Verdict on a change of a host that BMO is about to switch on: reached when a reboot would help.

    A change that was written too late for the start in progress needs a reboot after it. What has gone wrong is not
    waited for: goal V(applied) says what to do.

    :param obj: a HostFirmwareSettings or HostFirmwareComponents for which something is pending
    :param index: an ObjectIndex with hosts and HostUpdatePolicies
    :param policy_field: field of the policy that counts
    :param before: the host before the wait, or None
    """
    host = index.host_of(obj)
    if host is None or state_of(host) not in RUNNING or not _is_changed_by_reboots(obj, index, policy_field) \
            or error_of(host)[0] or host_verdict(host, before).outcome == FAILED:
        return Verdict(REACHED, "", "")
    coming = power_coming.waits_for(host)
    return Verdict(WAITING, f"waits for {coming}", "look at the log of BMO") if coming else Verdict(REACHED, "", "")


def _is_changed_by_reboots(obj: Any, index: ObjectIndex, policy_field: str) -> bool:
    return is_allowed(index.get(POLICY, obj["metadata"].get("namespace"), obj["metadata"]["name"]), policy_field)


def _next_start(host: Any) -> Verdict:
    if (host.get("status") or {}).get("poweredOn"):
        return Verdict(WAITING, "waits until the host is switched off and on again", "reboot the host")
    if (host.get("spec") or {}).get("online"):
        return Verdict(WAITING, "BMO has not begun with it yet", "look at the log of BMO")
    return Verdict(WAITING, "waits until the host is switched on", "power the host on")


def observed_verdict(obj: Any, index: ObjectIndex, before: Any, what: str) -> Verdict | None:
    """Return the Verdict on an object that BMO has not taken in the form it has now, None when BMO has.

    :param obj: a HostFirmwareSettings or HostFirmwareComponents, or None
    :param what: what it asks for, for example ``settings``
    """
    if obj is None:
        return Verdict(WAITING, "BMO has not made it yet; it never does for hosts whose driver can't do it", "")
    host = index.host_of(obj)
    if host is None:
        return host_verdict(None, before)
    if not is_current(obj):
        verdict = host_verdict(host, before)
        return verdict if verdict.outcome == FAILED else Verdict(
            WAITING, f"BMO has not looked at the newest {what} yet", "look at the log of BMO")
    if not is_true(obj, VALID):
        return Verdict(FAILED, f"BMO refuses the {what} ({condition(obj, VALID).get('message')})",
                       f"look at the events of the {obj.get('kind') or 'object'}, and correct the {what}")
    return None


def is_held_up(obj: Any, index: ObjectIndex, before: Any) -> bool:
    """True when BMO has taken an object as it is now, and still pauses for an error that the host had before the wait.

    BMO pauses up to hours after errors in a row (``calculateBackoff``); a change of an annotation ends the pause.
    """
    host = index.host_of(obj)
    return host is not None and is_current(obj) and is_true(obj, VALID) and bool(error_of(host)[2]) \
        and error_of(host) == error_of(before)


def is_current(obj: Any) -> bool:
    """True when the conditions are about the newest spec."""
    return is_observed(obj, CHANGED) and is_observed(obj, VALID)


def conditions_facts(obj: Any) -> Object:
    """Return what the conditions say, for results."""
    return {"valid": is_true(obj, VALID), "change_detected": is_true(obj, CHANGED), "observed": is_current(obj),
            "message": condition(obj, VALID).get("message") or ""}


def is_unfinished(host: Any) -> bool:
    """True while a host is not done with what BMO has begun with: it works at it, or has failed in its service.

    One whose preparation has failed is still being prepared.
    """
    return is_working(host) or error_of(host)[0] == "servicing error"


def working_state(host: Any) -> str:
    """Return what a host that is worked on is doing, in BMO's words."""
    return "servicing" if (host["status"].get("operationalStatus") == "servicing") else "preparing"


def host_state(obj: Any, index: ObjectIndex) -> str:
    """Return the state of an object's host for results, empty when there is none."""
    host = index.host_of(obj)
    return state_of(host) if host else ""


def host_power(obj: Any, index: ObjectIndex) -> str:
    """Return ``on``, ``off``, ``held`` or ``starting`` of an object's host for results, empty when there is none.

    A host that is to be off is ``off``; one that is to be on and that a keyed reboot annotation keeps off is ``held``;
    one that BMO is about to switch on is ``starting``, also after a service of it has failed. So is one that it serves,
    or whose reboot was asked for: what is pending changes without another reboot.
    """
    host = index.host_of(obj)
    if host is None:
        return ""
    if not (host.get("spec") or {}).get("online"):
        return "off"
    if power_coming.held_by(host):
        return "held"
    return "starting" if power_coming.waits_for(host) else "on"


READS = (HOST, POLICY)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a request for an action by itself, whatever its host is like.

Pure functions of data. Sources in BMO 0.13: the webhook's ``baremetalhost_validation.go``.
"""
from __future__ import annotations

import re

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.formats import moment_of
from .actions import ACTIONS, Request

_KEY = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?\Z")
# checkStatusAnnotation: the webhook lists neither "servicing" nor the errors "servicing error" and "detach error".
_SAVED_STATUS = ("", "OK", "discovered", "error", "delayed", "detached")
_SAVED_ERRORS = ("", "provisioned registration error", "registration error", "inspection error", "preparation error",
                 "provisioning error", "power management error")
STATUS_FIELDS = frozenset((
    "operationalStatus", "errorType", "lastUpdated", "hardwareProfile", "hardware", "provisioning", "goodCredentials",
    "triedCredentials", "errorMessage", "poweredOn", "operationHistory", "errorCount", "conditions"))
HARDWARE_FIELDS = frozenset(("systemVendor", "firmware", "ramMebibytes", "nics", "storage", "cpu", "hostname"))
# Option → the actions that take it.
USED_BY = {
    "mode": ("reboot", "reboot_hold"),
    "key": ("reboot_hold", "reboot_release"),
    "force": ("reboot", "reboot_hold", "detach"),
    "once": ("reboot",),
    "delete_action": ("detach",),
    "reason": ("lock", "pause", "mark_unhealthy"),
    "until": ("lock",),
    "status": ("restore_status",),
    "hardware": ("set_hardware",),
}
_REQUIRED = {"lock": ("reason", "until"), "reboot_hold": ("key",), "reboot_release": ("key",),
             "restore_status": ("status",), "set_hardware": ("hardware",)}


def check_requests(requests):
    """Check requests by themselves.

    :param requests: list of Request; ``action`` may be None
    :returns: list of Problem
    """
    problems, first = [], {}
    for request in requests:
        if request.name in first:
            problems.append(
                Problem("host-action", request.name, "name", "named twice", "each host once", "remove one of them")
            )
            continue
        first[request.name] = request
        if request.action is None:
            problems.append(Problem("host-action", request.name, "action", None, f"one of {', '.join(ACTIONS)}",
                                    "set action for the task or for the host"))
            continue
        problems += [Problem("host-action", request.name, option, None, f"a value, which {request.action} needs",
                             f"set {option}")
                     for option in _REQUIRED.get(request.action, ()) if getattr(request, option) in (None, "")]
        problems += check_unused(request)
        problems += _check_values(request)
    return problems


def check_unused(request):
    """Return a Problem for each option that says nothing about the request's action."""
    return [
        Problem(
            "host-action", request.name, option, "given", f"an action that it belongs to ({', '.join(actions)})",
            "remove it, or choose another action")
        for option, actions in USED_BY.items()
        if getattr(request, option) != Request._field_defaults[option] and request.action not in actions
    ]


def _check_values(request):
    problems = []
    if request.key and not _KEY.match(request.key):
        problems.append(Problem("host-action", request.name, "key", show(request.key),
                                "at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or "
                                "digit", "rename it"))
    if request.action == "lock" and request.until and moment_of(request.until) is None:
        problems.append(Problem("host-action", request.name, "until", show(request.until),
                                "a time in UTC such as 2026-11-25T18:00:00Z", "correct it"))
    if request.action == "restore_status" and request.status:
        problems += _check_fields(request.name, "status", request.status, STATUS_FIELDS)
        if not (request.status.get("provisioning") or {}).get("state"):
            problems.append(Problem(
                "host-action", request.name, "status.provisioning.state", None, "the state the host was in",
                "give the whole status, as save_status returned it"))
        problems += check_saved(request.name, request.status, "give a status that was saved in another moment")
    if request.action == "set_hardware" and request.hardware:
        problems += _check_fields(request.name, "hardware", request.hardware, HARDWARE_FIELDS)
    return problems


def check_ends(requests):
    """Return a Problem for each lock that would be over at once, by the time of the requests.

    :param requests: list of Request that :func:`check_requests` found no fault with
    """
    return [Problem("host-action", request.name, "until", show(request.until), f"a time to come (it is {request.now})",
                    "correct it, or unlock the host (action unlock)")
            for request in requests if request.action == "lock"
            and (moment_of(request.until) or 0) <= (moment_of(request.now) or 0)]


def _check_fields(name, option, given, known):
    # Both are decoded strictly (validateStatusAnnotation, validateHwdDetailsAnnotation).
    return [Problem("host-action", name, f"{option}.{key}", "an unknown field", f"one of {', '.join(sorted(known))}",
                    "remove it: BMO decodes the annotation strictly") for key in sorted(set(given) - known)]


def check_saved(name, status, next_step):
    """Return a Problem for each field of a status that the webhook refuses.

    :param next_step: what to do about it
    """
    problems = []
    for field, allowed in (("operationalStatus", _SAVED_STATUS), ("errorType", _SAVED_ERRORS)):
        value = status.get(field) or ""
        if value not in allowed:
            problems.append(Problem(
                "host-action", name, f"status.{field}", show(value),
                f"one of {', '.join(text for text in allowed if text)} (BMO webhook)", next_step))
    return problems

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module baremetal_host_action."""
from __future__ import annotations

from typing import Any

from .._boot.watch import BootWatch, boot_argument_spec
from .._common.documents.document_text import from_json
from .._common.problems.errors import RefusedError
from .._common.problems.problem import FIELD_NAMES, Problem
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .actions.action_request import USED_BY
from .actions.action_rules import checked_option, identities
from .actions.action_service import HostActionService
from .actions.actions import ACTIONS, Request
from .module import finish


def _request_spec():
    return {
        "action": {"type": "str", "choices": sorted(ACTIONS)},
        "mode": {"type": "str", "choices": ["soft", "hard"]},
        "key": {"type": "str", "no_log": False},
        "force": {"type": "bool"},
        "once": {"type": "bool"},
        "delete_action": {"type": "str", "choices": ["delay", "delete"]},
        "reason": {"type": "str"},
        "until": {"type": "str"},
    }


def host_action_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``baremetal_host_action``."""
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        names={"type": "list", "elements": "str"},
        hosts={"type": "list", "elements": "dict", "options": dict(
            _request_spec(), name={"type": "str", "required": True}, status={"type": "json"},
            hardware={"type": "dict"})},
        **_request_spec(),
        checked=checked_option(),
        force_hosts={"type": "list", "elements": "str", "default": []},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        field_names=FIELD_NAMES,
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 900},
        error_limit={"type": "int", "default": 2},
        **boot_argument_spec(),
    )


def requests_of(params):
    """Return the Requests that the module's parameters stand for; a host's own options go before the task's.

    :param params: the module's parameters
    :raises RefusedError: when a status is no JSON object
    """
    entries = [{"name": name} for name in params["names"] or []] + (params["hosts"] or [])
    actions = set(entry.get("action") or params["action"] for entry in entries)
    common = dict((option, params[option]) for option in _request_spec() if params[option] is not None)
    requests = []
    for entry in entries:
        action = entry.get("action") or params["action"]
        # With several actions, an option of the task is for those that know it.
        given = dict((option, value) for option, value in common.items()
                     if action in USED_BY.get(option, actions) or not actions & set(USED_BY[option]))
        given.update((option, value) for option, value in entry.items() if value is not None)
        if given.get("status") is not None:
            given["status"] = _json_object(given["name"], given["status"])
        requests.append(Request(**dict({"action": None}, **given)))
    return requests


def _json_object(name, text):
    try:
        value = from_json(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RefusedError([Problem("status-invalid", name, "status", "text that is no JSON object",
                                    "the status that save_status returned", "set it to that")])
    return value


def run_baremetal_host_action() -> None:
    """Run the module ``baremetal_host_action``."""
    module = KubeModule(host_action_argument_spec(), required_one_of=[("names", "hosts")])
    waits = module.params["wait"] and not module.check_mode
    with module.reporting(), BootWatch(module.params, waits) as watch:
        requests = requests_of(module.params)
        result = HostActionService(
            module.connect(), requests, module.params, module.check_mode, module.progress, phase=watch.text,
            checked=identities(module.params["checked"])).run()
    result["warnings"] += watch.warnings
    finish(module, result, "done")

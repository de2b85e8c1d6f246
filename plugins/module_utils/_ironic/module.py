# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules ironic_node, ironic_port, ironic_node_info, ironic_node_action and ironic_audit."""
from __future__ import annotations

import copy
import traceback
from collections.abc import Callable
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from .._common.errors import RefusedError
from .._common.progress import Progress
from . import (
    action_plan,
    audit_service,
    config_drive,
    deploy_image,
    given,
    info_service,
    node_diff,
    node_fields,
    secrets,
)
from .action_service import ActionService, failure
from .client import HAS_OPENSTACK, IronicClient, ironic_argument_spec
from .errors import IronicError
from .node_service import NodeService
from .port_service import PortService

# Options that are never shown, whatever is in them: user data holds what its author put there.
_WHOLLY_HIDDEN = ("config_drive", "config_drives", "rescue_password", "password")


class IronicModule(AnsibleModule):
    """A module with secrets inside of dictionaries, which Ansible's ``no_log`` of an option does not reach.

    Its parameters are shown without them, nothing goes to the system's log, and their values are hidden wherever else
    they turn up.
    """

    def __init__(self, argument_spec: dict[str, dict[str, Any]], **arguments: Any) -> None:
        # Without a line in the system's log, which would hold all parameters.
        self._given = {}
        super().__init__(argument_spec=dict(ironic_argument_spec(), **argument_spec), supports_check_mode=True,
                         no_log=True, **arguments)
        self.no_log_values |= secrets.values(self._trees())
        problems = given.problems(self.argument_spec, self._given)
        if problems:
            refused = RefusedError(problems)
            self.fail_json(msg=str(refused), problems=refused.results())

    def _load_params(self) -> None:
        """Keep what was given: Ansible makes texts of dictionaries."""
        super()._load_params()
        self._given = copy.deepcopy(self.params)

    def exit_json(self, **result: Any) -> None:
        """Return the result."""
        super().exit_json(**dict({"invocation": {"module_args": self._shown()}}, **result))

    def fail_json(self, msg: str, **result: Any) -> None:
        """Fail with ``msg``."""
        super().fail_json(msg, **dict({"invocation": {"module_args": self._shown()}}, **result))

    def _trees(self) -> dict[str, Any]:
        """Return the parameters that have others inside of them."""
        return dict((name, value) for name, value in self.params.items() if isinstance(value, (dict, list)))

    def _shown(self) -> dict[str, Any]:
        shown = dict(self.params, **secrets.without(self._trees()))
        return dict(shown, **dict((name, secrets.HIDDEN) for name in _WHOLLY_HIDDEN if shown.get(name)))


def node_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_node``, without those that all have."""
    return {
        "nodes": {"type": "list", "elements": "dict", "required": True, "options": node_fields.node_argument_spec()},
        "update_secrets": {"type": "str", "choices": list(node_diff.UPDATE_SECRETS), "no_log": False,
                           "default": node_diff.WHEN_NEEDED},
        "force_nodes": {"type": "list", "elements": "str", "default": []},
    }


def port_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_port``, without those that all have."""
    port = dict(node_fields.port_argument_spec(), node={"type": "str"}, move={"type": "bool", "default": False},
                state={"type": "str", "choices": ["present", "absent"], "default": "present"})
    return {"ports": {"type": "list", "elements": "dict", "required": True, "options": port},
            "force_nodes": {"type": "list", "elements": "str", "default": []}}


def action_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_node_action``, without those that all have."""
    step = {"interface": {"type": "str", "required": True}, "step": {"type": "str", "required": True},
            "args": {"type": "dict"}, "priority": {"type": "int"}, "order": {"type": "int"}}
    return {
        "nodes": {"type": "list", "elements": "str", "required": True},
        "action": {"type": "str", "required": True, "choices": list(action_plan.ACTIONS)},
        "steps": {"type": "list", "elements": "dict", "options": step},
        "runbook": {"type": "str"},
        "disable_ramdisk": {"type": "bool"},
        "image": {"type": "dict", "options": deploy_image.image_argument_spec()},
        "instance_info": {"type": "dict"},
        "config_drive": {"type": "dict", "options": config_drive.config_drive_argument_spec()},
        "config_drives": {"type": "dict"},
        "rescue_password": {"type": "str", "no_log": True},
        "maintenance_reason": {"type": "str"},
        "soft": {"type": "bool", "default": False},
        "power_timeout_seconds": {"type": "int"},
        "boot_device": {"type": "str", "choices": ["pxe", "disk", "cdrom", "bios", "safe", "wanboot", "uefihttp",
                                                   "floppy", "usb"]},
        "persistent": {"type": "bool", "default": False},
        "boot_mode": {"type": "str", "choices": ["uefi", "bios"]},
        "secure_boot": {"type": "bool"},
        "traits": {"type": "list", "elements": "str"},
        "traits_mode": {"type": "str", "choices": ["set", "add", "remove"], "default": "set"},
        "raid": {"type": "dict", "options": {"logical_disks": {"type": "list", "elements": "dict", "required": True}}},
        "vendor_method": {"type": "str"},
        "vendor_arguments": {"type": "dict"},
        "confirm": {"type": "str"},
        "wait": {"type": "bool", "default": True},
        "wait_timeout_seconds": {"type": "int", "default": 1800},
        "poll_interval_seconds": {"type": "float", "default": 2.0},
        "force_nodes": {"type": "list", "elements": "str", "default": []},
    }


def info_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_node_info``, without those that all have."""
    return {
        "names": {"type": "list", "elements": "str"},
        "fields": {"type": "list", "elements": "str"},
        "filters": {"type": "dict", "options": dict(
            [(name, {"type": "str"}) for name in info_service.TEXT_FILTERS]
            + [(name, {"type": "bool"}) for name in info_service.BOOLEAN_FILTERS])},
        "ports": {"type": "bool", "default": False},
        "inventory": {"type": "bool", "default": False},
        "validate": {"type": "bool", "default": False},
    }


def audit_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_audit``, without those that all have."""
    return {
        "hosts": {"type": "list", "elements": "dict"},
        "namespaces": {"type": "list", "elements": "str"},
        "all_namespaces": {"type": "bool", "default": False},
        "earlier_findings": {"type": "list", "elements": "dict"},
        "repair": {"type": "list", "elements": "str", "choices": list(audit_service.REPAIRS), "default": []},
        "confirm": {"type": "str"},
    }


def run_ironic_node() -> None:
    """Run the module ``ironic_node``."""
    module = IronicModule(node_argument_spec())
    result = _run(module, lambda client: NodeService(client, module.params, module.check_mode, Progress()).run())
    _finish(module, result, failure(result["nodes"], "be written"))


def run_ironic_port() -> None:
    """Run the module ``ironic_port``."""
    module = IronicModule(port_argument_spec())
    result = _run(module, lambda client: PortService(client, module.params, module.check_mode, Progress()).run())
    failed = [f"- {port['address']}: {port['error']}" for port in result["ports"] if port["failed"]]
    _finish(module, result, "\n".join([f"{len(failed)} of {len(result['ports'])} ports failed:"] + failed)
            if failed else "")


def action_module() -> IronicModule:
    """Return the module ``ironic_node_action``, made of its arguments."""
    module = IronicModule(
        action_argument_spec(), mutually_exclusive=[("steps", "runbook")],
        required_if=[("action", "clean", ("steps", "runbook"), True), ("action", "service", ("steps", "runbook"), True),
                     ("action", "rescue", ("rescue_password",)), ("action", "boot_device", ("boot_device",)),
                     ("action", "boot_mode", ("boot_mode",)), ("action", "secure_boot", ("secure_boot",)),
                     ("action", "traits", ("traits",)), ("action", "raid", ("raid",))])
    module.no_log_values |= config_drive.texts(module.params)
    return module


def run_ironic_node_action() -> None:
    """Run the module ``ironic_node_action``."""
    module = action_module()
    params = dict(module.params)
    params["steps"] = [dict((key, value) for key, value in step.items() if value is not None)
                       for step in params["steps"]] if params["steps"] else None
    result = _run(module, lambda client: ActionService(client, params, module.check_mode, Progress()).run())
    _finish(module, result, failure(result["nodes"], params["action"].replace("_", " ")))


def run_ironic_node_info() -> None:
    """Run the module ``ironic_node_info``."""
    module = IronicModule(info_argument_spec())
    result = _run(module, lambda client: info_service.read(client, module.params))
    module.exit_json(changed=False, **result)


def run_ironic_audit() -> None:
    """Run the module ``ironic_audit``."""
    module = IronicModule(audit_argument_spec())
    result = _run(module, lambda client: audit_service.run(client, module.params, module.check_mode, Progress().event))
    failed = [finding for finding in result["findings"] if finding["error"]]
    _finish(module, result, "\n".join([f"{len(failed)} repairs failed:"] + [
        f"- {finding['subject']}: {finding['error']}" for finding in failed]) if failed else "")


def _run(module: IronicModule, work: Callable[..., Any]) -> Any:
    """Return what ``work(client)`` returns; end the module when it is refused."""
    if not HAS_OPENSTACK:
        module.fail_json(msg=missing_required_lib("openstacksdk"))
    try:
        return work(IronicClient(module.params))
    except RefusedError as exc:
        module.fail_json(msg=str(exc), problems=exc.results())
    except IronicError as exc:
        module.fail_json(msg=exc.message, exception=traceback.format_exc())


def _finish(module: IronicModule, result: dict[str, Any], text: str) -> None:
    if not module._diff:
        result.pop("diff")
    if text:
        module.fail_json(msg=text, **result)
    module.exit_json(**result)

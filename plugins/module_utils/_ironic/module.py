# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules of Ironic."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .._common.problems.problem import Problem
from .._common.redaction.redaction import NODE_KEYS
from .._kube.api.client import KubeClient
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.pods import short_pod
from .._metal3.ironic_place import IRONIC_NAMESPACE
from .actions import config_drive, deploy_image
from .actions import plan as action_plan
from .actions.service import ActionService, failure
from .api import info_service
from .api.client import HAS_OPENSTACK, IronicClient, ironic_argument_spec
from .audit import service as audit_service
from .audit.findings import NODE_WITHOUT_HOST
from .discovery import service as discovery_service
from .fitness import checks as fitness
from .fitness import pod_service
from .fitness import service as check_service
from .nodes import diff as node_diff
from .nodes import fields as node_fields
from .nodes.port_service import PortService
from .nodes.service import NodeService


class IronicModule(Module):
    """A module that works on Ironic, in whose options secrets go by the names that Ironic's drivers give them."""

    secret_keys = NODE_KEYS

    def __init__(self, argument_spec: dict[str, dict[str, Any]], **arguments: Any) -> None:
        super().__init__(dict(ironic_argument_spec(), **argument_spec), **arguments)


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
        "only_disks": {"type": "dict"},
        "image": {"type": "dict", "options": deploy_image.image_argument_spec()},
        "images": {"type": "dict"},
        "redeploy": {"type": "bool", "default": False},
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
        "confirm_among": {"type": "list", "elements": "str", "default": []},
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
        "hosts_from": {"type": "dict", "options": {"kubeconfig": {"type": "path"}, "context": {"type": "str"}}},
        "earlier_findings": {"type": "list", "elements": "dict"},
        "repair": {"type": "list", "elements": "str", "choices": list(audit_service.REPAIRS), "default": []},
        "confirm": {"type": "str"},
    }


def discovery_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_discovery``, without those that all have."""
    return {
        "state": {"type": "str", "choices": ["present", discovery_service.ABSENT], "default": "present"},
        "nodes": {"type": "list", "elements": "str"},
        "macs": {"type": "list", "elements": "str"},
        "node_limit": {"type": "int", "default": 1024},
    }


def check_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``ironic_check``, without those that all have."""
    strings = {"type": "list", "elements": "str", "default": []}
    return {
        "bmc_addresses": dict(strings), "bmc_schemes": dict(strings),
        "boot_images": {"type": "dict", "options": dict((name, {"type": "str"}) for name in fitness.image_names())},
        "image_ca_cert": {"type": "path"},
        "maximum_clock_difference_seconds": {"type": "int", "default": fitness.DEFAULT_CLOCK_DIFFERENCE_SECONDS},
        "from_pod": {"type": "dict", "options": dict(short_pod.OPTIONS, namespace={
            "type": "str", "default": IRONIC_NAMESPACE})},
    }


def run_ironic_node() -> None:
    """Run the module ``ironic_node``."""
    module = IronicModule(node_argument_spec())
    with module.reporting():
        result = NodeService(_client(module), module.params, module.check_mode, module.progress).run()
    module.finish(result, failure(result["nodes"], "be written"))


def run_ironic_port() -> None:
    """Run the module ``ironic_port``."""
    module = IronicModule(port_argument_spec())
    with module.reporting():
        result = PortService(_client(module), module.params, module.check_mode, module.progress).run()
    failed = [f"- {port['address']}: {port['error']}" for port in result["ports"] if port["failed"]]
    module.finish(result, "\n".join([f"{len(failed)} of {len(result['ports'])} ports failed:"] + failed)
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
    with module.reporting():
        result = ActionService(_client(module), params, module.check_mode, module.progress).run()
    module.finish(result, failure(result["nodes"], params["action"].replace("_", " ")))


def run_ironic_node_info() -> None:
    """Run the module ``ironic_node_info``."""
    module = IronicModule(info_argument_spec())
    with module.reporting():
        result = info_service.read(_client(module), module.params)
    module.finish(dict(result, changed=False))


def run_ironic_audit() -> None:
    """Run the module ``ironic_audit``."""
    module = IronicModule(audit_argument_spec())
    with module.reporting():
        result = audit_service.run(_client(module), module.params, module.check_mode, module.progress.event,
                                   kube=_asked_for_hosts(module))
    failed = [finding for finding in result["findings"] if finding["error"]]
    module.finish(result, "\n".join([f"{len(failed)} repairs failed:"] + [
        f"- {finding['subject']}: {finding['error']}" for finding in failed]) if failed else "")


def run_ironic_discovery() -> None:
    """Run the module ``ironic_discovery``."""
    module = IronicModule(discovery_argument_spec(),
                          required_if=[("state", discovery_service.ABSENT, ("nodes", "macs"), True)])
    with module.reporting():
        result = discovery_service.run(_client(module), module.params, module.check_mode, module.progress.event)
    failed = result["failed_nodes"]
    module.finish(result, "\n".join([f"{len(failed)} nodes could not be deleted:"] + [
        f"- {node['node']}: {node['error']}" for node in failed]) if failed else "")


def run_ironic_check() -> None:
    """Run the module ``ironic_check``."""
    module = IronicModule(check_argument_spec())
    module.require(openstacksdk=HAS_OPENSTACK)
    with module.reporting():
        result = check_service.run(module.params, from_pod=_from_pod(module))
    module.finish(dict(result, changed=False))


def _from_pod(module: IronicModule) -> Callable[[str], list[Problem]] | None:
    """Return what asks out of a pod, None when none is to; check mode makes none."""
    given = module.params["from_pod"]
    if not given or module.check_mode:
        return None
    module.require(kubernetes=HAS_KUBERNETES)

    def ask(server: str) -> list[Problem]:
        with os_errors_reported("ironic"):
            return pod_service.ask(KubeClient({"kubeconfig": given["kubeconfig"], "context": given["context"]}),
                                   module.params, server)
    return ask


def _asked_for_hosts(module: IronicModule) -> KubeClient | None:
    """Return a client for the cluster that has the hosts, None where no node is deleted or none is named."""
    given = module.params["hosts_from"]
    if given is None or module.check_mode or NODE_WITHOUT_HOST not in module.params["repair"]:
        return None
    module.require(kubernetes=HAS_KUBERNETES)
    return KubeClient(given)


def _client(module: IronicModule) -> IronicClient:
    module.require(openstacksdk=HAS_OPENSTACK)
    return IronicClient(module.params, module.progress.wrote)

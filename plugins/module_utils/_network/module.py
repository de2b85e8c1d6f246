# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules provisioning_network, provisioning_dhcp, provisioning_keepalived and network_check."""
from __future__ import annotations

import os
from typing import Any

from .._common.addresses import virtual_router
from .._common.addresses.dhcp_lent import lent_options
from .._common.module import Module
from .._common.options.lending import taken_options
from .._common.problems.errors import RefusedError, os_errors_reported
from .._common.problems.problem import Problem, as_results
from .._kube.api.client import KubeClient
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.pods import short_pod
from . import dhcp_service, keepalived_service, pod_reach, reach, reach_answers
from .description import BOND_MODES, KINDS, LOADERS
from .dnsmasq import DEFAULT_LEASE_SECONDS
from .service import NetworkService

SYSTEMS = ("auto", "netplan", "networkd", "network_manager", "ifupdown")
_DESCRIPTION = ("name", "kind", "ports", "vlan", "bond_mode", "mtu", "addresses", "gateway", "dhcp")


def _texts() -> dict[str, Any]:
    return {"type": "list", "elements": "str", "default": []}


def dhcp_options() -> dict[str, Any]:
    """Return the options of what DHCP serves; documented in the fragment ``provisioning_network``."""
    return {
        **lent_options(),
        "unknown_hosts": {"type": "bool", "default": False},
        "lease_seconds": {"type": "int", "default": DEFAULT_LEASE_SECONDS},
        "dns_servers": _texts(), "ntp_servers": _texts(),
        "tftp_root": {"type": "str"},
        "loaders": {"type": "dict", "options": {kind: {"type": "str"} for kind in LOADERS}},
        "ipxe_script_url": {"type": "str"}, "http_boot_url": {"type": "str"},
    }


def description_options() -> dict[str, Any]:
    """Return the options of a provisioning network; documented in the fragment ``provisioning_network``."""
    return {
        "name": {"type": "str", "required": True},
        "kind": {"type": "str", "choices": list(KINDS), "default": "ethernet"},
        "ports": _texts(),
        "vlan": {"type": "int"},
        "bond_mode": {"type": "str", "choices": list(BOND_MODES)},
        "mtu": {"type": "int"},
        "addresses": _texts(),
        "gateway": {"type": "str"},
        "dhcp": {"type": "dict", "options": dhcp_options()},
    }


def _keepalived_options() -> dict[str, Any]:
    return {
        "address": {"type": "str", "required": True},
        "machines": {"type": "list", "elements": "str", "required": True},
        "machine": {"type": "str", "required": True},
        "virtual_router_id": {"type": "int", "default": virtual_router.DEFAULT_NUMBER},
        "peers": _texts(),
        "check_ports": {"type": "list", "elements": "int", "default": []},
    }


def _description(params: dict[str, Any]) -> dict[str, Any]:
    return {option: params[option] for option in _DESCRIPTION}


def run_provisioning_network() -> None:
    """Run the module ``provisioning_network``."""
    module = Module(dict(
        description_options(),
        state={"type": "str", "choices": ["present", "confirmed", "absent"], "default": "present"},
        confirm={"type": "str"},
        keepalived={"type": "dict", "options": dict(_keepalived_options(), others={
            "type": "list", "elements": "dict", "default": [], "options": virtual_router.others_options()})},
        taken={"type": "list", "elements": "dict", "default": [], "options": taken_options()},
        system={"type": "str", "choices": list(SYSTEMS), "default": "auto"},
        rollback_seconds={"type": "int", "default": 120},
        wait_timeout_seconds={"type": "int", "default": 30}))
    with module.reporting(), os_errors_reported("network", "run as root (become: true)"):
        wrong = [Problem("value", f"network {module.params['name']}", option, module.params[option], expected)
                 for option, lowest, expected in (("rollback_seconds", 0, "0, or a number of seconds"),
                                                  ("wait_timeout_seconds", 1, "at least 1 second"))
                 if module.params[option] < lowest]
        if wrong:
            raise RefusedError(wrong)
        service = NetworkService(_description(module.params), module.params, module.check_mode, module.progress)
        act = {"present": service.present, "confirmed": service.confirm, "absent": service.absent}
        module.finish(act[module.params["state"]]())


def run_provisioning_dhcp() -> None:
    """Run the module ``provisioning_dhcp``."""
    module = Module(dict(
        description_options(),
        config_file={"type": "path", "required": True},
        leases_file={"type": "path", "required": True},
        log_file={"type": "path"},
        dnsmasq={"type": "path", "default": "dnsmasq"},
        allowed_servers=_texts(),
        allowed_routers=_texts(),
        probe_seconds={"type": "int", "default": 5}))
    with module.reporting(), os_errors_reported("network", "run as root (become: true)"):
        wrong = [Problem("value", f"network {module.params['name']}", option, module.params[option],
                         "an absolute path") for option in ("config_file", "leases_file", "log_file")
                 if module.params[option] and not os.path.isabs(module.params[option])]
        if wrong:
            raise RefusedError(wrong)
        module.finish(dhcp_service.ensure(_description(module.params), module.params, module.check_mode,
                                          module.progress))


def run_provisioning_keepalived() -> None:
    """Run the module ``provisioning_keepalived``."""
    module = Module({
        "name": {"type": "str", "required": True},
        **_keepalived_options(),
        "own_address": {"type": "str", "required": True},
        "config_file": {"type": "path", "required": True},
        "keepalived": {"type": "path", "default": "keepalived"}})
    with module.reporting(), os_errors_reported("network", "run as root (become: true)"):
        path = module.params["config_file"]
        if not os.path.isabs(path):
            raise RefusedError([Problem("value", f"network {module.params['name']}", "config_file", path,
                                        "an absolute path")])
        module.finish(keepalived_service.ensure(module.params, module.check_mode))


def run_network_check() -> None:
    """Run the module ``network_check``."""
    module = Module({
        "tcp": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str"}, "host": {"type": "str", "required": True},
            "port": {"type": "int", "required": True}, "reachable": {"type": "bool", "default": True}}},
        "tftp": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str"}, "host": {"type": "str", "required": True},
            "path": {"type": "str", "required": True}, "port": {"type": "int", "default": 69}}},
        "http": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str"}, "url": {"type": "str", "required": True}, "sha256": {"type": "str"},
            "ca_file": {"type": "path"}}},
        "dhcp": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str"}, "interface": {"type": "str", "required": True}, "mac": {"type": "str"},
            "expected_servers": _texts(), "allowed_servers": _texts(), "allowed_routers": _texts(),
            "ipv6": {"type": "bool"},
            "seconds": {"type": "int", "default": 5}}},
        "from_pods": {"type": "dict", "options": dict(
            short_pod.OPTIONS, namespace={"type": "str", "default": "default"}, nodes=_texts(),
            host_network={"type": "bool", "default": False})},
        "timeout_seconds": {"type": "int", "default": 5},
        "fail": {"type": "bool", "default": True},
    })
    given = module.params["from_pods"]
    with module.reporting(), os_errors_reported("network", "run as root (become: true)"):
        wrong = reach_answers.problems(module.params) + (reach_answers.pod_problems(module.params) if given else [])
        if wrong:
            raise RefusedError(wrong)
        if given:
            module.require(kubernetes=HAS_KUBERNETES)
            # Check mode creates no pod.
            checks, found = ([], []) if module.check_mode else pod_reach.check(
                KubeClient({"kubeconfig": given["kubeconfig"], "context": given["context"]}), module.params)
        else:
            checks, found = reach.check(module.params)
    result = {"changed": False, "checks": checks, "problems": as_results(found)}
    failure = "" if not found or not module.params["fail"] else "\n".join(
        [f"{len(found)} problems in {len(checks)} checks:" if given else
         f"{len(found)} of {len(checks)} checks failed:", *(f"- {problem}" for problem in found)])
    module.finish(result, failure)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules bmc_discovery and discovered_inventory."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from .._common.files.run_locks import RunLocks
from .._common.module import Module
from .._common.options.field_checks import show, shown
from .._common.problems.errors import RefusedError, os_errors_reported
from .._common.problems.problem import FIELD_NAMES, Problem, as_results
from .._common.texts.plain_text import few
from .addresses.schemes import DRIVERS
from .discovery import discovered as bmc_discovered
from .discovery import discovered_inventory
from .discovery import reported as bmc_reported
from .discovery import targets as bmc_targets
from .discovery.discover import Scan, discover
from .module import bmc_argument_spec, connection_argument_spec, settings

# By the variables of the role discover.
_VARIABLES = dict((option, "discover_" + option) for option in (
    "addresses", "ports", "transports", "username", "password", "disable_certificate_verification", "ca_cert",
    "address_limit", "allowed_addresses", "connect_timeout_seconds", "read_timeout_seconds", "concurrency",
    "name_format", "boot_nic", "username_expression", "password_expression"))


def _names(module: Module) -> dict[str, str] | None:
    """Return ``{option: name}`` by which the reader knows an option, None for the options' own."""
    return _VARIABLES if module.params["field_names"] == "variables" else None


def run_bmc_discovery() -> None:
    """Run the module ``bmc_discovery``."""
    target = {
        "addresses": {"type": "list", "elements": "str", "required": True},
        "ports": {"type": "list", "elements": "int", "default": []},
        "transports": {"type": "list", "elements": "str", "choices": ["https", "http"], "default": ["https"]},
        "username": {"type": "str"},
        "password": {"type": "str", "no_log": True},
        "disable_certificate_verification": {"type": "bool", "default": False},
        "ipmi": {"type": "bool", "default": False},
        "ipmi_port": {"type": "int", "default": 623},
    }
    module = Module(dict(
        connection_argument_spec(),
        targets={"type": "list", "elements": "dict", "required": True, "options": target},
        schemes={"type": "list", "elements": "str", "default": [], "choices": [
            driver.name for driver in DRIVERS if driver.protocol == "redfish"]},
        address_limit={"type": "int", "default": 1024},
        allowed_addresses={"type": "list", "elements": "str"},
        machines={"type": "list", "elements": "dict"},
        field_names=FIELD_NAMES,
    ))
    names = _names(module)
    with module.reporting():
        scans, count = _scans(module.params, names)
        servers, refusals, silent = discover(scans, module.params["schemes"], settings(module), module.progress)
    machines = module.params["machines"]
    if machines is None:
        nodes, problems, unconfirmed = [], bmc_discovered.problems(servers, refusals, silent, count), []
    else:
        servers, nodes, problems, unconfirmed = bmc_reported.matched(
            machines, servers, [host for scan in scans for host in scan.hosts])
        problems = bmc_discovered.refused(refusals) + problems
    lines = unconfirmed + [bmc_discovered.line(refusal) for refusal in refusals]
    module.finish({"changed": False, "servers": servers, "nodes": nodes, "refusals": refusals, "silent": silent,
                   "lines": lines + [f"no answer from {silent} addresses"] if silent else lines,
                   "problems": as_results(problems, names)})


def _scans(params: dict[str, Any], names: Mapping[str, str] | None) -> tuple[list[Scan], int]:
    """Return the Scans that the parameters ask for, and how many hosts they have."""
    machines = params["machines"]
    scans, problems = [], bmc_reported.mistakes(machines or [])
    if problems:
        raise RefusedError(problems, names)
    left = params["address_limit"]
    for target in params["targets"]:
        # Of a network that reports are believed from, only what was reported counts.
        among = target["addresses"] if machines is None else bmc_reported.hosts(target["addresses"], machines)
        hosts, found = bmc_targets.expand(among, left)
        left -= len(hosts)
        problems += found
        problems += [] if machines is None else bmc_targets.mistakes(target["addresses"])
        problems += [Problem("discovery-targets", "", "ports", shown(port), "1 to 65535", "correct it")
                     for port in target["ports"] + [target["ipmi_port"]] if not 1 <= port <= 65535]
        scans.append(Scan(hosts, target["ports"], target["transports"], target["username"], target["password"],
                          target["disable_certificate_verification"],
                          target["ipmi_port"] if target["ipmi"] else None))
    if params["allowed_addresses"] is not None:
        problems += _not_allowed([host for scan in scans for host in scan.hosts], params["allowed_addresses"])
    names_of_hosts = set(host.lower() for scan in scans for host in scan.hosts)
    if not names_of_hosts and not problems and machines is None:
        problems = [Problem("discovery-targets", "", "addresses", None,
                            "names, addresses, ranges or networks of BMCs", "set addresses")]
    if problems:
        raise RefusedError(problems, names)
    return scans, len(names_of_hosts)


def _not_allowed(hosts: list[str], allowed: list[str]) -> list[Problem]:
    """Return the problem of hosts that must not get credentials: who names them need not be who has the credentials."""
    found = bmc_targets.outside(list(dict.fromkeys(hosts)), allowed)
    problems = bmc_targets.mistakes(allowed)
    if found:
        problems.append(Problem(
            "discovery-targets", "", "addresses", few([show(host) for host in found], 5),
            f"among {few(allowed, 5)}" if allowed else "none, since none is allowed",
            "correct addresses, or have it allowed by who may change allowed_addresses in the inventory"))
    return problems


def run_discovered_inventory() -> None:
    """Run the module ``discovered_inventory``."""
    module = Module({
        "path": {"type": "path"},
        "return_inventory": {"type": "bool", "default": False},
        "servers": {"type": "list", "elements": "dict", "required": True},
        "hosts": bmc_argument_spec()["hosts"],
        "name_format": {"type": "str", "default": "server-{serial_number}"},
        "boot_nic": {"type": "str", "default": ""},
        "username_expression": {"type": "str", "default": ""},
        "password_expression": {"type": "str", "default": "", "no_log": False},
        "disable_certificate_verification": {"type": "bool", "default": False},
        "taken_names": {"type": "list", "elements": "str", "default": []},
        "field_names": FIELD_NAMES,
    }, required_if=[("return_inventory", False, ["path"])])
    module.require(PyYAML=discovered_inventory.yaml is not None)
    with module.reporting():
        path = module.params["path"]
        if module.check_mode or not path:
            module.finish(_inventory(module, module.params))
        # What another run adds between reading and writing would be lost.
        with os_errors_reported("inventory"), RunLocks().in_turn("inventory", os.path.realpath(path)):
            result = _inventory(module, module.params)
        module.finish(result)


def _inventory(module: Module, params: dict[str, Any]) -> dict[str, Any]:
    """Merge what was discovered into the inventory, write its file, and return the module's result."""
    path = params["path"]
    before = _present(path) if path else ""
    try:
        content = discovered_inventory.read(before)
    except ValueError as exc:
        raise _bad_path(path, f"a file that discovery wrote, or none ({exc})", "choose another name") from exc
    options = dict((option, params[option]) for option in (
        "name_format", "boot_nic", "username_expression", "password_expression", "disable_certificate_verification"))
    content, report, problems = discovered_inventory.merge(
        params["servers"], content, params["hosts"], options, params["taken_names"])
    if problems:
        raise RefusedError(problems, _names(module))
    after = discovered_inventory.write(content) if params["servers"] else before
    result = {"changed": bool(path) and after != before, "path": path, "hosts": report,
              "lines": [discovered_inventory.line(server) for server in report],
              "diff": {"before_header": path, "after_header": path, "before": before, "after": after} if path else []}
    if params["return_inventory"]:
        result["inventory"] = after
    if result["changed"] and not module.check_mode:
        _replace(module, path, after)
    return result


def _bad_path(path: str, expected: str, hint: str) -> RefusedError:
    return RefusedError([Problem("path-invalid", "", "path", shown(path), expected, hint)])


def _present(path: str) -> str:
    """Return a file's text, empty when there is none.

    :raises RefusedError: when its folder is missing
    """
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise _bad_path(path, "a file in a folder that exists", "create the folder")
    if not os.path.exists(path):
        return ""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, ValueError) as exc:
        raise _bad_path(path, f"a file that can be read as UTF-8 ({exc})",
                        "name one that does not exist, or make it readable") from exc


def _replace(module: Module, path: str, text: str) -> None:
    """Write a file as a whole."""
    descriptor, name = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    module.atomic_move(name, path)

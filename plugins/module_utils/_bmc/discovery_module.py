# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules bmc_discovery and discovered_inventory."""
from __future__ import annotations

import os
import tempfile

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from .._common.errors import RefusedError
from .._common.problem import Problem
from .._common.progress import Progress
from . import address as bmc_address
from . import discovered as bmc_discovered
from . import discovered_inventory
from . import targets as bmc_targets
from .discover import Scan, discover
from .module import bmc_argument_spec, connection_argument_spec, settings

# By the variables of the role discover.
_VARIABLES = dict((option, "discover_" + option) for option in (
    "addresses", "ports", "transports", "username", "password", "disable_certificate_verification", "ca_cert",
    "address_limit", "connect_timeout_seconds", "read_timeout_seconds", "concurrency",
    "name_format", "boot_nic", "username_expression", "password_expression"))
_FIELD_NAMES = {"type": "str", "choices": ["options", "variables"], "default": "options"}


def _names(module):
    """Return ``{option: name}`` by which the reader knows an option, None for the options' own."""
    return _VARIABLES if module.params["field_names"] == "variables" else None


def run_bmc_discovery():
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
    module = AnsibleModule(
        argument_spec=dict(
            connection_argument_spec(),
            targets={"type": "list", "elements": "dict", "required": True, "options": target},
            schemes={"type": "list", "elements": "str", "default": [], "choices": [
                driver.name for driver in bmc_address.DRIVERS if driver.protocol == "redfish"]},
            address_limit={"type": "int", "default": 1024},
            field_names=_FIELD_NAMES,
        ),
        supports_check_mode=True)
    params = module.params
    scans, problems, names = [], [], _names(module)
    left = params["address_limit"]
    for target in params["targets"]:
        hosts, found = bmc_targets.expand(target["addresses"], left)
        left -= len(hosts)
        problems += found
        problems += [Problem("discovery-targets", "", "ports", port, "1 to 65535", "correct it")
                     for port in target["ports"] + [target["ipmi_port"]] if not 1 <= port <= 65535]
        scans.append(Scan(hosts, target["ports"], target["transports"], target["username"], target["password"],
                          target["disable_certificate_verification"],
                          target["ipmi_port"] if target["ipmi"] else None))
    hosts = set(host.lower() for scan in scans for host in scan.hosts)
    if not hosts and not problems:
        problems = [Problem("discovery-targets", "", "addresses", None,
                            "names, addresses, ranges or networks of BMCs", "set addresses")]
    if problems:
        _refuse(module, problems, names)
    servers, refusals, silent = discover(scans, params["schemes"], settings(module), Progress())
    lines = [bmc_discovered.line(refusal) for refusal in refusals]
    module.exit_json(changed=False, servers=servers, refusals=refusals, silent=silent,
                     lines=lines + ["no answer from %d addresses" % silent] if silent else lines,
                     problems=bmc_discovered.problems(servers, refusals, silent, len(hosts), names))


def _refuse(module, problems, names):
    refused = RefusedError(problems, names)
    module.fail_json(msg=str(refused), problems=refused.results())


def run_discovered_inventory():
    """Run the module ``discovered_inventory``."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "servers": {"type": "list", "elements": "dict", "required": True},
            "hosts": bmc_argument_spec()["hosts"],
            "name_format": {"type": "str", "default": "server-{serial_number}"},
            "boot_nic": {"type": "str", "default": ""},
            "username_expression": {"type": "str", "default": ""},
            "password_expression": {"type": "str", "default": "", "no_log": False},
            "disable_certificate_verification": {"type": "bool", "default": False},
            "taken_names": {"type": "list", "elements": "str", "default": []},
            "field_names": _FIELD_NAMES,
        },
        supports_check_mode=True)
    if discovered_inventory.yaml is None:
        module.fail_json(msg=missing_required_lib("PyYAML"))
    params = module.params
    before = _present(module, params["path"])
    try:
        content = discovered_inventory.read(before)
    except ValueError as exc:
        module.fail_json(msg="path: seen %s, expected a file that discovery wrote, or none (%s); choose another name"
                             % (params["path"], exc))
    options = dict((option, params[option]) for option in (
        "name_format", "boot_nic", "username_expression", "password_expression", "disable_certificate_verification"))
    content, report, problems = discovered_inventory.merge(
        params["servers"], content, params["hosts"], options, params["taken_names"])
    if problems:
        _refuse(module, problems, _names(module))
    after = discovered_inventory.write(content) if params["servers"] else before
    result = {"changed": after != before, "path": params["path"], "hosts": report,
              "lines": [f"{server['name']}: {server['action']}, {server['address']}" for server in report]}
    if module._diff:
        result["diff"] = {"before_header": params["path"], "after_header": params["path"],
                          "before": before, "after": after}
    if result["changed"] and not module.check_mode:
        _replace(module, params["path"], after)
    module.exit_json(**result)


def _present(module, path):
    """Return a file's text, empty when there is none; fails the module when its folder is missing."""
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        module.fail_json(msg=f"path: seen {path}, expected a file in a folder that exists; make the folder")
    if not os.path.exists(path):
        return ""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, ValueError) as exc:
        module.fail_json(msg=f"path: seen {path}, expected a file that can be read as UTF-8 ({exc})")


def _replace(module, path, text):
    """Write a file as a whole."""
    descriptor, name = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    module.atomic_move(name, path)

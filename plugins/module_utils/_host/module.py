# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules baremetal_host and baremetal_host_info."""
from __future__ import annotations

from typing import Any

from .._boot.system_ports import SystemPorts
from .._boot.watch import BootWatch, boot_argument_spec
from .._common.options.fields import argument_spec
from .._common.problems.errors import RefusedError
from .._common.problems.problem import FIELD_NAMES, Problem
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .._metal3.ironic_place import POD_OPTIONS
from .description import fields as host_fields
from .enrolment import validation as host_validation
from .service import HostService, failure, names_for, shortened
from .state import goals as host_goals
from .state.reading import read_hosts


def refuse_hosts(given):
    """Refuse the list of hosts as it was given, with all its problems.

    :param given: the module's parameters, of any type
    :raises RefusedError: when it has any
    """
    problems = host_validation.check_raw(given.get("hosts"), given.get("wait_for"))
    if problems:
        raise RefusedError(problems, names_for(given))


def host_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``baremetal_host``."""
    options = argument_spec(host_fields.HOST)
    options["state"]["default"] = "present"
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        create_namespace={"type": "bool", "default": False},
        hosts={"type": "list", "elements": "dict", "required": True, "options": options},
        deploy={"type": "bool", "default": True},
        force_hosts={"type": "list", "elements": "str", "default": []},
        allow_detach={"type": "bool", "default": False},
        allow_deprovision={"type": "bool", "default": False},
        allow_power_off={"type": "bool", "default": False},
        delete_only_detached={"type": "bool", "default": False},
        refuse_protected={"type": "bool", "default": False},
        confirm_names={"type": "list", "elements": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        confirm_playbook={"type": "str", "default": ""},
        check_images={"type": "bool", "default": False},
        image_ca_file={"type": "path"},
        ironic_pod={"type": "dict", "options": POD_OPTIONS},
        field_names=FIELD_NAMES,
        wait_for={"type": "str", "choices": list(host_goals.GOALS)},
        wait_timeout_seconds={"type": "int", "default": 1800},
        error_limit={"type": "int", "default": 3},
        system_port={"type": "int"},
        system_addresses={"type": "dict", "default": {}},
        show_table={"type": "bool", "default": False},
        **boot_argument_spec(),
    )


def _system_port(params: dict[str, Any]) -> int:
    """Return the port on which systems are waited for, 0 for none.

    :raises RefusedError: when it is no port
    """
    port: int = params["system_port"] or 0
    if not 0 <= port <= 65535:
        raise RefusedError([Problem("value", "system_port", "", port, "a TCP port, or 0 for none", "correct it")],
                           names_for(params))
    return port if params["wait_for"] == "provisioned" else 0


def run_baremetal_host() -> None:
    """Run the module ``baremetal_host``."""
    module = KubeModule(host_argument_spec(), check=refuse_hosts)
    waits = bool(module.params["wait_for"]) and not module.check_mode
    with module.reporting(), BootWatch(module.params, waits) as watch, SystemPorts(
            _system_port(module.params), module.params["system_addresses"]) as systems:
        result = HostService(
            module.connect(), module.params, module.check_mode, module.progress, phase=watch.text,
            raid_nodes=watch.raid_nodes, system=lambda bmh: systems.lacking(
                bmh["metadata"]["name"], lambda seconds: watch.system_text(bmh, seconds))).run()
    result["warnings"] += watch.warnings
    finish(module, result, module.params["wait_for"])


def finish(module, result, goal):
    """End a module with a result that has ``hosts``, and fail when one of them has.

    :param module: a Module
    :param result: dict
    :param goal: what the hosts should have become, as for :func:`service.failure`
    """
    text = failure(result["hosts"], goal)
    if text:
        # Ansible prints a failed result as a whole.
        result["hosts"] = [shortened(facts) for facts in result["hosts"]]
    module.finish(result, text)


def run_baremetal_host_info() -> None:
    """Run the module ``baremetal_host_info``."""
    module = KubeModule(dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        all_namespaces={"type": "bool", "default": False},
        names={"type": "list", "elements": "str"},
        label_selector={"type": "str"},
        full_objects={"type": "bool", "default": False},
        hardware_data={"type": "bool", "default": False},
    ))
    params = module.params
    with module.reporting():
        result = read_hosts(
            module.connect(), None if params["all_namespaces"] else params["namespace"], params["names"],
            params["label_selector"], params["full_objects"], params["hardware_data"])
    if not result["hosts"] and not params["all_namespaces"]:
        module.warn_without(params["namespace"])
    module.finish(dict(result, changed=False))

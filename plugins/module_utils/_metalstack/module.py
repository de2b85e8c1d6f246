# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules metalstack_network, metalstack_ip, metalstack_machine, metalstack_firewall, metalstack_info."""
from __future__ import annotations

from typing import Any

from .._common.module import Module
from . import fields, info_service
from .client import HAS_METAL_PYTHON, MetalClient, metal_argument_spec
from .kinds import FIREWALL, IP, MACHINE, NETWORK, Kind
from .service import Service


def list_argument_spec(option: str, options: dict[str, dict[str, Any]], waits: bool) -> dict[str, dict[str, Any]]:
    """Return the options of a module that takes a list, without those of the connection."""
    spec: dict[str, dict[str, Any]] = {
        option: {"type": "list", "elements": "dict", "required": True, "options": options},
        "confirm": {"type": "str"}}
    if waits:
        spec.update(wait={"type": "bool", "default": True}, wait_timeout_seconds={"type": "int", "default": 1800},
                    poll_interval_seconds={"type": "float", "default": 5.0})
    return spec


def info_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of ``metalstack_info``, without those of the connection."""
    return {"gather": {"type": "list", "elements": "str", "choices": list(info_service.GATHERED)},
            "project": {"type": "str"}, "partition": {"type": "str"}, "names": {"type": "list", "elements": "str"}}


def _run(kind: Kind, options: dict[str, dict[str, Any]]) -> None:
    module = Module(dict(metal_argument_spec(), **list_argument_spec(kind.option, options, bool(kind.role_of()))))
    module.require(**{"metal-python": HAS_METAL_PYTHON})
    with module.reporting():
        client = MetalClient(module.params, module.progress.wrote)
        result = Service(kind, client, module.params, module.check_mode, module.progress).run()
    failed = [f"- {item['error']}" for item in result[kind.option] if item["failed"]]
    module.finish(result, "\n".join([f"{len(failed)} of {len(result[kind.option])} {kind.option} failed:"] + failed)
                  if failed else "")


def run_metalstack_network() -> None:
    """Run the module ``metalstack_network``."""
    _run(NETWORK, fields.network_options())


def run_metalstack_ip() -> None:
    """Run the module ``metalstack_ip``."""
    _run(IP, fields.ip_options())


def run_metalstack_machine() -> None:
    """Run the module ``metalstack_machine``."""
    _run(MACHINE, fields.machine_options())


def run_metalstack_firewall() -> None:
    """Run the module ``metalstack_firewall``."""
    _run(FIREWALL, fields.firewall_options())


def run_metalstack_info() -> None:
    """Run the module ``metalstack_info``."""
    module = Module(dict(metal_argument_spec(), **info_argument_spec()))
    module.require(**{"metal-python": HAS_METAL_PYTHON})
    with module.reporting():
        result = info_service.read(MetalClient(module.params, module.progress.wrote), module.params)
    module.finish(dict(result, changed=False))

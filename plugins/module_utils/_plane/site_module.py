# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_site."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .._kube.connection.library import HAS_KUBERNETES
from .process import engine, service_unit, site_service


def run_plane_site() -> None:
    """Run the module ``plane_site``."""
    module = Module({
        "name": {"type": "str"},
        "state": {"type": "str", "choices": ["present", "stopped", "absent", "found"], "default": "present"},
        "dir": {"type": "str"},
        "address": {"type": "str"},
        "kubernetes_address": {"type": "str"},
        "ports": {"type": "dict", "default": {}},
        "network_boot": {"type": "bool", "default": False},
        "ironic_separate": {"type": "bool", "default": False},
        "boot_images": {"type": "dict", "default": {}, "options": {
            "kernel": {"type": "str"}, "ramdisk": {"type": "str"}, "bootloader": {"type": "str"},
            "iso": {"type": "str"}, "external_url_v6": {"type": "str"}}},
        "nginx_program": {"type": "path", "default": "/usr/sbin/nginx"},
        "source_dir": {"type": "path"},
        "services_python": {"type": "path"},
        "requirements_file": {"type": "path"},
        "programs": {"type": "str", "choices": [engine.BUILT, engine.FROM_IMAGES], "default": engine.BUILT},
        "service": {"type": "str", "choices": list(service_unit.CHOICES), "default": service_unit.AUTO},
        "confirm": {"type": "str"},
        "confirm_among": {"type": "list", "elements": "str", "default": []},
    }, required_if=[
        ("state", "present", ["name", "source_dir"]),
        ("state", "stopped", ["name"]),
        ("state", "absent", ["name"]),
        ("state", "found", ["dir"]),
        ("state", "present", ["services_python", "requirements_file"], True),
    ])
    module.require(kubernetes=HAS_KUBERNETES)
    with module.reporting(), os_errors_reported("plane"):
        module.finish(_work(module.params["state"])(module.params, module.check_mode, module.progress))


def _work(state: str) -> Callable[..., dict[str, Any]]:
    if state in ("stopped", "absent"):
        # Only a removal asks the API server, and this is most of what there is to load.
        from .process import site_removal_service

        return site_removal_service.stopped if state == "stopped" else site_removal_service.absent
    return site_service.present if state == "present" else site_service.found

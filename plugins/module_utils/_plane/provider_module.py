# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_provider."""
from __future__ import annotations

from .._common.problems.errors import os_errors_reported
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .parts import manifests
from .process import certificates, provider_service

_PROVIDER = {
    "name": {"type": "str", "required": True, "choices": ["capi", "cabpk", "kcp", "capm3", "ipam", "bmo"]},
    "arguments": {"type": "list", "elements": "str", "default": []},
    "environment": {"type": "dict", "default": {}},
    "restart_on": {"type": "list", "elements": "path", "default": []},
}


def run_plane_provider() -> None:
    """Run the module ``plane_provider``."""
    module = KubeModule(dict(
        kube_argument_spec(),
        management_plane={"type": "dict", "required": True},
        providers={"type": "list", "elements": "dict", "required": True, "options": _PROVIDER},
        objects={"type": "list", "elements": "dict", "default": []},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        show_table={"type": "bool", "default": False},
        wait={"type": "bool", "default": True},
        timeout_seconds={"type": "int", "default": 60},
    ))
    module.require(PyYAML=manifests.HAS_YAML, cryptography=certificates.HAS_CRYPTOGRAPHY)
    with module.reporting(), os_errors_reported("plane"):
        module.finish(provider_service.start(module.params, module.connect, module.check_mode, module.progress))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_processes."""
from __future__ import annotations

from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .._kube.connection.library import HAS_KUBERNETES
from .process import process_group, readiness

_READY = {
    "url": {"type": "str"},
    "status": {"type": "list", "elements": "int", "default": [200]},
    "ca_file": {"type": "path"},
    "client_cert": {"type": "path"},
    "client_key": {"type": "path", "no_log": False},
    "username_file": {"type": "path"},
    "password_file": {"type": "path", "no_log": False},
    "holds": {"type": "str"},
    "tcp": {"type": "str"},
    "unix": {"type": "path"},
    "file": {"type": "path"},
    "timeout_seconds": {"type": "int", "default": readiness.DEFAULT_TIMEOUT_SECONDS},
}
_PROGRAM = {
    "name": {"type": "str", "required": True},
    "command": {"type": "list", "elements": "str"},
    "environment": {"type": "dict", "default": {}},
    "directory": {"type": "path"},
    "restart_on": {"type": "list", "elements": "path", "default": []},
    "stop_wait_seconds": {"type": "int", "default": 10},
    "ready": {"type": "dict", "options": _READY, "required_together": [("username_file", "password_file")]},
}


def run_plane_processes() -> None:
    """Run the module ``plane_processes``."""
    module = Module({
        "supervisor_dir": {"type": "path", "required": True},
        "state": {"type": "str", "choices": ["started", "ready", "absent"], "default": "started"},
        "wait": {"type": "bool", "default": True},
        "programs": {"type": "list", "elements": "dict", "default": [], "options": _PROGRAM},
        "hosts_kubeconfig": {"type": "path"},
        "pending_files": {"type": "list", "elements": "path", "default": []},
    })
    params = module.params
    with module.reporting(), os_errors_reported("plane"):
        if params["hosts_kubeconfig"]:
            _guard(module)
        module.finish(process_group.ensure(params, module.check_mode, module.progress.wrote))


def _guard(module: Module) -> None:
    """Refuse what would interrupt hosts; see ``restart_guard.check``."""
    # Most runs have no API server to ask, and this is most of what there is to load.
    from .process import restart_guard

    module.require(kubernetes=HAS_KUBERNETES)
    restart_guard.check(module.params)

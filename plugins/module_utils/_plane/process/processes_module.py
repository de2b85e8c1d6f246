# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``plane_processes``: keeps programs running under supervisord."""
from __future__ import annotations

import traceback
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from . import process_group, readiness
from .figures import FiguresError
from .orphans import CleanupError
from .supervisor import (
    Layout,
    Supervisor,
    SupervisorError,
)

READY = {
    "url": {"type": "str"},
    "status": {"type": "list", "elements": "int", "default": [200]},
    "ca_file": {"type": "path"},
    "client_cert": {"type": "path"},
    "client_key": {"type": "path", "no_log": False},
    "username_file": {"type": "path"},
    "password_file": {"type": "path", "no_log": False},
    "holds": {"type": "str"},
    "tcp": {"type": "str"},
    "file": {"type": "path"},
    "timeout_seconds": {"type": "int", "default": readiness.DEFAULT_TIMEOUT_SECONDS},
}
PROGRAM = {
    "name": {"type": "str", "required": True},
    "command": {"type": "list", "elements": "str"},
    "environment": {"type": "dict", "default": {}},
    "directory": {"type": "path"},
    "restart_on": {"type": "list", "elements": "path", "default": []},
    "stop_wait_seconds": {"type": "int", "default": 10},
    "ready": {"type": "dict", "options": READY, "required_together": [("username_file", "password_file")]},
}


def run(module: Any) -> Any:
    """Bring the programs to the wanted state and return the module's result."""
    params = module.params
    supervisor = Supervisor(Layout(params["supervisor_dir"]))
    names = [program["name"] for program in params["programs"]]
    if params["state"] == "absent":
        actions = process_group.stop(supervisor, names, module.check_mode)
    elif params["state"] == "ready":
        actions = {}
        if not module.check_mode:
            process_group.wait(supervisor)
    else:
        for program in params["programs"]:
            if not program["command"]:
                raise SupervisorError(f"program {program['name']}: no command")
        actions = process_group.start(supervisor, params["programs"], module.check_mode)
        if params["wait"] and not module.check_mode:
            process_group.wait(supervisor, names)
    return {"changed": process_group.changed(actions), "programs": actions}


def run_plane_processes() -> None:
    """Run the module ``plane_processes``."""
    module = AnsibleModule(
        argument_spec={
            "supervisor_dir": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["started", "ready", "absent"], "default": "started"},
            "wait": {"type": "bool", "default": True},
            "programs": {"type": "list", "elements": "dict", "default": [], "options": PROGRAM},
        },
        supports_check_mode=True,
    )
    try:
        result = run(module)
    except (SupervisorError, CleanupError, FiguresError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(**result)

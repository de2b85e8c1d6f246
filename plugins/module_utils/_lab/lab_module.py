# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``lab``: brings a lab's figures, servers and folders to be, or removes a lab."""
from __future__ import annotations

import os
import shutil
import traceback
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from .._common.progress import Progress
from .._plane.process import (
    engine,
    figures,
    python_environment,
    user_folders,
)
from .._plane.process.figures import FiguresError
from .._plane.process.orphans import CleanupError
from . import (
    claim,
    credentials,
    debian_packages,
    host_limits,
    layout,
    removal,
    servers,
)


def check_packages(path: Any) -> None:
    """Fail for Debian packages that are missing.

    :param path: the list
    :raises PackagesError: naming them
    """
    with open(path, encoding="utf-8") as stream:
        lacking = debian_packages.missing(debian_packages.parse(stream.read()))
    if lacking:
        raise debian_packages.PackagesError(
            "these Debian packages are missing: %s. As root, to install them without starting their services: "
            "python3 %s %s"
            % (", ".join(lacking), os.path.join(os.path.dirname(path), "debian_packages.py"), path))


def services_environment(module: Any) -> Any:
    """Return the Python that runs the lab's services, and whether its environment was made."""
    params = module.params
    if params["services_python"]:
        return params["services_python"], False
    path = python_environment.venv_path("services", params["requirements_file"])
    made = not python_environment.is_finished(path)
    if made and not module.check_mode:
        python_environment.ensure("services", params["requirements_file"], Progress().event)
    return os.path.join(path, "bin", "python"), made


def present(module: Any) -> Any:
    """Give the lab its figures and return the module's result."""
    params = module.params
    if params["packages_file"] and shutil.which("dpkg-query"):
        check_packages(params["packages_file"])
    services_python, made_environment = services_environment(module)
    additions = {
        "services_python": services_python,
        "engine_dir": engine.Engine(params["source_dir"], user_folders.cache_dir()).directory,
    }
    existed = figures.read(layout.lab_dir(params["name"])) is not None
    lab_figures, made, differing = claim.ensure(
        params["name"], additions, lambda lab: servers.servers(lab, params["hardware"]), os.environ,
        module.check_mode)
    differing += claim.ensure_folders(lab_figures["dir"], module.check_mode)
    differing += credentials.ensure_machine_room(lab_figures["dir"], module.check_mode)
    if params["nodes"]:
        try:
            differing += host_limits.ensure(module.check_mode)
        except OSError as error:
            module.warn(f"{host_limits.SETTING} can't be raised ({error}): more than four nodes will not start")
    return {"changed": bool(differing) or made_environment, "lab": lab_figures, "servers": made, "differing": differing,
            "existed": existed}


def run_lab() -> None:
    """Run the module ``lab``."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "default": "lab"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "source_dir": {"type": "path"},
            "services_python": {"type": "path"},
            "requirements_file": {"type": "path"},
            "packages_file": {"type": "path"},
            "nodes": {"type": "bool", "default": False},
            "hardware": {"type": "dict", "default": {}},
        },
        required_if=[
            ("state", "present", ["source_dir"]),
            ("state", "present", ["services_python", "requirements_file"], True),
        ],
        supports_check_mode=True,
    )
    try:
        if module.params["state"] == "absent":
            removed = removal.remove(module.params["name"], os.environ, module.check_mode)
            result = {"changed": bool(removed), "removed": removed}
        else:
            result = present(module)
    except (FiguresError, engine.EngineError, CleanupError, debian_packages.PackagesError,
            python_environment.VenvError, OSError, ValueError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(**result)

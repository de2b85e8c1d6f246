#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a lab its figures, or removes everything of a lab."""
from __future__ import annotations

DOCUMENTATION = r"""
module: lab
short_description: Give a lab its figures, or remove a lab
version_added: "0.1.0"
description:
  - With O(state=present), chooses the lowest index whose ports, bridge and network are free and that no other lab has,
    and keeps all that follows from it in C(lab.json) and C(servers.json) in the lab's folder, with the folders and
    secrets that its programs need. A lab that exists keeps its figures; when another process listens on one of its
    ports, the module fails and names port, part and process.
  - Before that, checks what the lab's programs need, O(packages_file) and O(requirements_file).
  - With O(state=absent), ends the lab's processes, removes its mounts, loop devices, network namespaces, network
    devices and its folder. It does so from whatever a killed run left behind.
options:
  name:
    description: Name of the lab.
    type: str
    default: lab
  state:
    description: Whether the lab has figures, or nothing of it is left.
    type: str
    choices: [present, absent]
    default: present
  source_dir:
    description: Folder with the engine's C(go.mod) and C(go.sum). Required with O(state=present).
    type: path
  services_python:
    description:
      - Python program of the environment that has Ironic, sushy-tools and supervisor.
      - By default the environment that O(requirements_file) describes, which is made in the cache unless it is there.
        With O(state=present) one of the two is required.
    type: path
  requirements_file:
    description: Requirements file in which all packages of that environment are pinned.
    type: path
  packages_file:
    description:
      - List of Debian packages that the lab needs. The module installs none; it fails and names those that are missing.
      - On a machine without C(dpkg-query) nothing is checked.
    type: path
  nodes:
    description:
      - Whether servers are to boot what is on their disks, which takes root.
      - Several nodes need more inotify instances than C(fs.inotify.max_user_instances) allows by default. It is raised,
        and put back when the last lab of the machine is removed.
    type: bool
    default: false
  hardware:
    description:
      - Hardware of the simulated servers, server name → hardware, as the inventory plugin
        P(metal3.baremetal.lab#inventory) gives it.
    type: dict
    default: {}
extends_documentation_fragment:
  - metal3.baremetal.attributes.without_diff
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give the lab its figures
  metal3.baremetal.lab:
    name: lab
    source_dir: "{{ role_path }}/../../lab/engine"
    requirements_file: "{{ role_path }}/../../lab/requirements.txt"
    packages_file: "{{ role_path }}/../../lab/debian-packages.txt"

- name: Leave nothing of the lab
  metal3.baremetal.lab:
    name: lab
    state: absent
"""

RETURN = r"""
lab:
  description: The lab's figures, the contents of its C(lab.json).
  returned: when O(state=present)
  type: dict
servers:
  description: The lab's servers, the contents of its C(servers.json).
  returned: when O(state=present)
  type: list
  elements: dict
differing:
  description: Files and folders that were made, or would be in check mode.
  returned: when O(state=present)
  type: list
  elements: str
existed:
  description: Whether the lab had its figures before.
  returned: when O(state=present)
  type: bool
removed:
  description: What was removed.
  returned: when O(state=absent)
  type: list
  elements: str
  sample: [process 4711, network device m3lab0, folder /home/me/.local/state/metal3.baremetal/labs/lab]
"""

import os
import shutil
import traceback

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import (
    claim,
    credentials,
    debian_packages,
    host_limits,
    layout,
    removal,
    servers,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import (
    engine,
    figures,
    python_environment,
    user_folders,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.figures import FiguresError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.orphans import CleanupError


def check_packages(path):
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


def services_environment(module):
    """Return the Python that runs the lab's services, and whether its environment was made."""
    params = module.params
    if params["services_python"]:
        return params["services_python"], False
    path = python_environment.venv_path("services", params["requirements_file"])
    made = not python_environment.is_finished(path)
    if made and not module.check_mode:
        python_environment.ensure("services", params["requirements_file"], Progress().event)
    return os.path.join(path, "bin", "python"), made


def present(module):
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


def main():
    """Run the module."""
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


if __name__ == "__main__":
    main()

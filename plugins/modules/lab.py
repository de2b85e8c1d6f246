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
      - By default the environment that O(requirements_file) describes, created in the cache unless it is there.
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
      - Whether servers boot what is on their disks, which takes root.
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
  description: Files and folders that were created, or would be in check mode.
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
written:
  description: What the run had stored before it failed.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: A path, or the object as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "/var/lib/metal3.baremetal/labs/lab/lab.json", "action": "created"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.module import run_lab


def main():
    """Run the module."""
    run_lab()


if __name__ == "__main__":
    main()

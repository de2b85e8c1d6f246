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
    and keeps all that follows from it in C(lab.json) and C(servers.json) in the lab's folder. A lab that exists keeps
    its figures; when another process listens on one of its ports, the module fails and names port, part and process.
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
      - Python program of the environment that has Ironic, sushy-tools and supervisor. Required with O(state=present).
    type: path
  hardware:
    description:
      - Hardware of the simulated servers, server name → hardware, as the inventory plugin
        P(metal3.baremetal.lab#inventory) gives it.
    type: dict
    default: {}
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give the lab its figures
  metal3.baremetal.lab:
    name: lab
    source_dir: "{{ role_path }}/../../lab/engine"
    services_python: "{{ ansible_playbook_python }}"

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
  description: Files that were written.
  returned: when O(state=present)
  type: list
  elements: str
removed:
  description: What was removed.
  returned: when O(state=absent)
  type: list
  elements: str
  sample: [process 4711, network device m3lab0, folder /home/me/.local/state/metal3.baremetal/labs/lab]
"""

import os
import traceback

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.metal3.baremetal.plugins.module_utils.lab import claim, engine, removal, servers
from ansible_collections.metal3.baremetal.plugins.module_utils.lab.orphans import CleanupError


def present(module):
    """Give the lab its figures and return the module's result."""
    params = module.params
    additions = {
        "services_python": params["services_python"],
        "engine_dir": engine.Engine(params["source_dir"], claim.layout.cache_dir()).directory,
    }
    figures, made, differing = claim.ensure(
        params["name"], additions, lambda lab: servers.servers(lab, params["hardware"]), os.environ,
        module.check_mode)
    return {"changed": bool(differing), "lab": figures, "servers": made, "differing": differing}


def main():
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "default": "lab"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "source_dir": {"type": "path"},
            "services_python": {"type": "path"},
            "hardware": {"type": "dict", "default": {}},
        },
        required_if=[("state", "present", ["source_dir", "services_python"])],
        supports_check_mode=True,
    )
    try:
        if module.params["state"] == "absent":
            removed = removal.remove(module.params["name"], os.environ, module.check_mode)
            result = {"changed": bool(removed), "removed": removed}
        else:
            result = present(module)
    except (claim.ClaimError, engine.EngineError, CleanupError, ValueError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(**result)


if __name__ == "__main__":
    main()

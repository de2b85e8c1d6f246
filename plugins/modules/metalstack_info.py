#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what metal-stack has."""
from __future__ import annotations

DOCUMENTATION = r"""
module: metalstack_info
short_description: Read networks, addresses, machines and more of metal-stack
version_added: "0.1.0"
description:
  - Returns what metal-api has as plain data, each kind read by one request.
  - User data of machines is never returned.
options:
  gather:
    description: What to read; all by default.
    type: list
    elements: str
    choices: [networks, ips, machines, firewalls, images, sizes, partitions, projects]
  project:
    description: UUID of a project; what belongs to another one is left out.
    type: str
  partition:
    description: Partition; what is in another one is left out.
    type: str
  names:
    description: Names; what has another one is left out.
    type: list
    elements: str
extends_documentation_fragment:
  - metal3.baremetal.metalstack
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the machines of a project
  metal3.baremetal.metalstack_info:
    api_url: https://api.metal-stack.example/metal
    gather: [machines, firewalls]
    project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e
  register: found
"""

RETURN = r"""
networks:
  description: The networks, with their id and name.
  returned: when it is read
  type: list
  elements: dict
ips:
  description: The ips, with their id (C(address) for these) and name.
  returned: when it is read
  type: list
  elements: dict
machines:
  description: The machines, with their id and name.
  returned: when it is read
  type: list
  elements: dict
firewalls:
  description: The firewalls, with their id and name.
  returned: when it is read
  type: list
  elements: dict
images:
  description: The images, with their id and name.
  returned: when it is read
  type: list
  elements: dict
sizes:
  description: The sizes, with their id and name.
  returned: when it is read
  type: list
  elements: dict
partitions:
  description: The partitions, with their id and name.
  returned: when it is read
  type: list
  elements: dict
projects:
  description: The projects, with their id and name.
  returned: when it is read
  type: list
  elements: dict
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.module import run_metalstack_info


def main():
    """Run the module."""
    run_metalstack_info()


if __name__ == "__main__":
    main()

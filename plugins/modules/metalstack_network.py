#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allocate, change and free networks of metal-stack."""
from __future__ import annotations

DOCUMENTATION = r"""
module: metalstack_network
short_description: Allocate, change and free networks of metal-stack
version_added: "0.1.0"
description:
  - Takes a list of networks and allocates, changes or frees them through metal-api.
  - The whole list is checked before anything is changed, by itself and against what metal-api has; each kind is read by
    one request. Options that are left out leave their field as it is.
  - Names are not unique in metal-stack. An entry whose name fits several is refused.
  - When the answer to an allocation is an error or gets lost, metal-api is asked what it has before another attempt, so
    that nothing is allocated twice.
options:
  networks:
    description: The networks.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name, by which it is found in its project and partition.
        type: str
        required: true
      id:
        description: Id of a network that exists, where its name is not unique.
        type: str
      partition:
        description: Partition. Required to allocate a network.
        type: str
      labels:
        description: Labels as a whole, texts.
        type: dict
      destination_prefixes:
        description: Networks that are reached through this one, as a whole. metal-api does not take all of them off.
        type: list
        elements: str
      nat:
        description: Whether firewalls translate the addresses of what leaves through this network. Cannot be changed.
        type: bool
      shared:
        description: Whether machines of other projects may have this network too. Once shared, it stays so.
        type: bool
      address_family:
        description: Address family of its prefix, for an allocation.
        type: str
        choices: [IPv4, IPv6]
      prefix_length:
        description: Length of its prefix, for an allocation.
        type: int
      project:
        description: UUID of the project that has it.
        type: str
        required: true
      description:
        description: A text for users.
        type: str
      state:
        description: Whether it must exist. With V(absent) it is freed, which O(confirm) must repeat.
        type: str
        choices: [present, absent]
        default: present
  confirm:
    description:
      - Names or ids of what is freed, with commas between.
        A number is not enough.
      - A name that several of them have counts only with its project before it, as C(<project>/<name>).
    type: str
extends_documentation_fragment:
  - metal3.baremetal.metalstack
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.metalstack_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Allocate the private network of a cluster
  metal3.baremetal.metalstack_network:
    api_url: https://api.metal-stack.example/metal
    networks:
      - name: prod-nodes
        project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e
        partition: fra-1

- name: Free it
  metal3.baremetal.metalstack_network:
    api_url: https://api.metal-stack.example/metal
    confirm: prod-nodes
    networks:
      - name: prod-nodes
        project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e
        state: absent
"""

RETURN = r"""
networks:
  description: Each entry of the list, in its order, with what is stored of it.
  returned: when the list was accepted
  type: list
  elements: dict
  contains:
    name:
      description: Name as in the entry.
      type: str
      returned: always
    project:
      description: Project as in the entry.
      type: str
      returned: always
    action:
      description: V(allocated), V(updated), V(freed) or V(unchanged).
      type: str
      returned: always
    changed:
      description: Whether something changed.
      type: bool
      returned: always
    failed:
      description: Whether this entry failed.
      type: bool
      returned: always
    error:
      description: What failed, and the next step; empty when nothing did.
      type: str
      returned: always
    id:
      description: Id; missing when there is none.
      type: str
      returned: when it exists
    prefixes:
      description: Prefixes.
      type: list
      elements: str
      returned: when it exists
counts:
  description: How many entries there are, changed and failed.
  returned: when the list was accepted
  type: dict
  sample: {total: 2, changed: 1, failed: 0}
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when the input was refused
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule that was broken.
      type: str
    subject:
      description: The object that it is about.
      type: str
    field:
      description: Path of the option; empty when the whole object is meant.
      type: str
    actual:
      description: What was found, V(null) when it is not set; never a secret value.
      type: str
    expected:
      description: What is allowed.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
written:
  description: What the run had stored before it failed.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(allocated) or V(freed).
      type: str
  sample: [{"object": "machine prod-0", "action": "allocated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.module import run_metalstack_network


def main():
    """Run the module."""
    run_metalstack_network()


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allocate, reinstall, power and free machines of metal-stack."""
from __future__ import annotations

DOCUMENTATION = r"""
module: metalstack_machine
short_description: Allocate, reinstall, power and free machines of metal-stack
version_added: "0.1.0"
description:
  - Takes a list of machines and allocates, changes or frees them through metal-api.
  - The whole list is checked before anything is changed, by itself and against what metal-api has; each kind is read by
    one request. Options that are left out leave their field as it is.
  - Names are not unique in metal-stack. An entry whose name fits several is refused.
  - When the answer to an allocation is an error or gets lost, metal-api is asked what it has before another attempt, so
    that nothing is allocated twice.
options:
  machines:
    description: The machines.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the allocation, by which it is found in its project.
        type: str
        required: true
      id:
        description:
          - UUID of the server that must be taken. metal-api then ignores partition and size.
          - Also names one of several allocations with the same name.
        type: str
      partition:
        description: Partition. Required to allocate, unless O(machines[].id) is set.
        type: str
      size:
        description: Size. Required to allocate, unless O(machines[].id) is set.
        type: str
      image:
        description:
          - Id of the image, or of a series such as V(ubuntu-24.04), whose newest is taken.
          - Required to allocate.
        type: str
      hostname:
        description: Host name; by default the name.
        type: str
      networks:
        description: Networks, exactly one of them a private one of the project. A plain id may stand for an entry.
        type: list
        elements: dict
        suboptions:
          name:
            description: Id of the network.
            type: str
            required: true
          autoacquire:
            description: Whether an address of this network is allocated for it.
            type: bool
            default: true
      ips:
        description: Addresses of the project that it gets, for example the endpoint of a control plane.
        type: list
        elements: str
      ssh_keys:
        description: Public SSH keys.
        type: list
        elements: str
      tags:
        description: Tags as a whole. Tags that metal-api writes itself (C(machine.metal-stack.io/)) stay.
        type: list
        elements: str
      user_data:
        description: Ignition or cloud-init for the first boot. Never shown.
        type: str
      filesystem_layout:
        description: Id of the file system layout.
        type: str
      placement_tags:
        description: Machines with the same placement tags are spread over racks.
        type: list
        elements: str
      power:
        description:
          - V(on) and V(off) are compared with what the BMC reports. V(cycle) and V(reset) interrupt it in each run.
          - All but V(on) must be repeated in O(confirm).
        type: str
        choices: ["on", "off", cycle, reset]
      reinstall:
        description:
          - Whether a machine with another image is reinstalled with O(machines[].image), which O(confirm) must repeat;
            else another image is refused.
        type: bool
        default: false
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
      - Names or ids of what is freed, reinstalled or interrupted, with commas between.
        A number is not enough.
      - A name that several of them have counts only with its project before it, as C(<project>/<name>).
    type: str
  wait:
    description: Whether to wait until what is allocated has phoned home, and what is freed is free.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait at most, in seconds.
    type: int
    default: 1800
  poll_interval_seconds:
    description: From one question to the next, in seconds.
    type: float
    default: 5.0
extends_documentation_fragment:
  - metal3.baremetal.metalstack
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - With power V(cycle) or V(reset) each run interrupts the machine.
seealso:
  - module: metal3.baremetal.metalstack_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Allocate two machines, one of them a certain server
  metal3.baremetal.metalstack_machine:
    api_url: https://api.metal-stack.example/metal
    machines:
      - name: prod-0
        project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e
        partition: fra-1
        size: c1-large
        image: ubuntu-24.04
        networks: [prod-nodes-id]
      - name: prod-1
        project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e
        id: 9d8a5f10-2f0c-4f5e-8f0e-6f7f3b2a1c0d
        image: ubuntu-24.04
        networks: [prod-nodes-id]

- name: Free one
  metal3.baremetal.metalstack_machine:
    api_url: https://api.metal-stack.example/metal
    confirm: prod-0
    machines:
      - name: prod-0
        project: 3f1c6b0e-7f2d-4a35-9d7f-3c1f0a2b4d5e
        state: absent
"""

RETURN = r"""
machines:
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
      description: V(allocated), V(updated), V(reinstalled), V(powered_on), V(powered_off), V(power_cycled), V(reset),
        V(freed) or V(unchanged).
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
      description: UUID; missing when there is none.
      type: str
      returned: when it exists
    addresses:
      description: Addresses.
      type: list
      elements: str
      returned: when it exists
    event:
      description: Newest event.
      type: str
      returned: when it exists
    ready:
      description: Whether it is installed and has phoned home.
      type: bool
      returned: when it exists
    provider_id:
      description: Provider id as the Cluster API provider of metal-stack writes it.
      type: str
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

from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.module import run_metalstack_machine


def main():
    """Run the module."""
    run_metalstack_machine()


if __name__ == "__main__":
    main()

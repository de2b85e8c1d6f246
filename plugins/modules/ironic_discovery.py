#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and deletes the nodes that Ironic made by itself."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_discovery
short_description: Read or delete the nodes that Ironic made of unknown machines
version_added: "0.1.0"
description:
  - With Ironic's automatic discovery (the variable C(ironic_auto_discovery) of the role C(ironic)) each unknown machine
    that boots from the provisioning network reports itself, and Ironic makes a node of it that has no name, no BMC and
    no credentials.
  - This module returns what these machines reported, for M(metal3.baremetal.bmc_discovery) to find their BMCs.
  - What a machine reported may be false, since anybody on that network can report anything. It is returned as plain
    texts, addresses and MAC addresses.
  - The nodes are to be deleted before their servers are enrolled, which O(state=absent) does. The Bare Metal Operator
    takes over a node without a name that has a host's boot MAC address, with the driver and interfaces that Ironic gave
    it, and these are seldom the host's.
  - A node that has a name, a BMC or an instance, that was managed before, or whose data does not say that Ironic made
    it, is neither returned nor deleted.
options:
  state:
    description: V(present) reads. V(absent) also deletes the nodes that O(nodes) or O(macs) name.
    type: str
    choices: [present, absent]
    default: present
  nodes:
    description: UUIDs of nodes to delete, for O(state=absent).
    type: list
    elements: str
  macs:
    description: >-
      MAC addresses, for O(state=absent). Nodes of machines that reported a card with one of them are deleted.
    type: list
    elements: str
  node_limit:
    description: How many nodes without a name and a BMC there may be. More are refused.
    type: int
    default: 1024
extends_documentation_fragment:
  - metal3.baremetal.ironic
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.bmc_discovery
  - module: metal3.baremetal.discovered_inventory
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read what unknown machines reported
  metal3.baremetal.ironic_discovery:
    cloud: metal3
  register: reported

- name: Ask those of their BMCs that are in the site's network of BMCs
  metal3.baremetal.bmc_discovery:
    targets:
      - addresses: [192.0.2.0/24]
        username: admin
        password: "{{ vault_bmc_password }}"
    machines: "{{ reported.machines }}"
  register: found

- name: Delete the node of a machine that is nobody's
  metal3.baremetal.ironic_discovery:
    cloud: metal3
    state: absent
    nodes: [1be26c0b-03f2-4d2e-ae87-c02d7f33c123]
"""

RETURN = r"""
machines:
  description: What unknown machines reported, ordered by node.
  returned: success
  type: list
  elements: dict
  contains:
    node:
      description: UUID of the node that Ironic made.
      type: str
      returned: always
    bmc_addresses:
      description: IP addresses of the BMC, at most one of each family.
      type: list
      elements: str
      returned: always
    boot_mac:
      description: MAC address of the card that it booted from, empty where it names none of its own.
      type: str
      returned: always
    nics:
      description: Its cards, with C(name) and C(mac).
      type: list
      elements: dict
      returned: always
    manufacturer:
      description: Manufacturer.
      type: str
      returned: always
    model:
      description: Model.
      type: str
      returned: always
    serial_number:
      description: Serial number.
      type: str
      returned: always
  sample:
    - node: 1be26c0b-03f2-4d2e-ae87-c02d7f33c123
      bmc_addresses: [192.0.2.11]
      boot_mac: "00:5c:52:31:3a:01"
      nics: [{name: eno1, mac: "00:5c:52:31:3a:01"}]
      manufacturer: A vendor
      model: A model
      serial_number: "42"
lines:
  description: The same as lines of text, with the nodes without a name and a BMC that have no such report.
  returned: success
  type: list
  elements: str
deleted:
  description: UUIDs of the nodes that were deleted, in check mode of those that would be.
  returned: success
  type: list
  elements: str
failed_nodes:
  description: Nodes that could not be deleted.
  returned: success
  type: list
  elements: dict
  contains:
    node:
      description: UUID of the node.
      type: str
    error:
      description: Why.
      type: str
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_discovery


def main():
    """Run the module."""
    run_ironic_discovery()


if __name__ == "__main__":
    main()

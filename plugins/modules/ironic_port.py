#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes, changes and deletes Ironic's ports."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_port
short_description: Make, change and delete ports of Ironic's nodes
version_added: "0.1.0"
description:
  - Takes a list of ports, each of which is known by its MAC address, and creates, changes, moves or deletes them in
    Ironic.
  - The whole list is checked before anything is written; nodes and ports are read by one request each, only differences
    are written, side by side. Options that are left out leave their field as it is; an empty text resets it.
  - Ports of a node that belongs to a BareMetalHost are refused unless O(force_nodes) names the node.
options:
  ports:
    description: The ports.
    type: list
    elements: dict
    required: true
    suboptions:
      address:
        description: MAC address.
        type: str
        required: true
      node:
        description: Name or UUID of its node. Needed unless O(ports[].state=absent).
        type: str
      state:
        description: Whether the port must exist.
        type: str
        choices: [present, absent]
        default: present
      move:
        description:
          - Whether a port that another node has becomes this node's; else it is refused. It is deleted there and
            created again here with what it has, except for its port group.
        type: bool
        default: false
      pxe_enabled:
        description: Whether the server boots from this port.
        type: bool
      physical_network:
        description: Physical network.
        type: str
      local_link_connection:
        description: Switch and port at the other end; written as a whole.
        type: dict
      is_smartnic:
        description: Whether it is a Smart NIC.
        type: bool
      portgroup_uuid:
        description: UUID of the port group.
        type: str
      name:
        description: Name of the port.
        type: str
      description:
        description: A text as text for messages. Needs API version 1.97.
        type: str
      vendor:
        description: Vendor of the card. Needs API version 1.100.
        type: str
      category:
        description: Category. Needs API version 1.101.
        type: str
      extra:
        description: Anything to be kept at the port; only the given keys are written, V(null) removes one.
        type: dict
  force_nodes:
    description: Names of nodes whose ports are changed although the Bare Metal Operator owns the node.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - metal3.baremetal.ironic
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.ironic_node
  - module: metal3.baremetal.ironic_audit
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give a node a second port, and delete a wrong one
  metal3.baremetal.ironic_port:
    cloud: metal3
    ports:
      - address: "00:5c:52:31:3a:02"
        node: rack1-01
        pxe_enabled: false
        physical_network: storage
      - address: "00:5c:52:31:3a:99"
        state: absent
"""

RETURN = r"""
ports:
  description: Each port of the list, in its order.
  returned: when the list was accepted
  type: list
  elements: dict
  contains:
    name:
      description: MAC address in lower case.
      type: str
      returned: always
    address:
      description: MAC address in lower case.
      type: str
      returned: always
    uuid:
      description: UUID of the port, empty when there is none.
      type: str
      returned: always
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
    changed:
      description: Whether the port changed.
      type: bool
      returned: always
    failed:
      description: Whether Ironic refused it.
      type: bool
      returned: always
    error:
      description: What Ironic refused; empty when it did not.
      type: str
      returned: always
counts:
  description: How many ports were created, updated, deleted, and how many failed.
  returned: when the list was accepted
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 1, failed: 0}
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
  description: What the run had stored before it failed, objects of other kinds included.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "node server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_port


def main():
    """Run the module."""
    run_ironic_port()


if __name__ == "__main__":
    main()

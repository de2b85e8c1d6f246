#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads Ironic's nodes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_node_info
short_description: Read nodes of Ironic
version_added: "0.1.0"
description:
  - Returns Ironic's nodes as plain data, read by one request (one for each 1000 nodes where Ironic pages).
  - With O(fields) only those are asked for, which is much faster for many nodes.
  - Secrets are never returned, whatever Ironic's policy says.
options:
  names:
    description: Names or UUIDs of the nodes to return; all by default.
    type: list
    elements: str
  fields:
    description: Names of fields as in Ironic's API; all by default. C(uuid) and C(name) are always there.
    type: list
    elements: str
  filters:
    description: Which nodes Ironic returns; all that are given must fit.
    type: dict
    suboptions:
      driver:
        description: Nodes of this driver.
        type: str
      provision_state:
        description: Nodes in this provision state.
        type: str
      resource_class:
        description: Nodes of this resource class.
        type: str
      conductor_group:
        description: Nodes of this conductor group.
        type: str
      owner:
        description: Nodes of this owner.
        type: str
      lessee:
        description: Nodes of this lessee.
        type: str
      fault:
        description: Nodes with this fault, for example V(power failure) or V(clean failure).
        type: str
      shard:
        description: Nodes of this shard.
        type: str
      instance_uuid:
        description: The node of this instance.
        type: str
      parent_node:
        description: Children of this node.
        type: str
      description_contains:
        description: Nodes whose description has this text in it.
        type: str
      maintenance:
        description: Nodes that are in maintenance, or are not.
        type: bool
      associated:
        description: Nodes that have an instance, or have none.
        type: bool
      retired:
        description: Nodes that are retired, or are not.
        type: bool
  ports:
    description: Whether to return each node's ports too, by one more request.
    type: bool
    default: false
  inventory:
    description: Whether to return what inspection found, by one more request for each node, side by side.
    type: bool
    default: false
  validate:
    description:
      - Whether to let Ironic check the settings of each node's interfaces, by one more request for each node, side by
        side.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.ironic
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.ironic_node
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the state of all nodes
  metal3.baremetal.ironic_node_info:
    cloud: metal3
    fields: [provision_state, power_state, last_error]
  register: ironic

- name: Name those that failed
  ansible.builtin.debug:
    msg: "{{ ironic.nodes | selectattr('provision_state', 'search', 'failed') | map(attribute='name') }}"

- name: See whether Ironic could deploy a node
  metal3.baremetal.ironic_node_info:
    cloud: metal3
    names: [rack1-01]
    validate: true
"""

RETURN = r"""
nodes:
  description: The nodes, ordered by name, with the fields of Ironic's API.
  returned: success
  type: list
  elements: dict
  contains:
    uuid:
      description: UUID of the node.
      type: str
      returned: always
    name:
      description: Name of the node.
      type: str
      returned: always
    provision_state:
      description: Provision state.
      type: str
      returned: when it was asked for
    power_state:
      description: Power state as Ironic last saw it.
      type: str
      returned: when it was asked for
    last_error:
      description: The last error.
      type: str
      returned: when it was asked for
    ports:
      description: The node's ports, ordered by address.
      type: list
      elements: dict
      returned: with O(ports)
    inventory:
      description: What inspection found (C(inventory) and C(plugin_data)), empty before inspection.
      type: dict
      returned: with O(inventory)
    validate:
      description: For each interface C(result) and C(reason).
      type: dict
      returned: with O(validate)
  sample:
    - {uuid: 1be26c0b-03f2-4d2e-ae87-c02d7f33c123, name: rack1-01, provision_state: available}
missing:
  description: Names that no node has.
  returned: success
  type: list
  elements: str
counts:
  description: How many of the returned nodes are in each provision state.
  returned: success
  type: dict
  sample: {available: 12, active: 3}
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_node_info


def main():
    """Run the module."""
    run_ironic_node_info()


if __name__ == "__main__":
    main()

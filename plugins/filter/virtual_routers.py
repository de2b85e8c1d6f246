# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that returns the virtual routers of the planes and clusters of an inventory."""
from __future__ import annotations

DOCUMENTATION = r"""
name: virtual_routers
short_description: The virtual routers by which planes and clusters of the inventory hold their addresses
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.cluster#module:virtual_routers) and
    O(metal3.baremetal.provisioning_network#module:keepalived.others), so that no two on one network get the same
    number.
  - Of machines of a plane it is what C(provisioning_network_keepalived_address) and
    C(provisioning_network_keepalived_router_id) say, without those that name C(provisioning_network_keepalived_peers),
    which nobody else hears; and number 1 with C(ironic_keepalived), of C(ironic_provisioning_ip).
  - Of clusters it is that of an endpoint with the holder V(keepalived). One whose description has mistakes, or whose
    name is ambiguous, is left out; its own run fails with them.
positional: machines, clusters
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  machines:
    description: Names of the machines of planes in the inventory, the group C(management).
    type: list
    elements: str
    required: true
  clusters:
    description: Names of the inventory hosts that stand for clusters.
    type: list
    elements: str
    default: []
seealso:
  - plugin: metal3.baremetal.plane_machines
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Create a cluster beside the planes of the inventory
  metal3.baremetal.cluster:
    name: prod
    options: "{{ cluster_options }}"
    virtual_routers: >-
      {{ hostvars | metal3.baremetal.virtual_routers(
         hostvars | metal3.baremetal.plane_machines(groups['management'], inventory_hostname)) }}
"""

RETURN = r"""
_value:
  description: Each of them once.
  type: list
  elements: dict
  contains:
    owner:
      description: Whose it is, for messages.
      type: str
    address:
      description: The address, with its prefix where that is known.
      type: str
    number:
      description: Number of the virtual router.
      type: int
  sample:
    - {owner: the plane of bastion-1, address: 172.22.0.2/24, number: 51}
"""


def virtual_routers(hostvars, machines, clusters=()):
    """Return the virtual routers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _virtual_routers as routers

    named_hosts.require("virtual_routers", hostvars, machines)
    named_hosts.require("virtual_routers", hostvars, clusters)
    return routers.of_planes(routers.of_machines(hostvars, machines)) + routers.of_clusters(hostvars, clusters)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"virtual_routers": virtual_routers}

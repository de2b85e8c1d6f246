# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that returns the addresses of the machines of a plane."""
from __future__ import annotations

DOCUMENTATION = r"""
name: plane_addresses
short_description: The addresses that machines of a plane have
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.provisioning_network#module:taken), so that DHCP gives none of them to a
    server.
  - Of each machine they are what C(provisioning_network_addresses), C(provisioning_network_keepalived_address), the
    address of C(management_plane) with the mode C(process), and C(ironic_provisioning_ip) say.
  - Machines of another plane are left out, for they may stand on another site whose networks have the same addresses.
    The planes of a machine are C(metal3_kubeconfig) and the kubeconfig that C(management_plane) describes; one that
    names none is never left out, and beside it nobody is.
positional: machines, machine
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
  machine:
    description: Name of the machine whose plane it is.
    type: str
    required: true
seealso:
  - plugin: metal3.baremetal.virtual_routers
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse a range of DHCP with the address of a machine of this plane
  metal3.baremetal.provisioning_network:
    name: provisioning
    addresses: [172.22.0.11/24]
    dhcp:
      ranges: [{first: 172.22.0.20, last: 172.22.0.99}]
      unknown_hosts: true
    taken: "{{ hostvars | metal3.baremetal.plane_addresses(groups['management'], inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: Each address of each machine.
  type: list
  elements: dict
  contains:
    owner:
      description: Whose it is, for messages.
      type: str
    address:
      description: The address, with its prefix where that is known.
      type: str
    may_be_kept:
      description: Whether it may be that of a server for which DHCP keeps it.
      type: bool
  sample:
    - {owner: bastion-2 (provisioning_network_addresses), address: 172.22.0.12/24, may_be_kept: false}
"""


def plane_addresses(hostvars, machines, machine):
    """Return the addresses; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _plane_addresses as addresses

    named_hosts.require("plane_addresses", hostvars, machines)
    named_hosts.require("plane_addresses", hostvars, [machine])
    return addresses.beside(hostvars, machines, machine)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"plane_addresses": plane_addresses}

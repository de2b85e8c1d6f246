# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that names the machines of an inventory which may serve the servers of a cluster."""
from __future__ import annotations

DOCUMENTATION = r"""
name: plane_machines
short_description: Machines of the plane that manages a cluster
version_added: "0.1.0"
description:
  - Returns those machines that may serve the servers of a cluster, for example by DHCP. Machines of another management
    plane than the cluster's are left out, for they may stand on another site whose networks have the same addresses.
  - The plane of a cluster is C(cluster_kubeconfig) or C(metal3_kubeconfig). Those of a machine are C(metal3_kubeconfig)
    and the kubeconfig that C(management_plane) describes.
  - All machines are returned when the cluster's plane is not named, or when no machine is of it, for nobody can say
    then which ones serve its servers. A machine that names no plane is never left out.
positional: machines, cluster
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  machines:
    description: Names of inventory hosts, as those of the group C(management).
    type: list
    elements: str
    required: true
  cluster:
    description: Name of the inventory host that stands for the cluster.
    type: str
    required: true
seealso:
  - plugin: metal3.baremetal.cluster_needs
    plugin_type: filter
  - plugin: metal3.baremetal.management_kubeconfig
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show what the machines of a cluster's plane lend by DHCP
  ansible.builtin.debug:
    msg: >-
      {{ hostvars | metal3.baremetal.plane_machines(groups['management'], 'prod-cluster') | map('extract', hostvars)
         | map(attribute='provisioning_network_dhcp_ranges', default=[]) | flatten(levels=1) }}
"""

RETURN = r"""
_value:
  description: Names of machines, in the order of O(machines).
  type: list
  elements: str
"""


def plane_machines(hostvars, machines, cluster):
    """Return the machines of the plane that manages a cluster; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _managed_site as managed_site
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("plane_machines", hostvars, machines)
    named_hosts.require("plane_machines", hostvars, [cluster])
    return managed_site.machines_of(hostvars, machines, hostvars[cluster])


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"plane_machines": plane_machines}

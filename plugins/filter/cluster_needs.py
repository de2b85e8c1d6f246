# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns clusters' inventory variables into what they need of hosts, pools and addresses."""
from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_needs
short_description: What clusters of the inventory need of hosts
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.cluster#module:neighbours) of clusters in the inventory, as the role
    P(metal3.baremetal.cluster#role) reads their variables.
  - A cluster whose description has mistakes, or whose name is ambiguous, is left out; its own run fails with them.
positional: names, beside
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  names:
    description: Names of the inventory hosts that stand for clusters.
    type: list
    elements: str
    required: true
  beside:
    description:
      - Name of an inventory host that stands for a cluster. Clusters of another management plane than its own, by
        C(cluster_kubeconfig) or C(metal3_kubeconfig), are left out, for they take none of its hosts and addresses.
    type: str
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Create a cluster beside all others of the play
  metal3.baremetal.cluster:
    name: prod
    options: "{{ cluster_options }}"
    neighbours: >-
      {{ hostvars | metal3.baremetal.cluster_needs(
         ansible_play_hosts | difference([inventory_hostname]), inventory_hostname) }}
"""

RETURN = r"""
_value:
  description: The clusters, in the order of O(names).
  type: list
  elements: dict
"""


def cluster_needs(hostvars, names, beside=None):
    """Return what the named clusters need; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("cluster_needs", hostvars, names)
    if beside is not None:
        named_hosts.require("cluster_needs", hostvars, [beside])
    children = cluster_groups.children(hostvars)
    found = [_needs(name, hostvars[name], children) for name in names if beside is None
             or named_hosts.cluster_plane_of(hostvars[name]) == named_hosts.cluster_plane_of(hostvars[beside])]
    return [cluster for cluster in found if cluster is not None]


def _needs(name, variables, children):
    from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
        inventory as cluster_inventory,
    )
    from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.needs import needs

    try:
        return needs(cluster_inventory.parameters(name, variables, children))
    except cluster_inventory.ClusterNameError:
        return None


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"cluster_needs": cluster_needs}

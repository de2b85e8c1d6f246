# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says in which namespaces clusters of the inventory are."""
from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_namespaces
short_description: Namespaces of clusters of the inventory
version_added: "0.1.0"
description:
  - Returns for each inventory host that stands for a cluster the variable C(cluster_namespace), without it
    C(metal3_namespace), else V(metal3).
  - It fails when one of these can't be templated. In another namespace there may be another cluster of the same name.
positional: hosts, first
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: Names of the inventory hosts.
    type: list
    elements: str
    required: true
  first:
    description: Name of a variable that comes before the two, such as a role's own.
    type: str
seealso:
  - plugin: metal3.baremetal.cluster_name
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show the namespaces of all clusters
  ansible.builtin.debug:
    msg: "{{ hostvars | metal3.baremetal.cluster_namespaces(groups['clusters']) | unique }}"
"""

RETURN = r"""
_value:
  description: The namespaces, in the order of O(hosts).
  type: list
  elements: str
"""


def cluster_namespaces(hostvars, hosts, first=None):
    """Return the namespaces of clusters; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
        inventory as cluster_inventory,
    )
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    variables = [first] if first else []
    named_hosts.require("cluster_namespaces", hostvars, hosts)
    found = dict((variable, named_hosts.values("cluster_namespaces", hostvars, hosts, variable))
                 for variable in (*variables, *cluster_inventory.NAMESPACES))
    return [cluster_inventory.namespace_of({variable: values[name] for variable, values in found.items()}, variables)
            for name in hosts]


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"cluster_namespaces": cluster_namespaces}

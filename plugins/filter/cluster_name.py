# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says which name a cluster of the inventory has."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: cluster_name
short_description: Name of a cluster of the inventory
version_added: "0.1.0"
description:
  - Returns the variable C(cluster_name) of the inventory host that stands for a cluster. Without it, the name of the
    group directly below C(clusters) that the host is in, else the name of the host. Other groups of the host, such as
    sites and regions, don't count.
  - The roles P(metal3.baremetal.cluster#role) and P(metal3.baremetal.teardown#role), the filter
    P(metal3.baremetal.cluster_needs#filter) and the lint use the same rule.
  - It fails when the host is in several groups directly below C(clusters), and when another cluster of the inventory
    has the same name and namespace.
positional: host
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  host:
    description: Name of the inventory host that stands for the cluster.
    type: str
    required: true
seealso:
  - plugin: metal3.baremetal.cluster_needs
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show the cluster that a host stands for
  ansible.builtin.debug:
    msg: "{{ hostvars | metal3.baremetal.cluster_name(inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: The name.
  type: str
"""


def cluster_name(hostvars, host):
    """Return the name of a cluster; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
        inventory as cluster_inventory,
    )
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("cluster_name", hostvars, [host])
    children = cluster_groups.children(hostvars)
    names = list(dict.fromkeys([host, *cluster_groups.members(hostvars)]))
    clusters = dict((name, cluster_groups.Naming(hostvars[name])) for name in names)
    mistake = cluster_inventory.name_problems(clusters, children).get(host)
    if mistake is not None:
        raise AnsibleFilterError(str(mistake))
    return cluster_inventory.name_of(host, hostvars[host], children)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"cluster_name": cluster_name}

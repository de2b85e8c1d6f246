# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns servers' inventory variables into entries for ironic_node."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: ironic_entries
short_description: Entries for ironic_node from inventory variables
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.ironic_node#module:nodes) of servers in the inventory, without Kubernetes.
  - The variables are the same as for P(metal3.baremetal.host_entries#filter), so that an inventory serves both ways.
    From C(bmc_address) with its scheme, C(bmc_username), C(bmc_password), C(bmc_disable_certificate_verification),
    C(boot_mac), C(bmh_boot_mode) and C(bmh_architecture) follow what the Bare Metal Operator would set at the node.
  - The dictionary C(ironic_node) of a server adds options of the module, and wins.
  - Servers of several Ironics (C(ironic_nodes_cloud), C(ironic_nodes_clouds_file)) are refused, because the entries are
    for one.
positional: names
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Register all servers of the inventory in Ironic
  metal3.baremetal.ironic_node:
    cloud: metal3
    nodes: "{{ hostvars | metal3.baremetal.ironic_entries(groups['baremetal']) }}"
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The entries, in the order of O(names).
  type: list
  elements: dict
"""


def ironic_entries(hostvars, names):
    """Return the entries of the named servers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
    from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import inventory as node_inventory
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("ironic_entries", hostvars, names)
    entries, faults, ironics, unknown = [], [], {}, {}
    for name in names:
        stored = hostvars[name]
        variables = named_hosts.Noting(stored)
        ironics.setdefault(named_hosts.ironic_of(stored), name)
        try:
            entries.append(node_inventory.entry(name, variables))
        except RefusedError as exc:
            faults += exc.problems
        unknown[name] = variables.unknown
    named_hosts.require_one_ironic("ironic_entries", ironics)
    named_hosts.require_known("ironic_entries", unknown)
    if faults:
        raise AnsibleFilterError("ironic_entries: " + "; ".join(map(str, faults)))
    return entries


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_entries": ironic_entries}

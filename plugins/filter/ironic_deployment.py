# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns servers' inventory variables into a deployment by ironic_node_action."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: ironic_deployment
short_description: Deployment by ironic_node_action from inventory variables
version_added: "0.1.0"
description:
  - Returns nodes, images and config drives for M(metal3.baremetal.ironic_node_action) of servers in the inventory,
    without Kubernetes.
  - The variables are the same as for P(metal3.baremetal.host_entries#filter), C(bmh_image), C(bmh_user_data),
    C(bmh_meta_data) and C(bmh_network_data). Servers without C(bmh_image) are left out. A variable that only names a
    Secret is refused.
  - Servers of several Ironics (C(ironic_nodes_cloud), C(ironic_nodes_clouds_file)) are refused, because the deployment
    is by one.
positional: names
seealso:
  - plugin: metal3.baremetal.ironic_entries
    plugin_type: filter
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Deploy all servers of the inventory
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    action: deploy
    nodes: "{{ deployment.nodes }}"
    images: "{{ deployment.images }}"
    config_drives: "{{ deployment.config_drives }}"
  vars:
    deployment: "{{ hostvars | metal3.baremetal.ironic_deployment(groups['baremetal']) }}"
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The options C(nodes), C(images) and C(config_drives).
  type: dict
"""


def ironic_deployment(hostvars, names):
    """Return the deployment of the named servers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
    from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import inventory as deploy_inventory
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("ironic_deployment", hostvars, names)
    found, problems, ironics, unknown = [], [], {}, {}
    for name in names:
        stored = hostvars[name]
        variables = named_hosts.Noting(stored)
        try:
            item = deploy_inventory.deployment(name, variables)
        except RefusedError as exc:
            problems += exc.problems
        else:
            if item:
                found.append(item)
                ironics.setdefault(named_hosts.ironic_of(stored), name)
        unknown[name] = variables.unknown
    named_hosts.require_one_ironic("ironic_deployment", ironics)
    named_hosts.require_known("ironic_deployment", unknown)
    if problems:
        raise AnsibleFilterError("ironic_deployment: " + "; ".join(map(str, problems)))
    return {"nodes": [item["node"] for item in found],
            "images": dict((item["node"], item["image"]) for item in found),
            "config_drives": dict((item["node"], item["config_drive"]) for item in found if item["config_drive"])}


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_deployment": ironic_deployment}

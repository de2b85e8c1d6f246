# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns resources of the former provider of metal-stack into inventory variables."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: metalstack_former
short_description: Inventory variables from resources of the former Cluster API provider of metal-stack
version_added: "0.1.0"
description:
  - Translates the resources of one cluster of cluster-api-provider-metalstack 0.4 (C(v1alpha3), C(v1alpha4)),
    MetalStackCluster, MetalStackFirewall, MetalStackMachine and MetalStackMachineTemplate, with the Cluster,
    KubeadmControlPlane, MachineDeployments and Machines beside them, into variables of the roles
    P(metal3.baremetal.cluster#role) and P(metal3.baremetal.metalstack#role).
  - C(machineType) becomes a size, C(firewallSpec) and C(publicNetworkID) the firewall, C(privateNetworkID) the node
    network, and C(controlPlaneEndpoint) the endpoint. A machine with a C(providerID) is one that the role
    P(metal3.baremetal.metalstack#role) takes by its id.
  - What has no place any more is in C(warnings). Resources that cannot be read are refused, all mistakes at once.
  - Refused are texts with signs of a template, too. Whoever could write the resources would otherwise have Ansible run
    it from the inventory, where such a text has become one of the site's own.
options:
  _input:
    description: The resources, as they are in their manifest.
    type: list
    elements: dict
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write the variables of a cluster whose resources are in a file
  ansible.builtin.copy:
    content: "{{ (resources | metal3.baremetal.metalstack_former).variables | to_nice_yaml }}"
    dest: inventory/mysite/host_vars/prod.yml
    mode: "0644"
  vars:
    resources: "{{ lookup('file', 'old.yml') | from_yaml_all }}"
"""

RETURN = r"""
_value:
  description: C(variables), the inventory variables of the cluster, and C(warnings), lines on what has no place.
  type: dict
"""


def metalstack_former(objects):
    """Return variables and warnings; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.conversion.former_metalstack import (
        translate,
    )
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import message
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.plain_text import plain

    if isinstance(objects, (str, bytes, dict)) or not hasattr(objects, "__iter__"):
        raise AnsibleFilterError(f"metalstack_former: found {type_name(objects)}, expected a list of resources")
    variables, warnings, problems = translate([item for item in objects if item is not None])
    if problems:
        # Ansible prints it as it is.
        raise AnsibleFilterError("metalstack_former: " + plain(message(problems), keep_lines=True))
    return {"variables": variables, "warnings": warnings}


class FilterModule:
    """Filters of this file."""

    def filters(self):
        """Return the filters by name."""
        return {"metalstack_former": metalstack_former}

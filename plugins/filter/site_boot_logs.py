# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that names the logs by which a wait says how far servers have booted."""
from __future__ import annotations

DOCUMENTATION = r"""
name: site_boot_logs
short_description: Logs of DHCP and web servers that a site has by the roles of this collection
version_added: "0.1.0"
description:
  - Returns the paths of the logs that machines of the group C(management) write on the machine that runs Ansible, those
    with C(ansible_connection=local). That is the web server's log of a bootstrap plane (C(management_plane) with mode
    V(process)), and the log of dnsmasq of the role C(provisioning_network) where C(provisioning_network_dhcp_ranges) is
    set.
  - It is the default of C(metal3_boot_logs). A plane in a cluster has none - the logs of its pods are not read.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
seealso:
  - module: metal3.baremetal.baremetal_host
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Enrol servers, and say how far they have booted
  metal3.baremetal.baremetal_host:
    hosts: "{{ hostvars | metal3.baremetal.host_entries(groups['baremetal']) }}"
    wait_for: available
    boot_logs: "{{ hostvars | metal3.baremetal.site_boot_logs }}"
"""

RETURN = r"""
_value:
  description: The paths.
  type: list
  elements: str
"""


def site_boot_logs(hostvars):
    """Return paths of logs; see DOCUMENTATION."""
    from collections.abc import Mapping

    from ansible_collections.metal3.baremetal.plugins.module_utils._boot.site_logs import NAMES, site_logs
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
    from ansible_collections.metal3.baremetal.plugins.plugin_utils._managed_site import MANAGEMENT

    def machine(name):
        variables = cluster_groups.Naming(hostvars[name])
        plane = variables.get("management_plane")
        # ansible-core makes the values of a dict when they are read; one that cannot be made is no reason to fail.
        values = cluster_groups.Naming(plane if isinstance(plane, Mapping) else {})
        return dict(((name, variables[name]) for name in NAMES if name in variables),
                    management_plane={"mode": values.get("mode"), "dir": values.get("dir")})

    return site_logs(machine(name) for name in cluster_groups.members(hostvars, MANAGEMENT))


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"site_boot_logs": site_boot_logs}

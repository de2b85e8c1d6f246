# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that names the files by which a wait verifies the BMCs of servers."""
from __future__ import annotations

DOCUMENTATION = r"""
name: bmc_authorities
short_description: Files by which a wait verifies the BMCs of servers
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.baremetal_host#module:boot_bmc_ca_files). The BMC of each server is
    verified by the certificate authorities that its own variables name.
  - When O(ca_cert) is another one than the variables of O(acting) say, the play gives it, and it is that of all hosts.
  - A server without any of O(variables) has those of the machine that asks.
  - Names that the inventory does not have are left out.
  - A server whose value cannot be templated has none, so that its BMC is not asked.
positional: names, variables, acting, ca_cert, cluster
options:
  variables:
    description: Variables that name a file with certificate authorities. The first of them that a server has counts; an
      empty one stands for those of the machine that asks.
    type: list
    elements: str
    required: true
  acting:
    description: The host with whose variables the task runs.
    type: str
    required: true
  ca_cert:
    description: The file that counts in the task; anything but a text for none.
    type: raw
  cluster:
    description:
      - Whether O(acting) stands for a cluster. Servers of another namespace, and those that name another plane, are
        left out then.
      - The first of O(variables) that the cluster has is that of servers without it, and of hosts that the inventory
        does not have. Its others do not count for BMCs. They are for the cluster's own connections.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
seealso:
  - plugin: metal3.baremetal.bmc_entries
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Enrol servers of racks whose BMCs have authorities of their own
  metal3.baremetal.baremetal_host:
    hosts: "{{ hostvars | metal3.baremetal.host_entries(groups['baremetal']) }}"
    wait_for: available
    ironic: {}
    boot_bmc_ca_files: >-
      {{ hostvars | metal3.baremetal.bmc_authorities(
         groups['baremetal'], ['metal3_ca_file'], inventory_hostname, metal3_ca_file) }}
"""

RETURN = r"""
_value:
  description: The files.
  type: dict
  contains:
    hosts:
      description: File of each server; empty for those of the machine that asks, null for none.
      type: dict
    others:
      description: File of all other hosts; only there when one counts for them.
      type: str
"""


def bmc_authorities(hostvars, names, variables, acting, ca_cert=None, cluster=False):
    """Return the files; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _own_authorities as own_authorities

    named_hosts.require_list("bmc_authorities", names)
    named_hosts.require("bmc_authorities", hostvars, [acting])
    own, counts = named_hosts.Noting(hostvars[acting]), own_authorities.counting(ca_cert)
    if counts != own_authorities.first(own, variables):
        return {"hosts": {}, "others": counts}
    if not cluster:
        return {"hosts": own_authorities.of_servers(
            hostvars, names, lambda server: own_authorities.first(server, variables))}
    plane, common = own_authorities.Plane(hostvars[acting]), variables[0] in own

    def read(server):
        return own_authorities.first(server, variables[:1], counts) if common else own_authorities.first(
            server, variables)

    hosts = own_authorities.of_servers(hostvars, names, read, plane.may_have)
    return {"hosts": hosts, "others": counts} if common else {"hosts": hosts}


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"bmc_authorities": bmc_authorities}

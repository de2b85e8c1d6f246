# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns servers' inventory variables into entries for the modules that ask BMCs."""
from __future__ import annotations

DOCUMENTATION = r"""
name: bmc_entries
short_description: Entries for bmc_preflight and bmc_info from inventory variables
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.bmc_preflight#module:hosts) of servers in the inventory.
  - It is what P(metal3.baremetal.host_entries#filter) returns, less what BMCs are not asked for.
  - A value of an entry that has an undefined variable in it, or cannot be templated, is an error with the names of all
    such servers and variables.
positional: names, login_only, new_password, ca_variables, acting, ca_cert, ca_default
options:
  login_only:
    description: Whether nothing but the address and credentials of the BMCs is in the entries.
    type: bool
    default: false
  new_password:
    description:
      - Whether C(bmc_new_password) is in the entries as C(bmc.new_password), for M(metal3.baremetal.bmc_account) and
        M(metal3.baremetal.host_bmc_credentials).
    type: bool
    default: false
    version_added: "0.1.0"
  ca_variables:
    description:
      - Variables that name a file with certificate authorities. The first of them that a server has is that of its BMC;
        an empty one stands for those of the machine that asks. Where it is another one than O(ca_cert), it is in the
        entry, as O(metal3.baremetal.bmc_preflight#module:hosts[].ca_cert).
      - Not when O(ca_cert) is another one than the variables of O(acting) say. The play gives it then, and it is that
        of all servers.
    type: list
    elements: str
    default: []
  acting:
    description: The host with whose variables the task runs; needed for O(ca_variables).
    type: str
  ca_cert:
    description: The file that counts in the task; anything but a text for none.
    type: raw
  ca_default:
    description: The file of hosts that have none of O(ca_variables), by default none.
    type: str
    default: ""
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check the BMCs of all servers
  metal3.baremetal.bmc_preflight:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal']) }}"
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The entries, in the order of O(names).
  type: list
  elements: dict
"""

NEW_PASSWORD = "bmc_new_password"
LOGIN_OPTIONS = ("name", "bmc")
OPTIONS = LOGIN_OPTIONS + ("boot_mac_address", "boot_mode")


def bmc_entries(hostvars, names, login_only=False, new_password=False, ca_variables=(), acting=None, ca_cert=None,
                ca_default=""):
    """Return the entries of the named servers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _own_authorities as own_authorities

    named_hosts.require("bmc_entries", hostvars, names)
    options, found, unknown = LOGIN_OPTIONS if login_only else OPTIONS, [], {}
    read = [variable for option, variable in host_inventory.field_names().items()
            if option.partition(".")[0] in options]
    counts = own_authorities.counting(ca_cert)
    own_counts = bool(ca_variables) and counts == own_authorities.first(
        named_hosts.Noting(hostvars[acting]), ca_variables, ca_default)
    for name in names:
        variables = named_hosts.Noting(hostvars[name])
        entry = host_inventory.entry(name, variables)
        value = variables.get(NEW_PASSWORD) if new_password else None
        if value is not None:
            entry["bmc"] = dict(entry.get("bmc") or {}, new_password=value)
        found.append(dict((option, entry[option]) for option in options if option in entry))
        authorities = own_authorities.first(variables, ca_variables, ca_default) if own_counts else counts
        if authorities != counts:
            found[-1]["ca_cert"] = authorities
        # Others are not of the entry.
        unknown[name] = dict((variable, why) for variable, why in variables.unknown.items()
                             if variable in (*read, NEW_PASSWORD, *ca_variables))
    named_hosts.require_known("bmc_entries", unknown)
    return found


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"bmc_entries": bmc_entries}

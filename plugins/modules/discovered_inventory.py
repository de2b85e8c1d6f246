#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes servers that were discovered into an inventory file."""
from __future__ import annotations

DOCUMENTATION = r"""
module: discovered_inventory
short_description: Write discovered servers into an inventory file
version_added: "0.1.0"
description:
  - Writes one YAML inventory file that belongs to discovery as a whole, and touches no other. It has the group
    C(baremetal) with C(bmc_address), C(boot_mac) and C(bmc_discovered) of each server.
  - What O(hosts) shows that somebody else has set for a server is left out, so that nothing set by hand is overridden.
    A server that is in O(hosts) already, by its BMC or by its boot MAC address, keeps its name.
  - So does one that the file has by its UUID together with a network card, or with its serial number where cards are
    not reported on both sides; some vendors give one UUID to several servers. One with the UUID of a server of the
    file, of which neither says whether it is that server, is refused, unless its BMC or its boot MAC address is in
    O(hosts).
  - Servers that the file has from an earlier run and that were not found this time stay in it.
  - Ansible reads the files of an inventory folder in the order of their names, and later ones override earlier ones; so
    a name like C(00-discovered.yml) is a good one.
  - What comes from a BMC is written below C(!unsafe), so that Ansible does not take it for a template.
  - Passwords are never written, only expressions that lead to them. They are in the file's group C(discovered), whose
    priority is lower than that of other groups, so that what any group but C(all) says counts more.
options:
  return_inventory:
    description: Whether the result has C(inventory), the text of the inventory. Without O(path), nothing is written.
    type: bool
    default: false
  path:
    description: Path of the file. A file that discovery did not write is refused.
    type: path
  servers:
    description: What M(metal3.baremetal.bmc_discovery) returned as RV(metal3.baremetal.bmc_discovery#module:servers).
    type: list
    elements: dict
    required: true
  name_format:
    description:
      - How new servers are named, with one or more of C({hostname}), C({serial_number}), C({sku}), C({uuid}),
        C({manufacturer}), C({model}) and C({host}). Capitals become small, other signs dashes.
      - A server whose BMC does not report one of them is named after the BMC's address.
    type: str
    default: server-{serial_number}
  boot_nic:
    description:
      - Name of the NIC that servers boot from, as their BMCs name it. Without it C(boot_mac) is written only where
        there is no choice, and C(bmc_discovered.boot_mac_candidates) otherwise.
      - A server without a NIC of that name is refused, unless its BMC names no NIC at all or its C(boot_mac) is set by
        hand.
    type: str
    default: ""
  username_expression:
    description: Jinja expression without braces for C(bmc_username), for example V(vault_bmc_username). Nothing is
      written without it.
    type: str
    default: ""
  password_expression:
    description: Jinja expression without braces for C(bmc_password), for example V(vault_bmc_password). Nothing is
      written without it.
    type: str
    default: ""
  disable_certificate_verification:
    description: Whether C(bmc_disable_certificate_verification) is written.
    type: bool
    default: false
  taken_names:
    description: Names that no new server gets, those of the inventory's other hosts and of its groups.
    type: list
    elements: str
    default: []
  field_names:
    description: Whether messages name the options of this module, or the variables of the role C(discover).
    type: str
    choices: [options, variables]
    default: options
extends_documentation_fragment:
  - metal3.baremetal.bmc.hosts
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.bmc_discovery
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write what was found into the inventory
  metal3.baremetal.discovered_inventory:
    path: inventory/mysite/00-discovered.yml
    servers: "{{ found.servers }}"
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal'] | default([])) }}"
    username_expression: vault_bmc_username
    password_expression: vault_bmc_password
"""

RETURN = r"""
inventory:
  description: The text of the inventory, without secrets.
  returned: with O(return_inventory)
  type: str
path:
  description: Path of the file.
  returned: success
  type: str
lines:
  description: The same as lines of text.
  returned: success
  type: list
  elements: str
hosts:
  description: The servers that were found, with their names and what becomes of them in the file.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name in the inventory.
      type: str
    address:
      description: Address of the BMC.
      type: str
    action:
      description: What becomes of it in the file, V(added), V(updated) or V(unchanged).
      type: str
    same_uuid:
      description: Names of other servers that report the same UUID.
      type: list
      elements: str
  sample: [{name: server-42, address: "redfish://192.0.2.11/redfish/v1/Systems/1", action: added, same_uuid: []}]
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when the input was refused
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule that was broken.
      type: str
    subject:
      description: The object that it is about.
      type: str
    field:
      description: Path of the option; empty when the whole object is meant.
      type: str
    actual:
      description: What was found, V(null) when it is not set; never a secret value.
      type: str
    expected:
      description: What is allowed.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery_module import run_discovered_inventory


def main():
    """Run the module."""
    run_discovered_inventory()


if __name__ == "__main__":
    main()

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns one variable of servers into entries for a module."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: variable_entries
short_description: Entries for a module from one variable of servers
version_added: "0.1.0"
description:
  - Returns a list of dictionaries with the name of a server and the value of a variable, for modules such as
    M(metal3.baremetal.host_firmware_settings). Servers without the variable are left out; one whose variable has an
    undefined variable in it is an error with the server's name.
positional: names, variable, option
options:
  variable:
    description: Name of the variable.
    type: str
    required: true
  option:
    description: Key of the value in the entry. Without it, the value is a dictionary that holds the entry's keys.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Set the BIOS settings that the inventory names
  metal3.baremetal.host_firmware_settings:
    hosts: >-
      {{ hostvars | metal3.baremetal.variable_entries(groups['baremetal'], 'bmh_firmware_settings', 'settings') }}
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The entries, in the order of O(names).
  type: list
  elements: dict
"""


def variable_entries(hostvars, names, variable, option=None):
    """Return the entries of the named servers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("variable_entries", hostvars, names)
    found = named_hosts.values("variable_entries", hostvars, names, variable)
    if option is None:
        wrong = [name for name in names if not isinstance(found[name] or {}, dict)]
        if wrong:
            kinds = ", ".join(f"{name} ({type_name(found[name])})" for name in wrong)
            raise AnsibleFilterError(
                f"variable_entries: {variable}: found {kinds}, expected a dictionary for each host")
    return host_inventory.entries_of(found, names, option)


class FilterModule:
    """The filters of this file."""

    def filters(self):
        """Return the filters by name."""
        return {"variable_entries": variable_entries}

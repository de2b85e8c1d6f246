# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says where a variable of servers is written down."""
from __future__ import annotations

DOCUMENTATION = r"""
name: variable_places
short_description: Where a variable of servers is written down
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.host_compliance#module:places), so that a report names file and line.
  - For a server without the variable it is the inventory file that the server is of. A server of which no file is
    known, as one of an inventory plugin, is left out.
  - A path below the current directory is relative to it, as code scanners want it.
positional: names, variable
options:
  variable:
    description: Name of the variable.
    type: str
    required: true
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Compare servers, with a report that names where what is expected of each is written
  metal3.baremetal.host_compliance:
    hosts: "{{ hostvars | metal3.baremetal.variable_entries(groups['baremetal'], 'bmh_expected', 'expected') }}"
    places: "{{ hostvars | metal3.baremetal.variable_places(groups['baremetal'], 'bmh_expected') }}"
    sarif_file: compliance.sarif
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The places, in the order of O(names).
  type: list
  elements: dict
  contains:
    name:
      description: Name of the server.
      type: str
    path:
      description: Path of the file.
      type: str
    line:
      description: Line of the variable, from 1; null when it is not known.
      type: int
    column:
      description: Its column, from 1; null when it is not known.
      type: int
  sample:
    - {name: rack1-01, path: host_vars/rack1-01.yml, line: 7, column: 1}
"""


def variable_places(hostvars, names, variable):
    """Return the places; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _host_variables as host_variables
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require("variable_places", hostvars, names)
    return host_variables.places(hostvars, names, variable)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"variable_places": variable_places}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that returns what two inspections of servers found different."""
from __future__ import annotations

from collections.abc import Mapping

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: hardware_changes
short_description: What two inspections of servers found different
version_added: "0.1.0"
description:
  - Compares the hardware of hosts as M(metal3.baremetal.baremetal_host_info) returned it at two times with
    O(metal3.baremetal.baremetal_host_info#module:hardware_data=true).
  - Disks are identified by serial number, network cards by MAC address. Addresses, host names and CPU clocks are left
    out, since they change by themselves.
positional: before
options:
  _input:
    description: The hosts after the inspection.
    type: list
    elements: dict
    required: true
  before:
    description: The hosts before it.
    type: list
    elements: dict
    required: true
  as_table:
    description: Whether to return the lines of a table in place of the changes.
    type: bool
    default: false
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show what changed
  ansible.builtin.debug:
    msg: "{{ after.hosts | metal3.baremetal.hardware_changes(before.hosts, as_table=true) }}"
"""

RETURN = r"""
_value:
  description:
    - Dictionaries with C(host), C(what), C(before) and C(after), all of them texts; V(-) for what is not there.
    - With O(as_table), lines of text.
  type: list
  elements: raw
"""


def hardware_changes(after, before, as_table=False):
    """Return the changes; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import hardware_changes as pure

    for when, hosts in (("before", before), ("after", after)):
        wrong = [host for host in hosts if not isinstance(host, Mapping) or "hardware_data" not in host]
        if wrong:
            raise AnsibleFilterError(
                f"hardware_changes: {when}: found {len(wrong)} of {len(hosts)} entries without hardware_data, expected "
                "hosts of baremetal_host_info; read them with hardware_data: true")
    rows = pure.of_hosts(before, after)
    return pure.table(rows) if as_table else rows


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"hardware_changes": hardware_changes}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that decides which nodes of Ironic are inspected and made available."""
from __future__ import annotations

DOCUMENTATION = r"""
name: ironic_due
short_description: Which nodes are inspected and made available after they were registered
version_added: "0.1.0"
description:
  - For the playbook C(metal3.baremetal.ironic_nodes). Making a node available erases its disks, so only those are
    taken that this run has registered and found switched off, and those that the user names.
positional: managed, named
options:
  _input:
    description: The entries that M(metal3.baremetal.ironic_node) returned.
    type: list
    elements: dict
    required: true
  managed:
    description: The entries that M(metal3.baremetal.ironic_node_action) returned for C(action=manage).
    type: list
    elements: dict
    required: true
  named:
    description: Names of nodes that are made available in any case.
    type: list
    elements: str
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Name the nodes that are erased and made available
  ansible.builtin.debug:
    msg: "{{ (registered.nodes | metal3.baremetal.ironic_due(managed.nodes, ['rack1-03'])).provide }}"
"""

RETURN = r"""
_value:
  description: Lists of names, as C(inspect) and C(provide).
  type: dict
"""


def ironic_due(registered, managed, named):
    """Return it; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import due as ironic_nodes_due

    # A form gives names as text.
    names = [name.strip() for name in named.split(",") if name.strip()] if isinstance(named, str) else named
    return ironic_nodes_due.due(registered, managed, names)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_due": ironic_due}

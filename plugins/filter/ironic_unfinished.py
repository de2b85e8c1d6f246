# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that finds the nodes of Ironic that are neither available nor deployed."""
from __future__ import annotations

DOCUMENTATION = r"""
name: ironic_unfinished
short_description: Nodes that are neither available nor deployed
version_added: "0.1.0"
description:
  - For M(metal3.baremetal.host_result), which reports each of them under its own name.
options:
  _input:
    description: The entries that M(metal3.baremetal.ironic_node_info) returned.
    type: list
    elements: dict
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Find those that are left as they were
  ansible.builtin.set_fact:
    left: "{{ found.nodes | metal3.baremetal.ironic_unfinished }}"
  run_once: true

- name: Report them
  metal3.baremetal.host_result:
    variables: [left]
"""

RETURN = r"""
_value:
  description: A result with a failure for each of them, as C(nodes).
  type: dict
"""


def ironic_unfinished(nodes):
    """Return it; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import due as ironic_nodes_due

    return ironic_nodes_due.unfinished(nodes)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_unfinished": ironic_unfinished}

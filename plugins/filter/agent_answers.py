# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that reads what a server's agent reached when it inspected its server."""
from __future__ import annotations

DOCUMENTATION = r"""
name: agent_answers
short_description: What a server's agent reached when it inspected its server
version_added: "0.1.0"
description:
  - Returns what an agent whose ramdisk was built with O(metal3.baremetal.agent_image#role:main:agent_image_reach) has
    found, out of the inventory that Ironic keeps. The playbook C(network_check) shows it.
  - Whoever pretends to be an agent writes it. So each text is one line of bounded length without what steers a
    terminal, and what has another form is an answer that is not right.
options:
  _input:
    description: A node as M(metal3.baremetal.ironic_node_info) returns it with its option C(inventory).
    type: dict
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show what agents have reached
  ansible.builtin.debug:
    msg: "{{ item | metal3.baremetal.agent_answers | map(attribute='found') | list }}"
  loop: "{{ read.nodes }}"
  loop_control:
    label: "{{ item.uuid }}"
"""

RETURN = r"""
_value:
  description: >-
    Of each answer C(kind), C(name), C(target), C(found) and C(ok); an empty list when no agent has given any.
  type: list
  elements: dict
  sample: [{kind: tcp, name: Ironic, target: "192.0.2.10:6385", found: a connection, ok: true}]
"""


def agent_answers(node):
    """Return the answers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._network import agent_answers as answers

    return answers.of_node(node)


class FilterModule:
    """The filter."""

    def filters(self):
        """Return the filter by name."""
        return {"agent_answers": agent_answers}

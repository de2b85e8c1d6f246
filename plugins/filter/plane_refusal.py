# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that refuses a description of a management plane with keys that nothing reads."""
from __future__ import annotations

DOCUMENTATION = r"""
name: plane_refusal
short_description: Message that refuses a description of a management plane with unknown keys
version_added: "0.1.0"
description:
  - Returns what the playbooks of this collection print when the variable C(management_plane) has keys that nothing
    reads, such as a mistyped C(kubeconfig), without which the plane would be that of C(~/.kube/config).
  - Figures that a module has computed, such as those of a lab, are not checked.
options:
  _input:
    description: The variable C(management_plane).
    type: raw
    required: true
seealso:
  - plugin: metal3.baremetal.command_line_refusal
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse a mistyped description of the plane
  ansible.builtin.assert:
    that: refusal == ''
    fail_msg: "{{ refusal }}"
  vars:
    refusal: "{{ management_plane | default({}) | metal3.baremetal.plane_refusal }}"
"""

RETURN = r"""
_value:
  description: The message with all of them, a line for each. Empty when all keys are known.
  type: str
"""


def plane_refusal(plane):
    """Return the message; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import message
    from ansible_collections.metal3.baremetal.plugins.module_utils._plane import described

    found = described.problems(plane)
    return message(found) if found else ""


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"plane_refusal": plane_refusal}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says which servers a confirmation may name in a play of several batches."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: confirmation_among
short_description: Servers that a confirmation may name in a play of several batches
version_added: "0.1.0"
description:
  - Returns the servers of the play when it runs in several batches (C(serial)), and an empty list when it runs in one.
  - The variable C(metal3_confirm) is the same for all batches, so that a number would count for each of them.
positional: batch, left, play
options:
  _input:
    description: Names of all servers of the inventory, such as those of a group.
    type: list
    elements: str
    required: true
  batch:
    description: The hosts of this batch, C(ansible_play_batch).
    type: list
    elements: str
    required: true
  left:
    description: The hosts of all batches that have not failed, C(ansible_play_hosts).
    type: list
    elements: str
    required: true
  play:
    description: All hosts of the play, C(ansible_play_hosts_all).
    type: list
    elements: str
    required: true
seealso:
  - plugin: metal3.baremetal.confirming
    plugin_type: test
  - plugin: metal3.baremetal.confirmation_request
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask for confirmation
  ansible.builtin.assert:
    that: metal3_confirm | default('') is metal3.baremetal.confirming(names, among)
  vars:
    names: "{{ groups['baremetal'] | select('in', ansible_play_batch) }}"
    among: >-
      {{ groups['baremetal'] | metal3.baremetal.confirmation_among(
         ansible_play_batch, ansible_play_hosts, ansible_play_hosts_all) }}
"""

RETURN = r"""
_value:
  description: Names, as the option O(metal3.baremetal.host_remediation#module:confirm_among) takes them.
  type: list
  elements: str
"""


def confirmation_among(names, batch, left, play):
    """Return the names; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import confirmation

    if any(isinstance(value, str) for value in (names, batch, left, play)):
        raise AnsibleFilterError("confirmation_among: found a text, expected lists of names")
    return confirmation.among(names, batch, left, play)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"confirmation_among": confirmation_among}

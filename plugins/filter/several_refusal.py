# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that refuses several planes, machines or clusters in one play."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: several_refusal
short_description: Message that refuses several planes, machines or clusters in one play
version_added: "0.1.0"
description:
  - Returns what the playbooks and roles of this collection print when a play has several hosts and only one may be in
    it.
  - The variable C(metal3_confirm) is the same for all hosts of a play, so that a number, and a name that others have,
    would count for each of them.
positional: noun
options:
  _input:
    description: Names of the play's hosts, C(ansible_play_hosts_all).
    type: list
    elements: str
    required: true
  noun:
    description: What they are called, in the singular, for example V(plane).
    type: str
    required: true
  reason:
    description: Why only one may be in the play, where that is not the confirmation.
    type: str
    default: ""
seealso:
  - plugin: metal3.baremetal.confirmation_request
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse several planes
  ansible.builtin.assert:
    that: ansible_play_hosts_all | length == 1
    fail_msg: "{{ ansible_play_hosts_all | metal3.baremetal.several_refusal('plane') }}"
"""

RETURN = r"""
_value:
  description: The message, which ends with how to run the play for one of them.
  type: str
"""


def several_refusal(names, noun, reason=""):
    """Return the message; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import confirmation
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name

    if isinstance(names, str) or not isinstance(noun, str):
        raise AnsibleFilterError(f"several_refusal: found {type_name(names)} and {type_name(noun)}, "
                                 "expected a list of names and what they are called")
    return confirmation.several([str(name) for name in names], noun, reason)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"several_refusal": several_refusal}

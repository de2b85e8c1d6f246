# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that refuses a play without a server."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: no_server_refusal
short_description: Message that refuses a play without a server
version_added: "0.1.0"
description:
  - Returns what the roles of this collection print when none of the play's hosts is in the group C(baremetal), and
    when the role's variable is no list, such as a text that a command line gives, or has servers of another batch of
    the play (C(serial)), since each batch would work on them.
positional: variable, given, left
options:
  _input:
    description: Names of the play's hosts, C(ansible_play_batch).
    type: list
    elements: str
    required: true
  variable:
    description: The role's variable with the names of the servers, which the user may set instead.
    type: str
    required: true
  given:
    description: Value of the variable.
    type: raw
    default: []
  left:
    description: The hosts of all batches that have not failed, C(ansible_play_hosts).
    type: list
    elements: str
    default: []
seealso:
  - plugin: metal3.baremetal.several_refusal
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse a run without a server
  ansible.builtin.assert:
    that: refusal == ''
    fail_msg: "{{ refusal }}"
  vars:
    refusal: "{{ ansible_play_batch | metal3.baremetal.no_server_refusal(
      'my_role_names', my_role_names, ansible_play_hosts) }}"
"""

RETURN = r"""
_value:
  description: The message, which ends with what to do. Empty when servers are given.
  type: str
"""


def no_server_refusal(names, variable, given=(), left=()):
    """Return the message; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    if isinstance(names, str) or not isinstance(variable, str):
        raise AnsibleFilterError(f"no_server_refusal: found {type_name(names)} and {type_name(variable)}, "
                                 "expected a list of names and the name of a variable")
    problem = named_hosts.list_problem(given, variable)
    if problem:
        return f"{variable}: {problem}, or use --limit"
    others = [str(name) for name in given if name in left and name not in names]
    if others:
        return (f"{variable}: found {', '.join(others)} of another batch of the play (serial), expected servers of "
                f"this one ({', '.join(map(str, names))}), because each batch would work on them; use --limit in "
                f"place of {variable}")
    if list(given):
        return ""
    return (f"{variable}: none of the play's hosts ({', '.join(map(str, names)) or 'none'}) is in the group baremetal, "
            "expected at least one server; run the play on servers (hosts: baremetal, with --limit), or set "
            f"{variable} to their names")


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"no_server_refusal": no_server_refusal}

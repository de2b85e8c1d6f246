# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that refuses variables of the command line in place of those that a role or playbook gives to another role."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: command_line_refusal
short_description: Message that refuses variables of the command line which a role is given by another
version_added: "0.1.0"
description:
  - Returns what the roles and playbooks of this collection print when a variable that they give to another role, such
    as the servers that were confirmed, is among those of the command line (C(-e), or the variables of a job of AWX).
  - Those count more than what a role or playbook gives, so that another thing would be done than what was confirmed.
positional: giver
options:
  _input:
    description: Names of the variables.
    type: list
    elements: str
    required: true
  giver:
    description: The role or playbook that gives them, for the message.
    type: str
    required: true
seealso:
  - plugin: metal3.baremetal.no_server_refusal
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse servers that were not confirmed
  ansible.builtin.assert:
    that: refusal == ''
    fail_msg: "{{ refusal }}"
  vars:
    refusal: "{{ ['hosts_names', 'hosts_force'] | metal3.baremetal.command_line_refusal('the role my_maintenance') }}"
"""

RETURN = r"""
_value:
  description: The message, which ends with what to do. Empty when none of them is on the command line.
  type: str
"""


def command_line_refusal(names, giver):
    """Return the message; see DOCUMENTATION."""
    from ansible.parsing.dataloader import DataLoader
    from ansible.utils.vars import load_extra_vars

    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name

    if isinstance(names, str) or not isinstance(giver, str):
        raise AnsibleFilterError(f"command_line_refusal: found {type_name(names)} and {type_name(giver)}, "
                                 "expected a list of names of variables and who gives them")
    given = load_extra_vars(DataLoader())
    found = [name for name in names if name in given]
    if not found:
        return ""
    return (f"{', '.join(found)}: found on the command line (-e), where a variable counts more than what {giver} "
            f"gives, so that another thing would be done than is asked for; expected from {giver} alone; leave it out")


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"command_line_refusal": command_line_refusal}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that refuses servers of one run for which different things are allowed, or of several planes."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: mixed_refusal
short_description: Message that refuses servers of one run for which different things are allowed, or of several planes
version_added: "0.1.0"
description:
  - Returns what the roles of this collection print when one task is for all servers of a run (C(run_once)), and the
    value of a variable by which it destroys, interrupts or writes is not that of each server. That of the first server
    would count for all, although another one's own variable says something else.
  - Servers of several planes or namespaces (C(metal3_kubeconfig), C(metal3_namespace)) are refused as well, because the
    task is for that of the first one, unless O(planes) says otherwise.
  - A server without the variable has the role's default, unless the play gives the value, which is the same for all.
  - C(true) and C(yes) are the same where the default is a boolean, and elsewhere a number and its text.
  - A value that cannot be templated for a server is another one than each that can.
  - Servers that the inventory does not have are left out, and so is a text in place of O(names).
positional: names, acting, variables, planes
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  names:
    description: Names of the servers that the task is for.
    type: list
    elements: str
    required: true
  acting:
    description: The host whose variables count for the task, C(inventory_hostname).
    type: str
    required: true
  variables:
    description: For each variable a list of two, the value that counts in the task, and the default of the role.
    type: dict
    required: true
  planes:
    description: Whether servers of several planes are refused; a task that asks no plane may be for them.
    type: bool
    default: true
seealso:
  - plugin: metal3.baremetal.several_refusal
    plugin_type: filter
  - plugin: metal3.baremetal.no_server_refusal
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse servers that may be brought back in several ways
  ansible.builtin.assert:
    that: refusal == ''
    fail_msg: "{{ refusal }}"
  vars:
    refusal: "{{ hostvars | metal3.baremetal.mixed_refusal(
      ansible_play_batch, inventory_hostname, {'remediation_up_to': [remediation_up_to, 'reboot']}) }}"
  run_once: true
"""

RETURN = r"""
_value:
  description: The message, which ends with what to do. Empty when all servers have the same values.
  type: str
"""


def mixed_refusal(hostvars, names, acting, variables, planes=True):
    """Return the message; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _mixed_values as mixed_values
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    if not hasattr(variables, "items") or any(isinstance(pair, str) or len(pair) != 2 for pair in variables.values()):
        raise AnsibleFilterError(f"mixed_refusal: variables: found {type_name(variables)}, expected a dictionary in "
                                 "which each variable has its value and its default")
    if named_hosts.list_problem(names):
        return ""
    names = [str(name) for name in names]
    several_planes = named_hosts.planes_problem(named_hosts.planes_of(hostvars, names)) if planes else ""
    if several_planes:
        return several_planes
    found = mixed_values.mixed(hostvars, names, acting, variables)
    if not found:
        return ""
    differing = "; ".join(
        f"{variable}: found {counts}, which would count for all servers of the run, and "
        + " and ".join(f"{value} for {', '.join(others)}" for value, others in values.items())
        for variable, counts, values in found)
    return (f"{differing}; expected one value for all; repeat the run with --limit for servers that are alike, or give "
            f"the value for all by -e {found[0][0]}=<value>")


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"mixed_refusal": mixed_refusal}

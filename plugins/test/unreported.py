# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for results of bulk tasks."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: unreported
short_description: Whether a bulk result has a failure or a change that no server reports on its own
version_added: "0.1.0"
description:
  - For C(failed_when) and C(changed_when) of a bulk task that M(metal3.baremetal.host_result) follows. What one of the
    servers reports then is left to it. Everything else, such as an input that was refused, stays with the bulk task.
positional: outcome, names
options:
  _input:
    description: Result of a module that works on all servers in one call, see M(metal3.baremetal.host_result).
    type: dict
    required: true
  outcome:
    description: Which outcome.
    type: str
    choices: [failed, changed]
    required: true
  names:
    description: Names of the servers that report on their own.
    type: list
    elements: str
    required: true
seealso:
  - module: metal3.baremetal.host_result
  - plugin: metal3.baremetal.with_failures
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Power off the servers
  metal3.baremetal.baremetal_host_action:
    names: "{{ ansible_play_batch }}"
    action: power_off
  register: hosts_result
  failed_when: hosts_result is metal3.baremetal.unreported('failed', ansible_play_batch)
  changed_when: hosts_result is metal3.baremetal.unreported('changed', ansible_play_batch)
  run_once: true

- name: Report the result of each server
  metal3.baremetal.host_result:
"""

RETURN = r"""
_value:
  description: Whether it has.
  type: bool
"""


def is_unreported(result, outcome, names):
    """Say whether it has; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import outcome as host_outcome

    if outcome not in ("failed", "changed") or isinstance(names, str):
        raise AnsibleFilterError(f"unreported: found {outcome!r} and {type(names).__name__}, expected failed or "
                                 "changed, and a list of names")
    return host_outcome.unreported(result, outcome, names)


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"unreported": is_unreported}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for confirmations."""
from __future__ import annotations

DOCUMENTATION = r"""
name: confirming
short_description: Whether a value repeats how many servers, or which ones, an operation concerns
version_added: "0.1.0"
description:
  - True for the number of the names, and for the names themselves with commas between, in any order.
  - An empty value confirms nothing, not even an empty list.
positional: names
options:
  _input:
    description: What the user gave, such as the variable C(metal3_confirm).
    type: raw
    required: true
  names:
    description: Names of the servers that the operation concerns.
    type: list
    elements: str
    required: true
  among:
    description:
      - Names of all servers of the play when it runs in several batches (C(serial)). A number does not count then. All
        of O(names) must be among the given names, and these among all of the play.
    type: list
    elements: str
    default: []
seealso:
  - plugin: metal3.baremetal.confirmation_request
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask for confirmation
  ansible.builtin.assert:
    that: metal3_confirm | default('') is metal3.baremetal.confirming(names)
"""

RETURN = r"""
_value:
  description: Whether it does.
  type: bool
"""


def is_confirming(value, names, among=()):
    """Say whether it does; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import confirmation
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    named_hosts.require_list("confirming", names)
    return confirmation.confirmed(value, [str(name) for name in names], [str(name) for name in among])


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"confirming": is_confirming}

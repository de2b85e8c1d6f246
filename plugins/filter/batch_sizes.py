# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that reads how many hosts the batches of a play have."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: batch_sizes
short_description: Sizes of a play's batches, checked
version_added: "0.1.0"
description:
  - Returns what C(serial) of a play takes, from what a user has set.
  - Ansible itself takes all hosts as one batch when it is given V(0) or a negative number.
positional: variable
options:
  _input:
    description: A number, a percentage such as V(25%), or a list of these, also as text with commas between. The first
      batch is the trial when it is small; the last size counts for all batches that follow.
    type: raw
    required: true
  variable:
    description: Name of the user's variable, for the message.
    type: str
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Maintain servers in use
  hosts: baremetal
  serial: "{{ maintain_serial | default(1) | metal3.baremetal.batch_sizes('maintain_serial') }}"
  tasks:
    - name: Maintain the servers of this batch
      ansible.builtin.import_role:
        name: metal3.baremetal.maintenance
"""

RETURN = r"""
_value:
  description: The sizes, numbers and percentages.
  type: list
  elements: raw
"""


def batch_sizes(value, variable):
    """Return the sizes; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import batch_sizes as sizes

    try:
        return sizes.batch_sizes(value, variable)
    except ValueError as exc:
        raise AnsibleFilterError(str(exc)) from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"batch_sizes": batch_sizes}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for Kubernetes quantities."""
from __future__ import annotations

DOCUMENTATION = r"""
name: quantity
short_description: Whether a value is a Kubernetes quantity
version_added: "0.1.0"
description:
  - True for numbers and for texts that Kubernetes takes as a quantity.
options:
  _input:
    description: Value, for example V(16Gi).
    type: raw
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check a variable
  ansible.builtin.assert:
    that: reserved_memory is metal3.baremetal.quantity
"""

RETURN = r"""
_value:
  description: Whether it is.
  type: bool
"""


def is_quantity(value):
    """Say whether it is; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import quantity as quantities

    try:
        quantities.parse(value)
    except ValueError:
        return False
    return True


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"quantity": is_quantity}

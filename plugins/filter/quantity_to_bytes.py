# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that reads a Kubernetes quantity."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: quantity_to_bytes
short_description: Number that a Kubernetes quantity stands for
version_added: "0.1.0"
description:
  - Returns a quantity of Kubernetes as an integer, rounded up as Kubernetes does.
options:
  _input:
    description: Quantity, for example V(16Gi), V(1500M), V(1e9) or a number.
    type: raw
    required: true
seealso:
  - plugin: metal3.baremetal.bytes_to_quantity
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Take hosts with enough memory
  ansible.builtin.debug:
    msg: >-
      {{ found.hosts | selectattr('hardware.ram_mebibytes', 'ge',
         ('64Gi' | metal3.baremetal.quantity_to_bytes) // 1048576) | map(attribute='name') }}
"""

RETURN = r"""
_value:
  description: The number, of bytes where the quantity is an amount of memory.
  type: int
"""


def quantity_to_bytes(quantity):
    """Return the number; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import quantity as quantities

    try:
        return quantities.to_integer(quantity)
    except ValueError as exc:
        raise AnsibleFilterError(f"quantity_to_bytes: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"quantity_to_bytes": quantity_to_bytes}

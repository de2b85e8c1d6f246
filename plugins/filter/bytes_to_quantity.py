# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that writes a Kubernetes quantity."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: bytes_to_quantity
short_description: Kubernetes quantity of a number
version_added: "0.1.0"
description:
  - Returns the shortest quantity of Kubernetes that stands for exactly this number.
positional: binary
options:
  _input:
    description: Integer.
    type: int
    required: true
  binary:
    description: Whether to use V(Ki), V(Mi) and so on, else V(k), V(M) and so on.
    type: bool
    default: true
seealso:
  - plugin: metal3.baremetal.quantity_to_bytes
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Print the memory of a host
  ansible.builtin.debug:
    msg: "{{ (host.hardware.ram_mebibytes * 1048576) | metal3.baremetal.bytes_to_quantity }}"
"""

RETURN = r"""
_value:
  description: The quantity, for example V(16Gi).
  type: str
"""


def bytes_to_quantity(number, binary=True):
    """Return the quantity; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import quantity as quantities

    try:
        return quantities.build(number, binary)
    except ValueError as exc:
        raise AnsibleFilterError(f"bytes_to_quantity: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"bytes_to_quantity": bytes_to_quantity}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that adds to an IP address."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: address_shift
short_description: IP address at a distance from another
version_added: "0.1.0"
description:
  - Returns the address that is a number after another, or before it when the number is negative.
  - With a prefix length, an address outside the network is refused.
positional: offset
options:
  _input:
    description: IP address, with or without a prefix length.
    type: str
    required: true
  offset:
    description: How far to go.
    type: int
    required: true
requirements:
  - netaddr >= 1.2
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Number the servers' addresses
  ansible.builtin.debug:
    msg: "{{ '192.0.2.10/24' | metal3.baremetal.address_shift(groups['baremetal'].index(inventory_hostname)) }}"
"""

RETURN = r"""
_value:
  description: The address, with the prefix length when there was one.
  type: str
"""


def address_shift(address, offset):
    """Return the address; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _address_arithmetic as address_arithmetic

    try:
        return address_arithmetic.shifted(address, offset)
    except ValueError as exc:
        raise AnsibleFilterError(f"address_shift: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"address_shift": address_shift}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that counts the addresses of pools."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: pool_size
short_description: Number of addresses in ranges of a pool
version_added: "0.1.0"
description:
  - Counts the addresses that the IP address manager would hand out; one that is in two ranges is counted once.
options:
  _input:
    description:
      - Ranges as M(metal3.baremetal.ip_pool) takes them, each with C(start), C(end) and C(subnet).
      - A text stands for a subnet, or with a dash for first and last address.
    type: list
    elements: raw
    required: true
seealso:
  - plugin: metal3.baremetal.pool_addresses
    plugin_type: filter
requirements:
  - netaddr >= 1.2
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check that there are enough addresses
  ansible.builtin.assert:
    that: networks.nodes.ipv4.ranges | metal3.baremetal.pool_size >= 14
"""

RETURN = r"""
_value:
  description: How many there are.
  type: int
"""


def pool_size(ranges):
    """Return how many addresses there are; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _address_arithmetic as address_arithmetic

    try:
        return address_arithmetic.count(ranges)
    except ValueError as exc:
        raise AnsibleFilterError(f"pool_size: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"pool_size": pool_size}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for addresses of a pool."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: in_pool
short_description: Whether an IP address is in ranges of a pool
version_added: "0.1.0"
description:
  - True when the IP address manager could hand the address out.
positional: ranges
options:
  _input:
    description: IP address.
    type: str
    required: true
  ranges:
    description:
      - Ranges as M(metal3.baremetal.ip_pool) takes them, each with C(start), C(end) and C(subnet).
      - A text stands for a subnet, or with a dash for first and last address.
    type: list
    elements: raw
    required: true
seealso:
  - plugin: metal3.baremetal.pool_addresses
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Keep the endpoint out of the pool
  ansible.builtin.assert:
    that: endpoint.host is not metal3.baremetal.in_pool(networks.nodes.ipv4.ranges)
"""

RETURN = r"""
_value:
  description: Whether it is.
  type: bool
"""


def is_in_pool(address, ranges):
    """Say whether it is; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import addresses as ipam_addresses

    try:
        return ipam_addresses.has(ranges, address)
    except ValueError as exc:
        raise AnsibleFilterError(f"in_pool: {exc}") from exc


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"in_pool": is_in_pool}

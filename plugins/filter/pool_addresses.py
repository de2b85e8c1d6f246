# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that lists the addresses of pools."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: pool_addresses
short_description: Addresses in ranges of a pool
version_added: "0.1.0"
description:
  - Lists the addresses that the IP address manager would hand out, in its order, each once.
positional: limit
options:
  _input:
    description:
      - Ranges as M(metal3.baremetal.ip_pool) takes them, each with C(start), C(end) and C(subnet).
      - A text stands for a subnet, or with a dash for first and last address.
    type: list
    elements: raw
    required: true
  limit:
    description: How many to return at most. Without it, more than 65536 are refused.
    type: int
  exclude:
    description: Addresses to leave out.
    type: list
    elements: str
    default: []
seealso:
  - plugin: metal3.baremetal.pool_size
    plugin_type: filter
  - plugin: metal3.baremetal.in_pool
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give the first three addresses to the control plane
  ansible.builtin.set_fact:
    control_plane_addresses: >-
      {{ ['192.0.2.20-192.0.2.40'] | metal3.baremetal.pool_addresses(3, exclude=['192.0.2.21']) }}
"""

RETURN = r"""
_value:
  description: The addresses.
  type: list
  elements: str
"""


def pool_addresses(ranges, limit=None, exclude=()):
    """Return the addresses; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import addresses as ipam_addresses

    try:
        return ipam_addresses.addresses(ranges, exclude, limit)
    except ValueError as exc:
        raise AnsibleFilterError(f"pool_addresses: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"pool_addresses": pool_addresses}

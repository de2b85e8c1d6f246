# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the option ``taken``: addresses that DHCP gives to no server."""
from __future__ import annotations


class ModuleDocFragment:
    """Addresses that machines of the plane have."""

    DOCUMENTATION = r"""
options:
  taken:
    description:
      - Addresses that machines of the plane have. With O(state=present) what the DHCP server would lend, or keep for a
        server, of them is refused; nothing else is done with them. P(metal3.baremetal.plane_addresses#filter) makes
        them of an inventory.
    type: list
    elements: dict
    default: []
    suboptions:
      owner:
        description: Whose it is, for messages.
        type: str
        required: true
      address:
        description: The address, maybe with the prefix of its network.
        type: str
        required: true
      may_be_kept:
        description: Whether it may be that of a server for which the DHCP server keeps it.
        type: bool
        default: false
"""

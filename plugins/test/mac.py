# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for MAC addresses."""
from __future__ import annotations

DOCUMENTATION = r"""
name: mac
short_description: Whether a text is a MAC address
version_added: "0.1.0"
description:
  - True for the MAC address of one network card in any of the usual spellings; a group, broadcast or zero address is
    none.
options:
  _input:
    description: MAC address with colons, dashes or dots, or its twelve digits alone.
    type: raw
    required: true
seealso:
  - plugin: metal3.baremetal.mac_normal
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse servers without a boot MAC address
  ansible.builtin.assert:
    that: boot_mac is metal3.baremetal.mac
"""

RETURN = r"""
_value:
  description: Whether it is.
  type: bool
"""


def is_mac(value):
    """Say whether it is; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import mac_address

    try:
        return mac_address.mac_error(mac_address.normal(value)) is None
    except ValueError:
        return False


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"mac": is_mac}

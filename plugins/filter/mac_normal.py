# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that spells a MAC address as BareMetalHosts do."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: mac_normal
short_description: Normal form of a MAC address
version_added: "0.1.0"
description:
  - Returns a MAC address as six pairs of small hexadecimal digits with colons, which is how BareMetalHosts take it.
options:
  _input:
    description: MAC address with colons, dashes or dots, or its twelve digits alone.
    type: str
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Take addresses as a switch prints them
  ansible.builtin.set_fact:
    boot_mac: "{{ '005C.5231.3A01' | metal3.baremetal.mac_normal }}"
"""

RETURN = r"""
_value:
  description: The address, for example V(00:5c:52:31:3a:01).
  type: str
"""


def mac_normal(text):
    """Return the normal form; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import mac_address

    try:
        return mac_address.normal(text)
    except ValueError as exc:
        raise AnsibleFilterError(f"mac_normal: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"mac_normal": mac_normal}

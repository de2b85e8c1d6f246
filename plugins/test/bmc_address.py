# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for addresses of BMCs."""
from __future__ import annotations

DOCUMENTATION = r"""
name: bmc_address
short_description: Whether a text is the address of a BMC
version_added: "0.1.0"
description:
  - True when the Bare Metal Operator would accept the address and read it as it is meant.
options:
  _input:
    description: Address, for example V(redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1).
    type: raw
    required: true
seealso:
  - plugin: metal3.baremetal.bmc_address_parse
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Refuse servers without a usable address
  ansible.builtin.assert:
    that: bmc_address is metal3.baremetal.bmc_address
"""

RETURN = r"""
_value:
  description: Whether it is.
  type: bool
"""


def is_bmc_address(value):
    """Say whether it is; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address

    return bmc_address.readable(value) is not None


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"bmc_address": is_bmc_address}

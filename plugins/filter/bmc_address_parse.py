# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that takes the address of a BMC apart."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: bmc_address_parse
short_description: Parts of the address of a BMC
version_added: "0.1.0"
description:
  - Reads the address of a BMC as the Bare Metal Operator does, and returns what follows from its scheme.
  - What the operator would refuse or misread is refused.
options:
  _input:
    description: Address, for example V(redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1).
    type: str
    required: true
seealso:
  - plugin: metal3.baremetal.bmc_address_build
    plugin_type: filter
  - plugin: metal3.baremetal.bmc_address
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask a BMC for its systems
  ansible.builtin.uri:
    url: "{{ (bmc_address | metal3.baremetal.bmc_address_parse).endpoint }}/redfish/v1/Systems"
    url_username: "{{ bmc_username }}"
    url_password: "{{ bmc_password }}"
    force_basic_auth: true
"""

RETURN = r"""
_value:
  description: The parts.
  type: dict
  contains:
    scheme:
      description: Scheme, in small letters.
      type: str
    protocol:
      description: What is spoken with the BMC, V(redfish) or V(ipmi).
      type: str
    driver:
      description: Hardware type of Ironic, V(redfish), V(idrac) or V(ipmi).
      type: str
    boot:
      description: How the server boots the deploy ramdisk, V(virtual-media), V(ipxe) or V(uefi-http).
      type: str
    host:
      description: Host name or IP address, without brackets.
      type: str
    port:
      description: Port as given, null for the default.
      type: int
    effective_port:
      description: Port that is used.
      type: int
    system:
      description: Path of the Redfish system, empty when the BMC has only one.
      type: str
    query:
      description: What stands after the question mark.
      type: dict
    endpoint:
      description: URL of the Redfish service; host and port for IPMI.
      type: str
    uses_tls:
      description: Whether the BMC is asked over TLS.
      type: bool
    needs_boot_mac:
      description: Whether a host with this address needs C(bootMACAddress).
      type: bool
    needs_provisioning_network:
      description: Whether the server can only be deployed over a provisioning network.
      type: bool
    supports_raid:
      description: Whether the operator sets up hardware RAID.
      type: bool
    supports_secure_boot:
      description: Whether the operator sets secure boot.
      type: bool
    normal:
      description: The address in its shortest spelling.
      type: str
"""


def bmc_address_parse(address):
    """Return the parts of an address; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address

    try:
        return bmc_address.described(bmc_address.parse(address))
    except bmc_address.AddressError as exc:
        raise AnsibleFilterError(f"bmc_address_parse: found {bmc_address.redacted(address)}, {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"bmc_address_parse": bmc_address_parse}

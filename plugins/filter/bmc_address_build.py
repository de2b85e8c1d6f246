# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that puts the address of a BMC together."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: bmc_address_build
short_description: Address of a BMC from its parts
version_added: "0.1.0"
description:
  - Puts the parts that P(metal3.baremetal.bmc_address_parse#filter) returns together, some of them changed.
  - Returns the address in its shortest spelling. What the Bare Metal Operator would refuse is refused.
options:
  _input:
    description: Dictionary with C(scheme) and C(host), if need be C(port), C(system) and C(query); or an address.
    type: raw
    required: true
  scheme:
    description: Scheme, in place of the one in O(_input). A port that was given stays.
    type: str
  host:
    description: Host name or IP address, in place of the one in O(_input).
    type: str
  port:
    description: Port, in place of the one in O(_input).
    type: int
  system:
    description: Path of the Redfish system, in place of the one in O(_input).
    type: str
  query:
    description: Query of an IPMI address, in place of the one in O(_input).
    type: dict
seealso:
  - plugin: metal3.baremetal.bmc_address_parse
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Use virtual media in place of network boot
  ansible.builtin.set_fact:
    bmc_address: "{{ bmc_address | metal3.baremetal.bmc_address_build(scheme='redfish-virtualmedia') }}"

- name: Make addresses of a list of hosts
  ansible.builtin.debug:
    msg: >-
      {{ {'scheme': 'redfish', 'host': item}
         | metal3.baremetal.bmc_address_build(system='/redfish/v1/Systems/1') }}
  loop: [192.0.2.11, 192.0.2.12]
"""

RETURN = r"""
_value:
  description: The address.
  type: str
"""


PARTS = ("scheme", "host", "port", "system", "query")


def bmc_address_build(parts, **changes):
    """Return the address; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name

    unknown = sorted(set(changes) - set(PARTS))
    if unknown:
        raise AnsibleFilterError(f"bmc_address_build: found {', '.join(unknown)}, expected {', '.join(PARTS)}")
    try:
        if isinstance(parts, str):
            parts = bmc_address.described(bmc_address.parse(parts))
        elif not isinstance(parts, dict):
            raise AnsibleFilterError(f"bmc_address_build: found {type_name(parts)}, expected a dictionary with "
                                     "host, or an address")
        parts = dict(((part, parts.get(part)) for part in PARTS), **changes)
        if not parts["scheme"] or not parts["host"]:
            raise AnsibleFilterError("bmc_address_build: found no %s, expected scheme and host" % (
                "host" if parts["scheme"] else "scheme"))
        return bmc_address.build(parts["scheme"], parts["host"], parts["port"], parts["system"] or "", parts["query"])
    except bmc_address.AddressError as exc:
        raise AnsibleFilterError(f"bmc_address_build: {exc}") from exc


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"bmc_address_build": bmc_address_build}

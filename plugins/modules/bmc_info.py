#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what BMCs report of servers."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_info
short_description: Read what BMCs report of servers
version_added: "0.1.0"
description:
  - Logs in to the BMCs of a list of servers, many at once, and returns what they report as plain data. Nothing is
    changed.
  - By Redfish (through sushy) that is the system with its power state, boot settings, NICs, virtual media, secure boot
    and BIOS attributes, the manager with firmware version and clock, and the account's role and lockout policy. By IPMI
    it is power state and identity.
  - A login that failed is not tried again for another server of the list with the same BMC, user name and password,
    whether certificates are verified or not, and whether by Redfish or IPMI (standard ports of one host are one BMC).
  - A BMC that can't be asked fails nothing; its RV(hosts[].error) says what ended it.
options:
  firmware:
    description: Whether the firmware inventory is read too, which takes many requests with some vendors.
    type: bool
    default: false
  accounts:
    description: Whether all accounts of the BMC are read too, which takes a request for each slot with some vendors.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.bmc
  - metal3.baremetal.bmc.hosts
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.bmc_preflight
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the BMCs of all servers
  metal3.baremetal.bmc_info:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal']) }}"
    ca_cert: /etc/ssl/certs/site-ca.pem
  register: bmcs
  delegate_to: localhost
  run_once: true

- name: List the BIOS versions
  ansible.builtin.debug:
    msg: "{{ bmcs.hosts | map(attribute='system.bios_version', default='') | unique }}"
"""

RETURN = r"""
hosts:
  description: What was found, in the order of O(hosts).
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
    address:
      description: Address of the BMC in its shortest form, empty when the given one can't be read.
      type: str
      returned: always
    error:
      description: What ended the survey, empty when nothing did.
      type: dict
      returned: always
      sample: {stage: login, kind: unauthorized, text: HTTP 401}
    unread:
      description: Parts that could not be read, with the reason.
      type: dict
      returned: always
      sample: {bios: HTTP 404}
    reached:
      description: Whether the BMC took a connection.
      type: bool
      returned: always
    connect_seconds:
      description: How long that took.
      type: float
      returned: always
    tls:
      description: The BMC's certificate and whether it was verified; empty without TLS. Times are seconds since 1970.
      type: dict
      returned: always
      sample:
        verified: true
        error: ""
        protocol: TLSv1.3
        certificate: {subject: CN=bmc, issuer: CN=ca, names: [192.0.2.11], valid_from: 1, valid_until: 2}
    login:
      description: Whether the BMC took the credentials, how they were given, and how often.
      type: dict
      returned: always
      sample: {ok: true, method: session, attempts: 1}
    account:
      description: Role and privileges of the account, and after how many wrong passwords the BMC locks one.
      type: dict
      returned: always
      sample: {role: Administrator, privileges: [ConfigureComponents, Login], locked: false, lockout_threshold: 5}
    service:
      description: The Redfish service.
      type: dict
      returned: always
      sample: {redfish_version: 1.6.0, vendor: A vendor, product: "", uuid: ""}
    systems:
      description: Paths of all systems of the BMC.
      type: list
      elements: str
      returned: always
    system:
      description: The system, empty when it was not found.
      type: dict
      returned: always
      sample:
        path: /redfish/v1/Systems/1
        manufacturer: A vendor
        model: A server
        sku: ""
        serial_number: "42"
        uuid: 4c4c4544-0042-3010-8042-b3c04f564233
        bios_version: 2.19.1
        power_state: "On"
        reset_types: ["On", ForceOff]
        boot: {override_enabled: Disabled, override_target: None, override_mode: UEFI, targets: [Pxe, Cd], modes: []}
    manager:
      description: The BMC itself; C(clock_drift_seconds) is null when it does not report the time.
      type: dict
      returned: always
      sample: {model: A BMC, firmware_version: 6.10.30.00, clock: "2026-01-01T00:00:00Z", clock_drift_seconds: 0}
    nics:
      description: NICs with their MAC addresses.
      type: list
      elements: dict
      returned: always
      sample: [{name: NIC.1, mac: "00:5c:52:31:3a:01", link: LinkUp, speed_mbps: 25000, enabled: true}]
    virtual_media:
      description: Virtual media devices.
      type: list
      elements: dict
      returned: always
      sample: [{name: Cd, media_types: [CD, DVD], inserted: false, insert_supported: true, transfer_protocols: [HTTP]}]
    secure_boot:
      description: Secure boot, empty when the system has none.
      type: dict
      returned: always
      sample: {enabled: false, current: Disabled, mode: UserMode}
    bios:
      description: BIOS attributes, without passwords; empty when the system has none.
      type: dict
      returned: always
      sample: {registry: BiosAttributeRegistry.v1_0_0, attributes: {BootMode: Uefi}}
    firmware:
      description: The firmware inventory; empty without O(firmware).
      type: list
      elements: dict
      returned: always
      sample: [{id: BMC, name: BMC firmware, version: 6.10.30.00, updateable: true}]
    accounts:
      description: All accounts that have a user name; empty without O(accounts). C(enabled) and C(locked) are null when
        the BMC does not say.
      type: list
      elements: dict
      returned: always
      sample: [{name: admin, role: Administrator, enabled: true, locked: false}]
    recommended:
      description: The BMC address to write, and why; empty when the system was not found.
      type: dict
      returned: always
      sample: {scheme: redfish-virtualmedia, address: "redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1",
               reasons: [virtual media works]}
    ipmi:
      description: What the BMC reported by IPMI.
      type: dict
      returned: always
      sample: {power: "on", firmware_version: "1.00", serial_number: "42"}
    redfish_version:
      description: Version of the Redfish service that answers in addition to IPMI, empty when there is none.
      type: str
      returned: always
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when the input was refused
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule that was broken.
      type: str
    subject:
      description: The object that it is about.
      type: str
    field:
      description: Path of the option; empty when the whole object is meant.
      type: str
    actual:
      description: What was found, V(null) when it is not set; never a secret value.
      type: str
    expected:
      description: What is allowed.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.module import run_bmc_info


def main():
    """Run the module."""
    run_bmc_info()


if __name__ == "__main__":
    main()

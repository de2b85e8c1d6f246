#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares servers with what a site expects of them."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_compliance
short_description: Compare servers and their BMCs with what a site expects
version_added: "0.1.0"
description:
  - Compares what is known of hosts with what is expected of each, and fails when one is not as it is to be. No BMC is
    asked and nothing is changed but the report files. Certificates and accounts of BMCs are those that
    M(metal3.baremetal.bmc_info) has read, in O(bmcs).
  - Hardware is what inspection has found, the HardwareData. Versions are those of HostFirmwareComponents, BIOS settings
    those of HostFirmwareSettings, and switches those that network cards have heard of by LLDP at the inspection.
  - Findings have the form of those of M(metal3.baremetal.site_lint). Errors are differences, warnings what is not
    known.
options:
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  hosts:
    description: The hosts, each with what is expected of it.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      expected:
        description: What is expected. What is left out is not compared.
        type: dict
        default: {}
        suboptions:
          architecture:
            description: Architecture of the processors, for example V(x86_64).
            type: str
          cpus_minimum:
            description: The fewest processors, as Linux counts them.
            type: int
          memory_mebibytes_minimum:
            description: The least memory, in MiB.
            type: int
          manufacturer:
            description: Who made the server.
            type: str
          product_name:
            description: The maker's name of the server.
            type: str
          disks:
            description: Disks that are to be there. Each disk counts for one entry; what asks for more is served first.
            type: list
            elements: dict
            suboptions:
              count_minimum:
                description: The fewest disks of this kind.
                type: int
                default: 1
              size_gigabytes_minimum:
                description: The least size of each, in units of 10^9 bytes.
                type: int
              rotational:
                description: Whether they are rotating disks.
                type: bool
              model:
                description: Their model.
                type: str
          nics:
            description: Network cards that are to be there.
            type: list
            elements: dict
            suboptions:
              name:
                description: Name of the network card in the deploy ramdisk, for example V(eno1).
                type: str
                required: true
              speed_gigabits_minimum:
                description: The least speed, in Gbit/s.
                type: int
              switch:
                description: Name or chassis ID of the switch, as LLDP has it.
                type: str
              switch_port:
                description: Port of the switch, as LLDP has it.
                type: str
          nics_minimum:
            description: The fewest network cards.
            type: int
          firmware:
            description:
              - Component to its version, a text, or to a list of those that are allowed. Names are those of
                HostFirmwareComponents, C(bios), C(bmc), and of network cards for example C(nic:005C52000010).
              - C(nic) is each network card of which a version is known and that is not named itself.
            type: dict
          settings:
            description: BIOS setting to its value.
            type: dict
          certificate:
            description: The TLS certificate of the server's BMC, as O(bmcs) has it. V({}) takes the defaults.
            type: dict
            suboptions:
              days_minimum:
                description: How many days it is to be valid for, at least.
                type: int
                default: 30
              verified:
                description: Whether it has to be verified by the authorities that M(metal3.baremetal.bmc_info) was
                  given, or by those of its machine.
                type: bool
                default: true
              issuer:
                description: Who is to have signed it, as RFC 4514 writes names, for example V(CN=site-ca).
                type: str
          accounts:
            description:
              - All accounts that may be enabled at the server's BMC, as O(bmcs) has them. Others that are enabled are
                errors, and so is one that is not there.
            type: list
            elements: dict
            suboptions:
              name:
                description: User name of the account.
                type: str
                required: true
              role:
                description: Role of the account, as the BMC calls it, for example V(Operator). Left out, any.
                type: str
              required:
                description: Whether the account has to be there and enabled.
                type: bool
                default: true
  bmcs:
    description:
      - C(hosts) as M(metal3.baremetal.bmc_info) returns them, with its option
        O(metal3.baremetal.bmc_info#module:accounts) where O(hosts[].expected.accounts) is set. Of a host that is not
        among them, certificate and accounts are not known, which is a warning.
    type: list
    elements: dict
    default: []
  firmware_catalogue:
    description:
      - File in YAML or JSON with the versions of firmware that models are to have, a list of entries. Each has
        C(manufacturer), C(product_name) or both, as the inspection reports them, and C(firmware), component to its
        version or to a list of those that are allowed. C(nic) is each network card, whatever its serial number.
      - What an entry says of one model goes before what another says of all of its maker, and C(expected) of a host
        before both. A server whose model is not in the catalogue is a warning.
    type: path
  cabling_file:
    description:
      - File in YAML or JSON with the switches that network cards are connected to, host to network card to C(switch)
        and C(switch_port), as LLDP has them.
      - A host that is not in the file, and a network card that is not and has heard from a switch, are warnings.
    type: path
  places:
    description:
      - Where what is expected of hosts is written down, for the findings and O(sarif_file).
        P(metal3.baremetal.variable_places#filter) finds it out.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      path:
        description: Path of the file.
        type: str
        required: true
      line:
        description: Line, from 1.
        type: int
      column:
        description: Column, from 1.
        type: int
  strict:
    description: Whether warnings fail the task too.
    type: bool
    default: false
  sarif_file:
    description: File to which the findings are written as SARIF 2.1.0.
    type: path
  junit_file:
    description: File to which the findings are written as JUnit XML.
    type: path
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - Report files are not written.
  diff_mode:
    support: none
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
seealso:
  - module: metal3.baremetal.bmc_info
  - module: metal3.baremetal.hardware_data_info
  - module: metal3.baremetal.host_firmware_settings_info
  - module: metal3.baremetal.host_firmware_components_info
  - module: metal3.baremetal.site_lint
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Compare the servers of a rack with what was ordered
  metal3.baremetal.host_compliance:
    hosts:
      - name: rack1-01
        expected:
          manufacturer: Example Inc.
          cpus_minimum: 64
          memory_mebibytes_minimum: 262144
          disks:
            - {count_minimum: 2, size_gigabytes_minimum: 900, rotational: false}
          nics:
            - {name: eno1, speed_gigabits_minimum: 25, switch: leaf-1, switch_port: Ethernet1/1}
          firmware:
            bios: ["2.4.1", "2.4.2"]
            bmc: "7.10"
          settings:
            ProcVirtualization: Enabled
    junit_file: compliance.xml

- name: Ask the BMCs
  metal3.baremetal.bmc_info:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(['rack1-01']) }}"
    accounts: true
    ca_cert: /etc/ssl/certs/site-ca.pem
  register: bmcs

- name: Compare certificates and accounts of the BMCs
  metal3.baremetal.host_compliance:
    hosts:
      - name: rack1-01
        expected:
          certificate: {days_minimum: 60, issuer: CN=site-ca}
          accounts:
            - {name: admin, role: Administrator}
            - {name: monitoring, role: ReadOnly, required: false}
    bmcs: "{{ bmcs.hosts }}"

# firmware.yml: [{manufacturer: Example Inc., product_name: R1, firmware: {bios: ["2.4.1", "2.4.2"], bmc: "7.10"}}]
# cabling.yml: {rack1-01: {eno1: {switch: leaf-1, switch_port: Ethernet1/1}}}
- name: Compare servers with files of the site
  metal3.baremetal.host_compliance:
    hosts:
      - name: rack1-01
    firmware_catalogue: firmware.yml
    cabling_file: cabling.yml
"""

RETURN = r"""
findings:
  description: What is not as it is expected, or not known.
  returned: when the hosts were accepted, also on failure
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule, for example V(hardware-differs) or V(setting-unknown).
      type: str
    level:
      description: V(error) or V(warning).
      type: str
    subject:
      description: Name of the host.
      type: str
    field:
      description: Path of the option below C(expected), or of what the files say.
      type: str
    actual:
      description: What was found, V(null) when it is not known.
      type: str
    expected:
      description: What is expected.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
  sample:
    - {code: firmware-differs, level: error, subject: rack1-01, field: firmware.bmc, actual: '"7.00"', expected: "7.10",
       text: 'rack1-01: firmware.bmc: found "7.00", expected 7.10'}
counts:
  description: How many errors and warnings there are.
  returned: when the hosts were accepted, also on failure
  type: dict
  sample: {error: 1, warning: 0}
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
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._compliance.module import run_host_compliance


def main():
    """Run the module."""
    run_host_compliance()


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the BMCs of servers before they are enrolled."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_preflight
short_description: Check BMCs before servers are enrolled
version_added: "0.1.0"
description:
  - Asks the BMCs of a list of servers, many at once, and checks what they report, item by item. Nothing is changed.
  - >-
    Items by Redfish are C(address), C(reach), C(tls), C(service), C(login), C(privileges), C(lockout), C(system),
    C(power), C(boot_override), C(virtual_media), C(secure_boot), C(bios), C(clock), C(hardware) (against the project's
    table of supported hardware), C(scheme) (which one fits, and why), C(boot_mac), C(unique) (two addresses that
    lead to one server) and, with O(ironic_pod), C(ironic_reach); by IPMI C(reach), C(login), C(privileges), C(power),
    C(scheme) and C(ironic_reach).
  - An item is V(ok), V(warning), V(problem), or V(unknown) when the BMC does not report it, or when an earlier item
    says why it could not be asked.
  - A login that failed is not tried again for another server of the list with the same BMC, user name and password,
    whether certificates are verified or not, and whether by Redfish or IPMI (standard ports of one host are one BMC).
  - That a BMC is not reached from O(ironic_pod) is a problem with any O(checks).
  - The module fails with all problems of all servers at once.
options:
  certificate_days:
    description: A certificate that is valid for fewer days than this is a warning.
    type: int
    default: 30
  clock_drift_seconds:
    description: A BMC whose clock is more wrong than this is a warning.
    type: int
    default: 120
  checks:
    description:
      - What is checked. V(login) only logs in and out again, which takes three requests for each BMC. Credentials that
        a BMC refuses are then the only problem; what keeps them from being tried is a warning.
    type: str
    choices: [all, login]
    default: all
  fail_on:
    description: The least that the module fails on; V(none) for never.
    type: str
    choices: [problem, warning, none]
    default: problem
  show_table:
    description: Whether a table of all servers is printed at the end, and the warnings.
    type: bool
    default: false
  advice:
    description: What is added to the message of a failure, such as how to go on without this check.
    type: str
    default: ""
requirements:
  - kubernetes >= 31, with O(ironic_pod)
extends_documentation_fragment:
  - metal3.baremetal.bmc
  - metal3.baremetal.bmc.field_names
  - metal3.baremetal.bmc.hosts
  - metal3.baremetal.ironic_pod
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.bmc_info
  - module: metal3.baremetal.baremetal_host
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check the BMCs of all servers
  metal3.baremetal.bmc_preflight:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal']) }}"
    field_names: variables
    show_table: true
  delegate_to: localhost
  run_once: true

- name: Check one server that is given here
  metal3.baremetal.bmc_preflight:
    hosts:
      - name: rack1-01
        bmc:
          address: redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1
          username: admin
          password: "{{ vault_bmc_password }}"
        boot_mac_address: "00:5c:52:31:3a:01"
    fail_on: warning

- name: Ask from Ironic's pod, too
  metal3.baremetal.bmc_preflight:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal']) }}"
    ironic_pod:
      kubeconfig: /etc/metal3/management.kubeconfig
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
hosts:
  description: What was found, in the order of O(hosts). When the module fails, without facts and what is in order.
  returned: always
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
    verdict:
      description: The worst status of the items, V(unknown) when none could be checked.
      type: str
      returned: always
      sample: ok
    checks:
      description: The verdicts, each a problem record with its item and status.
      type: list
      elements: dict
      returned: always
      contains:
        check:
          description: The item.
          type: str
        status:
          description: V(ok), V(warning), V(problem) or V(unknown).
          type: str
        code:
          description: Name of the rule that was broken.
          type: str
        subject:
          description: The object that it is about.
          type: str
        field:
          description: Path of the option; empty when there is nothing to do.
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
      sample:
        - check: boot_mac
          status: problem
          code: bmc-boot-mac
          subject: rack1-01
          field: boot_mac_address
          actual: '"00:5c:52:31:3a:02"'
          expected: "one of the server's: NIC.1 00:5c:52:31:3a:01"
          hint: correct boot_mac_address, or bmc.address if it leads to another server
          text: >-
            rack1-01: boot_mac: found "00:5c:52:31:3a:02", expected one of the server's: NIC.1 00:5c:52:31:3a:01;
            correct boot_mac, or bmc_address if it leads to another server
    recommended:
      description: The BMC address to write, and why; empty when the server was not found.
      type: dict
      returned: always
      sample: {scheme: redfish-virtualmedia, address: "redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1",
               reasons: [virtual media works]}
    failed:
      description: Whether the server makes the task fail, which O(fail_on) says.
      type: bool
      returned: always
    failing:
      description: What makes it fail, as texts with the server's name; empty when nothing does.
      type: list
      elements: str
      returned: always
    facts:
      description: What was read, as M(metal3.baremetal.bmc_info) returns it, without BIOS attributes.
      type: dict
      returned: success
advice:
  description: O(advice).
  returned: failure
  type: str
  sample: To enrol without asking the BMCs, set enroll_preflight to none.
counts:
  description: How many servers have which verdict.
  returned: always
  type: dict
  sample: {ok: 3, warning: 1, problem: 0}
table:
  description: The servers as lines of a table.
  returned: always
  type: list
  elements: str
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

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.module import run_bmc_preflight


def main():
    """Run the module."""
    run_bmc_preflight()


if __name__ == "__main__":
    main()

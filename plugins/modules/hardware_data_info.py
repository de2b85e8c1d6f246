#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads inspected hardware."""
from __future__ import annotations

DOCUMENTATION = r"""
module: hardware_data_info
short_description: Read the inspected hardware of bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Returns HardwareData: what inspection found on each host. It outlives the host's status, for example in a pivot.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.baremetal_host_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the hardware of all hosts
  metal3.baremetal.hardware_data_info:
  register: inspected

- name: Name the hosts with less than 64 GiB
  ansible.builtin.debug:
    msg: "{{ inspected.hardware_data | selectattr('hardware.ram_mebibytes', 'lt', 65536) | map(attribute='name') }}"
"""

RETURN = r"""
hardware_data:
  description: The objects, ordered by namespace and name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the object.
      type: str
      returned: always
    namespace:
      description: Namespace of the object.
      type: str
      returned: always
    labels:
      description: Labels of the object.
      type: dict
      returned: always
    hardware:
      description: The hardware, empty when inspection found nothing.
      type: dict
      sample:
        cpu: {count: 8, model: A CPU, architecture: x86_64}
        ram_mebibytes: 16384
        disks: [{name: /dev/sda, size_bytes: 480103981056, model: A disk, serial_number: S1, type: SSD}]
        nics: [{name: eth0, mac: "00:5c:52:31:3a:01", ip: 192.0.2.41, speed_gbps: 10, model: A NIC}]
        hostname: rack1-01
        manufacturer: A vendor
        product: A server
        serial_number: "42"
      returned: always
    object:
      description: The whole object, without C(managedFields).
      type: dict
      returned: when O(full_objects=true)
missing:
  description: Those of O(names) that were not found.
  returned: success
  type: list
  elements: str
  sample: []
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family_info


def main():
    """Run the module."""
    run_family_info("HardwareData")


if __name__ == "__main__":
    main()

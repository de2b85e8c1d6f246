#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads BareMetalHosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: baremetal_host_info
short_description: Read bare metal hosts
version_added: "0.1.0"
description:
  - Returns BareMetalHosts with state, power, errors and inspected hardware as plain data, read by one request.
options:
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  all_namespaces:
    description: Whether to read the hosts of all namespaces; O(namespace) is ignored then.
    type: bool
    default: false
  names:
    description: Names of the hosts to return; all by default.
    type: list
    elements: str
  label_selector:
    description: Only hosts that match this label selector, for example V(rack=r1,role!=spare).
    type: str
  full_objects:
    description: Whether to also return each object as the API server has it, but for queries of URLs, which are hidden.
    type: bool
    default: false
  hardware_data:
    description:
      - Whether to also return what the last inspection found, from each host's HardwareData, by one more request. It is
        more than RV(hosts[].hardware) has.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.baremetal_host
  - module: metal3.baremetal.baremetal_host_action
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read all hosts of a rack
  metal3.baremetal.baremetal_host_info:
    namespace: metal3
    label_selector: rack=r1
  register: rack

- name: Read the BIOS versions that inspection found
  metal3.baremetal.baremetal_host_info:
    hardware_data: true
  register: fleet

- name: Show them
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.hardware_data.firmware.bios.version | default('unknown') }}"
  loop: "{{ fleet.hosts }}"

- name: Name those in error
  ansible.builtin.debug:
    msg: "{{ rack.hosts | selectattr('error_type') | map(attribute='name') }}"
"""

RETURN = r"""
hosts:
  description: The hosts, ordered by namespace and name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
    namespace:
      description: Namespace of the host.
      type: str
      returned: always
    uid:
      description: UID of the object.
      type: str
      returned: always
    labels:
      description: Labels of the object.
      type: dict
      returned: always
    state:
      description: Provisioning state, V(new) before the operator has read the host.
      type: str
      returned: always
    operational_status:
      description: V(OK), V(discovered), V(error), V(delayed), V(detached), V(servicing) or empty.
      type: str
      returned: always
    error_type:
      description: Kind of the present error, empty when there is none.
      type: str
      returned: always
    error_message:
      description: Message of the present error, empty when there is none.
      type: str
      returned: always
    error_count:
      description: How often the present error has come, 0 when there is none.
      type: int
      returned: always
    online:
      description: Whether the server must be powered on.
      type: bool
      returned: always
    powered_on:
      description:
        - Whether the server was on when the operator has read its power the last time; V(false) also before it has read
          it. It does not read that of a paused or detached host.
      type: bool
      returned: always
    boot_mac_address:
      description: MAC address of the NIC that the server boots from.
      type: str
      returned: always
    bmc_address:
      description: Address of the BMC.
      type: str
      returned: always
    consumer:
      description: What uses the host, as kind, namespace and name; empty when it is free.
      type: str
      returned: always
    image_url:
      description: URL of the image that the host was provisioned with, empty when there is none.
      type: str
      returned: always
    node_id:
      description: UUID of the host's node in Ironic.
      type: str
      returned: always
    hardware_raid_levels:
      description:
        - Levels of the hardware RAID volumes that the host was prepared with, as the operator has noted them; V(null)
          when it leaves volumes as they are.
      type: list
      elements: str
      returned: always
    paused:
      description: Whether the operator leaves the host unchanged because of an annotation.
      type: bool
      returned: always
    deleting:
      description: Whether the host is being deleted, whatever its state is; a paused one stays until it is resumed.
      type: bool
      returned: always
    hardware:
      description: Inspected hardware, empty before inspection.
      type: dict
      returned: always
      sample:
        cpu: {count: 8, model: A CPU, architecture: x86_64}
        ram_mebibytes: 16384
        disks: [{name: /dev/sda, size_bytes: 480103981056, model: A disk, serial_number: S1, type: SSD}]
        nics: [{name: eth0, mac: "00:5c:52:31:3a:01", ip: 192.0.2.41, speed_gbps: 10, model: A NIC}]
        hostname: rack1-01
        manufacturer: A vendor
        product: A server
        serial_number: "42"
    operation_seconds:
      description:
        - How long the last run of each operation took, for those that have ended, for example C(inspect).
      type: dict
      returned: always
      sample: {register: 11, inspect: 269, provision: 402}
    hardware_data:
      description:
        - >-
          The C(spec.hardware) of the host's HardwareData, with the field names of its CRD: C(cpu), C(firmware),
          C(hostname), C(nics), C(ramMebibytes), C(storage) and C(systemVendor).
        - Empty when there is none, because the host was not inspected.
      type: dict
      returned: when O(hardware_data=true)
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
table:
  description: The hosts as lines of a table.
  returned: success
  type: list
  elements: str
  sample:
    - NAME      STATE      POWER  CPU  RAM     DISKS   NICS  BOOT MAC           BMC              TIME
    - rack1-01  available  on     8    16 GiB  480 GB  2     00:5c:52:31:3a:01  ipmi://192.0.2.1  -
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._host.module import run_baremetal_host_info


def main():
    """Run the module."""
    run_baremetal_host_info()


if __name__ == "__main__":
    main()

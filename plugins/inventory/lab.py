# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers of a lab as inventory hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
name: lab
short_description: Simulated servers of a lab
version_added: "0.1.0"
description:
  - Gives the simulated servers of a lab as hosts of the group C(baremetal), and this machine as the only host of the
    group C(management).
  - Servers of the kind V(virtual) are in the group C(virtual), too.
  - A workload cluster, if there is one, is the host C(<name>-cluster) of the group C(<name>) below C(clusters).
  - Each server has the variable C(lab_hardware). Addresses and credentials follow from the lab's figures, which exist
    once the lab is up; the group variables beside the lab's inventory file read them.
options:
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [metal3.baremetal.lab]
  name:
    description: Name of the lab.
    type: str
    default: lab
    env:
      - name: LAB
  servers:
    description: How many servers there are, C(server-01) and so on.
    type: int
    default: 4
    env:
      - name: LAB_SERVERS
  defaults:
    description:
      - Hardware of all servers, where it differs from the built-in one.
      - Known are C(vendor), C(model), C(serial), C(architecture), C(cpus), C(cpu_model), C(cpu_mhz), C(memory_mib),
        C(disks) (C(name), C(size_gib), C(rotational), C(vendor), C(model), C(serial), C(wwn), C(hctl), C(bus)), C(nics)
        (C(name), C(speed_mbps), C(vendor), C(product), C(has_serial_number), C(switch), C(switch_port)),
        C(bmc_scheme) and C(kind).
      - C(product) of a NIC says which firmware images are for its card, C(has_serial_number) whether the BMC reports
        its serial number. C(switch) and C(switch_port) are what a simulated server has heard by LLDP.
      - C(bus) of a disk is C(scsi), which is the default, C(sata), C(nvme) or C(virtio). NVMe and virtio disks have
        model, vendor and WWN of their own or none; a server has up to five by SATA.
      - C(bmc_scheme) is C(redfish), C(redfish-virtualmedia) or C(redfish-uefihttp), the scheme of the BMC's address.
        It says how the server boots the agent.
    type: dict
    default: {}
  overrides:
    description:
      - Hardware of single servers, server name → what differs from O(defaults). A list replaces the default list.
      - Names beyond O(servers) are allowed.
    type: dict
    default: {}
  cluster:
    description:
      - Name of the lab's workload cluster, V(none) for no cluster.
      - There is none either where its nodes can't run, which is without root or with fewer than O(cluster_servers).
    type: str
    default: workload
    env:
      - name: LAB_CLUSTER
  bmc_scheme:
    description:
      - The scheme of all BMCs' addresses, in place of those of O(defaults) and O(overrides).
      - With C(redfish), a deployment that fails is reported by each server. With virtual media, Ironic 39 forgets the
        error and the Bare Metal Operator keeps asking for it.
    type: str
    env:
      - name: LAB_BMC_SCHEME
  kind:
    description:
      - The kind of all servers, in place of those of O(defaults) and O(overrides). Of what these say of servers of
        another kind only C(bmc_scheme) remains.
      - A V(simulated) server is a BMC, an agent and a disk without a machine. A V(virtual) one is a QEMU process with
        UEFI firmware, which boots the real agent; see C(docs/real-and-simulated.md).
    type: str
    choices: [simulated, virtual]
    env:
      - name: LAB_KIND
  cluster_servers:
    description: How many servers the cluster needs.
    type: int
    default: 2
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
# lab.yml
plugin: metal3.baremetal.lab
servers: 4
overrides:
  server-04:
    memory_mib: 65536
    disks:
      - {size_gib: 40}
      - {size_gib: 200, rotational: true}
"""

import os

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import lab_dir
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.servers import VIRTUAL, describe, has_cluster
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_options as inventory_options

MANAGEMENT_HOST = "localhost"


class InventoryModule(BaseInventoryPlugin):
    """See DOCUMENTATION."""

    NAME = "metal3.baremetal.lab"

    def verify_file(self, path):
        """Take files that are named ``lab.yml`` or ``*.lab.yml``."""
        name = os.path.basename(path)
        return super().verify_file(path) and name.rpartition(".")[2] in ("yml", "yaml") and (
            name.split(".")[-2:][0] == "lab")

    def parse(self, inventory, loader, path, cache=True):
        """Add the groups and hosts."""
        super().parse(inventory, loader, path, cache)
        wrong = inventory_options.mistake(self._read_config_data(path), self.option_definitions)
        if wrong:
            raise AnsibleParserError(f"{path}: {wrong}")
        name = self.get_option("name")
        try:
            directory = lab_dir(name)
            hardware = describe(
                self.get_option("servers"), self.get_option("defaults"), self.get_option("overrides"),
                self.get_option("bmc_scheme"), self.get_option("kind"))
        except ValueError as exc:
            raise AnsibleParserError(f"{path}: {exc}") from exc
        inventory.set_variable("all", "lab_name", name)
        inventory.set_variable("all", "lab_dir", directory)
        for group in ("baremetal", VIRTUAL, "management", "clusters"):
            inventory.add_group(group)
        inventory.add_host(MANAGEMENT_HOST, group="management")
        inventory.set_variable(MANAGEMENT_HOST, "ansible_connection", "local")
        for server, values in hardware.items():
            inventory.add_host(server, group="baremetal")
            inventory.set_variable(server, "lab_hardware", values)
            if values["kind"] == VIRTUAL:
                inventory.add_host(server, group=VIRTUAL)
        cluster = self.get_option("cluster")
        if has_cluster(cluster, len(hardware), self.get_option("cluster_servers"), os.geteuid() == 0):
            inventory.add_group(cluster)
            inventory.add_child("clusters", cluster)
            inventory.add_host(cluster + "-cluster", group=cluster)

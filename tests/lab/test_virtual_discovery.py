# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual servers that nobody knows boot by iPXE, UEFI's and a BIOS's, and their real agents report them."""
from __future__ import annotations

from pathlib import Path

import pytest
from support import only
from unknown_machine import (
    boot_from_the_network,
    delete_discovered,
    discovered_node,
    how_to_discover,
    local_inventory,
)
from virtual_site import BOOT_SECONDS, IPMI, IPXE

pytestmark = pytest.mark.metal

NAMES = (IPXE, IPMI)


@pytest.fixture(scope="module")
def discovering(lab):
    """The lab with automatic discovery, and with an Ironic as before afterwards."""
    lab.playbook("install", "--tags", "ironic", extra={"ironic_auto_discovery": True}, seconds=900).ok()
    yield lab
    lab.playbook("install", "--tags", "ironic", seconds=900).ok()


@pytest.fixture(scope="module")
def reported(discovering, lab, room):
    """The nodes that Ironic made of the servers, by name; the servers are hosts again afterwards."""
    lab.remove_hosts(*NAMES)
    for name in NAMES:
        boot_from_the_network(lab, room, lab.servers[name])
    yield dict((name, discovered_node(lab, lab.servers[name], BOOT_SECONDS)) for name in NAMES)
    for name in NAMES:
        room.power(name, "power_off")
    delete_discovered(lab)
    lab.playbook("enroll", *only(*NAMES), seconds=BOOT_SECONDS).ok()
    assert [lab.state(name) for name in NAMES] == ["available"] * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_agent_reports_the_machine_that_qemu_was_given(lab, room, reported, name):
    server, node = lab.servers[name], reported[name]
    assert (node.provision_state, node.name, node.driver, node.driver_info) == ("enroll", None, "ipmi", {})
    report = lab.ironic().get_node_inventory(node)
    inventory = report["inventory"]
    assert report["plugin_data"]["auto_discovered"] is True
    assert inventory["system_vendor"]["serial_number"] == server["serial"]
    assert sorted(nic["mac_address"] for nic in inventory["interfaces"]) == sorted(nic["mac"] for nic in server["nics"])
    assert sorted(disk["serial"] for disk in inventory["disks"] if not disk["name"].startswith(("/dev/pmem", "/dev/md"))
                  ) == sorted(disk["serial"] for disk in server["disks"])
    assert "ipa-inspection-callback-url=" in Path(room.server(name)["serial_log"]).read_text(errors="replace")


def test_discover_names_the_machines_whose_bmc_nobody_reported(lab, reported, tmp_path):
    """QEMU's machines have no interface to a BMC, as have servers with one that the agent has no driver for."""
    site = local_inventory(tmp_path)
    found = tmp_path / "00-discovered.yml"
    run = lab.playbook("discover", inventory=site, extra=dict(
        how_to_discover(lab, lab.servers[IPXE]), discover_inventory_file=str(found)))
    run.failed(*(f"serial number {lab.servers[name]['serial']}" for name in NAMES), "no BMC address in its report")
    assert not found.exists()
    assert all(lab.ironic().get_node(node.id) for node in reported.values())

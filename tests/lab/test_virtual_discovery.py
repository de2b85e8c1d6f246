# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual servers that nobody knows boot by iPXE, UEFI's and a BIOS's, and their real agents report them.

That whose BMC the site's hardware manager knows becomes an inventory entry, and by that a host.
"""
from __future__ import annotations

from pathlib import Path

import pytest
from support import NAMESPACE, only
from unknown_machine import (
    boot_from_the_network,
    delete_discovered,
    discovered_node,
    expressions,
    how_to_discover,
    local_inventory,
)
from virtual_site import BOOT_SECONDS, IPMI, IPXE, cards

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory

pytestmark = pytest.mark.metal

NAMES = (IPXE, IPMI)
# As data/metal/bmc_manager.py reads it.
PARAMETER = "site-bmc="


@pytest.fixture(scope="module")
def discovering(lab):
    """The lab with automatic discovery, and with an Ironic as before afterwards."""
    # For the hardware manager in the ramdisk, data/metal/bmc_manager.py: of the other machine nobody knows the BMC.
    address = bmc_address.parse(lab.servers[IPXE]["bmc"]["address"])
    lab.playbook("install", "--tags", "ironic", seconds=900, extra={
        "ironic_auto_discovery": True,
        "ironic_kernel_params": f"{PARAMETER}{lab.servers[IPXE]['serial']}@{address.host}"}).ok()
    yield lab
    lab.playbook("install", "--tags", "ironic", seconds=900).ok()


@pytest.fixture(scope="module")
def reported(discovering, lab, room):
    """The nodes that Ironic made of the servers, by name; the servers are hosts again afterwards."""
    lab.remove_hosts(*NAMES)
    for name in NAMES:
        boot_from_the_network(lab, room, lab.servers[name])
    yield dict((name, discovered_node(lab, lab.servers[name], BOOT_SECONDS)) for name in NAMES)
    # By what discovery found, not by the lab's inventory.
    if lab.host(IPXE):
        lab.remove_hosts(IPXE)
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


@pytest.mark.parametrize("name", NAMES)
def test_the_agent_reports_a_bmc_where_its_hardware_manager_knows_one(lab, reported, name):
    # Without a manager of the site's the agent asks by IPMI, and QEMU's machines have no interface to their BMC.
    expected = bmc_address.parse(lab.servers[IPXE]["bmc"]["address"]).host if name == IPXE else None
    assert lab.ironic().get_node_inventory(reported[name])["inventory"]["bmc_address"] == expected


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An inventory folder that knows nothing but this machine."""
    return local_inventory(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def discovered(lab, reported, site):
    """The finished run of discover, and the entries that it has written."""
    path, server = site / "00-discovered.yml", lab.servers[IPXE]
    run = lab.playbook("discover", inventory=site, extra=dict(
        how_to_discover(lab, server), **expressions(lab), discover_inventory_file=str(path),
        discover_ports=[bmc_address.parse(server["bmc"]["address"]).port], discover_name_format="{hostname}"))
    return run, discovered_inventory.read(path.read_text())["baremetal"]["hosts"]


def test_a_machine_that_reports_its_bmc_becomes_an_inventory_entry_and_no_host(lab, discovered):
    server, (_run, hosts) = lab.servers[IPXE], discovered
    assert list(hosts) == [IPXE]
    assert hosts[IPXE]["bmc_address"] == "redfish://" + server["bmc"]["address"].partition("//")[2]
    assert hosts[IPXE]["boot_mac"] == server["boot_mac"]
    assert hosts[IPXE]["bmc_discovered"]["serial_number"] == server["serial"]
    assert lab.host(IPXE) is None


def test_its_node_is_gone_and_the_machine_whose_bmc_nobody_reported_is_named(lab, reported, discovered):
    run, _hosts = discovered
    run.failed(f"node {reported[IPXE].id}: deleted in Ironic", f"serial number {lab.servers[IPMI]['serial']}",
               "no BMC address in its report")
    assert [node.id for node in lab.ironic().nodes() if not node.name] == [reported[IPMI].id]


def test_enrolment_makes_it_available(lab, room, site, discovered):
    known = how_to_discover(lab, lab.servers[IPXE])
    run = lab.playbook("enroll", inventory=site, seconds=BOOT_SECONDS, extra={
        "metal3_ca_file": known["metal3_ca_file"], "metal3_ironic": known["metal3_ironic"],
        "metal3_kubeconfig": str(lab.dir / "kubeconfig"), "metal3_namespace": NAMESPACE,
        "hosts_delete_discovered": True})
    assert lab.state(IPXE) == "available", run.ok().output
    hardware = lab.host(IPXE)["status"]["hardware"]
    assert hardware["systemVendor"]["serialNumber"] == lab.servers[IPXE]["serial"]
    assert [mac for _name, mac, _address in cards(hardware)] == [lab.servers[IPXE]["boot_mac"]]
    assert lab.nodes()[IPXE].driver == "redfish"

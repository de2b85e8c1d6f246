# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that nobody knows boots from the network: Ironic makes a node of it, discover finds it, enroll takes it."""
from __future__ import annotations

import pytest
from unknown_machine import (
    boot_from_the_network,
    delete_discovered,
    discovered_node,
    expressions,
    how_to_discover,
    local_inventory,
)

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory


@pytest.fixture(scope="module")
def discovering(lab):
    """The lab with automatic discovery for the time of these tests, and with an Ironic as before afterwards."""
    lab.playbook("install", "--tags", "ironic", extra={"ironic_auto_discovery": True}).ok()
    assert (lab.dir / "www" / "ironic" / "inspector.ipxe").exists()
    yield lab
    lab.playbook("install", "--tags", "ironic").ok()
    assert not (lab.dir / "www" / "ironic" / "inspector.ipxe").exists()
    assert "inspector.ipxe" not in (lab.dir / "www" / "ironic" / "boot.ipxe").read_text()


@pytest.fixture(scope="module")
def server(discovering, lab, room):
    """A server that is no host of the operator's and has no node; it is a host again afterwards."""
    name = sorted(name for name, host in lab.hosts().items() if lab.state(name) == "available"
                  and not host["spec"].get("consumerRef") and len(lab.servers[name]["nics"]) > 1)[-1]
    lab.remove_hosts(name)
    assert name not in lab.nodes()
    yield lab.servers[name]
    if lab.host(name):
        # By another address than the lab's inventory has.
        lab.remove_hosts(name)
    room.power(name, "power_off")
    made = delete_discovered(lab)
    lab.playbook("enroll", "--limit", name).ok()
    assert lab.state(name) == "available" and made == []


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """An inventory folder that knows nothing but this machine."""
    return local_inventory(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def wanted(lab, server, site):
    return {
        **how_to_discover(lab, server),
        **expressions(lab),
        "discover_ports": [bmc_address.parse(server["bmc"]["address"]).port],
        "discover_name_format": "{hostname}",
        "discover_inventory_file": str(site / "00-discovered.yml"),
    }


@pytest.fixture(scope="module")
def reported(lab, room, server):
    boot_from_the_network(lab, room, server)
    return discovered_node(lab, server)


def test_ironic_makes_a_node_of_a_server_that_nobody_knows(lab, room, server, reported):
    assert (reported.provision_state, reported.name, reported.driver) == ("enroll", None, "ipmi")
    assert reported.driver_info == {}
    assert sorted(port.address for port in lab.ironic().ports(node=reported.id)) == sorted(
        nic["mac"] for nic in server["nics"])
    console = "\n".join(room.console(server["name"]))
    assert "ipa-inspection-callback-url=" in console and "agent: inspection data accepted" in console


def test_it_is_out_of_step_with_nothing(lab, reported):
    lab.playbook("ironic_audit", extra={"ironic_nodes_cloud": "metal3-lab",
                                        "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml")}).ok()


def test_a_bmc_that_nobody_names_is_not_asked(lab, site, wanted, reported):
    run = lab.playbook("discover", inventory=site, extra=dict(wanted, discover_addresses=["127.0.0.2-127.0.0.99"]))
    run.failed(f"(node {reported.id}): discover_addresses: found 127.0.0.1 as its BMC's address", "it was not asked")
    assert not (site / "00-discovered.yml").exists()
    assert lab.ironic().get_node(reported.id)


@pytest.fixture(scope="module")
def found(lab, site, wanted, reported):
    """A run in check mode, and a run."""
    looked = lab.playbook("discover", "--check", "--diff", inventory=site, extra=wanted).ok()
    assert not (site / "00-discovered.yml").exists()
    assert lab.ironic().get_node(reported.id)
    return looked, lab.playbook("discover", inventory=site, extra=wanted).ok()


def test_discovery_writes_the_server_and_no_other(lab, site, server, wanted, reported, found):
    hosts = discovered_inventory.read((site / "00-discovered.yml").read_text())["baremetal"]["hosts"]
    assert list(hosts) == [server["name"]]
    variables = hosts[server["name"]]
    # With the scheme that was asked for, whatever the lab's own inventory has.
    assert variables["bmc_address"] == "redfish://" + server["bmc"]["address"].partition("//")[2]
    # It has several cards; the one that it booted from was reported.
    assert variables["boot_mac"] == server["boot_mac"]
    assert variables["bmc_discovered"]["serial_number"] == server["serial"]
    for text in (found[0].output, found[1].output, (site / "00-discovered.yml").read_text()):
        assert wanted["discover_password"] not in text


def test_its_node_is_gone_then(lab, reported, found):
    assert f"node {reported.id}: deleted in Ironic" in found[1].output
    assert reported.id not in [node.id for node in lab.ironic().nodes()]


def test_without_unknown_servers_nothing_is_found_and_nothing_fails(lab, site, wanted, found):
    before = (site / "00-discovered.yml").read_text()
    assert lab.playbook("discover", inventory=site, extra=wanted).ok().changed() == 0
    assert (site / "00-discovered.yml").read_text() == before


@pytest.mark.long
def test_enrolment_takes_a_server_that_has_booted_once_more(lab, room, site, server, wanted, found):
    """Its agent reports again, and the operator would take the new node over, with its driver."""
    boot_from_the_network(lab, room, server)
    again = discovered_node(lab, server)
    run = lab.playbook("enroll", inventory=site, seconds=900, extra={
        "metal3_ca_file": wanted["metal3_ca_file"], "metal3_ironic": wanted["metal3_ironic"],
        "metal3_kubeconfig": str(lab.dir / "kubeconfig"), "metal3_namespace": "metal3",
        "hosts_delete_discovered": True}).ok()
    assert lab.state(server["name"]) == "available", run.output
    node = lab.nodes()[server["name"]]
    assert (node.driver, node.id != again.id) == ("redfish", True)
    assert again.id not in [node.id for node in lab.ironic().nodes()]

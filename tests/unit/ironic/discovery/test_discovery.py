# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that Ironic made by itself: which they are, what is taken of their reports, which are deleted."""
from __future__ import annotations

import pytest
from fakes.ironic import FakeIronic

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.discovery import discovered
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.discovery import service as discovery_service

MAC, OTHER_MAC = "00:5c:52:00:00:01", "00:5c:52:00:00:02"
PARAMS = {"state": "present", "nodes": None, "macs": None, "node_limit": 1024}


def report(**values):
    """What Ironic keeps of a machine, by the agent's and Ironic's own names."""
    inventory = dict({
        "bmc_address": "192.0.2.11", "bmc_v6address": "::/0",
        "interfaces": [{"name": "eno1", "mac_address": MAC.upper()}, {"name": "eno2", "mac_address": OTHER_MAC}],
        "system_vendor": {"manufacturer": "A vendor", "product_name": "A model", "serial_number": "S1"},
        "boot": {"pxe_interface": "01-" + OTHER_MAC.replace(":", "-")}}, **values)
    return {"inventory": inventory, "plugin_data": {"auto_discovered": True}}


def ironic_with(**reports):
    """An Ironic with a node for each report, as it makes them: by UUID only."""
    ironic = FakeIronic()
    for name, data in reports.items():
        ironic.nodes[ironic.add(name)]["name"] = None
        ironic.answers["GET", f"/nodes/uuid-{name}/inventory"] = data
    return ironic


def run(ironic, check_mode=False, **params):
    return discovery_service.run(ironic, dict(PARAMS, **params), check_mode, sleep=lambda seconds: None)


def test_a_machine_that_reported_itself():
    result = run(ironic_with(a=report()))
    assert result["machines"] == [{
        "node": "uuid-a", "bmc_addresses": ["192.0.2.11"], "boot_mac": OTHER_MAC, "manufacturer": "A vendor",
        "model": "A model", "serial_number": "S1",
        "nics": [{"name": "eno1", "mac": MAC}, {"name": "eno2", "mac": OTHER_MAC}]}]
    assert result["lines"] == [
        f"node uuid-a: A vendor A model, serial number S1, BMC 192.0.2.11, booted from {OTHER_MAC}"]
    assert not result["changed"]


@pytest.mark.parametrize("changes", [
    {"name": "rack1-01"}, {"name": "metal3~a"}, {"provision_state": "manageable"},
    {"driver_info": {"ipmi_address": "x"}}, {"instance_uuid": "i"}, {"protected": True},
    {"target_provision_state": "manageable"}])
def test_nodes_that_somebody_made_are_neither_shown_nor_deleted(changes):
    ironic = ironic_with(a=report())
    ironic.nodes["uuid-a"].update(changes)
    result = run(ironic, state="absent", nodes=["uuid-a"], macs=[MAC])
    assert result["machines"] == result["deleted"] == [] and "uuid-a" in ironic.nodes


@pytest.mark.parametrize("data", [
    {}, {"inventory": report()["inventory"]}, dict(report(), plugin_data={"auto_discovered": "yes"}),
    dict(report(), plugin_data=[1])])
def test_a_node_whose_data_does_not_say_so_is_only_named(data):
    ironic = ironic_with(a=data)
    ironic.nodes["uuid-a"]["last_error"] = "no \x1b[31m disk"
    result = run(ironic, state="absent", nodes=["uuid-a"])
    assert result["machines"] == result["deleted"] == []
    assert result["lines"] == ["node uuid-a: no report of a machine; Ironic: no \\x1b[31m disk"]


def test_a_node_without_a_report_yet():
    ironic = ironic_with(a={})
    ironic.refusals["GET", "/nodes/uuid-a/inventory"] = [IronicError("not found", 404)]
    assert run(ironic)["lines"] == ["node uuid-a: no report of a machine"]


@pytest.mark.parametrize(("changes", "addresses"), [
    ({"bmc_address": "0.0.0.0"}, []), ({"bmc_address": None}, []), ({"bmc_address": "bmc.example.org"}, []),
    ({"bmc_address": ["192.0.2.1"]}, []), ({"bmc_address": "224.0.0.1"}, []), ({"bmc_address": "169.254.169.254"}, []),
    ({"bmc_address": "192.0.2.1/redfish"}, []), ({"bmc_address": 3221225985}, []),
    ({"bmc_v6address": "2001:DB8::0:11"}, ["192.0.2.11", "2001:db8::11"]),
    ({"bmc_v6address": "fe80::1"}, ["192.0.2.11"]), ({"bmc_v6address": "2001:db8::1%eth0"}, ["192.0.2.11"])])
def test_only_ip_addresses_are_taken(changes, addresses):
    assert run(ironic_with(a=report(**changes)))["machines"][0]["bmc_addresses"] == addresses


@pytest.mark.parametrize("changes", [
    {"interfaces": None}, {"interfaces": {"a": 1}}, {"interfaces": [None, 7, {"name": "x"}, {"mac_address": 7}]},
    {"interfaces": [{"name": "x", "mac_address": "ff:ff:ff:ff:ff:ff"}, {"mac_address": "{{ x }}"}]},
    {"system_vendor": "x"}, {"system_vendor": {"serial_number": 7}}, {"boot": []}, {"boot": {"pxe_interface": 7}},
    {"boot": {"pxe_interface": "-" * 6}}])
def test_any_report_is_read(changes):
    machine, = run(ironic_with(a=report(**changes)))["machines"]
    assert all(isinstance(machine[field], str)
               for field in ("node", "boot_mac", "manufacturer", "model", "serial_number"))


def test_texts_are_plain_and_short():
    machine, = run(ironic_with(a=report(system_vendor={"serial_number": "\x1b[31m" + "x" * 1000},
                                        interfaces=[{"name": "a\nb" * 500, "mac_address": MAC}])))["machines"]
    assert machine["serial_number"].startswith("\\x1b[31mxx") and len(machine["serial_number"]) < 220
    assert "\n" not in machine["nics"][0]["name"] and len(machine["nics"][0]["name"]) < 220


def test_cards_are_limited():
    many = [{"name": f"eno{number}", "mac_address": f"00:5c:52:00:01:{number:02x}"} for number in range(200)]
    assert len(run(ironic_with(a=report(interfaces=many)))["machines"][0]["nics"]) == discovered.MOST_NICS


def test_a_boot_card_that_is_none_of_its_own_is_left_out():
    assert run(ironic_with(a=report(boot={"pxe_interface": "00:5c:52:00:00:99"})))["machines"][0]["boot_mac"] == ""


@pytest.mark.parametrize(("params", "deleted"), [
    ({"nodes": ["uuid-a"]}, ["uuid-a"]), ({"macs": [OTHER_MAC.upper()]}, ["uuid-a"]),
    ({"macs": ["005c5200000a"]}, ["uuid-b"]),
    ({"nodes": ["uuid-a", "uuid-gone"], "macs": ["00:5c:52:00:00:0a"]}, ["uuid-a", "uuid-b"]),
    ({"nodes": ["uuid-host"], "macs": []}, [])])
def test_deletion(params, deleted):
    def ironic():
        fake = ironic_with(a=report(), b=report(interfaces=[{"name": "x", "mac_address": "00:5c:52:00:00:0a"}]))
        fake.add("host")
        return fake

    fake = ironic()
    result = run(fake, state="absent", **params)
    assert (result["deleted"], result["changed"]) == (deleted, bool(deleted))
    assert set(fake.nodes) == {"uuid-a", "uuid-b", "uuid-host"} - set(deleted)
    fake = ironic()
    assert run(fake, check_mode=True, state="absent", **params)["deleted"] == deleted
    assert fake.requests() == []


def test_a_node_that_the_operator_takes_over_meanwhile_stays():
    ironic = ironic_with(a=report())
    listed = ironic.list_nodes

    def list_nodes(*arguments, **options):
        found = listed(*arguments, **options)
        ironic.nodes["uuid-a"].update(name="metal3~a", driver_info={"redfish_address": "https://192.0.2.11"})
        return found

    ironic.list_nodes = list_nodes
    result = run(ironic, state="absent", nodes=["uuid-a"])
    assert result["deleted"] == [] and "uuid-a" in ironic.nodes
    assert [failure["node"] for failure in result["failed_nodes"]] == ["uuid-a"]


def test_more_nodes_than_a_site_expects_are_refused():
    with pytest.raises(RefusedError) as caught:
        run(ironic_with(a=report(), b=report()), node_limit=1)
    assert "found 2 nodes without a name and a BMC, expected 1 at most" in str(caught.value)


def test_a_mac_address_that_is_none_is_refused():
    with pytest.raises(RefusedError) as caught:
        run(ironic_with(), state="absent", macs=["x"])
    assert 'macs[0]: found "x", expected a MAC address' in str(caught.value)

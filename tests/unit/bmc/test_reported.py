# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that reported themselves: which addresses are asked, which reports are believed."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.redfish import FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc import discovery_module
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory, reported
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery.discover import Scan, discover
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings

MAC, OTHER_MAC = "00:5c:52:00:00:01", "00:5c:52:00:00:02"


def machine(name="n1", **values):
    return dict({"node": name, "bmc_addresses": ["192.0.2.11"], "boot_mac": OTHER_MAC, "serial_number": "S1",
                 "nics": [{"name": "eno1", "mac": MAC}, {"name": "eno2", "mac": OTHER_MAC}]}, **values)


def server(number=1, **values):
    return dict({"address": f"redfish://192.0.2.11/redfish/v1/Systems/{number}",
                 "bmc": {"host": "192.0.2.11", "port": 443}, "serial_number": "S1",
                 "nics": [{"name": "NIC.1", "mac": MAC.upper(), "link": ""},
                          {"name": "NIC.2", "mac": OTHER_MAC.upper(), "link": ""}],
                 "boot_mac_candidates": [MAC.upper(), OTHER_MAC.upper()]}, **values)


@pytest.mark.parametrize(("texts", "asked"), [
    (["192.0.2.11"], ["192.0.2.11"]), (["192.0.2.10-20"], ["192.0.2.11"]),
    (["10.0.0.0/8", "192.0.0.0/16"], ["192.0.2.11"]),
    (["192.0.2.12-20"], []), (["192.0.2.12", "bmc.example.org"], []), (["2001:db8::/32"], ["2001:db8::11"]), ([], []),
    # A mistake is reported by others; it names nothing.
    (["192.0.2.0/33"], []), (["0.0.0.0/0"], ["192.0.2.11"])])
def test_only_addresses_that_both_name_are_asked(texts, asked):
    machines = [machine(bmc_addresses=["192.0.2.11", "2001:DB8:0::11", "no address"]), machine("n2")]
    assert reported.hosts(texts, machines) == asked


def test_the_card_that_the_machine_booted_from_is_the_boot_nic():
    found, nodes, problems, lines = reported.matched([machine()], [server()], ["192.0.2.11"])
    assert problems == [] and nodes == ["n1"]
    assert found[0]["boot_mac_candidates"] == [OTHER_MAC.upper()] and lines == []


def test_a_boot_card_that_the_bmc_does_not_name_is_not_believed():
    found, dummy, problems, dummy2 = reported.matched(
        [machine(boot_mac="00:5c:52:00:00:99")], [server()], ["192.0.2.11"])
    assert problems == []
    assert found[0]["boot_mac_candidates"] == [MAC.upper(), OTHER_MAC.upper()]


def test_of_a_bmc_with_several_systems_only_the_machine_s_is_taken():
    other = server(2, nics=[{"name": "NIC.1", "mac": "00:5c:52:00:00:07", "link": ""}])
    found, dummy, problems, dummy2 = reported.matched([machine()], [other, server()], ["192.0.2.11"])
    assert [item["address"] for item in found] == [server()["address"]] and problems == []


def test_without_cards_the_serial_number_counts_and_no_card_is_taken_from_the_report():
    """Both can be learned on the provisioning network: the machine that is booted would be the one that reports."""
    bare = server(nics=[], boot_mac_candidates=[])
    found, nodes, problems, lines = reported.matched([machine()], [bare], ["192.0.2.11"])
    assert (found, nodes, problems) == ([bare], ["n1"], [])
    line, = lines
    assert line.startswith(f"{bare['address']}: boot_mac is not set, for its BMC names no network card")
    assert f'booted from "{OTHER_MAC}" and has {MAC}, {OTHER_MAC}, which nothing confirms' in line
    assert line.endswith("set boot_mac for it")


@pytest.mark.parametrize("boot_nic", ["", "eno1"])
def test_no_card_of_a_report_gets_into_the_inventory(boot_nic):
    """Neither by the name of a card, nor as the card by which another server of the inventory is known."""
    bare = dict(server(nics=[], boot_mac_candidates=[]), scheme="ipmi", address="ipmi://192.0.2.11", system_path="",
                **dict.fromkeys(("manufacturer", "model", "sku", "uuid", "hostname", "bmc_model"), ""))
    known = [{"name": "other", "bmc": {"address": "ipmi://192.0.2.99"}, "boot_mac_address": MAC}]
    found, *dummy = reported.matched([machine()], [bare], ["192.0.2.11"])
    content, report, problems = discovered_inventory.merge(found, {}, known, {
        "name_format": "server-{serial_number}", "boot_nic": boot_nic, "username_expression": "",
        "password_expression": "", "disable_certificate_verification": False})
    assert problems == [] and [item["name"] for item in report] == ["server-s1"]
    assert MAC not in str(content) and OTHER_MAC not in str(content)
    assert content["baremetal"]["hosts"]["server-s1"]["bmc_address"] == "ipmi://192.0.2.11"


@pytest.mark.parametrize(("machines", "servers", "asked", "texts"), [
    ([machine(bmc_addresses=[])], [], [], ["found no BMC address in its report", '"S1"']),
    ([machine()], [], ["192.0.2.12"], ["addresses: found 192.0.2.11 as its BMC's address", "it was not asked"]),
    ([machine()], [], ["192.0.2.11"], ["no system at 192.0.2.11 that has one of its cards"]),
    # Another machine's BMC.
    ([machine(nics=[{"name": "eno1", "mac": "00:5c:52:00:00:99"}])], [server()], ["192.0.2.11"],
     ["the report is false"]),
    ([machine(serial_number="S2")], [server(nics=[])], ["192.0.2.11"], ["the report is false"]),
    ([machine(serial_number="")], [server(nics=[], serial_number="")], ["192.0.2.11"], ["the report is false"]),
    # Which of the two systems without cards?
    ([machine()], [server(nics=[]), server(2, nics=[])], ["192.0.2.11"], ["the report is false"]),
    # The address of a BMC that answered, from a machine that says it has another one.
    ([machine(bmc_addresses=["192.0.2.12"])], [server()], ["192.0.2.11", "192.0.2.12"], ["no system at 192.0.2.12"]),
    # One server twice; two servers as one machine.
    ([machine(), machine("n2")], [server()], ["192.0.2.11"], ["node n1", "node n2", "no other machine reports"]),
    ([machine()], [server(), server(2)], ["192.0.2.11"], ["Systems/1, redfish://192.0.2.11/redfish/v1/Systems/2"]),
])
def test_what_is_not_confirmed_is_a_problem_and_is_not_taken_over(machines, servers, asked, texts):
    found, nodes, problems, lines = reported.matched(machines, servers, asked)
    assert (found, nodes, lines) == ([], [], [])
    assert len(problems) == len(machines)
    for text in texts:
        assert any(text in str(problem) for problem in problems), [str(problem) for problem in problems]


def test_one_false_report_does_not_keep_others_from_being_found():
    liar = machine("n2", bmc_addresses=["198.51.100.1"], nics=[{"name": "a", "mac": MAC}])
    found, nodes, problems, dummy = reported.matched([liar, machine()], [server()], ["192.0.2.11"])
    assert nodes == ["n1"] and len(found) == len(problems) == 1


@pytest.mark.parametrize(("changes", "field"), [
    ({"node": None}, "node"), ({"boot_mac": 7}, "boot_mac"), ({"serial_number": {}}, "serial_number"),
    ({"bmc_addresses": "192.0.2.1"}, "bmc_addresses"), ({"bmc_addresses": [1]}, "bmc_addresses"),
    ({"nics": None}, "nics"), ({"nics": ["a"]}, "nics"), ({"nics": [{"name": "a", "mac": "x"}]}, "nics"),
    ({"nics": [{"name": 7, "mac": MAC}]}, "nics")])
def test_what_the_module_did_not_return_is_refused(changes, field):
    problem, = reported.mistakes([machine(), machine("n2", **changes)])
    assert (problem.subject, problem.field) == ("machines[1]", field)
    assert reported.mistakes([machine()]) == []


def test_an_address_that_nobody_named_gets_no_credentials():
    """The first BMC is named and reported, the second only reported, the third only named."""
    with FakeRedfish(tree("dell")) as bmc:
        hosts = reported.hosts(["127.0.0.1-127.0.0.9"], [
            machine(bmc_addresses=["127.0.0.1"]), machine("n2", bmc_addresses=["127.0.1.1"])])
        assert hosts == ["127.0.0.1"]
        servers, dummy, dummy2 = discover(
            [Scan(hosts, [bmc.port], ["http"], "admin", "right", False, None)], [], Settings(None, 2, 5, 8))
        mac = servers[0]["nics"][0]["mac"]
        found, nodes, problems, dummy = reported.matched(
            [machine(bmc_addresses=["127.0.0.1"], nics=[{"name": "eno1", "mac": mac.lower()}], boot_mac=mac.lower()),
             machine("n2", bmc_addresses=["127.0.1.1"])], servers, hosts)
    assert nodes == ["n1"] and found[0]["boot_mac_candidates"] == [mac]
    assert [problem.subject.partition("(")[2] for problem in problems] == ["node n2)"]


def test_the_module_says_for_which_servers_the_card_is_to_be_named(capsys):
    cards = ("MACAddress", "PermanentMACAddress")
    bare = dict((path, dict((key, value) for key, value in resource.items() if key not in cards))
                for path, resource in tree("dell").items())
    serial_number, = (resource["SerialNumber"] for path, resource in bare.items()
                      if path.rpartition("/")[0] == "/redfish/v1/Systems")
    with FakeRedfish(bare) as bmc, patch_module_args({
            "targets": [{"addresses": ["127.0.0.1"], "ports": [bmc.port], "transports": ["http"], "username": "admin",
                         "password": "right"}],
            "machines": [machine(bmc_addresses=["127.0.0.1"], serial_number=serial_number)]}), \
            pytest.raises(SystemExit):
        discovery_module.run_bmc_discovery()
    result = json.loads(capsys.readouterr().out)
    found, = result["servers"]
    assert (found["nics"], found["boot_mac_candidates"], result["problems"]) == ([], [], [])
    line, = result["lines"]
    assert line.startswith(f"{found['address']}: boot_mac is not set") and OTHER_MAC in line

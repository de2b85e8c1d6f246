# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory file that discovery writes: names, what is left out, and that a second run changes nothing."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory as inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError

OPTIONS = {"name_format": "server-{serial_number}", "boot_nic": "", "username_expression": "vault_user",
           "password_expression": "vault_password", "disable_certificate_verification": False}


def server(number, **changes):
    macs = [f"00:5c:52:00:{number:02x}:0{nic}" for nic in (1, 2)]
    return dict({
        "address": f"redfish-virtualmedia://192.0.2.{number}/redfish/v1/Systems/1", "scheme": "redfish-virtualmedia",
        "reasons": [], "bmc": {"host": f"192.0.2.{number}", "port": 443}, "system_path": "/redfish/v1/Systems/1",
        "manufacturer": "A vendor", "model": "A model", "serial_number": f"SN {number}", "sku": "",
        "uuid": f"0-{number}", "hostname": "", "bmc_model": "", "boot_mac_candidates": macs[:1],
        "nics": [{"name": f"eno{at + 1}", "mac": mac, "link": ""} for at, mac in enumerate(macs)]}, **changes)


def merge(servers, content=None, known=(), **options):
    return inventory.merge(servers, content or {}, list(known), dict(OPTIONS, **options))


def hosts_of(content):
    return content["baremetal"]["hosts"]


def test_new_servers():
    content, report, problems = merge([server(2), server(1)])
    assert problems == []
    assert [(item["name"], item["action"]) for item in report] == [("server-sn-1", "added"), ("server-sn-2", "added")]
    assert hosts_of(content)["server-sn-1"]["bmc_address"] == "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1"
    assert hosts_of(content)["server-sn-1"]["boot_mac"] == "00:5c:52:00:01:01"
    assert content["discovered"]["vars"] == {
        "ansible_group_priority": 0, "bmc_username": "{{ vault_user }}", "bmc_password": "{{ vault_password }}"}


def test_what_is_written_is_read_again_and_a_second_run_changes_nothing():
    content = merge([server(1), server(2)])[0]
    text = inventory.write(content)
    assert inventory.read(text) == content
    known = [{"name": name, "bmc": {"address": values["bmc_address"], "username": "u", "password": "p"},
              "boot_mac_address": values["boot_mac"]} for name, values in hosts_of(content).items()]
    again, report, problems = merge([server(2), server(1)], inventory.read(text), known)
    assert inventory.write(again) == text
    assert [item["action"] for item in report] == ["unchanged", "unchanged"]
    assert problems == []


def test_a_mac_that_yaml_takes_for_a_number_stays_text():
    text = inventory.write(merge([server(1, nics=[{"name": "a", "mac": "10:11:12:13:14:15", "link": ""}],
                                         boot_mac_candidates=["10:11:12:13:14:15"])])[0])
    assert hosts_of(inventory.read(text))["server-sn-1"]["boot_mac"] == "10:11:12:13:14:15"


@pytest.mark.parametrize("entry", [
    {"bmc": {"address": "redfish://192.0.2.1/redfish/v1/Systems/1", "username": "u"}},
    {"bmc": {"address": "redfish-virtualmedia://192.0.2.1:443/redfish/v1/Systems/1/", "username": "u"}},
    {"bmc": {"username": "u"}, "boot_mac_address": "00:5C:52:00:01:02"}])
def test_a_known_server_keeps_its_name_and_what_was_set_by_hand(entry):
    content, dummy, problems = merge([server(1)], known=[dict(entry, name="rack1-01")])
    assert problems == []
    variables = hosts_of(content)["rack1-01"]
    assert variables["bmc_discovered"]["serial_number"] == "SN 1"
    assert ("bmc_address" in variables) == ("address" not in entry["bmc"])
    assert ("boot_mac" in variables) == ("boot_mac_address" not in entry)
    # It has credentials already.
    assert "discovered" not in content


def test_a_value_that_was_set_by_hand_later_goes_from_the_file():
    before = merge([server(1)])[0]
    known = [{"name": "server-sn-1", "boot_mac_address": "00:5c:52:00:01:01",
              "bmc": {"address": "redfish://192.0.2.1/redfish/v1/Systems/1", "username": "u"}}]
    after, report, dummy = merge([server(1)], before, known)
    assert "bmc_address" not in hosts_of(after)["server-sn-1"]
    assert hosts_of(after)["server-sn-1"]["boot_mac"] == "00:5c:52:00:01:01"
    assert report[0]["action"] == "updated"
    assert merge([server(1)], after, known)[0] == after


def test_a_server_that_is_not_found_any_more_stays():
    before = merge([server(1), server(2)])[0]
    assert merge([server(2)], before)[0] == before


def test_a_bmc_that_moved_keeps_its_server():
    before = merge([server(1)])[0]
    moved = server(1, address="redfish-virtualmedia://192.0.2.77/redfish/v1/Systems/1")
    after, report, dummy = merge([moved], before)
    assert hosts_of(after)["server-sn-1"]["bmc_address"] == moved["address"]
    assert report[0]["action"] == "updated"


WITHOUT_CARDS = {"nics": [], "boot_mac_candidates": []}


@pytest.mark.parametrize("before, now", [
    # By a card alone, by the serial number where cards are not reported, by both.
    ({}, {"serial_number": "another"}), (WITHOUT_CARDS, {}), ({}, WITHOUT_CARDS), ({}, {})])
def test_a_server_whose_bmc_moved_is_known_by_its_uuid_with_cards_or_serial_number(before, now):
    content = merge([server(1, **before)])[0]
    moved = server(1, **now, address="redfish://192.0.2.99/redfish/v1/Systems/1")
    merged, report, problems = merge([moved], content)
    assert problems == [] and [(item["name"], item["action"]) for item in report] == [("server-sn-1", "updated")]
    assert list(hosts_of(merged)) == ["server-sn-1"]


@pytest.mark.parametrize("other", [{}, WITHOUT_CARDS])
def test_a_server_with_the_uuid_of_one_that_is_off_does_not_take_its_place(other):
    """Its address became that of the other one, which was deployed then in its place."""
    content = merge([server(1, **other)])[0]
    new = server(2, uuid="0-1", **other)
    merged, report, problems = merge([new], content)
    assert problems == [] and [(item["name"], item["action"]) for item in report] == [("server-sn-2", "added")]
    assert hosts_of(merged)["server-sn-1"] == hosts_of(content)["server-sn-1"]
    assert report[0]["same_uuid"] == ["server-sn-1"]
    assert inventory.line(report[0]) == (
        "server-sn-2: added, redfish-virtualmedia://192.0.2.2/redfish/v1/Systems/1; server-sn-1 with the same UUID, "
        "other by network cards or serial number")


def test_a_uuid_of_all_boards_keeps_no_server_from_its_name():
    servers = [server(number, uuid="all") for number in (1, 2, 3)]
    content = merge(servers)[0]
    moved = [dict(item, address=f"redfish://198.51.100.{number}/redfish/v1/Systems/1")
             for number, item in enumerate(reversed(servers), 1)]
    merged, report, problems = merge(moved, content)
    assert problems == [] and set(hosts_of(merged)) == set(hosts_of(content))
    assert all(item["action"] == "updated" and len(item["same_uuid"]) == 2 for item in report)
    for number, name in enumerate(("server-sn-3", "server-sn-2", "server-sn-1"), 1):
        assert hosts_of(merged)[name]["bmc_address"] == f"redfish://198.51.100.{number}/redfish/v1/Systems/1"


UNCLEAR = [({"serial_number": "", **WITHOUT_CARDS}, {"serial_number": "", **WITHOUT_CARDS}),
           # All its cards may be new; or the vendor gives all boards one serial number, too.
           ({"serial_number": "A1"}, {"serial_number": "A1"}),
           ({"serial_number": "Default string", **WITHOUT_CARDS}, {"serial_number": "Default string", **WITHOUT_CARDS})]


@pytest.mark.parametrize("before, now", UNCLEAR)
def test_a_server_that_may_be_one_of_the_file_is_refused(before, now):
    content = merge([server(1, **before)], name_format="a-{uuid}")[0]
    new = server(2, uuid="0-1", **now)
    same, report, (problem,) = merge([new], content, name_format="b-{host}")
    assert same == content and report == []
    assert (problem.subject, problem.field) == (f"server at {new['address']}", "uuid")
    assert 'found "0-1", expected a network card or a serial number that says whether it is a-0-1, with' in str(problem)
    assert "set bmc_address of a-0-1 to this address" in str(problem)


@pytest.mark.parametrize("before, now", UNCLEAR)
@pytest.mark.parametrize("name", ["a-0-1", "mine"])
def test_an_address_says_which_of_both_it_is(before, now, name):
    content = merge([server(1, **before)], name_format="a-{uuid}")[0]
    new = server(2, uuid="0-1", **now)
    merged, report, problems = merge([new], content, [{"name": name, "bmc": {"address": new["address"]}}])
    assert problems == [] and [item["name"] for item in report] == [name]
    assert set(hosts_of(merged)) == {"a-0-1", name}


@pytest.mark.parametrize("before, now", UNCLEAR)
def test_what_another_server_of_the_run_is_nobody_else_is(before, now):
    first = server(1, **before)
    content = merge([first], name_format="a-{uuid}")[0]
    merged, report, problems = merge([first, server(2, uuid="0-1", **now)], content, name_format="b-{host}")
    assert problems == [] and [item["name"] for item in report] == ["a-0-1", "b-192-0-2-2"]
    assert hosts_of(merged)["a-0-1"]["bmc_address"] == first["address"]


@pytest.mark.parametrize("uuid", ["", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
                                  "03000200-0400-0500-0006-000700080009"])
def test_what_is_no_uuid_says_nothing(uuid):
    content = merge([server(1, uuid=uuid, serial_number="", **WITHOUT_CARDS)], name_format="a-{host}")[0]
    new = server(2, uuid=uuid, serial_number="", **WITHOUT_CARDS)
    merged, report, problems = merge([new], content, name_format="b-{host}")
    assert problems == [] and [item["name"] for item in report] == ["b-192-0-2-2"] and len(hosts_of(merged)) == 2


def test_boot_mac_is_written_where_it_is_certain():
    both = ["00:5c:52:00:01:01", "00:5c:52:00:01:02"]
    content = merge([server(1, boot_mac_candidates=both)])[0]
    assert "boot_mac" not in hosts_of(content)["server-sn-1"]
    assert hosts_of(content)["server-sn-1"]["bmc_discovered"]["boot_mac_candidates"] == both
    content = merge([server(1, boot_mac_candidates=both)], boot_nic="eno2")[0]
    assert hosts_of(content)["server-sn-1"]["boot_mac"] == both[1]
    assert "boot_mac_candidates" not in hosts_of(content)["server-sn-1"]["bmc_discovered"]


def test_a_boot_mac_stays_when_links_change():
    before = merge([server(1)])[0]
    other = server(1, boot_mac_candidates=["00:5c:52:00:01:02"])
    assert merge([other], before)[0] == before


@pytest.mark.parametrize(("name_format", "text"), [
    ("server", "one or more of {hostname}"), ("{serial}", "one or more of"), ("{model.__class__}", "one or more of"),
    ("{0}", "one or more of"), ("{", "a format like"), ("{serial_number:04d}", "a format of texts (Unknown format"),
    ("{serial_number:{width}}", "a format of texts ('width')")])
def test_bad_formats(name_format, text):
    content, report, problems = merge([server(1)], name_format=name_format)
    assert (content, report) == ({}, [])
    assert text in str(problems[0])


def test_names_that_are_alike_are_a_problem():
    dummy, report, problems = merge([server(1), server(2)], name_format="{model}")
    assert [item["name"] for item in report] == ["a-model"]
    assert "192.0.2.1/redfish/v1/Systems/1 has it" in str(problems[0])


def test_a_name_that_another_server_of_the_inventory_has_is_a_problem():
    known = [{"name": "server-sn-1", "bmc": {"address": "redfish://192.0.2.200/redfish/v1/Systems/1"}}]
    dummy, dummy2, problems = merge([server(1)], known=known)
    assert "another server of the inventory has it" in str(problems[0])


def test_a_server_that_tells_nothing_is_named_after_its_bmc():
    dummy, report, problems = merge([server(1, serial_number="")])
    assert report[0]["name"] == "server-192-0-2-1-1"
    assert problems == []


def test_braces_in_an_expression_are_a_problem():
    problems = merge([server(1)], password_expression="{{ vault_password }}")[2]
    assert str(RefusedError(problems)) == (
        "1 problem, nothing was changed:\n- password_expression: found braces, expected an expression without them; "
        "remove them, as in vault_bmc_password")


def test_without_expressions_no_credentials_are_named():
    assert "discovered" not in merge([server(1)], username_expression="", password_expression="")[0]


@pytest.mark.parametrize("text", ["all: {}\n", "# my own\nall: {}\n", inventory.HEADER + "---\n- a\n"])
def test_a_file_of_somebody_else_is_refused(text):
    with pytest.raises(ValueError, match=r"does not begin|not the form"):
        inventory.read(text)

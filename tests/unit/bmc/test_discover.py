# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking for BMCs at given addresses: who is asked, how often, and what is chosen."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args
from bmc_certificates import issue
from fakes.redfish import FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc import discovery_module
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered as bmc_discovered
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery.discover import Scan, discover
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery.targets import expand
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import gather as gathering
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings

SETTINGS = Settings(None, 2, 5, 8)


def scan(*bmcs, transports=("http",), password="right", unchecked=False, ipmi_port=None, hosts=("127.0.0.1",)):
    return Scan(list(hosts), [bmc.port for bmc in bmcs], list(transports), "admin", password, unchecked, ipmi_port)


def test_all_systems_of_a_bmc_are_found():
    with FakeRedfish(tree("supermicro")) as bmc:
        servers, refusals, silent = discover([scan(bmc)], [], SETTINGS)
        assert bmc.logins == [("session", True)]
    assert [server["address"] for server in servers] == [
        f"redfish+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/{number}" for number in (1, 2)]
    assert [server["boot_mac_candidates"] for server in servers] == [["3c:ec:ef:6a:10:b2"], ["3c:ec:ef:6a:10:c4"]]
    assert (refusals, silent) == ([], 0)


def test_a_server_that_two_scans_find_is_reported_once():
    with FakeRedfish(tree("dell")) as bmc:
        servers, dummy, dummy2 = discover([scan(bmc), scan(bmc)], [], SETTINGS)
    assert [server["scheme"] for server in servers] == ["idrac-virtualmedia+http"]
    assert servers[0]["sku"] == "4TZ8XY3"


def test_a_server_that_two_scans_name_is_asked_once():
    with FakeRedfish(tree("dell")) as bmc:
        servers, dummy, dummy2 = discover([scan(bmc), scan(bmc)], [], SETTINGS)
        assert bmc.logins == [("session", True)]
    assert len(servers) == 1


def test_a_wrong_password_of_two_scans_is_sent_once():
    with FakeRedfish(tree("dell")) as bmc:
        servers, refusals, silent = discover([scan(bmc, password="wrong"), scan(bmc, password="wrong")], [], SETTINGS)
        assert bmc.logins == [("session", False)]
    assert (servers, len(refusals), silent) == ([], 1, 0)


def test_another_scan_of_the_host_does_not_try_a_wrong_password_at_another_port():
    with FakeRedfish(tree("dell")) as first, FakeRedfish(tree("dell")) as second:
        refusals = discover([scan(first, password="wrong"), scan(second, password="wrong")], [], SETTINGS)[1]
        assert (len(first.logins), second.requests) == (1, [])
    assert [refusal["port"] for refusal in refusals] == [first.port]


def test_another_scan_of_the_host_finds_a_bmc_at_another_port():
    with FakeRedfish(tree("dell")) as first, FakeRedfish(tree("hpe")) as second:
        servers, refusals, dummy = discover([scan(first), scan(first, second)], [], SETTINGS)
        assert (len(first.logins), second.logins) == (1, [])
        both, dummy, dummy2 = discover([scan(first), scan(second)], [], SETTINGS)
    assert [server["model"] for server in servers] == ["PowerEdge R660"]
    assert sorted(server["model"] for server in both) == ["PowerEdge R660", "ProLiant DL360 Gen10"]
    assert refusals == []


def test_another_password_is_another_scans_to_try():
    with FakeRedfish(tree("dell")) as bmc:
        servers, refusals, silent = discover([scan(bmc, password="wrong"), scan(bmc)], [], SETTINGS)
        assert sorted(bmc.logins) == [("session", False), ("session", True)]
    assert (len(servers), len(refusals), silent) == (1, 1, 0)


@pytest.mark.parametrize(("unchecked", "stages"), [([True, False], []), ([False, True], ["tls"])])
def test_the_first_scan_says_how_a_host_is_asked(tmp_path, unchecked, stages):
    certificate = issue(tmp_path, "stranger")[0]
    with FakeRedfish(tree("dell"), certificate=certificate) as bmc:
        servers, refusals, dummy = discover(
            [scan(bmc, transports=["https"], unchecked=value) for value in unchecked], [], SETTINGS)
        assert len(bmc.logins) == 1 - len(stages)
    assert [refusal["stage"] for refusal in refusals] == stages
    assert len(servers) == 1 - len(stages)


def test_a_silent_host_counts_once():
    with FakeRedfish({}) as bmc:
        pass
    assert discover([scan(bmc), scan(bmc, password="x"), scan(bmc, hosts=["127.0.0.2"])], [], SETTINGS) == ([], [], 2)


def test_refused_credentials_are_not_tried_at_other_doors():
    with FakeRedfish(tree("dell")) as first, FakeRedfish(tree("dell")) as second:
        servers, refusals, silent = discover([scan(first, second, password="wrong")], [], SETTINGS)
        assert len(first.logins) == 1
        assert second.requests == []
    assert servers == []
    assert [(refusal["port"], refusal["stage"]) for refusal in refusals] == [(first.port, "login")]
    assert silent == 0


def test_an_unverified_certificate_does_not_lead_to_clear_text(tmp_path):
    certificate = issue(tmp_path, "stranger")[0]
    with FakeRedfish(tree("dell"), certificate=certificate) as bmc, FakeRedfish(tree("dell")) as clear:
        dummy, refusals, dummy2 = discover([scan(bmc, clear, transports=["https", "http"])], [], SETTINGS)
        assert clear.requests == []
    assert refusals[0]["stage"] == "tls"


def test_another_port_is_tried_where_there_is_no_redfish():
    with FakeRedfish({}) as web, FakeRedfish(tree("hpe")) as bmc:
        servers, dummy, dummy2 = discover([scan(web, bmc)], [], SETTINGS)
    assert [server["model"] for server in servers] == ["ProLiant DL360 Gen10"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_bmc_is_not_taken_for_one_without_redfish(monkeypatch, status):
    """What is found by IPMI goes into the inventory, and stays there."""
    asked = []
    monkeypatch.setattr(gathering, "explore_ipmi", lambda *arguments: asked.append(arguments) or dict(
        gathering.blank(), reached=True, login={"ok": True, "method": "IPMI 2.0", "attempts": 1}))
    with FakeRedfish(tree("dell")) as bmc, FakeRedfish(tree("hpe")) as other, FakeRedfish({}) as web:
        bmc.redirects["/redfish/v1"] = status, ""
        servers, refusals, silent = discover([scan(bmc, ipmi_port=623)], [], SETTINGS)
        assert (servers, silent, asked, bmc.logins) == ([], 0, [], [])
        assert [(refusal["port"], refusal["stage"]) for refusal in refusals] == [(bmc.port, "busy")]
        problem, = bmc_discovered.problems(servers, refusals, silent, 1)
        assert f"HTTP {status}" in str(problem) and "run again" in problem.hint
        # Another port may have the BMC all the same; and where nothing is busy, IPMI is what is left.
        found, refusals, dummy = discover([scan(bmc, other, ipmi_port=623)], [], SETTINGS)
        assert ([server["model"] for server in found], refusals, asked) == (["ProLiant DL360 Gen10"], [], [])
        found, dummy, dummy2 = discover([scan(web, ipmi_port=623)], [], SETTINGS)
        assert [server["scheme"] for server in found] == ["ipmi"] and len(asked) == 1


def test_a_silent_address():
    with FakeRedfish({}) as bmc:
        gone = scan(bmc)
    assert discover([gone], [], SETTINGS) == ([], [], 1)


@pytest.mark.parametrize(("vendor", "allowed", "scheme"), [
    ("dell", ["redfish-virtualmedia", "idrac-redfish"], "idrac-redfish"),
    ("dell", ["redfish-virtualmedia"], "idrac-virtualmedia"),
    ("hpe", ["redfish-virtualmedia", "redfish"], "redfish-virtualmedia"),
    ("hpe", ["idrac-redfish", "redfish"], "redfish"),
    ("lenovo", ["redfish-virtualmedia", "redfish"], "redfish"),
    ("supermicro", ["redfish-virtualmedia", "redfish-uefihttp", "redfish"], "redfish"),
])
def test_the_first_scheme_that_fits(vendor, allowed, scheme):
    with FakeRedfish(tree(vendor)) as bmc:
        servers, dummy, dummy2 = discover([scan(bmc)], allowed, SETTINGS)
    assert servers[0]["scheme"] == scheme + "+http"
    assert servers[0]["reasons"]


def nic(mac, link="", enabled=True):
    return {"name": mac, "mac": mac, "link": link, "enabled": enabled}


def test_nics_with_a_link_come_before_the_others():
    assert bmc_discovered.candidates([nic("a"), nic("b", "LinkUp"), nic("c", "LinkDown")]) == ["b"]
    assert bmc_discovered.candidates([nic("a"), nic("c", "LinkDown"), nic("", "LinkUp")]) == ["a", "c"]
    assert bmc_discovered.candidates([nic("a", enabled=False)]) == []


@pytest.mark.parametrize(("texts", "hosts"), [
    (["192.0.2.1"], ["192.0.2.1"]),
    (["192.0.2.8-192.0.2.10"], ["192.0.2.8", "192.0.2.9", "192.0.2.10"]),
    (["192.0.2.8-10", "192.0.2.9"], ["192.0.2.8", "192.0.2.9", "192.0.2.10"]),
    (["192.0.2.0/30"], ["192.0.2.1", "192.0.2.2"]),
    (["192.0.2.0/31"], ["192.0.2.0", "192.0.2.1"]),
    (["192.0.2.5/32"], ["192.0.2.5"]),
    (["2001:db8::1-2001:db8::2"], ["2001:db8::1", "2001:db8::2"]),
    (["2001:db8::/127"], ["2001:db8::", "2001:db8::1"]),
    (["bmc-1.example", "bmc-2"], ["bmc-1.example", "bmc-2"]),
])
def test_addresses(texts, hosts):
    assert expand(texts, 100) == (hosts, [])


@pytest.mark.parametrize("text", ["192.0.2.1/24", "192.0.2.9-192.0.2.1", "192.0.2.1-2001:db8::1", "192.0.2", "a b", "",
                                  "192.0.2.300", "-x", "192.0.2.1-x"])
def test_bad_addresses(text):
    assert len(expand([text], 100)[1]) == 1


@pytest.mark.parametrize("texts", [
    ["192.0.2.0/24"], ["10.0.0.0/8"], ["2001:db8::/64"], ["192.0.2.1-60", "192.0.2.61-120"]])
def test_too_many_addresses(texts):
    hosts, problems = expand(texts, 100)
    assert len(hosts) <= 100
    assert "100 at most" in problems[0]


def ask(capsys, bmc, addresses, **options):
    """Run the module, and return its answer."""
    target = {"addresses": addresses, "ports": [bmc.port], "transports": ["http"], "username": "admin",
              "password": "right"}
    with patch_module_args(dict({"targets": [target]}, **options)), pytest.raises(SystemExit):
        discovery_module.run_bmc_discovery()
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("addresses", "allowed", "names"), [
    (["127.0.0.1"], [], "127.0.0.1"), (["127.0.0.1"], ["192.0.2.0/24", "127.0.0.2-127.0.0.9"], "127.0.0.1"),
    # A name may lead anywhere.
    (["localhost"], ["127.0.0.0/8"], "localhost"), (["127.0.0.1-127.0.0.3"], ["127.0.0.1", "127.0.0.2"], "127.0.0.3"),
    (["127.0.0.1", "::1"], ["127.0.0.1"], "::1")])
def test_an_address_that_is_not_allowed_gets_no_credentials(capsys, addresses, allowed, names):
    """Whoever answers the survey of a job chooses the addresses, and does not have the password."""
    with FakeRedfish(tree("dell")) as bmc:
        found = ask(capsys, bmc, addresses, allowed_addresses=allowed)
        assert bmc.requests == [] and bmc.logins == []
    assert found["failed"] and f'found "{names}", expected' in found["msg"]


@pytest.mark.parametrize(("addresses", "allowed"), [
    (["127.0.0.1"], ["127.0.0.0/8"]), (["LocalHost"], ["localhost"]), (["127.0.0.1"], None)])
def test_an_address_that_is_allowed_is_asked(capsys, addresses, allowed):
    with FakeRedfish(tree("dell")) as bmc:
        found = ask(capsys, bmc, addresses, **({} if allowed is None else {"allowed_addresses": allowed}))
        assert len(bmc.logins) == 1 and len(found["servers"]) == 1


def test_what_is_allowed_and_is_no_address_is_refused(capsys):
    with FakeRedfish(tree("dell")) as bmc:
        found = ask(capsys, bmc, ["127.0.0.1"], allowed_addresses=["127.0.0.1", "127.0.0.1/99"])
        assert found["failed"] and "127.0.0.1/99" in found["msg"] and bmc.logins == []

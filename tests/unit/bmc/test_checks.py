# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts on servers of four vendors, read from recorded-style trees without a BMC."""
from __future__ import annotations

import copy

import pytest
from fakes.redfish import tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import hardware as bmc_hardware
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import checks as bmc_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import table as bmc_table
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight.verdict import Limits, worst
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import redfish_facts
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import blank
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.redfish import RedfishError
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.survey import Walk

# 2026-01-02T03:04:05Z, the time that the trees of HPE and others tell.
NOW = 1767323045.0
LIMITS = Limits(30, 120, NOW)
SYSTEMS = {"dell": "/redfish/v1/Systems/System.Embedded.1", "hpe": "/redfish/v1/Systems/1",
           "lenovo": "/redfish/v1/Systems/1", "supermicro": "/redfish/v1/Systems/1"}
MACS = {"dell": "b0:7b:25:e2:61:0a", "hpe": "20:67:7c:e1:50:10", "lenovo": "3a:68:dd:0c:52:a1",
        "supermicro": "3c:ec:ef:6a:10:b2"}
GOOD_TLS = {"verified": True, "error": "", "protocol": "TLSv1.3",
            "certificate": {"subject": "CN=bmc", "valid_until": NOW + 90 * 86400}}


def read_from(resources):
    resources = dict((path.rstrip("/"), resource) for path, resource in resources.items())

    def read(path):
        path, question, dummy = path.partition("?")
        if path.rstrip("/") not in resources:
            raise RedfishError("not_found", "HTTP 404", 404)
        resource = resources[path.rstrip("/")]
        if question:
            if not isinstance(resource["Members"], list):
                raise RedfishError("unavailable", "HTTP 500", 500)
            members = [resources.get(member["@odata.id"].rstrip("/"), member) if isinstance(member, dict) else member
                       for member in resource["Members"]]
            return dict(resource, Members=members)
        return resource

    return read


def survey(resources, path, username="admin", now=lambda: NOW):
    walk = Walk(read_from(resources), read_from(resources)("/redfish/v1"), now)
    walk.systems()
    walk.account(username)
    walk.system(path)
    return walk.survey


def facts_of(vendor, change=None, scheme="redfish", path=None, username="admin"):
    """Return the facts of a vendor's server as gathered; ``change`` edits the tree before."""
    resources = copy.deepcopy(tree(vendor))
    if change:
        change(resources)
    read = survey(resources, path or SYSTEMS[vendor], username)
    facts = dict(blank(), reached=True, connect_seconds=0.01, tls=GOOD_TLS,
                 login={"ok": True, "method": "session", "attempts": 1}, unread=read.unread)
    facts.update(redfish_facts.facts(read.parts, read.clock_asked))
    if facts["system"]:
        facts["recommended"] = bmc_hardware.choose(facts, host(vendor, scheme)["address"])
    return facts


def host(vendor, scheme="redfish", **changes):
    address = bmc_address.parse(f"{scheme}://192.0.2.1{changes.pop('path', SYSTEMS[vendor])}")
    return dict({"name": "a", "address": address, "boot_mac_address": MACS[vendor], "boot_mode": None,
                 "any_certificate": False}, **changes)


def verdicts_of(vendor, scheme="redfish", change=None, facts=None, **changes):
    """Return the verdicts by item."""
    facts = dict(facts_of(vendor, change, scheme), **(facts or {}))
    found = bmc_checks.verdicts(host(vendor, scheme, **changes), facts, LIMITS)
    return dict((verdict.check, verdict) for verdict in found)


def statuses(found):
    return dict((check, verdict.status) for check, verdict in found.items() if verdict.status != "ok")


def test_dell_by_its_own_driver_is_ok_but_for_its_clock():
    found = verdicts_of("dell", "idrac-virtualmedia")
    assert statuses(found) == {"clock": "warning"}
    assert "6 h ahead" in found["clock"].actual
    assert "locked after 3 wrong passwords for 10 min" in found["lockout"].actual
    assert "Dell iDRAC 9" in found["hardware"].actual


@pytest.mark.parametrize(("scheme", "status"), [
    ("redfish-virtualmedia", "problem"), ("ilo5-virtualmedia", "problem"), ("redfish", "warning"),
    ("idrac-redfish", "ok"), ("idrac-virtualmedia+https", "ok")])
def test_schemes_for_dell(scheme, status):
    found = verdicts_of("dell", scheme)
    assert found["scheme"].status == status
    recommended = "idrac-virtualmedia://192.0.2.1/redfish/v1/Systems/System.Embedded.1"
    assert recommended in found["scheme"].actual + found["scheme"].hint


def test_old_firmware_of_dell_has_no_virtual_media():
    def change(resources):
        resources["/redfish/v1/Managers/iDRAC.Embedded.1"]["FirmwareVersion"] = "5.10.50.00"

    found = verdicts_of("dell", "idrac-virtualmedia", change)
    assert found["virtual_media"].status == "problem"
    assert "6.10.30.00" in found["virtual_media"].actual
    assert "idrac-redfish://" in found["scheme"].actual


def test_hpe():
    found = verdicts_of("hpe", "redfish-virtualmedia")
    assert statuses(found) == {"privileges": "problem", "lockout": "unknown", "secure_boot": "warning"}
    assert "ReadOnly" in found["privileges"].actual
    assert "in use: 2" in found["virtual_media"].actual
    assert "no RAID" in found["hardware"].actual


def test_an_image_of_virtual_media_is_shown_without_its_token():
    assert facts_of("hpe")["virtual_media"][1]["image"] == "https://192.0.2.5/boot.iso"


def test_old_ilo():
    def change(firmware, model):
        def edit(resources):
            resources["/redfish/v1/Managers/1"].update(FirmwareVersion=firmware, Model=model)
        return edit

    assert verdicts_of("hpe", change=change("iLO 6 v1.40", "iLO 6"))["hardware"].status == "problem"
    assert verdicts_of("hpe", change=change("iLO 6 v1.57", "iLO 6"))["hardware"].status == "ok"
    assert verdicts_of("hpe", change=change("iLO 4 v2.78", "iLO 4"))["hardware"].hint == "use ipmi"


def test_lenovo_without_licence():
    found = verdicts_of("lenovo", "redfish-virtualmedia")
    assert found["virtual_media"].status == "problem"
    assert "licence" in found["virtual_media"].actual
    assert "redfish-uefihttp://" in found["scheme"].actual
    # The boot MAC address is the permanent one, as a network boot shows it.
    assert found["boot_mac"].status == "ok"
    assert found["lockout"].status == "warning"
    assert found["privileges"].status == "warning"
    assert found["clock"].status == "warning"
    assert "8 h behind" in found["clock"].actual


def test_secure_boot_wants_keys():
    found = verdicts_of("lenovo", boot_mode="UEFISecureBoot")
    assert found["secure_boot"].status == "problem"
    assert "setup mode" in found["secure_boot"].actual
    assert verdicts_of("dell", "idrac-virtualmedia", boot_mode="UEFISecureBoot")["secure_boot"].status == "ok"
    by_network = verdicts_of("dell", "idrac-redfish", boot_mode="UEFISecureBoot")["secure_boot"]
    assert by_network.status == "warning" and "distributions do not sign iPXE" in by_network.expected
    assert verdicts_of("supermicro", boot_mode="UEFISecureBoot")["secure_boot"].status == "problem"


def test_legacy_boot_mode():
    assert verdicts_of("lenovo", boot_mode="legacy")["boot_override"].status == "problem"
    assert verdicts_of("supermicro", boot_mode="legacy")["boot_override"].status == "ok"
    assert verdicts_of("supermicro")["boot_override"].status == "warning"


def test_supermicro_loads_media_by_cifs_only():
    found = verdicts_of("supermicro", "redfish-virtualmedia")
    assert found["virtual_media"].status == "problem"
    assert "CIFS" in found["virtual_media"].actual
    assert "redfish://192.0.2.1/" in found["scheme"].actual
    assert found["boot_mac"].status == "ok"
    assert found["clock"].status == "unknown"


def test_a_boot_method_that_is_not_offered():
    found = verdicts_of("supermicro", "redfish-uefihttp")
    assert found["boot_override"].status == "problem"
    assert "UefiHttp" in found["boot_override"].expected


@pytest.mark.parametrize(("path", "text"), [
    ("", "no system path, and these systems: /redfish/v1/Systems/1, /redfish/v1/Systems/2"),
    ("/redfish/v1/Systems/3",
     "/redfish/v1/Systems/3: HTTP 404; there is /redfish/v1/Systems/1, /redfish/v1/Systems/2")])
def test_a_system_that_is_not_there(path, text):
    facts = facts_of("supermicro", path=path or "/none")
    if not path:
        facts["unread"].pop("system")
    found = dict((verdict.check, verdict) for verdict in bmc_checks.verdicts(
        host("supermicro", path=path), facts, LIMITS))
    assert found["system"].status == "problem"
    assert found["system"].actual == text
    # What follows from it is no problem of its own.
    assert [check for check, verdict in found.items() if verdict.status == "problem"] == ["system"]


@pytest.mark.parametrize(("given", "scheme", "status", "text"), [
    ("B0-7B-25-E2-61-0A", "redfish", "problem", "six pairs"),
    ("B0:7B:25:E2:61:0A", "idrac-redfish", "ok", "NIC.Integrated.1-1-1"),
    ("00:5c:52:00:00:01", "idrac-redfish", "problem", "b0:7b:25:e2:61:0a"),
    (None, "idrac-virtualmedia", "ok", "not needed"),
    (None, "idrac-redfish", "problem", "not set, expected one of"),
])
def test_boot_mac(given, scheme, status, text):
    verdict = verdicts_of("dell", scheme, boot_mac_address=given)["boot_mac"]
    assert verdict.status == status
    assert text in verdict.result()["text"]


def test_a_boot_mac_of_a_nic_that_could_not_be_read_is_not_known():
    """A BMC that fails for one of its NICs had a server refused whose address was right."""
    facts = {"unread": {"nics": "HTTP 500"}}
    verdict = verdicts_of("dell", "idrac-redfish", facts=facts, boot_mac_address="00:5c:52:00:00:01")["boot_mac"]
    assert (verdict.status, verdict.actual.partition(" ")[0]) == ("unknown", '"00:5c:52:00:00:01"')
    assert "HTTP 500" in verdict.actual
    assert verdicts_of("dell", "idrac-redfish", facts=facts)["boot_mac"].status == "ok"


def test_a_nic_without_link_counts_when_the_server_is_on():
    mac = "b0:7b:25:e2:61:0b"
    assert verdicts_of("dell", "idrac-redfish", boot_mac_address=mac)["boot_mac"].status == "ok"

    def change(resources):
        resources[SYSTEMS["dell"]]["PowerState"] = "On"

    assert verdicts_of("dell", "idrac-redfish", change, boot_mac_address=mac)["boot_mac"].status == "warning"


@pytest.mark.parametrize(("tls", "any_certificate", "status"), [
    (GOOD_TLS, False, "ok"),
    (dict(GOOD_TLS, certificate={"subject": "CN=bmc", "valid_until": NOW + 3 * 86400}), False, "warning"),
    (dict(GOOD_TLS, verified=False, error="self-signed certificate"), False, "problem"),
    (dict(GOOD_TLS, verified=False, error="self-signed certificate"), True, "warning"),
    (dict(GOOD_TLS, certificate={}), False, "ok"),
])
def test_tls(tls, any_certificate, status):
    found = verdicts_of("dell", "idrac-redfish", facts={"tls": tls}, any_certificate=any_certificate)
    assert found["tls"].status == status


def test_an_expired_certificate_says_when():
    tls = dict(GOOD_TLS, verified=False, error="certificate has expired",
               certificate={"subject": "CN=bmc", "valid_until": NOW - 86400})
    assert "expired on 2026-01-01" in verdicts_of("dell", facts={"tls": tls})["tls"].actual


def test_http_is_a_warning():
    assert verdicts_of("dell", "idrac-redfish+http", facts={"tls": {}})["tls"].status == "warning"


@pytest.mark.parametrize(("stage", "kind", "problems"), [
    ("reach", "unreachable", ["reach"]), ("tls", "unverified", ["tls"]), ("service", "not_found", ["service"]),
    ("login", "unauthorized", ["login"]), ("credentials", "missing", [])])
def test_one_cause_is_one_problem(stage, kind, problems):
    facts = dict(blank(), error={"stage": stage, "kind": kind, "text": "why"})
    if stage != "reach":
        facts.update(reached=True, tls=dict(GOOD_TLS, verified=stage != "tls", error="why"))
    found = bmc_checks.verdicts(host("dell"), facts, LIMITS)
    assert [verdict.check for verdict in found if verdict.status == "problem"] == problems
    assert worst(found) == ("problem" if problems else "warning")


@pytest.mark.parametrize("scheme, where", [
    ("redfish", "[2001:db8::1]:443: why"), ("ipmi", "[2001:db8::1]:623/udp: why")])
def test_an_ipv6_address_has_brackets_before_its_port(scheme, where):
    facts = dict(blank(), error={"stage": "reach", "kind": "unreachable", "text": "why"})
    address = bmc_address.parse(f"{scheme}://[2001:db8::1]")
    found = bmc_checks.verdicts(host("dell", address=address), facts, LIMITS)
    assert [verdict.actual for verdict in found if verdict.status == "problem"] == [where]


@pytest.mark.parametrize("vendor", sorted(SYSTEMS))
def test_nonsense_in_place_of_values_is_no_defect(vendor):
    """Each property of each resource, one after the other, as null, as a number and as a list."""
    resources = tree(vendor)
    for path, resource in resources.items():
        for name in resource:
            for nonsense in (None, 7, [1], {}):
                changed = dict(resources, **{path: dict(resource, **{name: nonsense})})
                read = survey(changed, SYSTEMS[vendor])
                facts = dict(blank(), reached=True, tls=GOOD_TLS, unread=read.unread,
                             login={"ok": True, "method": "basic", "attempts": 1})
                facts.update(redfish_facts.facts(read.parts, read.clock_asked))
                if facts["system"]:
                    facts["recommended"] = bmc_hardware.choose(facts, host(vendor)["address"])
                assert bmc_checks.verdicts(host(vendor), facts, LIMITS)


@pytest.mark.parametrize(("reported", "drift"), [
    ("2026-01-02T03:04:05Z", 0), ("2026-01-02T03:04:05+00:00", 0), ("2026-01-02T05:04:05+02:00", 0),
    ("2026-01-02T03:14:05Z", 600), ("2026-01-01T03:04:05.123Z", -86400), ("", None), ("yesterday", None),
    ("2026-13-02T03:04:05Z", None)])
def test_clock_drift(reported, drift):
    assert redfish_facts.clock_drift(reported, (NOW, NOW)) == drift


@pytest.mark.parametrize(("given", "normal"), [
    ("3CECEF6A10B2", "3c:ec:ef:6a:10:b2"), ("3C-EC-EF-6A-10-B2", "3c:ec:ef:6a:10:b2"), ("", ""), (None, ""),
    ("00:00:00:00:00:00", ""), ("3c:ec", "")])
def test_normal_mac(given, normal):
    assert redfish_facts.normal_mac(given) == normal


def test_two_addresses_of_one_server():
    facts = facts_of("dell")
    same = bmc_checks.shared([("a", facts), ("b", facts), ("c", facts_of("hpe"))])
    assert sorted(same) == ["a", "b"]
    assert same["a"].actual.endswith("as b")


def of_hardware(uuid, serial_number, *macs):
    return {"system": {"uuid": uuid, "serial_number": serial_number}, "nics": [{"mac": mac} for mac in macs]}


def test_a_uuid_that_a_vendor_gives_to_several_servers_is_a_warning():
    """They were taken for one server, which no inventory could correct."""
    found = bmc_checks.shared([("a", of_hardware("u", "1", "m1")), ("b", of_hardware("U", "1", "m2")),
                               ("c", of_hardware("u", "3")), ("d", of_hardware("other", "3"))])
    assert sorted(found) == ["a", "b", "c"]
    assert {name: verdict.status for name, verdict in found.items()} == dict.fromkeys("abc", "warning")
    assert found["a"].actual == "UUID u, which b, c report, too, with other network cards or another serial number"


@pytest.mark.parametrize("one, other", [
    (("u", "1", "m1", "m2"), ("u", "2", "m2")), (("u", "1"), ("u", "1", "m1")), (("u", ""), ("u", "1", "m1")),
    (("u", "None"), ("u", "None"))])
def test_what_nothing_tells_apart_is_one_server(one, other):
    found = bmc_checks.shared([("a", of_hardware(*one)), ("b", of_hardware(*other))])
    assert {name: verdict.status for name, verdict in found.items()} == {"a": "problem", "b": "problem"}


@pytest.mark.parametrize("uuid", [
    "", None, "00000000-0000-0000-0000-000000000000", "03000200-0400-0500-0006-000700080009"])
def test_a_uuid_that_nobody_has_set_is_nobodys(uuid):
    assert bmc_checks.shared([("a", of_hardware(uuid, "1")), ("b", of_hardware(uuid, "1"))]) == {}


def test_passwords_of_the_bios_are_left_out():
    assert sorted(facts_of("dell")["bios"]["attributes"]) == [
        "BootMode", "LogicalProc", "ProcVirtualization", "SriovGlobalEnable"]


def results(names=None):
    found = bmc_checks.verdicts(host("dell", "redfish-virtualmedia"), facts_of("dell"), LIMITS)
    return [{"name": "a", "verdict": worst(found), "checks": [verdict.result(names) for verdict in found],
             "recommended": facts_of("dell")["recommended"], "facts": facts_of("dell")}]


def test_a_failure_reports_all_at_once():
    text = bmc_table.failure(results({"bmc.address": "bmc_address"}), "problem")
    assert text.startswith("1 problem at 1 of 1 servers")
    assert "- a: bmc_address: found redfish-virtualmedia must not be used for Dell" in text
    assert "- a: bmc.address: found the BMC's clock is" in bmc_table.failure(results(), "warning")
    assert bmc_table.failure(results(), "none") == ""


def test_table():
    lines = bmc_table.table(results())
    assert lines[1].split() == ["a", "problem", "Dell", "Inc.", "PowerEdge", "R660", "CNFCP0039O00AB", "7.00.60.00",
                                "2.1.5", "off", "idrac-virtualmedia", "clock,", "scheme"]


def test_table_of_ipmi():
    facts = dict(blank(), ipmi={"power": "on", "firmware_version": "1.00", "manufacturer": "A", "model": "B",
                                "serial_number": "S"})
    cells = bmc_table.row({"name": "a", "verdict": "ok", "checks": [], "recommended": {}, "facts": facts})
    assert cells == {"name": "a", "verdict": "ok", "server": "A B", "serial_number": "S", "firmware": "1.00",
                     "bios_version": "-", "power": "on", "scheme": "-", "look_at": "-"}


@pytest.mark.parametrize(("facts", "status"), [
    ({"error": {"stage": "reach", "kind": "unreachable", "text": "no answer on UDP"}}, {"reach": "problem"}),
    ({"reached": True, "error": {"stage": "login", "kind": "unauthorized", "text": "refused"},
      "login": {"ok": False, "method": "IPMI 2.0", "attempts": 1}}, {"login": "problem"}),
    ({"reached": True, "error": {"stage": "login", "kind": "privilege", "text": "refused"}}, {"privileges": "problem"}),
    ({"reached": True, "login": {"ok": True, "method": "IPMI 2.0", "attempts": 1}, "ipmi": {"power": ""}},
     {"power": "problem"}),
    ({"reached": True, "login": {"ok": True, "method": "IPMI 2.0", "attempts": 1}, "ipmi": {"power": "on"}}, {}),
])
def test_ipmi(facts, status):
    target = dict(host("dell"), address=bmc_address.parse("ipmi://192.0.2.1"))
    found = bmc_checks.verdicts(target, dict(blank(), **facts), LIMITS)
    assert dict((verdict.check, verdict.status) for verdict in found if verdict.status == "problem") == status

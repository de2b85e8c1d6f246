# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is expected of a server against what is known of it, and the reports of that."""
from __future__ import annotations

import json
import xml.etree.ElementTree

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance import profile, service
from ansible_collections.metal3.baremetal.plugins.module_utils._compliance.rules import LEVELS, RULES
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import report

HARDWARE = {
    "cpu": {"arch": "x86_64", "count": 64}, "ramMebibytes": 262144,
    "systemVendor": {"manufacturer": "Example Inc.", "productName": "R1"},
    "storage": [{"name": "/dev/sda", "sizeBytes": 480 * 10 ** 9, "rotational": False, "model": "fast"},
                {"name": "/dev/sdb", "sizeBytes": 960 * 10 ** 9, "rotational": False, "model": "fast"},
                {"name": "/dev/sdc", "sizeBytes": 8000 * 10 ** 9, "rotational": True, "model": "slow"}],
    "nics": [{"name": "eno1", "speedGbps": 25, "lldp": {
        "switchSystemName": "leaf-1", "switchID": "00:11", "portID": "7"}}, {"name": "eno2", "speedGbps": 10}]}
KNOWN = profile.Known(HARDWARE, {"bios": "2.4", "bmc": "7.0"}, {"Virtualization": "Enabled", "Slots": "4"})
GOOD = {
    "architecture": "x86_64", "cpus_minimum": 64, "memory_mebibytes_minimum": 262144, "manufacturer": "Example Inc.",
    "product_name": "R1", "nics_minimum": 2,
    "disks": [{"count_minimum": 1, "size_gigabytes_minimum": 400, "rotational": False},
              {"count_minimum": 1, "size_gigabytes_minimum": 900, "rotational": False},
              {"count_minimum": 1, "rotational": True, "model": "slow"}],
    "nics": [{"name": "eno1", "speed_gigabits_minimum": 25, "switch": "leaf-1", "switch_port": "7"},
             {"name": "eno2", "switch": None}],
    "firmware": {"bios": ["2.3", "2.4"], "bmc": "7.0"}, "settings": {"Virtualization": "Enabled", "Slots": 4}}


def found(known=KNOWN, **expected):
    return [(item.code, item.field, item.actual, item.expected) for item in profile.findings("h1", expected, known, 0)]


def test_what_is_as_expected_has_no_finding():
    assert found(**GOOD) == [] and profile.mistakes("h1", GOOD) == [] and found() == []
    assert found(nics=[{"name": "eno1", "switch": "00:11"}]) == [], "by its chassis ID"


DIFFERENCES = [
    ({"architecture": "aarch64"}, "hardware-differs", "architecture", '"x86_64"', '"aarch64"'),
    ({"cpus_minimum": 65}, "hardware-differs", "cpus_minimum", "64", "65 or more"),
    ({"memory_mebibytes_minimum": 10 ** 6}, "hardware-differs", "memory_mebibytes_minimum", "262144",
     "1000000 or more"),
    ({"manufacturer": "Other"}, "hardware-differs", "manufacturer", '"Example Inc."', '"Other"'),
    ({"product_name": "R2"}, "hardware-differs", "product_name", '"R1"', '"R2"'),
    ({"disks": [{"count_minimum": 2, "size_gigabytes_minimum": 900, "rotational": False}]}, "hardware-differs",
     "disks[0]", "1 among /dev/sda (480 GB), /dev/sdb (960 GB), /dev/sdc (8000 GB)",
     "2 or more with rotational: false, size_gigabytes_minimum: 900"),
    ({"nics_minimum": 3}, "hardware-differs", "nics_minimum", "2", "3 or more"),
    ({"nics": [{"name": "eno3"}]}, "hardware-differs", "nics[0].name", '"eno1, eno2"', "a network card eno3"),
    ({"nics": [{"name": "eno2", "speed_gigabits_minimum": 25}]}, "hardware-differs", "nics[0].speed_gigabits_minimum",
     "10", "25 or more"),
    ({"nics": [{"name": "eno1", "switch": "leaf-2"}]}, "cabling-differs", "nics[0].switch", '"leaf-1"', "leaf-2"),
    ({"nics": [{"name": "eno1", "switch_port": "8"}]}, "cabling-differs", "nics[0].switch_port", '"7"', "8"),
    ({"nics": [{"name": "eno2", "switch_port": "8"}]}, "cabling-unknown", "nics[0].switch_port", None, "8"),
    ({"firmware": {"bmc": ["7.1", "7.2"]}}, "firmware-differs", "firmware.bmc", '"7.0"', "7.1 or 7.2"),
    ({"firmware": {"nic": "1"}}, "firmware-unknown", "firmware.nic", None, "1"),
    ({"settings": {"Virtualization": "Disabled"}}, "setting-differs", "settings.Virtualization", '"Enabled"',
     "Disabled"),
    ({"settings": {"Turbo": "On"}}, "setting-unknown", "settings.Turbo", None, "On"),
]


@pytest.mark.parametrize("expected, code, field, actual, wanted", DIFFERENCES, ids=[
    f"{case[1]}-{case[2]}" for case in DIFFERENCES])
def test_a_difference_names_what_was_found_and_expected(expected, code, field, actual, wanted):
    assert found(**expected) == [(code, field, actual, wanted)] and code in LEVELS


def test_every_rule_is_one_of_a_case():
    elsewhere = {"cabling-unlisted", "firmware-uncatalogued", "certificate-unknown", "certificate-differs",
                 "accounts-unknown", "accounts-differ"}
    assert {case[1] for case in DIFFERENCES} | {"hardware-unknown"} | elsewhere == set(LEVELS)


def test_a_server_that_was_not_inspected():
    unknown = profile.Known(None, {}, {})
    assert found(unknown, cpus_minimum=1, disks=[]) == [
        ("hardware-unknown", "cpus_minimum", None, "what an inspection finds")]
    assert found(unknown, disks=[]) == []


def test_a_disk_counts_once():
    twice = [{"count_minimum": 1, "size_gigabytes_minimum": 900}, {"count_minimum": 2, "rotational": False}]
    assert found(disks=twice) == [], "the large rotating one is for the first"
    small = dict(HARDWARE, storage=HARDWARE["storage"][:2])
    assert [item[1] for item in found(profile.Known(small, {}, {}), disks=twice)] == ["disks[1]"]


CARDS = KNOWN._replace(firmware={"bios": "2.4", "nic:A": "9.2", "nic:B": "9.1"})


@pytest.mark.parametrize("firmware, findings", [
    ({"nic": ["9.1", "9.2"]}, []),
    ({"nic": "9.2"}, [("firmware-differs", "firmware.nic:B", '"9.1"', "9.2")]),
    # A card that is named goes before all.
    ({"nic": "9.2", "nic:B": "9.1"}, []),
    ({"nic:C": "9.2"}, [("firmware-unknown", "firmware.nic:C", None, "9.2")]),
])
def test_versions_of_all_network_cards(firmware, findings):
    assert found(CARDS, firmware=firmware) == findings


@pytest.mark.parametrize("expected, field", [
    ({"firmware": {"bmc": 7.1}}, "firmware.bmc"), ({"firmware": {"bmc": []}}, "firmware.bmc"),
    ({"firmware": {"bmc": {"a": 1}}}, "firmware.bmc"), ({"settings": {"a": None}}, "settings.a"),
    ({"settings": {"a": [1]}}, "settings.a"), ({"nics": [{"name": "a"}, {"name": "a"}]}, "nics")],
    ids=["number", "no version", "dictionary", "nothing", "list", "twice"])
def test_a_wrong_expectation_is_refused(expected, field):
    assert [item.field for item in profile.mistakes("h1", expected)] == ["expected." + field]


class Client:
    """Lists of objects by kind; the firmware kinds may be missing."""

    server = "https://198.18.0.1:6443"

    def __init__(self, **objects):
        self.objects = objects

    def list(self, resource, namespace=None):
        if resource.kind not in self.objects:
            raise KubeError("not found", 404)
        return [dict(item, kind=resource.kind) for item in self.objects[resource.kind]], "1"


def named(**parts):
    return [dict({"metadata": {"name": "h1"}}, **parts)]


def test_hosts_are_compared_by_one_list_of_each_kind():
    client = Client(
        BareMetalHost=named(), HardwareData=named(spec={"hardware": dict(HARDWARE, ramMebibytes="much")}),
        HostFirmwareComponents=named(status={"components": [
            {"component": "bmc", "currentVersion": "7.0"}, {"component": 3}]}),
        HostFirmwareSettings=named(status={"settings": {"Virtualization": "Enabled"}}))
    expected = {"firmware": {"bmc": "7.0"}, "settings": {"Virtualization": "Enabled"}, "memory_mebibytes_minimum": 1}
    findings = service.compare(client, "metal3", [{"name": "h1", "expected": expected}])
    assert [item["text"] for item in findings] == ["h1: memory_mebibytes_minimum: not known, expected 1 or more"]
    without = Client(BareMetalHost=named(), HardwareData=[])
    assert [item["code"] for item in service.compare(without, "metal3", [{"name": "h1", "expected": {
        "firmware": {"bmc": "7.0"}}}])] == ["firmware-unknown"]
    with pytest.raises(RefusedError) as refused:
        service.compare(without, "metal3", [{"name": "h2", "expected": {"firmware": {"a": 1}}}] * 2)
    text = str(refused.value)
    assert "h2: name: found no BareMetalHost in namespace metal3" in text and "h2: name: found named twice" in text
    assert "h2: expected.firmware.a: found 1, expected a version as text" in text


def test_findings_are_where_the_expectation_is_written():
    client = Client(BareMetalHost=named(), HardwareData=[], HostFirmwareComponents=[], HostFirmwareSettings=[])
    hosts = [{"name": "h1", "expected": {"firmware": {"bmc": "7.0"}}}]
    place = {"name": "h1", "path": "host_vars/h1.yml", "line": 7, "column": None}
    finding, = service.compare(client, "metal3", hosts, places=[dict(place, name="h2"), place])
    assert [finding[part] for part in ("path", "line", "column")] == ["host_vars/h1.yml", 7, None]
    location, = report.sarif([finding], "", service.TOOL, RULES)["runs"][0]["results"][0]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "host_vars/h1.yml"}, "region": {"startLine": 7}}


def test_reports_are_written_once(tmp_path):
    problems = profile.findings("h1", {"cpus_minimum": 65, "firmware": {"nic": "1"}}, KNOWN, 0)
    findings = profile.as_findings(problems, LEVELS, "h1")
    sarif, junit = tmp_path / "a.sarif", tmp_path / "a.xml"
    assert service.write_reports(findings, False, str(sarif), str(junit), True) and not sarif.exists()
    assert service.write_reports(findings, False, str(sarif), str(junit), False)
    assert not service.write_reports(findings, False, str(sarif), str(junit), False)
    driver = json.loads(sarif.read_text())["runs"][0]["tool"]["driver"]
    assert driver["name"] == service.TOOL and [rule["id"] for rule in driver["rules"]] == [rule.rule for rule in RULES]
    cases = xml.etree.ElementTree.fromstring(junit.read_text()).iter("testcase")
    assert {case.get("name") for case in cases if case.find("failure") is not None} == {"hardware-differs"}
    # Who may read a report is the user's: it names accounts of BMCs that should not be there.
    sarif.chmod(0o600)
    assert not service.write_reports(findings, False, str(sarif), str(junit), False)
    assert service.write_reports([], False, str(sarif), str(junit), False)
    assert (sarif.stat().st_mode & 0o777, junit.stat().st_mode & 0o777) == (0o600, 0o644)

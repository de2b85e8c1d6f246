# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers of the lab against what is expected of them: what BMO's inspection and its BMCs' firmware say."""
from __future__ import annotations

import json
import xml.etree.ElementTree

from bmc_system import credential
from support import NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

HOST = "server-01"
# Its cards have heard from switches (inventory/lab/lab.yml).
CABLED = "server-04"


def known(lab, kind, field):
    found = lab.kube.get(KNOWN[kind], NAMESPACE, HOST)
    return ((found or {}).get("status") or {}).get(field)


def test_servers_are_compared_with_what_is_expected(lab, tmp_path):
    settings = eventually(lambda: known(lab, "HostFirmwareSettings", "settings"), 120, "BIOS settings")
    components = eventually(lambda: known(lab, "HostFirmwareComponents", "components"), 120, "firmware")
    hardware = lab.kube.get(KNOWN["HardwareData"], NAMESPACE, HOST)["spec"]["hardware"]
    name, value = sorted(settings.items())[0]
    expected = {
        "cpus_minimum": hardware["cpu"]["count"], "memory_mebibytes_minimum": hardware["ramMebibytes"],
        "disks": [{"size_gigabytes_minimum": hardware["storage"][0]["sizeBytes"] // 10 ** 9}],
        "nics": [{"name": hardware["nics"][0]["name"]}], "settings": {name: value},
        "firmware": dict((item["component"], ["0", item["currentVersion"]]) for item in components)}
    versions = lab.versions()
    run = lab.playbook("compliance", *only(HOST), extra={"bmh_expected": expected}).ok()
    assert run.changed() == 0
    report = tmp_path / "compliance.xml"
    wrong = dict(expected, cpus_minimum=hardware["cpu"]["count"] + 1, settings={name: "another"},
                 firmware={components[0]["component"]: "0"})
    lab.playbook("compliance", *only(HOST), extra={"bmh_expected": wrong, "compliance_junit_file": str(report)}).failed(
        f"{HOST}: cpus_minimum: found {hardware['cpu']['count']}, expected {wrong['cpus_minimum']} or more",
        f"{HOST}: settings.{name}: found {json.dumps(value)}, expected another",
        f"{HOST}: firmware.{components[0]['component']}: found", "3 errors")
    cases = xml.etree.ElementTree.fromstring(report.read_text()).iter("testcase")
    assert {case.get("name") for case in cases if case.find("failure") is not None} == {
        "hardware-differs", "setting-differs", "firmware-differs"}
    assert lab.versions() == versions


def test_cabling_that_nobody_has_heard_of_is_a_warning(lab):
    """This server's cards have heard of none."""
    nic = lab.kube.get(KNOWN["HardwareData"], NAMESPACE, HOST)["spec"]["hardware"]["nics"][0]["name"]
    extra = {"bmh_expected": {"nics": [{"name": nic, "switch": "leaf-1"}]}}
    lab.playbook("compliance", *only(HOST), extra=extra).ok()
    lab.playbook("compliance", *only(HOST), extra=dict(extra, compliance_strict=True)).failed(
        f"{HOST}: nics[0].switch: not known, expected leaf-1")
    lab.playbook("compliance", *only(HOST)).failed("bmh_expected: not set for " + HOST)


def test_servers_are_compared_with_files_of_the_site(lab, tmp_path):
    components = eventually(lambda: known(lab, "HostFirmwareComponents", "components"), 120, "firmware")
    hardware = lab.kube.get(KNOWN["HardwareData"], NAMESPACE, HOST)["spec"]["hardware"]
    versions = dict((item["component"], item["currentVersion"]) for item in components)
    model = {"manufacturer": hardware["systemVendor"]["manufacturer"],
             "product_name": hardware["systemVendor"]["productName"]}
    catalogue, cabling = tmp_path / "firmware.yml", tmp_path / "cabling.json"
    given = {"compliance_firmware_catalogue": str(catalogue), "compliance_cabling_file": str(cabling)}
    catalogue.write_text(json.dumps([dict(model, firmware=versions)]))
    cabling.write_text(json.dumps({HOST: {}}))
    lab.playbook("compliance", *only(HOST), extra=given).ok()

    component = sorted(versions)[0]
    nic = hardware["nics"][0]["name"]
    catalogue.write_text(json.dumps([dict(model, firmware=dict(versions, **{component: ["0", "1"]}))]))
    cabling.write_text(json.dumps({HOST: {nic: {"switch": "leaf-1"}}}))
    lab.playbook("compliance", *only(HOST), extra=given).failed(
        f"{HOST}: firmware.{component}: found {json.dumps(versions[component])}, expected 0 or 1",
        f"{HOST}: cabling.{nic}.switch: not known, expected leaf-1", "1 error")
    cabling.write_text(json.dumps({HOST: [nic]}))
    lab.playbook("compliance", *only(HOST), extra=given).failed(f"cabling_file {cabling}: {HOST}: found")


def test_cabling_that_was_heard_of_at_the_inspection_is_compared_with_the_file(lab, tmp_path):
    """From the agent's TLVs through Ironic's hook and BMO to the finding."""
    described = dict((nic["name"], dict((key, nic[key]) for key in ("switch", "switch_port") if key in nic))
                     for nic in lab.servers[CABLED]["nics"])
    cables = dict((name, connection) for name, connection in described.items() if connection)
    assert len(cables) == 2 and len(described) == 3
    cabling = tmp_path / "cabling.json"
    given = {"compliance_cabling_file": str(cabling), "compliance_strict": True}
    cabling.write_text(json.dumps({CABLED: cables}))
    lab.playbook("compliance", *only(CABLED), extra=given).ok()

    first, second = sorted(cables)
    cabling.write_text(json.dumps({CABLED: {first: cables[second]}}))
    report = tmp_path / "compliance.sarif"
    lab.playbook("compliance", *only(CABLED), extra=dict(given, compliance_sarif_file=str(report))).failed(
        f"{CABLED}: cabling.{first}.switch: found {json.dumps(cables[first]['switch'])}, "
        f"expected {cables[second]['switch']}",
        f"{CABLED}: cabling.{second}: found", "1 error")
    results = json.loads(report.read_text())["runs"][0]["results"]
    assert {result["ruleId"]: result["level"] for result in results} == {
        "cabling-differs": "error", "cabling-unlisted": "warning"}


def test_certificate_and_accounts_of_a_bmc_are_compared(lab, room):
    user = credential(lab.servers[HOST], "username")
    expected = {"certificate": {"days_minimum": 1}, "accounts": [{"name": user, "role": "Administrator"}]}
    before = lab.versions()
    run = lab.playbook("compliance", *only(HOST), extra={"bmh_expected": expected, "compliance_strict": True}).ok()
    assert run.changed() == 0
    wrong = {"certificate": {"days_minimum": 100000, "issuer": "CN=another"},
             "accounts": [{"name": "operator"}, {"name": "guest", "required": False}]}
    lab.playbook("compliance", *only(HOST), extra={"bmh_expected": wrong}).failed(
        f"{HOST}: certificate.days_minimum: found", "days left, expected 100000 or more",
        f"{HOST}: certificate.issuer: found", f"{HOST}: accounts.{user}: found", "expected no enabled account",
        f"{HOST}: accounts.operator: found none, expected an enabled account", "4 errors")
    # The BMCs of the lab have one certificate, which is shown before anything is asked.
    room.set_knobs(HOST, bmc_unreachable=True)
    try:
        lab.playbook("compliance", *only(HOST), extra={"bmh_expected": expected}).ok()
        lab.playbook("compliance", *only(HOST), extra={"bmh_expected": expected, "compliance_strict": True}).failed(
            f"{HOST}: accounts: not known, expected the accounts of the BMC", "0 errors, 1 warning")
    finally:
        room.clear_knobs(HOST)
    assert lab.versions() == before

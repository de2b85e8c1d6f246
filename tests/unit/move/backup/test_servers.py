# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the server behind a BMC's address is the one that was inspected."""
from __future__ import annotations

import pytest
from fakes.planes import host, obj

from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import servers

MAC, OTHER_MAC = "00:5c:52:31:3a:01", "00:5c:52:31:3a:99"


def said(answer, serial="S1", macs=(MAC,), boot_mac=None, status=None):
    objects = [host("h", bootMACAddress=boot_mac)]
    if status:
        objects[0]["status"]["hardware"] = status
    if serial or macs:
        objects.append(obj("metal3.io/v1alpha1", "HardwareData", "h", spec={"hardware": {
            "systemVendor": {"serialNumber": serial}, "nics": [{"mac": mac} for mac in macs]}}))
    return servers.said([dict(answer, name="h")], objects)["h"]


def redfish(serial="S1", macs=(MAC,), **more):
    return {"system": dict({"serial_number": serial, "power_state": "On"}, **more),
            "nics": [{"name": "1", "mac": mac} for mac in macs]}


@pytest.mark.parametrize("answer", [
    redfish(), redfish(macs=(MAC.upper(), OTHER_MAC)), redfish(macs=()), redfish("S1", (OTHER_MAC,)),
    # A vendor that has the number of the board here, and the server's as its SKU.
    redfish("board", (), sku="S1"), redfish("board", (MAC,)), redfish("", (MAC,)),
    {"ipmi": {"power": "on", "serial_number": "S1"}}, {"ipmi": {"power": "on", "chassis_serial": "S1"}}])
def test_the_same_server_is_known_by_its_serial_number_or_its_cards(answer):
    assert said(answer) == servers.Said(True, "", "")


@pytest.mark.parametrize("answer", [redfish("S2", ()), redfish("S2", (OTHER_MAC,)), redfish("", (OTHER_MAC,)),
                                    {"ipmi": {"power": "on", "serial_number": "S2"}}])
def test_another_server_behind_the_address_is_found(answer):
    found = said(answer)
    assert found.powered_on and found.other.startswith("its BMC is that of another server: it says ")
    assert "the serial number S1 and the MAC addresses 00:5c:52:31:3a:01" in found.other and not found.not_compared


@pytest.mark.parametrize("answer, more, reason", [
    ({"system": {"power_state": "Off"}}, {}, "its BMC does not say a serial number"),
    (redfish("to be filled by O.E.M.", ()), {}, "its BMC does not say a serial number"),
    ({"system": {}}, {}, "its BMC was not asked, or has not answered"),
    ({"error": {"stage": "login"}, "system": "x", "nics": 7, "ipmi": []}, {}, "its BMC was not asked"),
    (redfish("S2", ()), {"serial": "", "macs": (MAC,)}, "its BMC says the serial number S2, and the inspection"),
    (redfish(), {"serial": "", "macs": ()}, "the backup does not have what its inspection has found"),
    (redfish(), {"serial": "", "macs": (), "boot_mac": OTHER_MAC}, "the backup does not have")])
def test_what_is_not_compared_is_said(answer, more, reason):
    found = said(answer, **more)
    assert found.other == "" and reason in found.not_compared


def test_the_card_that_boots_and_what_a_former_version_has_inspected_count():
    assert said(redfish(), "", (), boot_mac=MAC.upper()).not_compared == ""
    assert said(redfish("S2", ()), "", (), status={"systemVendor": {"serialNumber": "S1"}}).other


@pytest.mark.parametrize("answer, powered_on", [
    ({"system": {"power_state": "On"}}, True), ({"system": {"power_state": "PoweringOn"}}, None),
    ({"ipmi": {"power": "off"}}, False), ({}, None)])
def test_power_is_read_of_either_protocol(answer, powered_on):
    assert said(answer).powered_on is powered_on


@pytest.mark.parametrize("address, differs", [
    ("ipmi://192.0.2.1", False), ("redfish://192.0.2.1/redfish/v1/Systems/1", False), ("", False),
    ("ipmi://192.0.2.7", True), ("redfish://192.0.2.1:8443/redfish/v1/Systems/1", True)])
def test_a_bmc_that_is_elsewhere_by_the_inventory_says_nothing_of_the_one_of_the_backup(address, differs):
    found = said(dict(redfish(), address=address))
    assert bool(found.other) is differs and found.powered_on is (None if differs else True)
    assert not differs or f"at {address} by the inventory, and at ipmi://192.0.2.1 by the backup" in found.other


def test_servers_that_are_no_host_of_the_backup_do_not_count():
    assert servers.said([dict(redfish(), name="x")], [host("h")]) == {}

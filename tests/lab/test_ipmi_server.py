# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated server managed by IPMI: logins and faults as preflight reports them, and a host that Ironic drives."""
from __future__ import annotations

from pathlib import Path

import pytest
from bmc_requests import BmcLogs
from machine_room import access_log
from support import eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import service as bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings

NAME = "server-04"
# Enough for a BMC on a busy machine.
SETTINGS = Settings(None, 5, 5, 8)
WELL = dict.fromkeys(["reach", "login", "privileges", "power", "scheme"], "ok")


@pytest.fixture
def address(lab):
    return f"ipmi://{lab.figures['address']}:{lab.servers[NAME]['bmc']['ipmi_port']}"


@pytest.fixture
def checked(lab, address):
    """A function that logs in, and returns check → status, and the facts."""
    entry = lab.servers[NAME]["bmc"]
    username, password = (Path(entry[f"{part}_file"]).read_text() for part in ("username", "password"))

    def check(**other):
        bmc = dict({"address": address, "username": username, "password": password}, **other)
        result, = bmc_service.preflight([{"name": NAME, "bmc": bmc}], SETTINGS, 30, 120)
        return dict((one["check"], one["status"]) for one in result["checks"]), result["facts"]

    return check


def test_a_login_and_what_refuses_it(lab, room, checked):
    logs = BmcLogs(lab)
    statuses, facts = checked()
    assert statuses == WELL
    # Ironic asks by Redfish.
    asked = [item for item in logs.requests() if (item.server, item.method) == (NAME, access_log.IPMI)
             and item.moment >= logs.since]
    assert asked[0].path == access_log.SESSIONLESS and {item.address for item in asked} == {lab.figures["address"]}
    # Get Chassis Status.
    assert {item.status for item in asked if item.path == access_log.ipmi_path(0, 1)} == {0}
    assert facts["ipmi"]["power"] == room.server(NAME)["power"].lower()
    assert checked(password="not-the-password")[0]["login"] == "problem"
    other = Path(lab.servers["server-01"]["bmc"]["password_file"]).read_text()
    assert checked(password=other)[0]["login"] == "problem"
    try:
        room.set_knobs(NAME, bmc_unauthorized=True)
        assert checked()[0]["login"] == "problem"
        room.clear_knobs(NAME)
        room.set_knobs(NAME, bmc_unreachable=True)
        assert checked()[0]["reach"] == "problem"
    finally:
        room.clear_knobs(NAME)
    assert checked()[0] == WELL


def test_a_host_by_ipmi_is_inspected_over_the_network_and_switched_off(lab, room, address):
    lab.remove_hosts(NAME)
    try:
        lab.playbook("enroll", "-i", lab.inventory({NAME: {"bmc_address": address}}), *only(NAME)).ok()
        assert lab.state(NAME) == "available"
        node = lab.ironic().get(f"/nodes/{lab.nodes()[NAME].id}", microversion="1.86").json()
        assert (node["driver"], node["boot_interface"], node["power_interface"]) == ("ipmi", "ipxe", "ipmitool")
        assert lab.host(NAME)["status"]["hardware"]["systemVendor"]["serialNumber"] == lab.servers[NAME]["serial"]
        assert (room.server(NAME)["boot_device"], room.server(NAME)["boot_mode"]) == ("Pxe", "UEFI")
        lab.playbook("host_action", *only(NAME), "-e", "host_action=power_off", "-e", "metal3_confirm=1").ok()
        eventually(lambda: room.server(NAME)["power"] == "Off", 60, "switched off")
    finally:
        lab.remove_hosts(NAME)
        lab.playbook("enroll", *only(NAME)).ok()
    assert lab.state(NAME) == "available"

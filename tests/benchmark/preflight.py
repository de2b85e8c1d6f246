# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight of many BMCs, against a loop that reads the same of one after the other with sushy."""
from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

import sushy
import sushy.auth
from measures import Figure

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import service as bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings

# What a fast BMC takes for an answer; many take several times as long.
LATENCY_SECONDS = 0.1
CONCURRENCY = 64


@contextlib.contextmanager
def fleet(count):
    """Yield the ports of ``count`` Redfish services."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("redfish_fleet.py")), str(count), str(LATENCY_SECONDS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(30)


def hosts(ports):
    """Return entries for the fleet as bmc_preflight takes them."""
    return [{"name": f"host-{number:04d}", "boot_mac_address": "00:5c:52:%02x:%02x:01" % divmod(number, 256),
             "bmc": {"address": f"redfish-virtualmedia+http://127.0.0.1:{port}/redfish/v1/Systems/1",
                     "username": "admin", "password": "right"}} for number, port in enumerate(ports)]


def read_by_sushy(port):
    """Read of one BMC what a preflight judges, with sushy's own objects."""
    root = sushy.Sushy(f"http://127.0.0.1:{port}", auth=sushy.auth.SessionAuth("admin", "right"))
    system = root.get_system("/redfish/v1/Systems/1")
    manager = system.managers[0]
    service = root._conn.get("/redfish/v1/AccountService/").json()
    members = root._conn.get(service["Accounts"]["@odata.id"]).json()["Members"]
    accounts = [root._conn.get(member["@odata.id"]).json() for member in members]
    role = root._conn.get(accounts[0]["Links"]["Role"]["@odata.id"]).json()
    return (root.get_system_collection().members_identities, system.power_state, system.boot, system.bios.attributes,
            system.secure_boot.enabled, [nic.mac_address for nic in system.ethernet_interfaces.get_members()],
            manager.firmware_version, [media.media_types for media in manager.virtual_media.get_members()],
            role["AssignedPrivileges"])


def preflight(ports, concurrency, login_only=False):
    """Check BMCs and return the seconds it took."""
    began = time.monotonic()
    results = bmc_service.preflight(
        hosts(ports), Settings(None, 10, 60, concurrency, login_only=login_only), 30, 10 ** 9)
    seconds = time.monotonic() - began
    # Of HTTP there is a warning, where more than the login is judged.
    expected = "ok" if login_only else "warning"
    judged = [result["verdict"] for result in results]
    if judged != [expected] * len(ports):
        raise RuntimeError(f"expected {expected} for each of {len(ports)} BMCs, found {sorted(set(judged))}")
    return seconds


def measure_preflight(count, sample):
    """Measure and yield each Figure as it is known.

    :param count: how many BMCs
    :param sample: how many of them are read one after the other
    """
    with fleet(count) as ports:
        seconds = preflight(ports, CONCURRENCY)
        yield Figure(f"preflight of {count} BMCs that take {LATENCY_SECONDS * 1000} ms for an answer", seconds,
                     "s", "", None, f"{CONCURRENCY} at once")
        yield Figure(f"enrolment's login to each of {count} BMCs", preflight(ports, CONCURRENCY, True), "s", "", None,
                     f"{CONCURRENCY} at once")
        began = time.monotonic()
        for port in ports[:sample]:
            read_by_sushy(port)
        looped = (time.monotonic() - began) / sample * count
        yield Figure("preflight: sushy's objects in a loop / module", looped / seconds, "x", ">= 20",
                     looped >= 20 * seconds, f"{looped:.0f} s for {count} BMCs, extrapolated from {sample}")
        alone = preflight(ports[:sample], 1) / sample * count
        yield Figure(f"preflight: module, one BMC after the other / {CONCURRENCY} at once", alone / seconds, "x", "",
                     None, f"{alone:.0f} s for {count} BMCs, extrapolated from {sample}")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that is inspected, deployed and logged in to while nobody lends addresses; make test-metal runs it.

Agent and system have the addresses of their network data. The wait says how much of the image was sent, and how far the
system is until it answers by ssh.
"""
from __future__ import annotations

import ipaddress
import re

import pytest
from support import only
from virtual_site import BOOT_SECONDS, MEDIA, in_system, inventory_arguments

pytestmark = pytest.mark.metal


def network_data(lab, address):
    """Return network data with one address."""
    return {"links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": lab.servers[MEDIA]["boot_mac"]}],
            "networks": [{"id": "provisioning", "network_id": "provisioning", "link": "eno1", "type": "ipv4",
                          "ip_address": address,
                          "netmask": str(ipaddress.ip_network(lab.figures["bridge"]["network"]).netmask)}],
            "services": []}


@pytest.fixture
def agents_address(lab):
    """An address of the lab's bridge that its DHCP server lends to nobody."""
    return str(ipaddress.ip_network(lab.figures["bridge"]["network"])[201])


@pytest.fixture
def inventory(lab, tmp_path, agents_address):
    """Arguments of playbooks: the server with both network data."""
    return inventory_arguments(tmp_path, {MEDIA: {
        "bmh_preprovisioning_network_data": network_data(lab, agents_address),
        "bmh_network_data": network_data(lab, lab.servers[MEDIA]["nics"][0]["address"]),
        "bmh_root_device_hints": {"rotational": False, "min_size_gigabytes": 9}}})


@pytest.fixture
def without_dhcp(lab, inventory):
    """The lab, where nobody lends addresses; later its server is available as the lab describes it."""
    lab.remove_hosts(MEDIA)
    with lab.paused("dhcp"):
        yield lab
    lab.playbook("deprovision_hosts", *inventory, *only(MEDIA), "-e", "metal3_confirm=1", seconds=BOOT_SECONDS).ok()
    lab.remove_hosts(MEDIA)
    lab.playbook("enroll", *only(MEDIA), seconds=BOOT_SECONDS).ok()
    assert lab.state(MEDIA) == "available"


def test_a_server_is_deployed_where_nobody_lends_addresses(lab, inventory, without_dhcp, agents_address):
    lab.playbook("enroll", *inventory, *only(MEDIA), seconds=BOOT_SECONDS).ok()
    nic, = lab.host(MEDIA)["status"]["hardware"]["nics"]
    assert nic["ip"] == agents_address

    run = lab.playbook("provision", *inventory, *only(MEDIA), "-e", "hosts_wait_for_port=22", seconds=BOOT_SECONDS).ok()
    # Where the image server is, and what the system's own console says; it takes longer than one look.
    assert re.search(r"\d+ of \d+ MiB sent", run.output), run.output
    assert re.search(r"its (boot loader runs|kernel has started|system starts|console asks)", run.output), run.output
    assert "port 22 of " in run.output, run.output
    lab.playbook("metal", *inventory, *only(MEDIA), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    assert lab.state(MEDIA) == "provisioned"
    # ip says "dynamic" of an address that was lent.
    found = in_system(lab, MEDIA, "ip -4 -oneline address show scope global")
    assert lab.servers[MEDIA]["nics"][0]["address"] in found and "dynamic" not in found, found

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual servers: real firmware, agent and kernel, by each way to boot; make test-metal runs them."""
from __future__ import annotations

import ipaddress
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from support import REPOSITORY, only

pytestmark = pytest.mark.metal

# Name → what the inventory says of it beyond the lab's: each boots in another way.
IPXE, MEDIA, IPMI, HTTP = "server-01", "server-02", "server-03", "server-04"
INTERFACES = {IPXE: ("redfish", "ipxe"), MEDIA: ("redfish", "redfish-virtual-media"), IPMI: ("ipmi", "ipxe"),
              HTTP: ("redfish", "redfish-https")}
# TCG, and four servers at a time on two cores.
BOOT_SECONDS = 3000
# What UEFI firmware prints; a BIOS has no serial console.
PRINTED = {IPXE: "Start PXE over IPv4", MEDIA: "UEFI QEMU DVD-ROM", IPMI: "", HTTP: "Start HTTP Boot over IPv4"}
VENDORS = {IPXE: "EFI Development Kit", MEDIA: "EFI Development Kit", IPMI: "SeaBIOS", HTTP: "EFI Development Kit"}
GIB = 1024 ** 3
# Beyond what is wiped of a disk's partition table.
MARK, MARK_OFFSET = b"somebody's data", 64 * 1024 ** 2


def static_address(lab):
    """Return an address of the lab's bridge that its DHCP server lends to nobody."""
    return str(ipaddress.ip_network(lab.figures["bridge"]["network"])[200])


def chosen_disk(lab, name):
    """Return the disk that gets the image: of several neither the first nor the last."""
    disks = lab.servers[name]["disks"]
    return disks[len(disks) // 2]


def other_disks(lab, room, name):
    """Return the paths of a server's disks that get no image."""
    chosen = chosen_disk(lab, name)["name"]
    return [disk["path"] for disk in room.server(name)["disks"] if disk["name"] != chosen]


@pytest.fixture(scope="module")
def inventory(lab, tmp_path_factory):
    """The variables of an inventory that adds to the lab's what each server boots by, and an image for all."""
    hosts = {
        IPXE: {},
        MEDIA: {"bmh_boot_mode": "UEFISecureBoot", "bmh_preprovisioning_network_data": {
            "links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": lab.servers[MEDIA]["boot_mac"]}],
            "networks": [{"id": "provisioning", "network_id": "provisioning", "link": "eno1", "type": "ipv4",
                          "ip_address": static_address(lab),
                          "netmask": str(ipaddress.ip_network(lab.figures["bridge"]["network"]).netmask)}],
            "services": []}},
        IPMI: {"bmh_boot_mode": "legacy"},
        HTTP: {"bmh_root_device_hints": {"serial_number": chosen_disk(lab, HTTP)["serial"]}},
    }
    path = tmp_path_factory.mktemp("inventory") / "hosts.json"
    path.write_text(json.dumps({"metal_servers": {"hosts": hosts}}))
    return ("-i", str(REPOSITORY / "inventory" / "metal"), "-i", str(path))


@pytest.fixture(scope="module")
def without_dhcp(lab, inventory):
    """The host of virtual media, enrolled while nobody lends addresses; its agent has the one of its description."""
    lab.remove_hosts(MEDIA)
    pid = lab.pid("dhcp")
    os.kill(pid, signal.SIGSTOP)
    try:
        lab.playbook("enroll", *inventory, *only(MEDIA), seconds=BOOT_SECONDS).ok()
    finally:
        os.kill(pid, signal.SIGCONT)
    return lab.host(MEDIA)


@pytest.fixture(scope="module")
def enrolled(lab, inventory, without_dhcp):
    """All servers, available."""
    # Enrolled with the lab, by UEFI; its hardware is another one with another firmware.
    lab.remove_hosts(IPMI)
    lab.playbook("enroll", *inventory, *only(*INTERFACES), seconds=BOOT_SECONDS).ok()
    return lab.hosts()


@pytest.fixture(scope="module")
def provisioned(lab, room, enrolled, inventory):
    """All servers with the node image, logged in to."""
    for path in other_disks(lab, room, HTTP):
        with open(path, "r+b") as stream:
            stream.seek(MARK_OFFSET)
            stream.write(MARK)
    lab.playbook("provision", *inventory, *only(*INTERFACES), seconds=BOOT_SECONDS).ok()
    lab.playbook("metal", *inventory, *only(*INTERFACES), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    return lab.hosts()


@pytest.fixture(scope="module")
def ssh(lab, provisioned):
    """A function that runs a command in a server's system and returns what it prints."""
    folder = lab.dir / "secrets" / "ssh"

    def run(name, command):
        address = lab.servers[name]["nics"][0]["address"]
        done = subprocess.run(
            ["ssh", "-i", folder / "user_key", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=yes",
             "-o", f"UserKnownHostsFile={folder / 'known_hosts'}", f"root@{address}", command],
            capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_server_is_inspected_without_dhcp(lab, without_dhcp):
    nic, = without_dhcp["status"]["hardware"]["nics"]
    assert nic["ip"] == static_address(lab)


@pytest.mark.parametrize("name", INTERFACES)
def test_the_agent_is_booted_as_the_bmcs_address_says(lab, room, enrolled, name):
    node = lab.ironic().get(f"/nodes/{lab.nodes()[name].id}", microversion="1.86").json()
    assert (node["driver"], node["boot_interface"]) == INTERFACES[name]
    assert PRINTED[name] in Path(room.server(name)["serial_log"]).read_text(errors="replace")
    assert VENDORS[name] in enrolled[name]["status"]["hardware"]["firmware"]["bios"]["vendor"]


@pytest.mark.parametrize("name", INTERFACES)
def test_inspection_finds_the_machine_that_qemu_was_given(lab, enrolled, name):
    server, hardware = lab.servers[name], enrolled[name]["status"]["hardware"]
    assert hardware["systemVendor"]["serialNumber"] == server["serial"]
    assert hardware["systemVendor"]["manufacturer"] == server["vendor"]
    assert hardware["systemVendor"]["productName"].startswith(server["model"])
    assert hardware["cpu"]["count"] == server["cpus"] and hardware["cpu"]["arch"] == "x86_64"
    assert hardware["ramMebibytes"] == server["memory_mib"]
    assert [nic["mac"] for nic in hardware["nics"]] == [nic["mac"] for nic in server["nics"]]
    assert [nic["ip"] for nic in hardware["nics"]] == [
        static_address(lab) if name == MEDIA else nic["address"] for nic in server["nics"]]
    disks = [disk for disk in hardware["storage"] if not disk["name"].startswith("/dev/pmem")]
    assert [(disk["serialNumber"], disk["sizeBytes"], disk["type"], disk["wwn"]) for disk in disks] == [
        (disk["serial"], disk["size_gib"] * GIB, "HDD" if disk["rotational"] else "SSD", disk["wwn"])
        for disk in server["disks"]]


@pytest.mark.parametrize("name", INTERFACES)
def test_the_image_runs_on_its_own_kernel_from_the_servers_disk(lab, ssh, name):
    assert re.search(r"root=UUID=\S+ rw", ssh(name, "cat /proc/cmdline"))
    assert ssh(name, "cat /sys/class/dmi/id/product_serial").strip() == lab.servers[name]["serial"]
    assert ssh(name, "lsblk -nso SERIAL $(findmnt -n -o SOURCE /)").split() == [chosen_disk(lab, name)["serial"]]
    assert ssh(name, "hostname").strip() == name
    assert ssh(name, "systemctl is-system-running --wait || systemctl --failed --plain").strip() == "running"


@pytest.mark.parametrize("name", INTERFACES)
def test_the_root_file_system_takes_the_disk(lab, ssh, name):
    size = int(ssh(name, "df --output=size -B1 / | tail -1"))
    assert size > 0.9 * chosen_disk(lab, name)["size_gib"] * GIB


def test_the_other_disks_keep_what_is_on_them(lab, room, provisioned):
    paths = other_disks(lab, room, HTTP)
    assert len(paths) == 2
    for path in paths:
        with open(path, "rb") as stream:
            stream.seek(MARK_OFFSET)
            assert stream.read(len(MARK)) == MARK


def test_the_firmware_is_the_one_that_the_boot_mode_asks_for(ssh):
    for name in INTERFACES:
        assert ssh(name, "test -d /sys/firmware/efi && echo UEFI || echo legacy").strip() == (
            "legacy" if name == IPMI else "UEFI")


def test_secure_boot_is_on_where_it_is_asked_for(room, ssh):
    # Four bytes of attributes, then the value.
    read = "od -An -tu1 -j4 /sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    assert [ssh(name, read).strip() for name in (MEDIA, IPXE, HTTP)] == ["1", "0", "0"]
    assert [room.server(name)["secure_boot"] for name in (MEDIA, IPXE, HTTP)] == [True, False, False]


def test_a_second_run_changes_nothing(lab, provisioned, inventory):
    again = lab.playbook("provision", *inventory, *only(*INTERFACES), seconds=BOOT_SECONDS).ok()
    assert again.changed() == 0, again.output


def test_a_deprovisioned_server_has_lost_its_partitions_and_waits_for_the_next_image(lab, room, provisioned, inventory):
    lab.playbook("deprovision_hosts", *inventory, *only(IPXE), "-e", "metal3_confirm=1", seconds=BOOT_SECONDS).ok()
    # Its host stays online, and with fast track the agent that has cleaned it goes on running.
    assert lab.state(IPXE) == "available" and room.server(IPXE)["power"] == "On"
    disk, = room.server(IPXE)["disks"]
    with open(disk["path"], "rb") as stream:
        assert stream.read(1024 * 1024) == bytes(1024 * 1024)

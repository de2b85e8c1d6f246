# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual servers: real firmware, agent and kernel, by each way to boot; make test-metal runs them."""
from __future__ import annotations

import functools
import ipaddress
import json
import os
import re
import secrets
import subprocess
import urllib.request
from pathlib import Path

import bmc_system
import lacp_partner
import pytest
import sushy
import vlan_probe
from disk_marks import beginning, mark, marked
from served_image import published
from standalone_node import StandaloneNode
from support import HOST, NAMESPACE, REPOSITORY, eventually, module, only
from virtual_site import BOOT_SECONDS, HTTP, IPMI, IPXE, MEDIA, cards, disk_type, in_system, inventory_arguments

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import file_digest, user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations

pytestmark = pytest.mark.metal

# Each boots in another way.
INTERFACES = {IPXE: ("redfish", "ipxe"), MEDIA: ("redfish", "redfish-virtual-media"), IPMI: ("ipmi", "ipxe"),
              HTTP: ("redfish", "redfish-https")}
# What UEFI firmware prints; a BIOS has no serial console.
PRINTED = {IPXE: "Start PXE over IPv4", MEDIA: "UEFI QEMU DVD-ROM", IPMI: "", HTTP: "Start HTTP Boot over IPv4"}
VENDORS = {IPXE: "EFI Development Kit", MEDIA: "EFI Development Kit", IPMI: "SeaBIOS", HTTP: "EFI Development Kit"}
GIB = 1024 ** 3
# Of each server's disks the one that gets the image, by a hint: without it the agent would choose another one.
# The two of the first server are an array.
HINTED = {MEDIA: 2, IPMI: 0, HTTP: 1}
# Of the seven that are asked for the agent keeps half a GiB of each disk for boot loaders.
ARRAY_GIB = 6.4
VLAN, LACP_VLAN = 100, 200
# In the lab's range of addresses, of which no lab has the end: who asks, who is asked.
ADDRESSES = {
    VLAN: {4: ("198.19.255.1/24", "198.19.255.2/24"), 6: ("fd5c:52::1/64", "fd5c:52::2/64")},
    LACP_VLAN: {4: ("198.19.254.1/24", "198.19.254.2/24"), 6: ("fd5c:53::1/64", "fd5c:53::2/64")},
    # Of a NIC alone, without a tag.
    None: {4: ("198.19.253.1/24", "198.19.253.2/24"), 6: ("fd5c:54::1/64", "fd5c:54::2/64")}}
# Numbers of the NICs of each bond.
BONDS = {"active-backup": (1, 2), "802.3ad": (3, 4)}
ALONE = 5
LIVE_PORT = 8080
# What a system that boots may be waited for.
NOT_YET = (AssertionError, subprocess.TimeoutExpired)


def static_address(lab):
    """Return an address of the lab's bridge that its DHCP server lends to nobody."""
    return str(ipaddress.ip_network(lab.figures["bridge"]["network"])[200])


def chosen_disks(lab, name):
    """Return the disks that get the image."""
    disks = lab.servers[name]["disks"]
    return disks if name == IPXE else [disks[HINTED[name]]]


def chosen_path(lab, room, name):
    """Return the path of the one disk of a server that gets the image."""
    chosen, = chosen_disks(lab, name)
    return next(disk["path"] for disk in room.server(name)["disks"] if disk["name"] == chosen["name"])


def other_disks(lab, room, name):
    """Return the paths of a server's disks that get no image."""
    chosen = chosen_path(lab, room, name)
    return [disk["path"] for disk in room.server(name)["disks"] if disk["path"] != chosen]


def bond_network_data(lab):
    """Return network data: an address by DHCP, two of a NIC alone, and a VLAN of two addresses on each of two bonds."""
    nics, links = lab.servers[HTTP]["nics"], []
    for nic in nics:
        links.append({"id": nic["name"], "type": "phy", "ethernet_mac_address": nic["mac"]})
    for number, ((mode, numbers), vlan) in enumerate(zip(BONDS.items(), (VLAN, LACP_VLAN))):
        mac = nics[numbers[0]]["mac"]
        links += [
            {"id": f"bond{number}", "type": "bond", "bond_links": [nics[one]["name"] for one in numbers],
             "bond_mode": mode, "bond_miimon": 100, "ethernet_mac_address": mac},
            {"id": f"vlan{vlan}", "type": "vlan", "vlan_link": f"bond{number}", "vlan_id": vlan,
             "vlan_mac_address": mac}]
    networks = [{"id": "provisioning", "link": nics[0]["name"], "type": "ipv4_dhcp"}]
    for vlan, families in ADDRESSES.items():
        for family, pair in families.items():
            address = ipaddress.ip_interface(pair[1])
            networks.append({"id": f"site{vlan}-{family}", "link": f"vlan{vlan}" if vlan else nics[ALONE]["name"],
                             "type": f"ipv{family}", "ip_address": str(address.ip), "netmask": str(address.netmask)})
    return {"links": links, "networks": networks, "services": []}


@pytest.fixture(scope="module")
def lacp_partner_runs(lab):
    """The switch's side of LACP at the links of the bond that wants it."""
    with lacp_partner.answering([f"m3v{lab.figures['index']}-{lab.servers[HTTP]['number']}n{number}"
                                 for number in BONDS["802.3ad"]]):
        yield


@pytest.fixture(scope="module")
def site_image(lab):
    """A node image that knows arrays, too, at the lab's image server."""
    engine = module("plane_programs", source_dir=str(REPOSITORY / "lab" / "engine"), sets=["management", "node"],
                    cache_dir=user_folders.cache_dir())
    name = "site.qcow2"
    module("node_image", source_dir=str(REPOSITORY / "roles" / "node_image" / "files" / "recipe"),
           directory=str(lab.dir / "www" / "images"), name=name, packages=["mdadm"],
           kubernetes_version=engine["versions"]["kubelet"], kubernetes_dir=engine["engine_dir"] + "/bin")
    return published(lab, name)


@pytest.fixture(scope="module")
def variables(lab, site_image):
    """What is added to the inventory of each server; what it is enrolled with is there, but for the second one."""
    return {
        IPXE: {"bmh_image": site_image},
        MEDIA: {"bmh_boot_mode": "UEFISecureBoot", "bmh_preprovisioning_network_data": {
            "links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": lab.servers[MEDIA]["boot_mac"]}],
            "networks": [{"id": "provisioning", "network_id": "provisioning", "link": "eno1", "type": "ipv4",
                          "ip_address": static_address(lab),
                          "netmask": str(ipaddress.ip_network(lab.figures["bridge"]["network"]).netmask)}],
            "services": []}, "bmh_root_device_hints": {"rotational": False, "min_size_gigabytes": 9}},
        IPMI: {},
        HTTP: {"bmh_image": site_image, "bmh_network_data": bond_network_data(lab)},
    }


@pytest.fixture(scope="module")
def inventory(variables, tmp_path_factory):
    """Arguments of playbooks: the lab's inventory with these variables."""
    return inventory_arguments(tmp_path_factory.mktemp("inventory"), variables)


@pytest.fixture(scope="module")
def without_dhcp(lab, inventory):
    """The host of virtual media, enrolled while nobody lends addresses; its agent has the one of its description."""
    lab.remove_hosts(MEDIA)
    with lab.paused("dhcp"):
        lab.playbook("enroll", *inventory, *only(MEDIA), seconds=BOOT_SECONDS).ok()
    return lab.host(MEDIA)


@pytest.fixture(scope="module")
def enrolled(lab, inventory, without_dhcp):
    """All servers, available."""
    lab.playbook("enroll", *inventory, *only(*INTERFACES), seconds=BOOT_SECONDS).ok()
    return lab.hosts()


@pytest.fixture(scope="module")
def provisioned(lab, room, enrolled, inventory, lacp_partner_runs):
    """All servers with the node image, logged in to."""
    for name in (MEDIA, HTTP):
        for path in other_disks(lab, room, name):
            mark(path)
    lab.playbook("provision", *inventory, *only(*INTERFACES), seconds=BOOT_SECONDS).ok()
    lab.playbook("metal", *inventory, *only(*INTERFACES), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    return lab.hosts()


@pytest.fixture(scope="module")
def ssh(lab, provisioned):
    """A function that runs a command in a server's system and returns what it prints."""
    return functools.partial(in_system, lab)


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
    # Addresses are lent to the first one only.
    address = static_address(lab) if name == MEDIA else server["nics"][0]["address"]
    assert sorted((mac, lent) for _name, mac, lent in cards(hardware)) == [
        (nic["mac"], "" if number else address) for number, nic in enumerate(server["nics"])]
    # An array is on disks, and a busy machine's kernel finds those in any order.
    disks = [disk for disk in hardware["storage"] if not disk["name"].startswith(("/dev/pmem", "/dev/md"))]
    assert sorted((disk["serialNumber"], disk["sizeBytes"], disk["type"], disk.get("wwn", "")) for disk in disks) == (
        sorted((disk["serial"], disk["size_gib"] * GIB, disk_type(disk), disk["wwn"] or "")
               for disk in server["disks"]))


@pytest.mark.parametrize("name", INTERFACES)
def test_the_image_runs_on_its_own_kernel_from_the_servers_disk(lab, ssh, name):
    assert re.search(r"root=UUID=\S+ rw", ssh(name, "cat /proc/cmdline"))
    assert ssh(name, "cat /sys/class/dmi/id/product_serial").strip() == lab.servers[name]["serial"]
    assert sorted(ssh(name, "lsblk -nso SERIAL $(findmnt -n -o SOURCE /)").split()) == sorted(
        disk["serial"] for disk in chosen_disks(lab, name))
    assert ssh(name, "hostname").strip() == name
    clock = ssh(name, "cat /sys/devices/system/clocksource/clocksource0/current_clocksource")
    assert clock.strip() in ("tsc", "kvm-clock"), "each look at the time leaves the guest"
    assert ssh(name, "systemctl is-system-running --wait || systemctl --failed --plain").strip() == "running"


@pytest.mark.parametrize("name", INTERFACES)
def test_the_root_file_system_takes_the_disk(lab, ssh, name):
    size = int(ssh(name, "df --output=size -B1 / | tail -1"))
    # The image describes a disk of six.
    assert size > max(6, 0.9 * (ARRAY_GIB if name == IPXE else chosen_disks(lab, name)[0]["size_gib"])) * GIB


@pytest.mark.parametrize("name", [MEDIA, HTTP])
def test_the_other_disks_keep_what_is_on_them(lab, room, provisioned, name):
    paths = other_disks(lab, room, name)
    assert len(paths) == len(lab.servers[name]["disks"]) - 1 and all(map(marked, paths))


def test_the_root_file_system_is_on_an_array_of_both_disks(lab, ssh):
    assert "raid1" in ssh(IPXE, "lsblk -nso TYPE $(findmnt -n -o SOURCE /)").split()
    assert ssh(IPXE, "grep -c UU /proc/mdstat").strip() != "0"
    assert lab.host(IPXE)["status"]["provisioning"]["raid"]["softwareRAIDVolumes"][0]["level"] == "1"


def test_a_bond_has_both_its_links(ssh):
    state = ssh(HTTP, "cat /proc/net/bonding/bond0")
    assert "active-backup" in state and state.count("Slave Interface:") == 2
    assert state.count("MII Status: up") == 3


def test_a_bond_by_lacp_joins_both_its_links_to_one_aggregate(ssh):
    def joined():
        state = ssh(HTTP, "cat /proc/net/bonding/bond1")
        assert "IEEE 802.3ad Dynamic link aggregation" in state and state.count("Slave Interface:") == 2
        return state if "Number of ports: 2" in state else None

    state = eventually(joined, 120, "both links in one aggregate", 2, NOT_YET)
    partner = ":".join(f"{byte:02x}" for byte in lacp_partner.SYSTEM)
    assert f"Partner Mac Address: {partner}" in state and state.count(f"system mac address: {partner}") == 2
    assert state.count("MII Status: up") == 3
    assert len(set(re.findall(r"^Aggregator ID: (\d+)$", state, re.MULTILINE))) == 1


@pytest.mark.parametrize("vlan", ADDRESSES, ids=str)
def test_a_nic_and_vlans_on_bonds_have_their_addresses_and_answer(lab, ssh, vlan):
    addresses = ssh(HTTP, "ip -o address show")
    for here, there in ADDRESSES[vlan].values():
        assert f" {there} " in addresses
        asking, asked = (ipaddress.ip_interface(address).ip for address in (here, there))
        assert vlan_probe.ask(lab.figures["bridge"]["name"], vlan, asking, asked, 60), f"{asked} does not answer"


def test_the_firmware_is_the_one_that_the_boot_mode_asks_for(ssh):
    for name in INTERFACES:
        assert ssh(name, "test -d /sys/firmware/efi && echo UEFI || echo legacy").strip() == (
            "legacy" if name == IPMI else "UEFI")


def test_secure_boot_is_on_where_it_is_asked_for(lab, room, ssh):
    # Four bytes of attributes, then the value.
    read = "od -An -tu1 -j4 /sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    assert [ssh(name, read).strip() for name in (MEDIA, IPXE, HTTP)] == ["1", "0", "0"]
    assert [room.server(name)["secure_boot"] for name in (MEDIA, IPXE, HTTP)] == [True, False, False]
    assert [bmc_system.system(lab, lab.servers[name]).secure_boot.enabled for name in (MEDIA, IPXE, HTTP)] == [
        True, False, False]


def test_a_second_run_changes_nothing(lab, provisioned, inventory):
    again = lab.playbook("provision", *inventory, *only(*INTERFACES), seconds=BOOT_SECONDS).ok()
    assert again.changed() == 0, again.output


def booted(ssh):
    """Return the ID of the boot that a system is in, once it can be logged in to."""
    return eventually(lambda: ssh(HTTP, "cat /proc/sys/kernel/random/boot_id"), 900, "the deployed system", 5, NOT_YET)


@pytest.fixture(scope="class")
def standalone(lab, room, ssh, inventory, tmp_path_factory):
    """A node of its own for a server that runs the node image, adopted; the operator has let go of the server."""
    def attach(action):
        lab.playbook("host_action", *inventory, *only(HTTP), seconds=900, extra={
            "host_action": action, "metal3_confirm": 1}).ok()

    def power():
        return booted(ssh), room.server(HTTP)["boots"], room.server(HTTP)["power"]

    before = power()
    attach("detach")
    node = StandaloneNode(lab, lab.servers[HTTP], tmp_path_factory.mktemp("standalone"))
    try:
        node.register()
        node.act("manage")
        node.adopted = node.act("adopt")
        node.power = before, power()
        yield node
    finally:
        node.remove()
        attach("attach")


@pytest.fixture
def password_login(lab, tmp_path):
    """A function that logs in to the rescued server by a password and returns the finished process."""
    asked = tmp_path / "password"
    program = tmp_path / "print-password"
    program.write_text(f"#!/bin/sh\ncat {asked}\n")
    program.chmod(0o700)

    def run(password, command):
        asked.touch(mode=0o600)
        asked.write_text(password + "\n")
        # The host key is of this boot.
        return subprocess.run(
            ["ssh", "-o", "PubkeyAuthentication=no", "-o", "NumberOfPasswordPrompts=1", "-o", "ConnectTimeout=30", "-o",
             "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
             f"rescue@{lab.servers[HTTP]['nics'][0]['address']}", command],
            capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
            env=dict(os.environ, SSH_ASKPASS=str(program), SSH_ASKPASS_REQUIRE="force"))

    return run


def files_with(lab, text):
    """Return the logs of a lab that have a text: its programs', its servers' and their serial consoles'."""
    return [path for folder in ("log", "machines") for path in (lab.dir / folder).rglob("*.log*")
            if path.is_file() and text.encode() in path.read_bytes()]


class TestNodeOfItsOwn:
    """What the other tests have to do with the server begins once the operator has it again."""

    def test_a_running_server_is_adopted_without_a_power_action(self, standalone):
        assert (standalone.adopted["provision_state"], standalone.adopted["power_state"]) == ("active", "power on")
        before, after = standalone.power
        assert before == after

    def test_a_boot_device_for_one_boot_counts_for_that_alone(self, room, ssh, standalone):
        log = Path(room.server(HTTP)["serial_log"])

        def reboot():
            size = log.stat().st_size
            standalone.act("reboot")
            return lambda: log.read_bytes()[size:].decode(errors="replace")

        standalone.act("boot_device", boot_device="pxe", persistent=False)
        first = reboot()
        eventually(lambda: PRINTED[IPXE] in first(), 600, "a boot from the network", 1)
        second = reboot()
        booted(ssh)
        assert second() and PRINTED[IPXE] not in second()

    def test_a_service_step_of_the_site_runs_in_the_agent_of_a_server_in_use(self, lab, room, ssh, standalone):
        disk, path = lab.servers[HTTP]["disks"][0], room.server(HTTP)["disks"][0]["path"]
        before = booted(ssh)
        done = standalone.act("service", steps=[
            {"interface": "deploy", "step": "leave_note", "args": {"serial": disk["serial"]}}])
        expected = f"left by the site's own service step: {done['uuid']}".encode()
        assert done["provision_state"] == "active" and beginning(path, len(expected)) == expected
        assert booted(ssh) != before

    def test_a_server_is_rescued_with_a_password_and_runs_its_own_system_again(
            self, lab, room, ssh, standalone, password_login):
        password, note, path = secrets.token_urlsafe(18), "/root/before-the-rescue", chosen_path(lab, room, HTTP)
        before = booted(ssh)
        root = ssh(HTTP, f"echo {before.strip()} > {note} && sync && findmnt -n -o UUID /").strip()
        # So that nothing but the rescue could write to the disk.
        standalone.act("power_off")
        untouched = file_digest.digest(path)

        assert standalone.act("rescue", password, rescue_password=password)["provision_state"] == "rescue"
        read = f"mkdir /tmp/disk && mount -o ro,noload UUID={root} /tmp/disk && cat /tmp/disk{note} && umount /tmp/disk"

        def rescued():
            done = password_login(password, "id -un && sudo id -un")
            assert done.returncode == 0, done.stderr
            return done.stdout.split()

        assert eventually(rescued, 300, "the user rescue", 2, NOT_YET) == ["rescue", "root"]
        assert password_login(password, f"sudo sh -c '{read}'").stdout == before
        refused = password_login(password[::-1], "true")
        assert refused.returncode and "Permission denied" in refused.stderr
        # The agent is gone, and with it its API.
        state = "sudo systemctl is-active ironic-python-agent"
        eventually(lambda: password_login(password, state).stdout == "inactive\n", 120, "the end of the agent", 2)
        assert file_digest.digest(path) == untouched
        assert files_with(lab, password) == []

        assert standalone.act("unrescue")["provision_state"] == "active"
        assert booted(ssh) != before and ssh(HTTP, f"cat {note}") == before


@pytest.fixture(scope="module")
def without_a_disk(lab, room, ssh):
    """The server with the array, booted after its first disk was pulled."""
    room.set_knobs(IPXE, first_disk_missing=True)
    room.power(IPXE, "restart")
    array = """lsblk -nslpo NAME,TYPE $(findmnt -n -o SOURCE /) | awk '$2 == "raid1" {print $1; exit}'"""
    try:
        yield eventually(lambda: "degraded" in ssh(IPXE, f"mdadm --detail $({array})"), 600, "the array on one disk", 5,
                         NOT_YET)
    finally:
        room.clear_knobs(IPXE)


def test_a_server_boots_from_what_is_left_of_its_array(lab, ssh, without_a_disk):
    serials = ssh(IPXE, "lsblk -nso SERIAL $(findmnt -n -o SOURCE /)").split()
    assert serials == [lab.servers[IPXE]["disks"][1]["serial"]]


@pytest.fixture(scope="module")
def deprovisioned(lab, room, provisioned, inventory):
    """Two servers without an image; what was at the beginning of their disks before."""
    before = dict((name, beginning(chosen_path(lab, room, name))) for name in (MEDIA, HTTP))
    lab.playbook("deprovision_hosts", *inventory, *only(MEDIA, HTTP), "-e", "metal3_confirm=2",
                 seconds=BOOT_SECONDS).ok()
    return before


def test_cleaning_of_metadata_takes_partitions_and_leaves_the_rest(lab, room, deprovisioned):
    # Its host stays online, and with fast track the agent that has cleaned it goes on running.
    assert lab.state(MEDIA) == "available" and room.server(MEDIA)["power"] == "On"
    path = chosen_path(lab, room, MEDIA)
    assert b"EFI PART" in deprovisioned[MEDIA]
    assert beginning(path) == bytes(1024 * 1024)
    # Whole MiB of them are still there: the loader's partition was the first of the image.
    with open(path, "rb") as stream:
        assert any(stream.read(64 * 1024 ** 2))
    assert all(map(marked, other_disks(lab, room, MEDIA)))


def test_without_cleaning_the_disk_stays_as_it_was(lab, room, deprovisioned):
    assert lab.state(HTTP) == "available"
    assert b"EFI PART" in deprovisioned[HTTP]
    assert beginning(chosen_path(lab, room, HTTP)) == deprovisioned[HTTP]


@pytest.fixture(scope="module")
def live_image(lab, tmp_path_factory):
    """A system on a disc that tells what it sees of the server's disks; it is the agent's without the agent."""
    unit = ("[Unit]\nWants=network-online.target\nAfter=network-online.target\n[Service]\nExecStart=/bin/sh -c '"
            "mkdir -p /run/live && lsblk -Jo SERIAL,TYPE,MOUNTPOINTS > /run/live/disks.json && "
            f"exec python3 -m http.server {LIVE_PORT} --directory /run/live'\n")
    # With rescue as the lab's own, so that nothing is installed for it alone.
    module("agent_image", source_dir=str(REPOSITORY / "lab" / "agent_image"), cache_dir=user_folders.cache_dir(),
           directory=str(lab.dir / "www" / "images" / "live"), consoles=["ttyS0"], rescue=True,
           files=[{"path": "/etc/systemd/system/ironic-python-agent.service", "content": unit}])
    return {"url": published(lab, "live/agent.iso")["url"], "format": "live-iso"}


@pytest.fixture(scope="module")
def deployed_otherwise(lab, room, deprovisioned, variables, live_image, tmp_path_factory):
    """Two servers deployed in other ways than by an image on a disk; what was on their disks before."""
    before = [beginning(disk["path"], 128 * 1024 ** 2) for disk in room.server(MEDIA)["disks"]]
    # Nothing is given to a live system, and no disk is chosen for it.
    nothing = dict.fromkeys(("bmh_user_data", "bmh_meta_data", "bmh_network_data", "bmh_root_device_hints"))
    hosts = {MEDIA: dict(variables[MEDIA], **nothing, bmh_image=live_image),
             HTTP: dict(variables[HTTP], bmh_image=None, bmh_custom_deploy={"method": "write_note"})}
    arguments = inventory_arguments(tmp_path_factory.mktemp("otherwise"), hosts)
    lab.playbook("provision", *arguments, *only(MEDIA, HTTP), seconds=BOOT_SECONDS).ok()
    return before


def test_a_live_image_runs_and_leaves_the_disks_as_they_are(lab, room, deployed_otherwise):
    url = f"http://{lab.servers[MEDIA]['nics'][0]['address']}:{LIVE_PORT}/disks.json"

    def seen():
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["blockdevices"]

    found = [disk for disk in eventually(seen, 600, "the live system", 2, (OSError,)) if disk["type"] == "disk"]
    assert sorted(disk["serial"] for disk in found) == sorted(disk["serial"] for disk in lab.servers[MEDIA]["disks"])
    assert not [disk for disk in found if any(disk["mountpoints"]) or disk.get("children")]
    assert [beginning(disk["path"], 128 * 1024 ** 2) for disk in room.server(MEDIA)["disks"]] == deployed_otherwise


def test_a_hardware_manager_of_the_site_deploys_by_a_method_of_its_own(lab, room, deployed_otherwise):
    assert lab.state(HTTP) == "provisioned"
    expected = f"deployed by the site's own method: {lab.nodes()[HTTP].id}".encode()
    assert beginning(chosen_path(lab, room, HTTP), len(expected)) == expected
    assert all(map(marked, other_disks(lab, room, HTTP)))


def test_secure_boot_refuses_a_loader_that_nobody_has_signed(lab, room, without_a_disk):
    # By its BMC alone: Ironic would set the server's power as it remembers it.
    lab.kube.patch(HOST, NAMESPACE, IPXE, {"metadata": {"annotations": {host_annotations.DETACHED: "{}"}}})
    lab.wait_for_host(IPXE, lambda host: host["status"]["operationalStatus"] == "detached", "detached")
    system = bmc_system.system(lab, lab.servers[IPXE])
    log = Path(room.server(IPXE)["serial_log"])
    system.reset_system(sushy.RESET_TYPE_FORCE_OFF)
    system.secure_boot.set_enabled(True)
    system.set_system_boot_options(target=sushy.BOOT_SOURCE_TARGET_PXE, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE,
                                   mode=sushy.BOOT_SOURCE_MODE_UEFI)
    size = log.stat().st_size
    system.reset_system(sushy.RESET_TYPE_ON)

    def printed():
        return log.read_bytes()[size:].decode(errors="replace")

    eventually(lambda: "Access Denied" in printed(), 300, "a refusal on the serial console", 1)
    assert "Start PXE over IPv4" in printed() and "iPXE initialising" not in printed()

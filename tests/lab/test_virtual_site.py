# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide first_cluster from its first command to its last, on a machine that serves two virtual servers by itself.

DHCP, boot loaders, image server, agent and plane are those of the collection's roles; of the lab there are the servers
with their BMCs and the bridge. One server boots by virtual media and gets an image of its own, the other boots by PXE
and becomes the cluster. The first one's agent has ended by then: beside another emulated server that is busy, a node
becomes so slow that its API server is ended.
"""
from __future__ import annotations

import json
import re
import subprocess

import guided_site
import plane_site
import pytest
from consoles import Console
from guided_site import MEDIA, PXE
from moving_site import Machine
from support import eventually, only
from tooling.guide_blocks import run_by
from virtual_site import BOOT_SECONDS

pytestmark = [pytest.mark.nodes, pytest.mark.metal_pivot]

# Of tests/lab/data/mixed.
SERVERS = {PXE: "server-02", MEDIA: "server-03"}
LINT, SERVE, BUILD, INSTALL, ENROLL, CARDS, CLUSTER, AGAIN, BACKUP, START_OVER = run_by(
    "tests/lab/test_virtual_site.py", "first_cluster")
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
# What a system that boots may be waited for.
NOT_YET = (AssertionError, subprocess.TimeoutExpired)


@pytest.fixture(scope="module")
def machine(lab, tmp_path_factory):
    """The site's machine on the lab's bridge, where nobody else lends addresses or manages the two servers."""
    lab.remove_hosts(*SERVERS.values())
    try:
        with lab.paused("dhcp"), Machine(tmp_path_factory.mktemp("machine"), lab) as found:
            found.start()
            yield found
    finally:
        lab.playbook("enroll", *only(*SERVERS.values()), seconds=BOOT_SECONDS).ok()


@pytest.fixture(scope="module")
def site(lab, machine, tmp_path_factory):
    """The guide's files, and the machine's interface with DHCP and boot loaders."""
    found = guided_site.Site(lab, machine, SERVERS, tmp_path_factory.mktemp("site"))
    found.type(LINT)
    found.type("ansible-playbook metal3.baremetal.provisioning_network -i inventory/rack1")
    return found


@pytest.fixture(scope="module")
def served(site):
    site.type(SERVE)
    site.type(BUILD)


@pytest.fixture(scope="module")
def installed(site, served):
    site.type(INSTALL)


@pytest.fixture(scope="module")
def consoles(room, installed):
    """What firmware and agents print on the serial ports from now on."""
    return dict((name, Console(room.server(server)["serial_log"])) for name, server in SERVERS.items())


@pytest.fixture(scope="module")
def enrolled(site, consoles):
    """What each server has printed while it was enrolled, and the command."""
    printed = site.type(ENROLL)
    return dict({name: "\n".join(console.lines()) for name, console in consoles.items()}, command=printed)


@pytest.fixture(scope="module")
def provisioned(site, enrolled):
    """The site with an image on the server that no cluster selects."""
    site.give_an_image(MEDIA)
    site.type("ansible-playbook metal3.baremetal.provision -i inventory/rack1")


@pytest.fixture(scope="module")
def cluster(site, provisioned):
    """What the guide's last command prints of the cluster's nodes."""
    return site.type(CLUSTER)


def agent_address(site, name):
    """Return the one address that DHCP has lent to a server's firmware, agent and system."""
    return site.leases()[site.hosts[name]["boot_mac"].lower()]


def test_both_become_hosts_with_the_hardware_that_they_have(lab, site, enrolled):
    hosts, hardware = site.objects("baremetalhosts"), site.objects("hardwaredata")
    for name, server in SERVERS.items():
        assert hosts[name]["status"]["provisioning"]["state"] == "available", hosts[name]["status"]
        found = hardware[name]["spec"]["hardware"]
        assert found["systemVendor"]["serialNumber"] == lab.servers[server]["serial"]
        assert lab.servers[server]["boot_mac"] in [nic["mac"] for nic in found["nics"]]
    assert guided_site.CARD in site.type(CARDS).split()


def test_the_wait_says_how_far_they_are_though_the_inventory_names_no_log(site, enrolled):
    assert "metal3_boot_logs" not in site.run("cat", "/root/inventory/rack1/hosts.yml").stdout
    said = r"\((asked for|was offered|has) an address by DHCP|\(read (a file by|its boot script|the kernel|the ramdisk)"
    assert re.search(said, enrolled["command"]), enrolled["command"]


def test_one_boots_by_the_machines_dhcp_and_what_the_plane_serves_without_encryption(site, enrolled):
    assert "Start PXE over IPv4" in enrolled[PXE] and "UEFI QEMU DVD-ROM" not in enrolled[PXE]
    address, lent, read = agent_address(site, PXE), site.lent(), site.log("image-server")
    assert re.search(rf"DHCPACK\(\S+\) {address} {site.hosts[PXE]['boot_mac']}", lent), lent[-3000:]
    assert f"sent /srv/tftp/snponly.efi to {address}" in lent, lent[-3000:]
    for path in ("boot.ipxe", r"pxelinux\.cfg/\S+", r"\S+/(deploy_)?kernel", r"\S+/(deploy_)?ramdisk"):
        assert re.search(rf"{address} \S+ \S+ \[[^]]*\] .GET /ironic/{path} HTTP/1\.1. 200", read), read[-3000:]
    assert "/ironic/redfish/" not in "".join(line for line in read.splitlines() if line.startswith(address))


def test_the_other_boots_from_a_medium_that_its_bmc_has_read(site, enrolled):
    assert "UEFI QEMU DVD-ROM" in enrolled[MEDIA] and "iPXE initialising" not in enrolled[MEDIA]
    assert re.search(r"GET /ironic/redfish/boot-\S+ HTTP/1\.1. 200", site.log("image-server"))
    # It gives no loader to who has not asked for one; the agent has its address by DHCP, too.
    assert f"sent /srv/tftp/snponly.efi to {agent_address(site, MEDIA)}" not in site.lent()


def test_the_other_gets_an_image(lab, site, provisioned):
    assert site.objects("baremetalhosts")[MEDIA]["status"]["provisioning"]["state"] == "provisioned"
    address = agent_address(site, MEDIA)
    runs = eventually(lambda: site.in_system(address, "cat /proc/cmdline /sys/class/dmi/id/product_serial"),
                      900, "the server answers by ssh", 5, NOT_YET)
    assert " root=UUID=" in runs and lab.servers[SERVERS[MEDIA]]["serial"] in runs.split()


def test_the_server_that_boots_by_pxe_becomes_the_cluster(lab, site, cluster):
    machine, = site.objects("machines").values()
    name = machine["status"]["nodeRef"]["name"]
    assert re.search(rf"{name} +Ready ", cluster), cluster
    host = site.objects("baremetalhosts")[PXE]
    assert host["status"]["provisioning"]["state"] == "provisioned"
    node = json.loads(site.run("kubectl", "--kubeconfig=/root/.kube/prod", "get", "node", name, "-o", "json").stdout)
    runs = site.in_system(plane_site.address_of(node), "cat /proc/cmdline; sudo cat /sys/class/dmi/id/product_serial",
                          user="metal3")
    assert " root=UUID=" in runs and lab.servers[SERVERS[PXE]]["serial"] in runs.split()


def test_the_whole_site_again_changes_nothing(site, cluster):
    address = agent_address(site, MEDIA)
    boot = site.in_system(address, BOOT_ID)
    assert site.type(AGAIN).changed() == 0 and site.in_system(address, BOOT_ID) == boot
    hosts = site.objects("baremetalhosts")
    assert [hosts[name]["status"]["provisioning"]["state"] for name in SERVERS] == ["provisioned"] * 2


def test_a_backup_is_taken(site, cluster):
    site.type(BACKUP)
    assert site.run("find", "/var/backups/metal3", "-name", "*.age", "-size", "+0").stdout.split()


def test_nothing_is_left_when_all_is_taken_down(site, cluster, room):
    site.type(START_OVER.replace("metal3_confirm=20", f"metal3_confirm={len(SERVERS)}"))
    assert [room.server(server)["power"] for server in SERVERS.values()] == ["Off"] * 2
    assert site.run("test", "-e", site.dir, check=False).returncode
    for part in ("plane", "images"):
        state = site.run("systemctl", "is-active", guided_site.UNITS[part], check=False).stdout.strip()
        assert state in ("inactive", "unknown"), (part, state)

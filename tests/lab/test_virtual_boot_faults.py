# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that do not get as far as their agent: the wait names the cause by DHCP's log and the serial console.

Each server is enrolled by another run once the cause is gone.
"""
from __future__ import annotations

import subprocess

import foreign_dhcp
import pytest
from support import only
from virtual_site import BOOT_SECONDS, IPXE, MEDIA

pytestmark = pytest.mark.metal

# A virtual server's kernel takes a minute and a half, firmware that waits for TFTP as long.
BOOT_SHORT_SECONDS = 420
SOON = ("-e", f'{{"hosts_wait_timeout_seconds": {BOOT_SHORT_SECONDS}}}')


@pytest.fixture
def mended(lab):
    """A function that takes hosts out for a test; afterwards they are enrolled again, and available."""
    names = []

    def remove(name):
        names.append(name)
        lab.remove_hosts(name)

    yield remove
    # What Ironic is still at with them ends with the hosts, and begins anew.
    lab.remove_hosts(*names)
    lab.playbook("enroll", *only(*names), seconds=BOOT_SECONDS).ok()
    assert [lab.state(name) for name in names] == ["available"] * len(names)


def refused(lab, name, *texts):
    """Enrol a server, which does not become available, and return what the run says of it at the end."""
    run = lab.playbook("enroll", *SOON, *only(name), seconds=BOOT_SHORT_SECONDS + 300)
    run.failed("1 of 1 hosts failed")
    message = "\n".join(run.output_of(name))
    assert all(text in message for text in texts), message
    return message


@pytest.fixture
def panicking(lab):
    """The lab, whose agents' kernels find no first program in their ramdisk."""
    lab.playbook("install", "--tags", "ironic", extra={"ironic_kernel_params": "rdinit=/nothing panic=0"},
                 seconds=900).ok()
    yield lab
    lab.playbook("install", "--tags", "ironic", seconds=900).ok()


# In this order fixtures end the other way round: the cause is gone before the server is enrolled again.
def test_a_kernel_that_panics_is_named(lab, mended, panicking):
    mended(MEDIA)
    refused(lab, MEDIA, "its kernel has stopped by a panic", "check its ramdisk, kernel parameters and memory")


@pytest.fixture
def years_behind(room):
    """A server whose clock has lost its battery."""
    room.set_knobs(IPXE, clock_behind=True)
    yield IPXE
    room.clear_knobs(IPXE)


def test_a_clock_that_is_years_behind_is_named(lab, mended, years_behind):
    mended(years_behind)
    refused(lab, years_behind, "its agent takes a certificate for one that is not valid yet", "set the server's clock",
            "ntp_servers of agent_image")


@pytest.fixture
def without_tftp(lab):
    """The lab, to whose TFTP server nothing gets through."""
    rule = ["INPUT", "-i", lab.figures["bridge"]["name"], "-p", "udp", "--dport", "69", "-j", "DROP"]
    subprocess.run(["iptables", "-w", "-I", *rule], check=True, timeout=60)
    yield lab
    subprocess.run(["iptables", "-w", "-D", *rule], check=True, timeout=60)


def test_tftp_that_is_blocked_is_named(lab, mended, without_tftp):
    mended(IPXE)
    refused(lab, IPXE, "has an address by DHCP", "it has read nothing since: check TFTP (UDP port 69")


@pytest.fixture
def foreign(lab, tmp_path):
    """The log of a DHCP server of somebody else."""
    with foreign_dhcp.running(lab, tmp_path) as log:
        yield log


def test_a_dhcp_server_of_somebody_else_that_a_server_listens_to_is_named(lab, mended, foreign):
    mended(IPXE)
    refused(lab, IPXE, "was offered an address by DHCP", "it has taken no address of this DHCP server since",
            "check the wire for another one")
    assert "DHCPACK(wire) " in foreign.read_text() and lab.servers[IPXE]["boot_mac"] in foreign.read_text()


@pytest.fixture
def full(lab):
    """The folder that Ironic publishes boot media in, on a disk without space."""
    folder = lab.dir / "www" / "ironic"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "full", folder], check=True, timeout=60)
    try:
        yield folder
    finally:
        # Who has a file of it open keeps it.
        subprocess.run(["umount", "--lazy", folder], check=True, timeout=60)


def test_an_image_server_without_space_is_named(lab, mended, full):
    mended(MEDIA)
    message = refused(lab, MEDIA, "no space left for the boot image", "make space")
    assert "root device" not in message

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that do not get as far as their agent: the wait names the cause by DHCP's log and the serial console.

Each server is enrolled by another run once the cause is gone.
"""
from __future__ import annotations

import subprocess
from pathlib import Path

import bmc_system
import foreign_dhcp
import pytest
from support import AT_ONCE, eventually, only
from virtual_site import BOOT_SECONDS, IPXE, MEDIA

pytestmark = pytest.mark.metal


@pytest.fixture
def mended(lab):
    """A function that takes hosts out for a test; afterwards they are enrolled again, and available."""
    names = []

    def remove(name):
        names.append(name)
        lab.remove_hosts(name)

    yield remove
    # What Ironic is still at with them ends with the hosts, and begins again.
    lab.remove_hosts(*names)
    lab.playbook("enroll", *only(*names), seconds=BOOT_SECONDS).ok()
    assert [lab.state(name) for name in names] == ["available"] * len(names)


def named(lab, name, *texts):
    """Enrol a server until the wait has said all of these texts; the run is killed then.

    :param texts: beginnings of causes, for the wait shortens what it says of a server
    """
    run = lab.start("enroll", *only(name))

    def said():
        assert run.process.poll() is None, run.output
        return all(text in run.output for text in texts)

    try:
        eventually(said, BOOT_SECONDS, f"the cause: {', '.join(texts)}", 2)
    finally:
        run.kill()


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
    named(lab, MEDIA, "its kernel has stopped by a panic")


@pytest.fixture
def years_behind(room):
    """A server whose clock has lost its battery."""
    room.set_knobs(IPXE, clock_behind=True)
    yield IPXE
    room.clear_knobs(IPXE)


def test_a_clock_that_is_years_behind_is_named(lab, mended, years_behind):
    mended(years_behind)
    named(lab, years_behind, "its agent takes a certificate for one that is not valid")


@pytest.fixture
def without_tftp(lab):
    """The lab, to whose TFTP server nothing gets through."""
    rule = ["INPUT", "-i", lab.figures["bridge"]["name"], "-p", "udp", "--dport", "69", "-j", "DROP"]
    subprocess.run(["iptables", "-w", "-I", *rule], check=True, timeout=60)
    yield lab
    subprocess.run(["iptables", "-w", "-D", *rule], check=True, timeout=60)


def test_tftp_that_is_blocked_is_named(lab, mended, without_tftp):
    mended(IPXE)
    named(lab, IPXE, "has an address by DHCP", "its firmware gets no answer from where it is to read")


@pytest.fixture
def without_dhcp(lab):
    """The lab, where nobody lends addresses."""
    with lab.paused("dhcp"):
        yield lab


def test_a_dhcp_server_that_does_not_run_is_named(lab, mended, without_dhcp):
    mended(IPXE)
    named(lab, IPXE, "its firmware gets no answer by DHCP")


@pytest.fixture
def foreign(lab, tmp_path):
    """The log of a DHCP server of somebody else."""
    with foreign_dhcp.running(lab, tmp_path) as log:
        yield log


def test_a_dhcp_server_of_somebody_else_that_a_server_listens_to_is_named(lab, mended, foreign):
    mended(IPXE)
    named(lab, IPXE, "has taken no address of this DHCP server since its offer")
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
    run = lab.playbook("enroll", *AT_ONCE, *only(MEDIA), seconds=BOOT_SECONDS).failed("1 of 1 hosts failed")
    message = "\n".join(run.output_of(MEDIA))
    assert "Ironic has no space left for the boot image" in message and "root device" not in message, message


@pytest.fixture
def restarted_bmc(lab, room):
    """A function that has a server's BMC restart: its media are gone, and it answers nothing until the test ends."""
    def restart():
        bmc_system.cd_drive(lab, lab.servers[MEDIA]).eject_media()
        room.set_knobs(MEDIA, bmc_unreachable=True)

    yield restart
    room.clear_knobs(MEDIA)


def test_a_bmc_that_restarts_while_its_medium_is_booted_is_named(lab, room, mended, restarted_bmc):
    mended(MEDIA)
    log = Path(room.server(MEDIA)["serial_log"])
    size = log.stat().st_size

    def restart():
        eventually(lambda: b"UEFI QEMU DVD-ROM" in log.read_bytes()[size:], BOOT_SECONDS, "a boot from the medium", 0.5)
        restarted_bmc()

    # What its loader says, or that it says nothing any more, is up to the moment; what to do is the same.
    run = lab.start("enroll", *only(MEDIA), extra={"hosts_wait_timeout_seconds": 600})
    restart()
    run.finish(BOOT_SECONDS).failed("check whether its BMC was restarted or has let go of the medium")

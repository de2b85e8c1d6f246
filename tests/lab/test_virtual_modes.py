# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same virtual server boots UEFI and then as a legacy BIOS, by what its description asks for."""
from __future__ import annotations

import subprocess

import bmc_system
import pytest
import sushy
from support import eventually, only
from virtual_site import BOOT_SECONDS, MEDIA, in_system, inventory_arguments

pytestmark = pytest.mark.metal

# bootMode of the host → what Redfish says of it, and what the system that runs finds.
MODES = {"UEFI": ("UEFI", "UEFI"), "legacy": ("Legacy", "legacy")}


@pytest.fixture(scope="module", params=MODES)
def booted(request, lab, tmp_path_factory):
    """The name of the mode, with which the server is provisioned and logged in to; then it is available again."""
    # A BIOS boots the first disk only.
    hints = {"serial_number": lab.servers[MEDIA]["disks"][0]["serial"]}
    arguments = inventory_arguments(tmp_path_factory.mktemp(request.param), {
        MEDIA: {"bmh_boot_mode": request.param, "bmh_root_device_hints": hints}})
    lab.playbook("provision", *arguments, *only(MEDIA), seconds=BOOT_SECONDS).ok()
    lab.playbook("metal", *arguments, *only(MEDIA), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    yield request.param
    lab.playbook("deprovision_hosts", *arguments, *only(MEDIA), "-e", "metal3_confirm=1", seconds=BOOT_SECONDS).ok()
    assert lab.state(MEDIA) == "available"


def test_the_server_runs_its_system_in_the_mode_that_its_host_has(lab, booted):
    by_redfish, found = MODES[booted]
    assert lab.host(MEDIA)["spec"]["bootMode"] == booted
    assert in_system(lab, MEDIA, "test -d /sys/firmware/efi && echo UEFI || echo legacy").strip() == found
    assert bmc_system.system(lab, lab.servers[MEDIA]).boot["mode"].value == by_redfish


def test_it_boots_again_in_that_mode(lab, booted):
    before = in_system(lab, MEDIA, "cat /proc/sys/kernel/random/boot_id")
    bmc_system.system(lab, lab.servers[MEDIA]).reset_system(sushy.RESET_TYPE_FORCE_RESTART)

    def after():
        found = in_system(lab, MEDIA, "cat /proc/sys/kernel/random/boot_id")
        assert found != before
        return in_system(lab, MEDIA, "test -d /sys/firmware/efi && echo UEFI || echo legacy").strip()

    found = eventually(after, 600, "the system after a restart", 5, (AssertionError, subprocess.TimeoutExpired))
    assert found == MODES[booted][1]

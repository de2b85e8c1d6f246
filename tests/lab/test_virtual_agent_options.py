# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site adds to the agent's ramdisk is there while it runs, on a server whose clock has lost its battery.

The ISO image is booted by the BMC alone, without Ironic, and looked into by ssh.
"""
from __future__ import annotations

import secrets
import subprocess
import time
from types import SimpleNamespace

import bmc_system
import pytest
import sushy
import time_server
from support import REPOSITORY, eventually, module, only
from virtual_site import BOOT_SECONDS, MEDIA

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = pytest.mark.metal

# One that no server needs, so that the ramdisk has it only when it is asked for; it needs others.
KERNEL_MODULE, NEEDED_MODULE = "bridge", "stp"
PACKAGE, PYTHON_PACKAGE = "tree", "sortedcontainers"
NOT_YET = (AssertionError, subprocess.TimeoutExpired)


def locked(name):
    """Return the lines of a locked requirements file for a Python package, with its hashes."""
    text = (REPOSITORY / "requirements-dev.txt").read_text()
    begin = text.index(f"\n{name}==") + 1
    lines = []
    for line in text[begin:].splitlines():
        lines.append(line)
        if not line.endswith("\\"):
            break
    return "\n".join(line.partition(" #")[0] for line in lines)


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """A site's key and password, and the URL of the ISO image that has them and all else."""
    folder = tmp_path_factory.mktemp("site")
    key, password = folder / "key", secrets.token_urlsafe(12)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "site", "-f", str(key)], check=True)
    hashed = subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=password, check=True, capture_output=True,
                            text=True).stdout.strip()
    address, port = lab.figures["bridge"]["address"].partition("/")[0], lab.figures["ports"]["image_server"]
    module("agent_image", source_dir=str(REPOSITORY / "lab" / "agent_image"), cache_dir=user_folders.cache_dir(),
           directory=str(lab.dir / "www" / "images" / "with-options"), consoles=["ttyS0"],
           ssh_keys=[key.with_suffix(".pub").read_text().strip()], ntp_servers=[address], root_password_hash=hashed,
           kernel_modules=[KERNEL_MODULE], packages=[PACKAGE], python_requirements=locked(PYTHON_PACKAGE),
           within_seconds=1800)
    return SimpleNamespace(url=f"https://{address}:{port}/images/with-options/agent.iso", key=key, password=password,
                           address=address)


@pytest.fixture(scope="module")
def run(lab, room, site):
    """A function that runs a command in the agent's system as root and returns what it prints; then the server is a
    host again."""
    server = lab.servers[MEDIA]
    lab.remove_hosts(MEDIA)
    room.power(MEDIA, "power_off")
    room.set_knobs(MEDIA, clock_behind=True)
    # Ironic leaves a medium where it is when a server is given up.
    drive = bmc_system.cd_drive(lab, server)
    if drive.inserted:
        drive.eject_media()
    drive.insert_media(site.url, inserted=True, write_protected=True)
    bmc_system.system(lab, server).set_system_boot_options(
        target=sushy.BOOT_SOURCE_TARGET_CD, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE,
        mode=sushy.BOOT_SOURCE_MODE_UEFI)

    def run(command):
        done = subprocess.run(
            ["ssh", "-i", str(site.key), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "ConnectTimeout=60",
             "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
             f"root@{server['nics'][0]['address']}", command],
            capture_output=True, text=True, check=False, timeout=180)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    with time_server.running(site.address) as run.asked:
        room.power(MEDIA, "power_on")
        eventually(lambda: run("true") == "", BOOT_SECONDS, "a login with the site's key", 5, NOT_YET)
        yield run
    room.clear_knobs(MEDIA)
    room.power(MEDIA, "power_off")
    bmc_system.cd_drive(lab, server).eject_media()
    lab.playbook("enroll", *only(MEDIA), seconds=BOOT_SECONDS).ok()
    assert lab.state(MEDIA) == "available"


def test_the_site_s_key_logs_in_to_the_agent_s_system(lab, run):
    assert run("cat /sys/class/dmi/id/product_serial").strip() == lab.servers[MEDIA]["serial"]


def test_a_clock_that_was_years_behind_is_right_before_the_agent_starts(lab, run):
    assert "setting system clock to 2010-01-01T" in run("dmesg")
    assert lab.servers[MEDIA]["nics"][0]["address"] in run.asked
    year = time.strftime("%Y", time.gmtime())
    assert run("date -u +%Y").strip() == year
    assert "Leap status     : Normal" in run("chronyc tracking")
    service = dict(line.partition("=")[::2] for line in run(
        "systemctl show ironic-python-agent --property=ActiveState,NRestarts,ExecMainStartTimestamp").splitlines())
    assert (service["ActiveState"], service["NRestarts"]) == ("active", "0")
    assert f" {year}-" in service["ExecMainStartTimestamp"]


def test_the_kernel_module_is_loaded_with_what_it_needs(run):
    loaded = [line.split()[0] for line in run("lsmod").splitlines()]
    assert KERNEL_MODULE in loaded and NEEDED_MODULE in loaded


def test_the_debian_package_is_installed_and_its_program_runs(run):
    assert [line.split()[:2] for line in run(f"dpkg -l {PACKAGE}").splitlines() if line.startswith("ii")] == [
        ["ii", PACKAGE]]
    assert run(f"{PACKAGE} --version").startswith(f"{PACKAGE} v")


def test_the_agent_s_python_has_the_package(run):
    version = locked(PYTHON_PACKAGE).split()[0].partition("==")[2]
    assert run(f"/usr/bin/python3 -c 'import {PYTHON_PACKAGE} as found; print(found.__version__)'").strip() == version


def test_the_root_password_counts_and_no_other_does(run, site):
    # The program by which logins check passwords; it ends with 0 for the right one.
    check = "printf '%s\\0' {} | /usr/sbin/unix_chkpwd root nullok; echo $?"
    assert run(check.format(site.password)).strip() == "0"
    assert run(check.format("another")).strip() != "0"

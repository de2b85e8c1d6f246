# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deploy agent's images from nothing: Debian's packages and PyPI's agent. Needs root; minutes for each build."""
from __future__ import annotations

import subprocess

import pytest
from support import REPOSITORY, module

pytestmark = pytest.mark.metal

OPTIONS = {
    "ssh_keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ me@example.org"],
    "ntp_servers": ["192.0.2.1"], "kernel_modules": ["dummy"],
    "consoles": ["ttyS0"], "rescue": True, "files": [{"path": "/etc/site/note", "content": "of the site\n"}]}


def build(folder, **changes):
    return module("agent_image", **dict(OPTIONS, source_dir=str(REPOSITORY / "lab" / "agent_image"),
                                        cache_dir=str(folder / "cache"), directory=str(folder / "www"), **changes))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return [tmp_path_factory.mktemp(name) for name in ("one", "two")]


@pytest.fixture(scope="module")
def builds(folders):
    """The results of two builds that share nothing but Debian's mirror and PyPI."""
    return [build(folder) for folder in folders]


def checksums(result):
    return dict((name, file["sha256"]) for name, file in result["files"].items())


def test_two_builds_give_the_same_bytes(builds, record_testsuite_property):
    assert checksums(builds[0]) == checksums(builds[1])
    assert sorted(builds[0]["published"]) == ["agent.iso", "esp.img", "initrd", "snponly.efi", "vmlinuz"]
    size = builds[0]["files"]["initrd"]["size_bytes"]
    record_testsuite_property("MB of the agent's initramfs", round(size / 1e6, 1))
    assert size < 100e6


def test_the_second_run_changes_nothing(builds, folders):
    again = build(folders[0])
    assert (again["changed"], again["published"]) == (False, [])
    assert checksums(again) == checksums(builds[0])


def test_no_ssh_host_key_is_in_the_ramdisk(builds):
    listed = subprocess.run(
        ["bash", "-c", f"zstd -dcq {builds[0]['image_dir']}/initrd | cpio --list --quiet"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    # What add-rescue-user runs, and what its user needs.
    assert {"usr/sbin/sshd", "usr/sbin/useradd", "usr/sbin/chpasswd", "usr/bin/sudo"} <= set(listed)
    assert not [path for path in listed if "ssh_host" in path]
    assert [path for path in listed if path.endswith("/dummy.ko")]
    assert not [path for path in listed if "/drivers/gpu/" in path]


def test_what_takes_no_minutes_changes_the_ramdisk_and_the_disc_alone(builds, folders):
    assert build(folders[0], files=[])["published"] == ["initrd", "agent.iso"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image that the collection did not build is taken from its URL and boots on a virtual server, with its own kernel.

By module ``node_image`` with ``download``, the playbooks that a site has, Ironic and the real agent.
"""
from __future__ import annotations

import functools
import hashlib
import re
import shutil

import foreign_image
import pytest
from served_image import published
from support import module, only
from virtual_site import BOOT_SECONDS, MEDIA, in_system, inventory_arguments

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = pytest.mark.metal

GIB = 1024 ** 3
SOURCE, NAME = "others.qcow2", "foreign.qcow2"


@pytest.fixture(scope="module")
def downloaded(lab, tmp_path_factory):
    """What the module returned that took the image from the lab's image server, where somebody else has put it."""
    images, ca_file = lab.dir / "www" / "images", str(lab.dir / "pki" / "ca.crt")
    built = foreign_image.build(tmp_path_factory.mktemp("foreign"))
    shutil.move(built, images / SOURCE)
    (images / SOURCE).chmod(0o644)
    with (images / SOURCE).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    yield module(
        "node_image", directory=str(images), name=NAME, cache_dir=user_folders.cache_dir(), ca_file=ca_file,
        download={"url": f"{lab.figures['urls']['image_server']}/images/{SOURCE}", "checksum": f"sha256:{digest}"},
        disks={MEDIA: lab.servers[MEDIA]["disks"][0]["size_gib"] * GIB})
    for path in images.glob("*"):
        if path.name.startswith((SOURCE, NAME)):
            path.unlink()


@pytest.fixture(scope="module")
def arguments(lab, downloaded, tmp_path_factory):
    return inventory_arguments(tmp_path_factory.mktemp("inventory"), {MEDIA: {
        "bmh_image": published(lab, NAME),
        # Nobody has signed its boot loader.
        "bmh_boot_mode": "UEFI",
        "bmh_root_device_hints": {"serial_number": lab.servers[MEDIA]["disks"][0]["serial"]}}})


@pytest.fixture(scope="module")
def ssh(lab, arguments):
    """A function that runs a command in the image's system; the server is available again afterwards."""
    lab.playbook("enroll", *arguments, *only(MEDIA), seconds=BOOT_SECONDS).ok()
    lab.playbook("provision", *arguments, *only(MEDIA), seconds=BOOT_SECONDS).ok()
    lab.playbook("metal", *arguments, *only(MEDIA), "--tags", "metal", seconds=BOOT_SECONDS).ok()
    yield functools.partial(in_system, lab, MEDIA)
    lab.playbook("deprovision_hosts", *arguments, *only(MEDIA), "-e", "metal3_confirm=1", seconds=BOOT_SECONDS).ok()


def test_the_image_was_taken_as_it_is(downloaded):
    assert downloaded["changed"] and downloaded["format"] == "qcow2"
    assert downloaded["disk_bytes"] == foreign_image.DISK_BYTES


def test_its_own_system_runs_on_its_own_kernel(lab, ssh):
    assert f'VERSION_ID="{foreign_image.OS_VERSION_ID}"' in ssh("cat /etc/os-release")
    assert f"root=UUID={foreign_image.ROOT_UUID} " in ssh("cat /proc/cmdline")
    assert re.match(r"[6-9]\.\d+\.\S+deb13\S*-cloud-amd64$", ssh("uname --kernel-release").strip())
    assert ssh("cat /sys/class/dmi/id/product_serial").strip() == lab.servers[MEDIA]["serial"]
    assert "systemd-boot" in ssh("cat /sys/firmware/efi/efivars/LoaderInfo-* | tr -d '\\000'")


def test_cloud_init_has_read_what_the_host_was_given(ssh):
    """Name, key and network; the login was by the key."""
    assert ssh("hostname").strip() == MEDIA
    # 1 is an error that it could not recover from; 2 are warnings, as of settings that its release calls outdated.
    assert "ConfigDrive" in ssh("cloud-init status --long --wait; test $? -ne 1")
    assert "dhcp" in ssh("cat /etc/network/interfaces.d/50-cloud-init")


def test_the_root_file_system_takes_the_disk(lab, ssh):
    size = int(ssh("df --output=size -B1 / | tail -1"))
    assert size > 0.9 * lab.servers[MEDIA]["disks"][0]["size_gib"] * GIB > foreign_image.DISK_BYTES

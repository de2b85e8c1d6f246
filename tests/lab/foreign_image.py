# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk image that nothing of the collection had a part in: another release, boot loader, layout and network system.

Debian 13 on a root file system beside a boot partition with systemd-boot, kernel and initial RAM disk, with cloud-init
as the release configures it and ifupdown, and without Kubernetes; it boots by UEFI alone.
"""
from __future__ import annotations

import subprocess

RELEASE = "trixie"
OS_VERSION_ID = "13"
PACKAGES = ("systemd-sysv", "systemd-boot-efi", "udev", "dbus", "linux-image-cloud-amd64", "initramfs-tools",
            "cloud-init", "cloud-guest-utils", "e2fsprogs", "openssh-server", "ifupdown", "isc-dhcp-client", "iproute2",
            "fdisk", "python3-minimal")
ROOT_UUID = "7d3a4a8e-52b5-4d7f-9a40-51b7a5d3c0de"
_SECTOR_BYTES = 512
DISK_BYTES = 3 * 1024 ** 3
_BOOT_START, _BOOT_SECTORS = 2048, 204800
_ROOT_START = _BOOT_START + _BOOT_SECTORS
# The last 34 sectors are the partition table's second copy.
_ROOT_SECTORS = (DISK_BYTES // _SECTOR_BYTES - 34 - _ROOT_START) // 2048 * 2048
_ENTRY = (f"title {RELEASE}\nlinux /vmlinuz\ninitrd /initrd.img\n"
          f"options root=UUID={ROOT_UUID} rw console=ttyS0 tsc=reliable\n")
_TABLE = (f"label: gpt\nstart={_BOOT_START}, size={_BOOT_SECTORS}, type=uefi\n"
          f"start={_ROOT_START}, size={_ROOT_SECTORS}, type=linux\n")


def _run(*command, text=None):
    subprocess.run([str(word) for word in command], input=text, check=True, capture_output=True, text=True,
                   timeout=1500)


def _mirror():
    """Return the address of the Debian mirror that this machine's apt reads."""
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(RELEASE)", "Created-By: Packages"], check=True,
        capture_output=True, text=True).stdout
    # Without a suffix such as -updates or -security it is the release itself.
    return next(address for origin, address, release in (line.split("|") for line in told.splitlines())
                if origin == "Debian" and "-" not in release)


def build(folder):
    """Build the image and return its Path, ending in ``.qcow2``.

    :param folder: Path of an empty folder, with space for root file system and disk
    """
    root, boot, disk, image = (folder / name for name in ("root", "boot.img", "disk.raw", "foreign.qcow2"))
    _run("mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, root,
         f"deb {_mirror()} {RELEASE} main")
    (root / "etc" / "fstab").write_text(f"UUID={ROOT_UUID} / ext4 defaults 0 1\n")
    # Each machine makes its own.
    (root / "etc" / "machine-id").write_text("")
    for key in (root / "etc" / "ssh").glob("ssh_host_*"):
        key.unlink()
    _run("truncate", f"--size={_BOOT_SECTORS * _SECTOR_BYTES}", boot)
    _run("mkfs.vfat", boot)
    _run("mmd", "-i", boot, "::/EFI", "::/EFI/BOOT", "::/loader", "::/loader/entries")
    (folder / "loader.conf").write_text("timeout 0\n")
    (folder / "entry.conf").write_text(_ENTRY)
    for source, target in ((root / "usr/lib/systemd/boot/efi/systemd-bootx64.efi", "EFI/BOOT/BOOTX64.EFI"),
                           (folder / "loader.conf", "loader/loader.conf"),
                           (folder / "entry.conf", "loader/entries/system.conf"),
                           (next((root / "boot").glob("vmlinuz-*")), "vmlinuz"),
                           (next((root / "boot").glob("initrd.img-*")), "initrd.img")):
        _run("mcopy", "-i", boot, source, f"::/{target}")
    _run("truncate", f"--size={DISK_BYTES}", disk)
    _run("sfdisk", "--quiet", disk, text=_TABLE)
    _run("mke2fs", "-q", "-t", "ext4", "-U", ROOT_UUID, "-d", root, "-E", f"offset={_ROOT_START * _SECTOR_BYTES}", disk,
         f"{_ROOT_SECTORS * _SECTOR_BYTES // 1024}k")
    _run("dd", f"if={boot}", f"of={disk}", f"seek={_BOOT_START * _SECTOR_BYTES}", "oflag=seek_bytes", "bs=1M",
         "conv=notrunc,sparse")
    _run("rm", "--recursive", "--one-file-system", root)
    _run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", disk, image)
    disk.unlink()
    return image

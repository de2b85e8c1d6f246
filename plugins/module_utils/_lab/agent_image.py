# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the deploy agent's ramdisk: Debian's kernel and packages, and ironic-python-agent from PyPI."""
from __future__ import annotations

import hashlib
import os
import shutil
import sys
from typing import Any

from .._plane.process import cache_entry
from . import debian_root, efi_partition
from .debian_root import CHROOT_ENVIRONMENT, SUITE, ImageBuildError, run

# Raise it when the image is built in another way than before: it is part of the cache's key.
RECIPE = "2"
# GRUB 2.06 reports "out of memory" for an initrd of 200 MB on a machine with 4 GiB.
INITRD_LIMIT_BYTES = 100 * 1000 * 1000
ESP_MIB = 8
SHIM, GRUB = "/" + efi_partition.SHIM, "/" + efi_partition.GRUB_FOR_CD
IPXE = "/usr/lib/ipxe/snponly.efi"
# Debian 12's Python, whichever runs this.
PIP_TARGET = ("--python-version", "3.11", "--implementation", "cp", "--platform", "manylinux2014_x86_64", "--platform",
              "manylinux_2_17_x86_64", "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_34_x86_64",
              "--platform", "any", "--only-binary", ":all:")
# Drivers of what no server boots or is written by.
DROPPED_MODULES = (
    "sound", "drivers/gpu", "drivers/media", "drivers/net/wireless", "drivers/bluetooth", "drivers/staging",
    "drivers/infiniband", "drivers/iio", "drivers/isdn", "drivers/input/touchscreen", "drivers/video",
    "drivers/comedi", "drivers/usb/gadget", "drivers/net/can", "drivers/net/hamradio", "drivers/net/ieee802154",
    "net/bluetooth", "net/wireless", "net/mac80211", "net/can", "net/mac802154", "fs/ceph", "fs/ocfs2", "fs/gfs2",
    "fs/btrfs", "fs/nfs", "fs/nfsd", "fs/smb", "fs/afs", "fs/coda", "fs/f2fs", "fs/jfs", "fs/reiserfs", "fs/ubifs",
    "fs/hfs", "fs/hfsplus", "fs/nilfs2", "fs/orangefs", "fs/dlm", "fs/9p", "drivers/mtd", "drivers/misc/mei",
    "drivers/thunderbolt", "drivers/hwmon", "drivers/platform", "drivers/target", "drivers/mmc", "drivers/crypto",
    "drivers/firewire", "drivers/memstick", "drivers/pcmcia", "drivers/parport", "drivers/nfc", "drivers/atm",
    "drivers/soundwire", "drivers/net/wwan", "drivers/net/wan", "drivers/net/fddi", "drivers/net/ppp",
    "drivers/net/plip", "drivers/net/slip", "drivers/net/arcnet", "drivers/scsi/bfa", "drivers/net/usb",
    "drivers/hid", "drivers/watchdog", "fs/ext2", "fs/udf", "fs/ufs", "fs/minix", "net/sunrpc", "net/xfrm",
    "net/dccp", "net/bridge", "net/netfilter", "net/ipv4/netfilter", "net/ipv6/netfilter", "net/sched", "net/sunrpc",
    "net/openvswitch", "net/tipc", "net/sctp", "net/rxrpc", "net/rds", "net/smc", "net/nfc", "net/batman-adv",
    "net/9p", "net/ceph", "net/atm", "net/ax25")
# Where Debian's Python looks by itself: the agent starts itself again with an environment of its own.
AGENT_DIR = "usr/local/lib/python3.11/dist-packages"
DROPPED_FOLDERS = (
    "boot", "var/cache", "var/lib/apt", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/zoneinfo",
    "usr/lib/udev/hwdb.d", "usr/lib/x86_64-linux-gnu/perl-base",
    # Of the environment in which tests compare the agent with the simulated one.
    *(AGENT_DIR + name for name in ("/_pytest", "/pygments", "/setuptools")),
    "usr/share/misc", "usr/lib/python3.11/lib2to3", "usr/lib/python3.11/pydoc_data", "usr/lib/python3.11/test",
    "usr/share/perl", "usr/share/bash-completion")
# Names of devices, which only users read.
HARDWARE_NAMES = "usr/lib/udev/hwdb.bin"
NEEDED_COMMANDS = (
    ("mmdebstrap", "mmdebstrap"), ("cpio", "cpio"), ("zstd", "zstd"), ("chroot", "coreutils"),
    ("unshare", "util-linux"), ("setpriv", "util-linux"), *efi_partition.NEEDED_COMMANDS)
NEEDED_FILES = ((SHIM, "shim-signed"), (GRUB, "grub-efi-amd64-signed"), (IPXE, "ipxe"))
FILES = ("vmlinuz", "initrd", "esp.img", "snponly.efi")


class AgentImage:
    """One build of the ramdisk and where it is kept: ``vmlinuz``, ``initrd``, ``esp.img`` and ``snponly.efi``.

    :param source_dir: the collection's ``lab/agent_image``
    :param cache_dir: folder for what is slow to build, see user_folders.cache_dir()
    """

    def __init__(self, source_dir: str, cache_dir: str) -> None:
        self._source_dir = source_dir
        digest = hashlib.sha256()
        for part in (RECIPE, os.uname().machine, debian_root.tree_digest(source_dir)):
            digest.update(part.encode() + b"\0")
        self.directory = os.path.join(cache_dir, "agent-image", digest.hexdigest()[:16])

    def complete(self) -> bool:
        """Return whether the files are there."""
        return os.path.isdir(self.directory)

    def build(self, progress: Any) -> None:
        """Build the ramdisk unless it is there; an interrupted build leaves nothing.

        :param progress: a Progress
        :raises ImageBuildError: when this process is not root, a program is missing or a step fails
        """
        if self.complete():
            return
        debian_root.check_means("the agent's ramdisk", NEEDED_COMMANDS)
        for path, package in NEEDED_FILES:
            if not os.path.exists(path):
                raise ImageBuildError(f"{path} is missing: install the package {package}")
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            work = os.path.join(partial, "work")
            root = os.path.join(work, "root")
            os.mkdir(work)
            progress.event(f"Installing Debian {SUITE} for the agent's ramdisk")
            with open(os.path.join(self._source_dir, "packages.txt"), encoding="utf-8") as stream:
                debian_root.install(root, debian_root.packages(stream.read()), work)
            progress.event("Installing ironic-python-agent")
            self._install_agent(root)
            kernel = self._take_kernel(root, partial)
            self._configure(root, kernel)
            progress.event("Packing the ramdisk")
            _pack(root, os.path.join(partial, "initrd"))
            # What Ironic puts into the ISO images for virtual media.
            efi_partition.write(os.path.join(partial, "esp.img"), ESP_MIB, 12,
                                {efi_partition.SHIM_TARGET: SHIM, efi_partition.GRUB_TARGET: GRUB})
            shutil.copyfile(IPXE, os.path.join(partial, "snponly.efi"))
            shutil.rmtree(work)
            for name in FILES:
                debian_root.write_checksum(os.path.join(partial, name))

    def _install_agent(self, root: str) -> None:
        run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile",
             "--root-user-action=ignore", "--require-hashes", *PIP_TARGET, "--target", os.path.join(root, AGENT_DIR),
             "--requirement", os.path.join(self._source_dir, "requirements.txt")], "installing ironic-python-agent")

    @staticmethod
    def _take_kernel(root: str, directory: str) -> str:
        """Move the kernel out of the root file system and return its version."""
        names = [name for name in os.listdir(os.path.join(root, "boot")) if name.startswith("vmlinuz-")]
        if len(names) != 1:
            raise ImageBuildError(f"taking the kernel: found {len(names)} in /boot, expected one")
        shutil.copyfile(os.path.join(root, "boot", names[0]), os.path.join(directory, "vmlinuz"))
        return names[0].partition("-")[2]

    def _configure(self, root: str, kernel: str) -> None:
        debian_root.add_files(os.path.join(self._source_dir, "root"), root)
        run(["systemctl", "--root", root, "enable", "agent-network", "ironic-python-agent", "systemd-networkd",
             "systemd-resolved"],
            "choosing the services")
        debian_root.clean(root)
        modules = os.path.join(root, "lib/modules", kernel, "kernel")
        for folder in [os.path.join(modules, name) for name in DROPPED_MODULES] + [
                os.path.join(root, name) for name in DROPPED_FOLDERS]:
            shutil.rmtree(folder, ignore_errors=True)
        os.unlink(os.path.join(root, HARDWARE_NAMES))
        # An emulated processor takes a minute for it, at each boot; the mode makes the same bytes again.
        run(["chroot", root, "python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
             "/" + AGENT_DIR], "compiling the agent", env=CHROOT_ENVIRONMENT)
        run(["chroot", root, "depmod", kernel], "listing the kernel's modules", env=CHROOT_ENVIRONMENT)
        # What the kernel starts; systemd finds that it is in an initramfs by this file, and is to be the whole system.
        os.symlink("lib/systemd/systemd", os.path.join(root, "init"))


def _pack(root: str, path: str) -> None:
    """Write a root file system as an initramfs.

    By zstd: with xz it is a sixth smaller, but takes ten times as long, here and on an emulated processor.
    """
    script = ("set -o pipefail; find . -xdev -print0 | LC_ALL=C sort -z | "
              "cpio --null --create --format=newc --reproducible --quiet | zstd -T1 -9 --quiet -o \"$1\"")
    run(["bash", "-c", script, "pack", path], "packing the ramdisk", cwd=root)
    size = os.path.getsize(path)
    if size > INITRD_LIMIT_BYTES:
        raise ImageBuildError(f"packing the ramdisk: found {size // 1000 ** 2} MB, expected at most "
                              f"{INITRD_LIMIT_BYTES // 1000 ** 2} MB, which boot loaders can read")


def publish(image: AgentImage, directory: str, added: dict[str, str], check_mode: bool) -> list[str]:
    """Put the files into a folder that a web server reads, each with a checksum file; the ramdisk gets a lab's files.

    :param image: a complete AgentImage
    :param directory: the folder
    :param added: absolute path in the ramdisk → path of a file
    :param check_mode: change nothing, only report
    :returns: names of the files that differed
    """
    contents = {}
    for path, source in added.items():
        with open(source, "rb") as stream:
            contents[path] = stream.read()
    # Before the ramdisk: Ironic unpacks what begins like zstd, and boot loaders cannot read what comes of it.
    heads = {"initrd": overlay(contents)}
    differing = []
    for name in FILES:
        source, target = os.path.join(image.directory, name), os.path.join(directory, name)
        line = f"{debian_root.file_digest(source, heads.get(name, b''))}  {name}\n"
        if os.path.exists(target + ".sha256"):
            with open(target + ".sha256", encoding="utf-8") as stream:
                if stream.read() == line:
                    continue
        differing.append(name)
        if check_mode:
            continue
        with open(source, "rb") as reader, open(target + ".new", "wb") as writer:
            writer.write(heads.get(name, b""))
            shutil.copyfileobj(reader, writer)
        os.chmod(target + ".new", 0o644)
        os.replace(target + ".new", target)
        with open(target + ".sha256", "w", encoding="utf-8") as stream:
            stream.write(line)
    return differing


def overlay(files: dict[str, bytes]) -> bytes:
    """Return an initramfs with a few files, not compressed, which the kernel unpacks before the one behind it.

    :param files: absolute path → contents
    """
    folders, entries = set(), []
    for path in sorted(files):
        parts = path.strip("/").split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in folders:
                folders.add(folder)
                entries.append((folder, 0o040755, b""))
        entries.append(("/".join(parts), 0o100644, files[path]))
    entries.append(("TRAILER!!!", 0, b""))
    return b"".join(_cpio_entry(number, *entry) for number, entry in enumerate(entries, start=1))


def _cpio_entry(number: int, name: str, mode: int, data: bytes) -> bytes:
    """Return an entry in the format "newc" of the kernel's Documentation/driver-api/early-userspace/buffer-format."""
    encoded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return _padded(header) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)

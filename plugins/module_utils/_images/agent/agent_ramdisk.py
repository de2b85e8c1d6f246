# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the deploy agent's ramdisk: Debian's kernel and packages, and ironic-python-agent from PyPI."""
from __future__ import annotations

import glob
import json
import os
import re
import shutil
import sys
from typing import Any

from ..._common import timed_run
from ..._common.documents.document_text import from_json
from ..._common.files import cache_entry
from ..debian import debian_root, dpkg_status, kernel_modules
from ..debian.debian_root import CHROOT_ENVIRONMENT, SUITE, ImageBuildError, run
from ..disks import efi_partition
from .agent_options import AUTHORITIES, PYTHON_DIR, SHADOW, Base

# Raise it when the image is built in another way than before: it is part of the cache's key.
RECIPE = "4"
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
    "net/9p", "net/ceph", "net/atm", "net/ax25", "arch/x86/kvm", "drivers/block/drbd", "drivers/md/bcache",
    "lib/test_bpf.ko")
# Where Debian's Python looks by itself: the agent starts itself again with an environment of its own.
AGENT_DIR = PYTHON_DIR.lstrip("/")
DROPPED = (
    "boot", "var/cache", "var/lib/apt", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/zoneinfo",
    "usr/lib/udev/hwdb.d",
    # Of the environment in which tests compare the agent with the simulated one.
    *(AGENT_DIR + name for name in ("/_pytest", "/pygments", "/setuptools", "/_distutils_hack",
                                    "/distutils-precedence.pth")),
    # Names of makers by MAC address, which only users read.
    *(f"{AGENT_DIR}/netaddr/eui/{name}.txt" for name in ("iab", "oui")),
    "usr/share/misc", "usr/lib/python3.11/lib2to3", "usr/lib/python3.11/pydoc_data", "usr/lib/python3.11/test",
    "usr/share/bash-completion", "usr/bin/qemu-nbd", "usr/bin/qemu-io",
    # Each server has one of its own.
    "etc/nvme/hostid", "etc/nvme/hostnqn")
# What packages ran while they were installed; kept when a package of the site depends on one of PERL_PACKAGES.
PERL_PACKAGES = re.compile("perl|libperl.*")
PERL = ("usr/bin/perl*", "usr/lib/x86_64-linux-gnu/libperl.so*", "usr/lib/x86_64-linux-gnu/perl*", "usr/share/perl*")
# It says when it was written.
DATED_FILE, DATED_LINE = "etc/mdadm/mdadm.conf", "# This configuration was auto-generated"
# Names of devices, which only users read.
HARDWARE_NAMES = "usr/lib/udev/hwdb.bin"
NEEDED_COMMANDS = (
    ("mmdebstrap", "mmdebstrap"), ("cpio", "cpio"), ("zstd", "zstd"), ("chroot", "coreutils"),
    ("unshare", "util-linux"), ("setpriv", "util-linux"), *efi_partition.NEEDED_COMMANDS)
NEEDED_FILES = ((SHIM, "shim-signed"), (GRUB, "grub-efi-amd64-signed"), (IPXE, "ipxe"))
FILES = ("vmlinuz", "initrd", "esp.img", "snponly.efi")
# What the site's files are made from: the folders that are there, and two files that they replace.
FOLDERS, KEPT = "folders.json", {"authorities": AUTHORITIES, "shadow": SHADOW}


class AgentRamdisk(cache_entry.CacheEntry):
    """One build of the ramdisk and where it is kept: the FILES, and what a site's files are made from.

    :param source_dir: the collection's ``lab/agent_image``
    :param cache_dir: folder for what is slow to build, see user_folders.cache_dir()
    :param base: what it is installed with beyond the recipe
    """

    def __init__(self, source_dir: str, cache_dir: str, base: Base) -> None:
        self._source_dir = source_dir
        self._base = base
        self.key = cache_entry.key((RECIPE, os.uname().machine, debian_root.tree_digest(source_dir), json.dumps(base)))
        self.directory = os.path.join(cache_dir, "agent-image", self.key)
        cache_entry.require_own(cache_dir, os.path.dirname(self.directory), self.directory)

    def path(self, name: str) -> str:
        """Return where one of the files is."""
        return os.path.join(self.directory, name)

    def text(self, name: str) -> str:
        """Return one of the KEPT files."""
        with open(self.path(name), encoding="utf-8") as stream:
            return stream.read()

    def folders(self) -> list[str]:
        """Return the ramdisk's folders, without the slash at the beginning."""
        return from_json(self.text(FOLDERS))

    def build(self, progress: Any) -> None:
        """Build the ramdisk unless it is there; an interrupted build leaves nothing.

        :param progress: a Progress
        :raises ImageBuildError: when this process is not root, a program is missing or a step fails
        """
        if self.complete():
            return
        debian_root.check_means("the agent's ramdisk", NEEDED_COMMANDS, NEEDED_FILES)
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            work = os.path.join(partial, "work")
            root = os.path.join(work, "root")
            os.mkdir(work)
            progress.event(f"Installing Debian {SUITE} for the agent's ramdisk")
            debian_root.install(root, self._recipe() + list(self._base.packages), work, sources=self._base.sources)
            progress.event("Installing ironic-python-agent")
            self._install_agent(root, work)
            kernel = self._take_kernel(root, partial)
            self._configure(root, kernel)
            self._keep(root, partial)
            progress.event("Packing the ramdisk")
            _pack(root, os.path.join(partial, "initrd"))
            # What Ironic puts into the ISO images for virtual media.
            efi_partition.write(os.path.join(partial, "esp.img"), ESP_MIB, 12,
                                {efi_partition.SHIM_TARGET: SHIM, efi_partition.GRUB_TARGET: GRUB})
            shutil.copyfile(IPXE, os.path.join(partial, "snponly.efi"))
            shutil.rmtree(work)

    def _install_agent(self, root: str, work: str) -> None:
        files = [os.path.join(self._source_dir, "requirements.txt")]
        if self._base.requirements:
            files.append(os.path.join(work, "site_requirements.txt"))
            with open(files[-1], "w", encoding="utf-8") as stream:
                stream.write(self._base.requirements + "\n")
        run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile",
             "--root-user-action=ignore", "--require-hashes", *PIP_TARGET, "--target", os.path.join(root, AGENT_DIR),
             *(word for path in files for word in ("--requirement", path))], "installing ironic-python-agent",
            if_late=f"{timed_run.PACKAGE_INDEX}, then run again: what pip has in its cache is not downloaded again")

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
        self._drop_modules(root, kernel)
        paths = [*DROPPED, *(() if self._needs_perl(root) else PERL)]
        for path in (found for pattern in paths for found in glob.glob(os.path.join(root, pattern))):
            _remove(path)
        os.unlink(os.path.join(root, HARDWARE_NAMES))
        _without_line(os.path.join(root, DATED_FILE), DATED_LINE)
        # An emulated processor takes a minute for it, at each boot; the mode makes the same bytes again, as does the
        # seed, on which the order of constants depends.
        run(["chroot", root, "python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
             "/" + AGENT_DIR], "compiling the agent", env=dict(CHROOT_ENVIRONMENT, PYTHONHASHSEED="0"))
        run(["chroot", root, "depmod", kernel], "listing the kernel's modules", env=CHROOT_ENVIRONMENT)
        # What the kernel starts; systemd finds that it is in an initramfs by this file, and is to be the whole system.
        os.symlink("lib/systemd/systemd", os.path.join(root, "init"))
        debian_root.forget_times(root)

    def _needs_perl(self, root: str) -> bool:
        """Return whether a package of the site depends on it; those of the recipe had it for their installation."""
        with open(os.path.join(root, "var/lib/dpkg/status"), encoding="utf-8") as stream:
            status = stream.read()
        known = dpkg_status.closure(status, self._recipe())
        needed = dpkg_status.closure(status, self._base.packages, known)
        return any(map(PERL_PACKAGES.fullmatch, needed))

    def _recipe(self) -> list[str]:
        with open(os.path.join(self._source_dir, "packages.txt"), encoding="utf-8") as stream:
            return debian_root.packages(stream.read())

    def _drop_modules(self, root: str, kernel: str) -> None:
        folder = os.path.join(root, "lib/modules", kernel)
        with open(os.path.join(folder, "modules.dep"), encoding="utf-8") as stream:
            listed = stream.read()
        with open(os.path.join(folder, "modules.builtin"), encoding="utf-8") as stream:
            built_in = stream.read()
        needed, unknown = kernel_modules.closure(listed, built_in, self._base.kernel_modules)
        if unknown:
            raise ImageBuildError(f"kernel_modules: found {', '.join(unknown)}, expected modules of Debian's kernel "
                                  f"{kernel}; correct the names, or add the package that has them")
        dropped = tuple(os.path.join("kernel", name) for name in DROPPED_MODULES)
        for path in sorted(glob.glob(os.path.join(folder, "kernel/**/*.ko*"), recursive=True)):
            relative = os.path.relpath(path, folder)
            if relative not in needed and any(relative == name or relative.startswith(name + "/") for name in dropped):
                os.unlink(path)
        for parent, _folders, _files in os.walk(os.path.join(folder, "kernel"), topdown=False):
            if not os.listdir(parent):
                os.rmdir(parent)

    @staticmethod
    def _keep(root: str, directory: str) -> None:
        for name, path in KEPT.items():
            shutil.copyfile(os.path.join(root, path.lstrip("/")), os.path.join(directory, name))
        folders = [os.path.relpath(os.path.join(parent, name), root) for parent, names, _files in os.walk(root)
                   for name in names if not os.path.islink(os.path.join(parent, name))]
        with open(os.path.join(directory, FOLDERS), "w", encoding="utf-8") as stream:
            json.dump(sorted(folders), stream)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _without_line(path: str, begin: str) -> None:
    with open(path, encoding="utf-8") as stream:
        lines = [line for line in stream if not line.startswith(begin)]
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(lines)


def _pack(root: str, path: str) -> None:
    """Write a root file system as an initramfs.

    By zstd: with xz it is a sixth smaller, but takes ten times as long, here and on an emulated processor.
    """
    script = ("set -o pipefail; find . -xdev -print0 | LC_ALL=C sort -z | "
              "cpio --null --create --format=newc --reproducible --quiet | zstd -T1 -9 --quiet -o \"$1\"")
    run(["bash", "-c", script, "pack", path], "packing the ramdisk", cwd=root)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes an ISO image that boots a kernel and an initramfs, by UEFI with Debian's signed boot loaders and by BIOS."""
from __future__ import annotations

import os

from ..debian.debian_root import EPOCH_SECONDS, run

# Raise it when the image is written in another way than before: it is part of what a published one is compared by.
RECIPE = "1"
BIOS_MODULES = ("biosdisk", "boot", "iso9660", "linux", "search", "search_fs_file")
BIOS_FOLDER = "/usr/lib/grub/i386-pc"
NEEDED_COMMANDS = (("xorriso", "xorriso"), ("grub-mkimage", "grub-common"))
NEEDED_FILES = ((BIOS_FOLDER, "grub-pc-bin"),)
# By this file GRUB finds the disc that it was started from; Debian's has the name built in.
MARK = "/.disk/info"
KERNEL, INITRAMFS, EFI_IMAGE, BIOS_IMAGE = "/boot/vmlinuz", "/boot/initrd", "/boot/esp.img", "/boot/bios.img"


def grub_config(parameters: str) -> str:
    """Return GRUB's configuration.

    :param parameters: the kernel's, without what GRUB's language has a meaning for
    """
    return (f"search --no-floppy --file --set=root {MARK}\n"
            f"linux {' '.join([KERNEL, *parameters.split()])}\n"
            f"initrd {INITRAMFS}\n"
            "boot\n")


def write(path: str, files: dict[str, str], parameters: str, work: str) -> None:
    """Write the image; the same files and parameters give the same bytes.

    :param path: the image
    :param files: paths of ``vmlinuz``, ``initrd`` and ``esp.img``
    :param parameters: the kernel's
    :param work: folder for temporary files
    :raises ImageBuildError: when a step fails
    """
    made = dict((name, os.path.join(work, "iso." + name)) for name in ("grub.cfg", "bios.img", "info"))
    for name, text in (("grub.cfg", grub_config(parameters)), ("info", "ironic-python-agent\n")):
        with open(made[name], "w", encoding="utf-8") as stream:
            stream.write(text)
    run(["grub-mkimage", "--format=i386-pc-eltorito", "--output=" + made["bios.img"], "--prefix=/boot/grub",
         "--config=" + made["grub.cfg"], *BIOS_MODULES], "making GRUB for BIOS")
    contents = {KERNEL: files["vmlinuz"], INITRAMFS: files["initrd"], EFI_IMAGE: files["esp.img"],
                BIOS_IMAGE: made["bios.img"], "/boot/grub/grub.cfg": made["grub.cfg"], MARK: made["info"]}
    run(["xorriso", "-as", "mkisofs", "-quiet", "-o", path, "-V", "IPA", "-R", "-r", "-J",
         "--modification-date=1980010100000000", "--set_all_file_dates", f"={EPOCH_SECONDS}",
         "-b", BIOS_IMAGE, "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table",
         "-eltorito-alt-boot", "-e", EFI_IMAGE, "-no-emul-boot",
         "-graft-points", *(f"{target}={source}" for target, source in contents.items())],
        "writing the ISO image", env=dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH_SECONDS), TZ="UTC"))

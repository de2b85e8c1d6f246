# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the root file system of a node image, read without mounting it."""
from __future__ import annotations

import subprocess

from ansible_collections.metal3.baremetal.plugins.module_utils._images.disks import node_disk

ROOT_PARTITION_MIB = node_disk.FIRST_MIB + node_disk.bios_boot.PARTITION_MIB + node_disk.EFI_MIB


class ImageFiles:
    """The files of one image.

    :param image: path of the image
    :param folder: folder of the test's
    """

    def __init__(self, image, folder):
        self._raw = folder / "node.raw"
        subprocess.run(["qemu-img", "convert", "-O", "raw", str(image), str(self._raw)], check=True)

    def _debugfs(self, command):
        return subprocess.run(["debugfs", "-R", command, f"{self._raw}?offset={ROOT_PARTITION_MIB * 1024 ** 2}"],
                              check=True, capture_output=True, text=True).stdout

    def read(self, path):
        """Return a file's text; of one that is missing it is empty."""
        return self._debugfs(f"cat {path}")

    def copy(self, path, target):
        """Copy a folder of the image into a folder, with all that is in it."""
        target.mkdir(parents=True, exist_ok=True)
        self._debugfs(f"rdump {path} {target}")

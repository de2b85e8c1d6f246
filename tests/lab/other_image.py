# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's node image with a file more, so with other bytes, under another name at the lab's image server."""
from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from machine_room import partitions
from machine_room.node_boot.root_partition import root_partition

# Where a node has the file.
PATH = "/etc/metal3-image"
_WRITE = """
set -e
mount -o "loop,offset=$1" "$2" "$3"
printf '%s\\n' "$4" > "$3$5"
umount "$3"
"""


def served(lab, folder, name):
    """Make the image and return what to give to the playbook ``cluster`` as an image.

    :param folder: Path of an empty folder, with space for a disk
    :param name: of the image, which is also what its file :data:`PATH` says
    """
    images = lab.dir / "www" / "images"
    raw, root, image = folder / "node.raw", folder / "root", images / f"{name}.qcow2"
    root.mkdir()
    built = Path(os.path.realpath(images / "node.qcow2")).parent / "node.raw"
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", str(built), str(raw)], check=True)
    start = root_partition(partitions.table(str(raw))["partitions"])["start"] * partitions.SECTOR_BYTES
    # The loop device ends with its mount, the mount at the latest with its namespace.
    subprocess.run(["unshare", "--mount", "sh", "-c", _WRITE, "sh", str(start), str(raw), str(root), name, PATH],
                   check=True, timeout=120)
    image.unlink(missing_ok=True)
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(image)], check=True, timeout=300)
    raw.unlink()
    with image.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    (images / f"{name}.qcow2.sha256").write_text(f"{digest}  {name}.qcow2\n")
    url = f"{lab.figures['urls']['image_server']}/images/{name}.qcow2"
    return {"url": url, "checksum": url + ".sha256", "checksum_type": "sha256", "format": "qcow2"}


def removed(lab, name):
    """Take the image away."""
    for suffix in ("", ".sha256"):
        (lab.dir / "www" / "images" / f"{name}.qcow2{suffix}").unlink(missing_ok=True)

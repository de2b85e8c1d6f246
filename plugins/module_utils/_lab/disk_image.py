# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small whole-disk image with a partition table and a file system, for trying out what writes images to disks."""
from __future__ import annotations

import os
import subprocess
import tempfile

from .._common.files import file_digest
from .._common.problems.errors import ReportedError
from .._common.texts.formats import duration

MIB = 1024 ** 2
# Room for the partition table before the file system, and for its backup behind it.
FIRST_MIB = 1
LAST_MIB = 1
LEAST_MIB = 8
LABEL = "lab-root"
TIMEOUT_SECONDS = 120


class DiskImageError(ReportedError):
    """The image could not be created; the text names the option, or the program and what it said."""


def checksum_line(path: str, hexdigest: str) -> str:
    """Return the one line of a checksum file as ``sha256sum`` writes it."""
    return f"{hexdigest}  {os.path.basename(path)}\n"


def is_complete(path: str) -> bool:
    """True when the image and its checksum file are there and fit each other."""
    try:
        with open(path + ".sha256", encoding="ascii") as stream:
            return stream.read() == checksum_line(path, file_digest.digest(path))
    except OSError:
        return False


def build(path: str, size_mib: int, files: dict[str, str]) -> str:
    """Make the image and, last, its checksum file ``<path>.sha256``; both appear whole or not at all.

    :param path: where the image is to be
    :param size_mib: size of the disk in MiB, at least LEAST_MIB
    :param files: dict of file name in the file system's root → text
    :returns: the image's SHA-256
    :raises DiskImageError: when a file is no text or its name no name, and when a program fails
    """
    if size_mib < LEAST_MIB:
        raise DiskImageError(f"size_mib {size_mib}: expected at least {LEAST_MIB}")
    for name, text in files.items():
        if not isinstance(name, str) or name in ("", ".", "..") or "/" in name:
            raise DiskImageError(f'files: found the name "{name}", expected one without a folder')
        if not isinstance(text, str):
            raise DiskImageError(
                f"files.{name}: found a {type(text).__name__}, expected a text; quote it, or use to_json")
    with tempfile.TemporaryDirectory(prefix=".disk-image-", dir=os.path.dirname(path)) as work:
        disk = os.path.join(work, "disk")
        root = os.path.join(work, "root")
        os.mkdir(root)
        for name, text in files.items():
            with open(os.path.join(root, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        with open(disk, "wb") as stream:
            stream.truncate(size_mib * MIB)
        filesystem_mib = size_mib - FIRST_MIB - LAST_MIB
        _run(["sfdisk", "--quiet", disk],
             f"label: gpt\nstart={FIRST_MIB}MiB, size={filesystem_mib}MiB, name={LABEL}\n")
        _run(["mkfs.ext4", "-q", "-F", "-L", LABEL, "-d", root, "-E", f"offset={FIRST_MIB * MIB}", disk,
              f"{filesystem_mib * 1024}k"])
        result = file_digest.digest(disk)
        checksum = os.path.join(work, "checksum")
        with open(checksum, "w", encoding="ascii") as stream:
            stream.write(checksum_line(path, result))
        os.chmod(disk, 0o644)
        os.chmod(checksum, 0o644)
        os.replace(disk, path)
        os.replace(checksum, path + ".sha256")
    return result


def _run(arguments: list[str], text: str | None = None) -> None:
    # Debian keeps both programs in sbin, which is not on every user's path.
    environment = dict(os.environ, PATH=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin" + os.pathsep + "/sbin")
    try:
        result = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False,
                                timeout=TIMEOUT_SECONDS, env=environment)
    except FileNotFoundError:
        raise DiskImageError(f"program {arguments[0]} is missing: install the Debian packages fdisk and "
                             "e2fsprogs") from None
    except subprocess.TimeoutExpired:
        raise DiskImageError(f"{arguments[0]}: no end after {duration(TIMEOUT_SECONDS)}") from None
    if result.returncode:
        raise DiskImageError("%s: %s" % (arguments[0], result.stderr.strip() or f"exit code {result.returncode}"))

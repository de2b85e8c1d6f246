# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a disk image says of itself, and what of it is refused; pure."""
from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from ..._common.problems.problem import Problem

HEADER_BYTES = 1024
QCOW2, RAW = "qcow2", "raw"
_MAGIC = b"QFI\xfb"
# Of docs/interop/qcow2.txt in QEMU: the incompatible features of version 3, of which bit 2 is an external data file;
# five are known. The lab's simulated agent has the same rules in lab/machine_room, which imports no collection.
_EXTERNAL_DATA, _KNOWN_FEATURES = 1 << 2, 0b11111
_BACKING = ("backing-filename", "full-backing-filename", "backing-image")
# As distributions publish disks; neither qemu-img nor the deploy agent unpacks them.
_COMPRESSED = {
    b"\xfd7zXZ\0": "xz", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_BOOT_SIGNATURE, _BOOT_SIGNATURE_AT = b"\x55\xaa", 510


def disk_format(header: bytes) -> str | None:
    """Return the format of an image by its first bytes, ``qcow2`` or ``raw``; None when it is neither.

    A raw one has a partition table: anything else begins like nothing, and could be of any kind.
    """
    if header[:4] == _MAGIC:
        return QCOW2
    return RAW if header[_BOOT_SIGNATURE_AT:_BOOT_SIGNATURE_AT + 2] == _BOOT_SIGNATURE else None


def header_problems(name: str, header: bytes) -> list[Problem]:
    """Return why a program must not open an image: it would open another file with it.

    :param name: of the image, for the problems
    :param header: its first HEADER_BYTES
    """
    found = disk_format(header)
    if found is None:
        packed = next((title for mark, title in _COMPRESSED.items() if header.startswith(mark)), None)
        return [_problem(name, "", f"a file that is compressed by {packed}" if packed else "another format",
                         "qcow2, or raw with a partition table",
                         "unpack it, and take what comes out, for example by the option path of image_cache" if packed
                         else "convert it with qemu-img convert")]
    if found == RAW:
        return []
    if len(header) < 104:
        return [_problem(name, "", "an incomplete header", "an image in qcow2 form", "download it again")]
    version, backing, backing_length = struct.unpack_from(">IQI", header, 4)
    features = struct.unpack_from(">Q", header, 72)[0] if version == 3 else 0
    problems = []
    if version not in (2, 3):
        problems.append(_problem(name, "version", f"{version}", "2 or 3", "convert it with qemu-img convert"))
    if backing or backing_length:
        problems.append(_problem(name, "backing file", "a backing file",
                                 "none: it would be another file of this machine",
                                 "convert it with qemu-img convert, which takes all into one file"))
    if features & ~_KNOWN_FEATURES:
        problems.append(_problem(name, "features", f"{features & ~_KNOWN_FEATURES:#x}", "features that are known",
                                 "convert it with qemu-img convert"))
    if features & _EXTERNAL_DATA:
        problems.append(_problem(name, "data file", "an external data file",
                                 "none: it would be another file of this machine",
                                 "convert it with qemu-img convert, which takes all into one file"))
    if struct.unpack_from(">I", header, 32)[0]:
        problems.append(_problem(name, "encryption", "an encrypted image",
                                 "one without encryption: the deploy agent has no key",
                                 "convert it with qemu-img convert"))
    return problems


def info_problems(name: str, info: Mapping[str, Any], expected: str, disks: Mapping[str, int]) -> list[Problem]:
    """Return what is wrong with an image by what qemu-img says of it.

    :param name: of the image, for the problems
    :param info: of ``qemu-img info --output=json``
    :param expected: its format by its header
    :param disks: host → size in bytes of the disk that the image is for
    """
    problems = []
    if info.get("format") != expected:
        problems.append(_problem(name, "format", f"{info.get('format')}", expected, "download it again"))
    specific = info.get("format-specific")
    data = specific.get("data") if isinstance(specific, dict) else {}
    for field, there in (("backing file", any(info.get(key) for key in _BACKING)),
                         ("data file", isinstance(data, dict) and data.get("data-file")),
                         ("encryption", info.get("encrypted"))):
        if there:
            problems.append(_problem(name, field, "one", "none", "convert it with qemu-img convert"))
    needed = info.get("virtual-size")
    if not isinstance(needed, int) or needed <= 0:
        return [*problems, _problem(name, "virtual size", f"{needed}", "a number of bytes", "download it again")]
    for host, there in sorted(disks.items()):
        if there < needed:
            problems.append(Problem("node-image", host, "disk", f"{there} bytes",
                                    f"at least {needed}, the virtual size of {name}",
                                    "choose another disk by root device hints, or a smaller image"))
    return problems


def _problem(name: str, field: str, actual: str, expected: str, hint: str) -> Problem:
    return Problem("node-image", name, field, actual, expected, hint)

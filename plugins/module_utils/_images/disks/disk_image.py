# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disk images by qemu-img: looked at before it opens them, and converted."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.files import regular_file
from ..._common.problems.errors import RefusedError, ReportedError
from ..debian.debian_root import run
from . import disk_facts, node_disk

# qemu-img reads what somebody else wrote: bounded in memory and in its processors' time, as Ironic does it.
_LOOKING = ("prlimit", "--as=1073741824", "--cpu=60", "--")
_CONVERTING = ("prlimit", "--as=2147483648", "--cpu=7200", "--")
# A conversion has many threads. Each would take an area of 64 MiB for itself, up to eight for each processor.
_FEW_AREAS = {"MALLOC_ARENA_MAX": "3"}


def verified(path: str, name: str, disks: Mapping[str, int]) -> dict[str, Any]:
    """Return ``format`` and ``disk_bytes`` of an image that nothing is wrong with.

    :param path: of the image
    :param name: of the image, for the problems
    :param disks: host → size in bytes of the disk that the image is for
    :raises RefusedError: with what is wrong
    """
    # One file, by its descriptor: in the folder of an image server others may put another one at the path meanwhile.
    with regular_file.reading(path, follow=True) as (stream, _status):
        header = stream.read(disk_facts.HEADER_BYTES)
        found = disk_facts.header_problems(name, header)
        if found:
            raise RefusedError(found)
        kind = str(disk_facts.disk_format(header))
        info = _asked("info", "--output=json", "-f", kind, f"/proc/{os.getpid()}/fd/{stream.fileno()}")
    found = disk_facts.info_problems(name, info, kind, disks)
    if found:
        raise RefusedError(found)
    return {"format": kind, "disk_bytes": info["virtual-size"]}


def head(path: str) -> bytes:
    """Return the first bytes of a file, as many as decide what it is."""
    with regular_file.reading(path, follow=True) as (stream, _status):
        content: bytes = stream.read(disk_facts.HEADER_BYTES)
        return content


def data_bytes(path: str, kind: str) -> int:
    """Return how many bytes of a verified image are data: what it takes of a file system that stores no holes.

    :param path: of the image
    :param kind: its format
    """
    # Of a raw target qemu-img would say the size of the disk, holes included.
    found = _asked("measure", "--output=json", "-f", kind, "-O", disk_facts.QCOW2, path).get("required")
    if not isinstance(found, int):
        raise ReportedError(f"qemu-img measure: found {found}, expected a number of bytes")
    return found


def convert(path: str, kind: str, target: str) -> None:
    """Write a verified image in the other format: qcow2 as a raw disk, a raw disk as qcow2.

    :param path: of the image
    :param kind: its format
    :param target: path that is written
    """
    if kind == disk_facts.RAW:
        node_disk.compress(path, target)
    else:
        run([*_CONVERTING, "qemu-img", "convert", "-f", kind, "-O", disk_facts.RAW, path, target], "converting to raw",
            getting_on=True, env=dict(os.environ, **_FEW_AREAS))


def _asked(*arguments: str) -> dict[str, Any]:
    try:
        found = from_json(run([*_LOOKING, "qemu-img", *arguments], "reading the image"))
    except FileNotFoundError as exc:
        raise ReportedError("qemu-img is missing: install the package qemu-utils, or qemu-img on Red Hat") from exc
    return found if isinstance(found, dict) else {}

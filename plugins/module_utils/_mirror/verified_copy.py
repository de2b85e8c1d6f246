# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies whose digest is computed while they are written, and that get their name only when it is the right one.

A check before would be one of what was there then: others may exchange a file between a look and a copy.
"""
from __future__ import annotations

import hashlib
import os
import tempfile
from typing import IO

_CHUNK_BYTES = 1024 * 1024


def write(stream: IO[bytes], target: str, digest: str, mode: int) -> str:
    """Write a file from a stream and return its digest; another one than the expected leaves what was there.

    :param stream: what is copied
    :param target: path of the file; its folder is there
    :param digest: ``sha256:`` and 64 hexadecimal digits
    :param mode: permissions
    """
    computed = hashlib.sha256()
    # A name that cannot be foreseen: in a folder that others write into it could be a link.
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".metal3-")
    try:
        with os.fdopen(descriptor, "wb") as output:
            for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
                computed.update(chunk)
                output.write(chunk)
            os.fchmod(descriptor, mode)
        found = "sha256:" + computed.hexdigest()
        if found == digest:
            os.replace(temporary, target)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return found

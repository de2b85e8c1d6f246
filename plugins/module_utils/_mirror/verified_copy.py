# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies whose digest is computed while they are written, and that get their name only when it is the right one.

A check before would be one of what was there then: others may exchange a file between a look and a copy.
"""
from __future__ import annotations

import contextlib
import hashlib
from typing import IO

from .._common.files import whole_file

_CHUNK_BYTES = 1024 * 1024


class _OtherDigestError(Exception):
    """What was written does not get its name."""


def write(stream: IO[bytes], target: str, digest: str, mode: int) -> str:
    """Write a file from a stream and return its digest; another one than the expected leaves what was there.

    :param stream: what is copied
    :param target: path of the file
    :param digest: ``sha256:`` and 64 hexadecimal digits
    :param mode: permissions
    """
    computed = hashlib.sha256()
    found = ""
    with contextlib.suppress(_OtherDigestError), whole_file.writing(target, mode) as output:
        for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
            computed.update(chunk)
            output.write(chunk)
        found = "sha256:" + computed.hexdigest()
        if found != digest:
            raise _OtherDigestError
    return found

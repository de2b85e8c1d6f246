# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads files: resumed where they were cut, and given their name only with the right checksum."""
from __future__ import annotations

import http.client
import os
from collections.abc import Callable
from typing import Any

from ..files import file_digest
from ..problems.errors import ReportedError
from ..redaction.redaction import redacted
from .image_server import AnswerError, opened

# Whatever is sent in pieces that never end, or end late.
LARGEST_BYTES = 64 * 1024 ** 3
_SECONDS = 6 * 3600
_CHUNK_BYTES = 1024 * 1024


def file(url: str, target: str, checksum: str, ca_file: Any = None,
         announced: Callable[[int], Any] = lambda size_bytes: None) -> None:
    """Download a file.

    :param url: where it is, HTTP or HTTPS
    :param target: path to write; what was cut before is in ``<target>.partial``
    :param checksum: its type, a colon and hexadecimal digits, for example ``sha256:`` and 64 of them
    :param ca_file: file with the server's certificate authority; None for the system's
    :param announced: called with the bytes that are still to come before they are read, when the server names their
        number; raises when there is no room for them
    :raises ReportedError: when it can't be read, or is another one
    """
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    partial = target + ".partial"
    goes_on = os.path.exists(partial)
    found = _tried(url, partial, checksum, ca_file, announced)
    if found != checksum and goes_on:
        # The beginning may be that of another file: of another release under the same name, or of another server.
        os.unlink(partial)
        found = _tried(url, partial, checksum, ca_file, announced)
    if found != checksum:
        os.unlink(partial)
        raise ReportedError(f"{redacted(url)}: checksum: found {found}, expected {checksum}; correct the checksum, or "
                            "find out who changed the file")
    os.replace(partial, target)


def _tried(url: str, partial: str, checksum: str, ca_file: Any, announced: Callable[[int], Any]) -> str | None:
    """Bring a partial file to its end and return its checksum; the arguments are those of :func:`file`."""
    try:
        _read(url, partial, ca_file, announced)
    except AnswerError as exc:
        if exc.status != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise ReportedError(f"{redacted(url)}: {exc}; correct the URL") from exc
        # All of it was there; its checksum says whether it is the right one.
    except (OSError, http.client.HTTPException) as exc:
        raise ReportedError(f"{redacted(url)}: {type(exc).__name__ if not str(exc) else exc}; run again to go on from "
                            "where it stopped") from exc
    return file_digest.checksum(partial, checksum.partition(":")[0])


def _read(url: str, partial: str, ca_file: Any, announced: Callable[[int], Any]) -> None:
    # No link: what it leads to would be written.
    with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "rb+") as stream:
        there = stream.seek(0, os.SEEK_END)
        headers = {"Range": f"bytes={there}-"} if there else {}
        with opened(url, ca_file, headers, _SECONDS) as response:
            if response.status != http.HTTPStatus.PARTIAL_CONTENT:
                # A server that knows no ranges begins again.
                stream.seek(0)
                stream.truncate()
            if response.length is not None:
                announced(response.length)
            for chunk in iter(lambda: response.read(_CHUNK_BYTES), b""):
                stream.write(chunk)
                if stream.tell() > LARGEST_BYTES:
                    raise OSError(f"an answer of more than {LARGEST_BYTES // 1024 ** 3} GiB")
            # http.client takes the end of a connection for the end of a file.
            if response.length:
                raise OSError(f"an answer that ended {response.length} bytes early")

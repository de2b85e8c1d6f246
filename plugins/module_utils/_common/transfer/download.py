# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads files: resumed where they were cut, and given their name only with the right checksum."""
from __future__ import annotations

import contextlib
import errno
import http.client
import os
from collections.abc import Callable, Iterator
from typing import IO, Any

from ..files import file_digest, file_lock
from ..problems.errors import ReportedError
from ..redaction.redaction import redacted
from .image_server import AnswerError, AuthorityError, opened

# Whatever is sent in pieces that never end, or end late.
LARGEST_BYTES = 64 * 1024 ** 3
_SECONDS = 6 * 3600
_CHUNK_BYTES = 1024 * 1024
# Of the library of TLS.
_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
_NOT_TRUSTED = "give the file of the authority that signed the server's certificate"
_GO_ON = "run again to go on from where it stopped"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def file(url: str, target: str, checksum: str, ca_file: Any = None,
         announced: Callable[[int], Any] = lambda size_bytes: None, waiting: Callable[[], Any] = lambda: None) -> None:
    """Download a file; of several runs that download it at once one does, and the others wait for it.

    :param url: where it is, HTTP or HTTPS
    :param target: path to write; what was cut before is in ``<target>.partial``
    :param checksum: its type, a colon and hexadecimal digits, for example ``sha256:`` and 64 of them
    :param ca_file: file with the server's certificate authority; None for the system's
    :param announced: called with the bytes that are still to come before they are read, when the server names their
        number; raises when there is no room for them
    :param waiting: called without arguments before another run that downloads it is waited for
    :raises ReportedError: when it can't be read, or is another one
    """
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    partial = target + ".partial"
    waited: list[bool] = []

    def wait() -> None:
        waited.append(True)
        waiting()

    with _alone(partial, wait) as stream:
        if waited and file_digest.checksum(target, checksum.partition(":")[0]) == checksum:
            os.unlink(partial)
            return
        goes_on = stream.seek(0, os.SEEK_END) > 0
        found = _tried(url, stream, partial, checksum, ca_file, announced)
        if found != checksum and goes_on:
            # The beginning may be that of another file: of another release under the same name, or of another server.
            stream.truncate(0)
            found = _tried(url, stream, partial, checksum, ca_file, announced)
        if found != checksum:
            os.unlink(partial)
            raise ReportedError(f"{redacted(url)}: checksum: found {found}, expected {checksum}; correct the checksum, "
                                "or find out who changed the file")
        os.replace(partial, target)


@contextlib.contextmanager
def _alone(partial: str, waiting: Callable[[], Any]) -> Iterator[IO[bytes]]:
    """Give the partial file, locked: a run that is killed gives the lock back, and leaves what it has read."""
    with contextlib.ExitStack() as held:
        try:
            stream = held.enter_context(file_lock.held_file(partial, waiting))
        except OSError as exc:
            raise ReportedError(f"{partial}: {exc.strerror or exc}; find out who has made it, and delete it") from exc
        yield stream


def _tried(url: str, stream: IO[bytes], partial: str, checksum: str, ca_file: Any,
           announced: Callable[[int], Any]) -> str | None:
    """Bring a partial file to its end and return its checksum; the arguments are those of :func:`file`."""
    try:
        _read(url, stream, ca_file, announced)
    except AnswerError as exc:
        if exc.status != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise ReportedError(f"{redacted(url)}: {exc}; {_advice(exc.status)}") from exc
        # All of it was there; its checksum says whether it is the right one.
    except AuthorityError as exc:
        raise ReportedError(f"{exc.filename}: {exc.strerror}, expected certificates of the authority of "
                            f"{redacted(url)}; correct the path, or leave it out for those of this machine") from exc
    except (OSError, http.client.HTTPException) as exc:
        if isinstance(exc, OSError) and exc.errno in _NO_ROOM:
            # A server need not say how long its answer is; what else writes there has room again.
            os.unlink(partial)
            raise ReportedError(f"{redacted(url)}: {exc.strerror}; free space, then run again to begin from the start"
                                ) from exc
        text = str(exc) or type(exc).__name__
        raise ReportedError(f"{redacted(url)}: {text}; {_NOT_TRUSTED if _UNTRUSTED in text else _GO_ON}") from exc
    return file_digest.checksum(partial, checksum.partition(":")[0])


def _advice(status: int) -> str:
    if status in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN):
        return "correct the URL, or the login in it"
    if status == http.HTTPStatus.TOO_MANY_REQUESTS or status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return "look at the server, or run again later"
    return "correct the URL"


def _read(url: str, stream: IO[bytes], ca_file: Any, announced: Callable[[int], Any]) -> None:
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
        stream.flush()
        # http.client takes the end of a connection for the end of a file.
        if response.length:
            raise OSError(f"an answer that ended {response.length} bytes early")

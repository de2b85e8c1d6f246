# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of etcd as it comes: whether it is whole, and its form as a file; pure.

etcd sends its database and, after it, the SHA-256 of that, which stays at the end of the file: ``etcdctl snapshot
save`` writes the same, and ``etcdutl`` compares it.
"""
from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import io
import json
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .._common.documents import tar_headers
from .._common.documents.document_text import from_json
from .._common.texts.plain_text import plain
from .errors import EtcdError

FORMAT = 1
ABOUT_NAME, DATABASE_NAME = "about.json", "snapshot.db"
DIGEST_BYTES = hashlib.sha256().digest_size
_ABOUT_BYTES = 64 * 1024
# etcd warns of more than 8 GiB.
LONGEST_BYTES = 64 * 1024 ** 3
_PAGE_BYTES = 512
# bbolt's db.go and page.go: the first page begins with 16 bytes of its own, then the mark of a database.
_MARK, _MARK_AT = bytes.fromhex("edda0ced"), 16
_TAR_BLOCK = 512
_GZIP = 31


class About(NamedTuple):
    """What a snapshot is of.

    :ivar taken_at: RFC 3339 time
    :ivar namespace: the cluster's namespace in the management cluster
    :ivar cluster: its name
    :ivar uid: uid of its Namespace kube-system, by which it is known whatever it is called
    :ivar authority: SHA-256 of the certificate of its authority
    :ivar kubernetes_version: for example ``v1.35.4``
    :ivar etcd_version: for example ``3.6.16``
    :ivar revision: etcd's revision just before
    """

    taken_at: str
    namespace: str
    cluster: str
    uid: str
    authority: str
    kubernetes_version: str
    etcd_version: str
    revision: int


def about_of(content: bytes) -> About:
    """Return what a file says of its snapshot.

    :raises EtcdError: when it is none of this collection's
    """
    try:
        data = from_json(content)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _invalid(f"format {data.get('format') if isinstance(data, dict) else None}")
    found: dict[str, Any] = dict((name, data.get(name)) for name in About._fields)
    # Playbooks print some of it as it is.
    if not all(isinstance(found[name], str) and found[name] and plain(found[name]) == found[name]
               for name in found if name != "revision") or not isinstance(found["revision"], int):
        raise _invalid("an incomplete description of a snapshot")
    return About(**found)


def _invalid(found: str) -> EtcdError:
    return EtcdError(f"found {found}, expected a file of etcd_snapshot, whole; take another one")


class Blobs:
    """The bytes of a snapshot, checked as they pass.

    :param messages: what :meth:`Member.snapshot` gives
    :param subject: what errors name
    :raises EtcdError: while it is read, when it is not whole
    """

    def __init__(self, messages: Iterable[Mapping[str, Any]], subject: str) -> None:
        self._messages, self._subject = iter(messages), subject
        self._first = self._blob()
        #: how many bytes there are in all, the digest included
        self.size = len(self._first[0]) + self._first[1] + DIGEST_BYTES
        if self._first[0][_MARK_AT:_MARK_AT + len(_MARK)] != _MARK:
            raise self._broken("found no database of etcd at its beginning")
        if self.size > LONGEST_BYTES:
            raise self._broken(f"found {self.size} bytes announced, expected {LONGEST_BYTES} at most")

    def __iter__(self) -> Iterator[bytes]:
        digest, held, count = hashlib.sha256(), b"", 0
        blob = self._first[0]
        # Who sends more than was announced is not listened to for ever.
        while blob and count <= self.size:
            count += len(blob)
            held += blob
            digest.update(held[:-DIGEST_BYTES])
            yield held[:-DIGEST_BYTES]
            held = held[-DIGEST_BYTES:]
            blob = self._blob()[0]
        if count != self.size or (count - DIGEST_BYTES) % _PAGE_BYTES:
            raise self._broken(f"found {count} bytes, expected {self.size}")
        if not hmac.compare_digest(digest.digest(), held):
            raise self._broken("its digest is another one than etcd has sent")
        yield held

    def _blob(self) -> tuple[bytes, int]:
        message = next(self._messages, {})
        try:
            return base64.b64decode(message.get("blob") or "", validate=True), int(message.get("remaining_bytes") or 0)
        except (TypeError, ValueError, OverflowError):
            raise self._broken("found a message that is none of a snapshot") from None

    def _broken(self, found: str) -> EtcdError:
        return EtcdError(f"{self._subject}: snapshot: {found}; run again")


def packed(about: About, size: int, blobs: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a compressed tar archive with what a snapshot is of, and the snapshot.

    :param size: of the snapshot, in bytes
    :param blobs: the snapshot
    """
    compressor = zlib.compressobj(wbits=_GZIP)
    text = json.dumps({"format": FORMAT, **about._asdict()}, sort_keys=True).encode()
    yield compressor.compress(_header(ABOUT_NAME, len(text)) + text + _padding(len(text)))
    yield compressor.compress(_header(DATABASE_NAME, size))
    for blob in blobs:
        yield compressor.compress(blob)
    yield compressor.compress(_padding(size) + bytes(2 * _TAR_BLOCK))
    yield compressor.flush()


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % _TAR_BLOCK)


class Chunks(io.RawIOBase):
    """What a generator yields, as a file; with the digest of what was read.

    :param parts: bytes, one after another
    """

    def __init__(self, parts: Iterable[bytes]) -> None:
        super().__init__()
        self._parts, self._left = iter(parts), b""
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer and return how much was filled, 0 at the end."""
        while not self._left:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._left = part
        taken, self._left = self._left[:len(buffer)], self._left[len(buffer):]
        buffer[:len(taken)] = taken
        self._digest.update(taken)
        return len(taken)

    def sha256(self) -> str:
        """Return the digest of what was read, hexadecimal."""
        return self._digest.hexdigest()


class _Archive(tar_headers.ShortHeaders, gzip.GzipFile):
    """A compressed archive."""


def unpacked(archive: Any, database: Any) -> About:
    """Write the snapshot of an archive to a file and return what it is of.

    :param archive: file with what :func:`packed` has made, as anybody may have changed it
    :param database: file to write to
    :raises EtcdError: when it is none, or not whole
    """
    try:
        with _Archive(fileobj=archive) as plain, tarfile.open(fileobj=plain, mode="r:") as members:
            stream = _member(members, ABOUT_NAME)
            plain.in_file = True
            about = about_of(stream.read(_ABOUT_BYTES))
            plain.in_file = False
            stream, digest, held = _member(members, DATABASE_NAME), hashlib.sha256(), b""
            plain.in_file = True
            for part in iter(lambda: stream.read(1024 ** 2), b""):
                held += part
                digest.update(held[:-DIGEST_BYTES])
                held = held[-DIGEST_BYTES:]
                database.write(part)
    except (*tar_headers.FAULTS, zlib.error, gzip.BadGzipFile) as exc:
        raise _invalid("what is no archive, or a part of one") from exc
    if digest.digest() != held:
        raise _invalid("a snapshot whose digest is another one")
    return about


def _member(members: tarfile.TarFile, name: str) -> Any:
    found = members.next()
    # What a sparse file becomes has no limit.
    if found is None or found.name != name or not found.isreg() or found.issparse() or found.size > LONGEST_BYTES:
        raise _invalid(f"no {name} where it belongs")
    return members.extractfile(found)

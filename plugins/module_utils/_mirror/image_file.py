# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes one file out of a container image, without a container engine: out of the last layer that has it.

Source: OCI image specification 1.0, layer.md (whiteouts).
"""
from __future__ import annotations

import contextlib
import gzip
import io
import os
import posixpath
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO

from .._common.documents import tar_headers
from .._common.documents.document_text import from_json
from .._common.problems.errors import ReportedError
from . import archive, bill

# Beyond what the largest program of the plane has, several times.
LONGEST_BYTES = 2 * 1024 ** 3
# Of a layer, beyond those of any image that has a program of the plane. A few megabytes may be packed to terabytes.
LONGEST_LAYER_BYTES = 16 * 1024 ** 3
MOST_MEMBERS = 1_000_000
_GZIP = b"\x1f\x8b"
_CHUNK_BYTES = 1024 * 1024
# Of a chain of links, more than any image has.
_LINKS = 8
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"


class _Headers(tar_headers.ShortHeaders):
    # A path and the one that it leads to, with what file systems know of a file.
    longest_bytes = 16 * 1024


class _Plain(_Headers, io.BufferedReader):
    """A layer as it is."""


class _Packed(_Headers, gzip.GzipFile):
    """A layer that is compressed."""


class ImageFileError(ReportedError):
    """An image does not have the file; the message says what it has."""


def take(directory: str, path: str, target: str) -> None:
    """Write a file of an image to a path, executable.

    :param directory: the image, in the form of skopeo's "dir" transport, of one architecture
    :param path: absolute path in the image
    :param target: path to write to; only what is complete has this name
    :raises ImageFileError: when the image has no such file
    """
    wanted = path
    for _number in range(_LINKS):
        link = _taken(directory, wanted, target)
        if link is None:
            return
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(wanted), link))
    raise ImageFileError(f"{path}: more than {_LINKS} links in the image; name another image")


def _taken(directory: str, path: str, target: str) -> str | None:
    """Write a file; returns where it leads to when it is a link."""
    wanted, folder_link, is_hidden = path.lstrip("/"), None, False
    for layer in reversed(_layers(directory)):
        if is_hidden:
            break
        with _opened(path, layer) as (stream, plain):
            for member in _members(path, stream):
                name = posixpath.normpath(member.name).lstrip("/")
                # What a sparse file becomes has no limit.
                if name == wanted and member.isreg() and not member.issparse():
                    plain.in_file = True
                    _write(path, stream.extractfile(member), member.size, target)
                    return None
                if name == wanted and (member.issym() or member.islnk()):
                    return "/" + member.linkname if member.islnk() else member.linkname
                if member.issym() and wanted.startswith(name + "/") and folder_link is None:
                    # A folder, as /bin of most images.
                    folder_link = posixpath.join("/", posixpath.dirname(name), member.linkname, wanted[len(name) + 1:])
                # Only what is below: a folder that was emptied and filled again has both in one layer.
                is_hidden = is_hidden or _removes(name, wanted)
    if folder_link:
        return folder_link
    raise ImageFileError(f"{path}: {'removed in a layer of' if is_hidden else 'not in'} the image; name another image")


@contextlib.contextmanager
def _opened(path: str, layer: str) -> Iterator[tuple[tarfile.TarFile, _Plain | _Packed]]:
    """Give a layer, and the file that it is.

    :param path: of the wanted file, for messages
    :raises ImageFileError: for what is no layer
    """
    try:
        with open(layer, "rb", buffering=0) as raw:
            packed = raw.read(len(_GZIP)) == _GZIP
            raw.seek(0)
            plain = _Packed(fileobj=raw) if packed else _Plain(raw)
            with tarfile.open(fileobj=plain, mode="r:") as stream:
                yield stream, plain
    except (*tar_headers.FAULTS, zlib.error, gzip.BadGzipFile) as exc:
        raise ImageFileError(f"{path}: found a layer that can't be read ({exc}), expected a tar archive, plain or by "
                             "gzip; name another image") from exc


def _members(path: str, stream: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield what a layer has, as far as that of an honest image goes."""
    for number, member in enumerate(stream):
        # What the next one is read behind of.
        if number >= MOST_MEMBERS or stream.offset > LONGEST_LAYER_BYTES:
            raise ImageFileError(f"{path}: found a layer with more than {MOST_MEMBERS} entries or "
                                 f"{LONGEST_LAYER_BYTES // 1024 ** 3} GiB, expected less; name another image")
        yield member
        # They would be kept until the end.
        stream.members.clear()  # type: ignore[attr-defined]


def _removes(name: str, wanted: str) -> bool:
    """Say whether a member hides a file of the layers below."""
    folder, base = posixpath.split(name)
    if base == _OPAQUE:
        return wanted.startswith(folder + "/")
    hidden = posixpath.join(folder, base[len(_WHITEOUT):])
    return base.startswith(_WHITEOUT) and (wanted == hidden or wanted.startswith(hidden + "/"))


def _layers(directory: str) -> list[str]:
    """Return the paths of an image's layers, the lowest first."""
    path = os.path.join(directory, "manifest.json")
    try:
        with open(path, "rb") as stream:
            manifest = from_json(stream.read(archive.LONGEST_DOCUMENT_BYTES))
        # Its config is the first.
        lists, blobs = bill.blobs(manifest)
    except ValueError as exc:
        raise ImageFileError(f"{path}: {exc}; name an image of one architecture") from exc
    if lists:
        raise ImageFileError(f"{path}: a list of images; name an image of one architecture")
    return [os.path.join(directory, digest.partition(":")[2]) for digest in blobs[1:]]


def _write(path: str, stream: IO[bytes] | None, size: int, target: str) -> None:
    if stream is None or size > LONGEST_BYTES:
        raise ImageFileError(f"{path}: {size} bytes in the image, expected at most {LONGEST_BYTES}; name another image")
    partial = target + ".partial"
    with open(partial, "wb") as output:
        for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
            output.write(chunk)
    os.chmod(partial, 0o755)
    os.replace(partial, target)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive's file: written and read as a plain tar, of which only what the bill names is taken."""
from __future__ import annotations

import contextlib
import io
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import IO, Any

from .._common.documents import tar_headers
from .._common.documents.document_text import from_json
from .._common.files import file_digest, regular_file, whole_file
from .._common.problems.errors import ReportedError
from . import bill as bills
from . import verified_copy

VERSION_FILE = "version"
# What skopeo's "dir" transport wants to find in a folder.
VERSION_TEXT = b"Directory Transport Version: 1.1\n"
_MODE = 0o644
# A manifest of an image, and a bill; registries take no larger manifests.
LONGEST_DOCUMENT_BYTES = 4 * 1024 * 1024
# An image has one list; more than a few in each other are somebody's trick.
_DEEPEST_LIST = 4
_IMAGE = re.compile(r"images/(0|[1-9]\d{0,3})/(?:(manifest\.json)|([0-9a-f]{64})(?:\.manifest\.json)?)")
_DOCUMENTS = (bills.SPDX, bills.CYCLONEDX)
# What a folder has of an archive.
PARTS = (bills.BILL, *_DOCUMENTS, "files", "images")


class _Archive(tar_headers.ShortHeaders, io.BufferedReader):
    """An archive that is read."""


class ArchiveError(ReportedError):
    """An archive could not be written or is not what it should be; the message says what is wrong."""


@contextlib.contextmanager
def _opened(path: str) -> Iterator[tuple[tarfile.TarFile, _Archive]]:
    """Give an archive, and the file that it is, which may lie where others write."""
    with regular_file.reading(path, follow=True) as (stream, _status):
        plain = _Archive(stream.raw)
        with tarfile.open(fileobj=plain, mode="r:") as archive:
            yield archive, plain


def image_dir(work_dir: str, number: int) -> str:
    """Return the folder of an image.

    :param number: its place in the bill
    """
    return os.path.join(work_dir, "images", str(number))


def file_path(work_dir: str, name: str) -> str:
    """Return the path of a gathered file."""
    return os.path.join(work_dir, "files", name)


def image_fault(directory: str, digest: str) -> str | None:
    """Return why a folder is not the image of a digest as a whole, or None. All of it is read.

    :param directory: in the form of skopeo's "dir" transport
    :param digest: of its manifest, or of its list of manifests
    """
    return _manifest_fault(directory, "manifest.json", digest, 1)


def _manifest_fault(directory: str, name: str, digest: str, depth: int) -> str | None:
    path = os.path.join(directory, name)
    found = file_digest.checksum(path)
    if found != digest:
        return f"{name}: {'missing' if found is None else f'found {found}, expected {digest}'}"
    if os.path.getsize(path) > LONGEST_DOCUMENT_BYTES:
        return f"{name}: longer than a manifest may be"
    try:
        with open(path, "rb") as stream:
            manifests, blobs = bills.blobs(from_json(stream.read()))
    except ValueError as exc:
        return f"{name}: {exc}"
    if manifests and depth > _DEEPEST_LIST:
        return f"{name}: a list of manifests in {_DEEPEST_LIST} others"
    for item in manifests:
        fault = _manifest_fault(directory, item.partition(":")[2] + ".manifest.json", item, depth + 1)
        if fault:
            return fault
    for item in blobs:
        found = file_digest.checksum(os.path.join(directory, item.partition(":")[2]))
        if found != item:
            return f"{item}: {'missing' if found is None else f'found {found}'}"
    return None


def write(path: str, work_dir: str, bill: bills.Bill) -> None:
    """Write an archive, complete or not at all, with the bill first.

    :param path: of the archive
    :param work_dir: folder with the images, files and documents
    :param bill: its bill
    """
    names = [bills.BILL, *_DOCUMENTS, *(f"files/{entry['name']}" for entry in bill["files"])]
    for number in range(len(bill["images"])):
        names += [f"images/{number}/{name}" for name in sorted(os.listdir(image_dir(work_dir, number)))
                  if _IMAGE.fullmatch(f"images/{number}/{name}")]
    with whole_file.writing(path, _MODE) as stream, \
            tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in names:
            archive.add(os.path.join(work_dir, name), name, recursive=False, filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def bill_of(path: str, checksum: str | None = None) -> bills.Bill:
    """Return the bill of an archive.

    :param path: of the archive
    :param checksum: that its bill must have, ``sha256:`` and 64 hexadecimal digits; None for any
    :raises ArchiveError: for what is no archive, or not the expected one
    """
    try:
        with _opened(path) as (archive, plain):
            member = archive.next()
            if member is None or member.name != bills.BILL or not member.isreg():
                raise ArchiveError(f"{path}: found no bill of materials at its beginning, expected an archive of this "
                                   "collection; gather it again")
            plain.in_file = True
            return _bill(path, archive.extractfile(member), member.size, checksum)
    except OSError as exc:
        raise ArchiveError(f"{path}: {exc.strerror or exc}; correct the path") from exc
    except tar_headers.FAULTS as exc:
        raise ArchiveError(f"{path}: {exc}; copy or gather it again") from exc


def is_whole(path: str, bill: bills.Bill) -> bool:
    """Return whether an archive has its end, and all that its bill names; contents are not read.

    :param path: of the archive
    :param bill: of :func:`bill_of`
    """
    try:
        with _opened(path) as (archive, _plain):
            found = set(member.name for member in archive)
    except (OSError, *tar_headers.FAULTS):
        return False
    # Of an image the manifest is written last.
    return found.issuperset([*(f"files/{entry['name']}" for entry in bill["files"]),
                             *(f"images/{number}/manifest.json" for number in range(len(bill["images"])))])


def _bill(path: str, stream: IO[bytes] | None, size: int, checksum: str | None) -> bills.Bill:
    if stream is None or size > LONGEST_DOCUMENT_BYTES:
        raise ArchiveError(f"{path}: its bill of materials has {size} bytes; gather it again")
    content = stream.read()
    found = file_digest.checksum_of(content)
    if checksum and found != checksum:
        raise ArchiveError(f"{path}: checksum: found {found}, expected {checksum}; find out who changed the archive")
    try:
        return bills.parse(content)
    except ValueError as exc:
        raise ArchiveError(f"{path}: {exc}; gather it again") from exc


def extract(path: str, work_dir: str, bill: bills.Bill, report: Callable[[str], Any]) -> None:
    """Extract what a bill names, each file under a name of our own, checked while it is written.

    What was extracted before and is whole stays, so that a run that was cut goes on.

    :param path: of the archive
    :param work_dir: folder to write into
    :param bill: of :func:`bill_of`
    :param report: callable that takes a line of progress
    :raises ArchiveError: for anything that the bill does not name, and for contents with another digest
    """
    files = dict((f"files/{entry['name']}", entry["digest"]) for entry in bill["files"])
    seen: set[str] = set()
    try:
        with _opened(path) as (archive, plain):
            for member in archive:
                if member.name in seen or not member.isreg() or member.issparse():
                    raise ArchiveError(f'{path}: "{member.name}": found twice or no plain file; '
                                       "do not use this archive")
                seen.add(member.name)
                if member.name == bills.BILL or member.name in _DOCUMENTS:
                    continue
                digest, target = _target(path, work_dir, bill, files, member)
                if file_digest.checksum(target) == digest:
                    continue
                report(f"extracting {member.name}")
                plain.in_file = True
                _copy(path, archive.extractfile(member), target, digest)
                plain.in_file = False
    except tar_headers.FAULTS as exc:
        raise ArchiveError(f"{path}: {exc}; copy or gather it again") from exc
    _check(path, work_dir, bill)


def _target(path: str, work_dir: str, bill: bills.Bill, files: dict[str, str],
            member: tarfile.TarInfo) -> tuple[str, str]:
    """Return the digest that a member must have, and the path to write it to, made of the bill and of digests only."""
    if member.name in files:
        return files[member.name], file_path(work_dir, member.name.partition("/")[2])
    match = _IMAGE.fullmatch(member.name)
    if not match or int(match.group(1)) >= len(bill["images"]):
        raise ArchiveError(f'{path}: "{member.name}": found in the archive, expected only what its bill names; '
                           "do not use this archive")
    number = int(match.group(1))
    digest = bill["images"][number]["digest"] if match.group(2) else "sha256:" + match.group(3)
    return digest, os.path.join(image_dir(work_dir, number), member.name.rpartition("/")[2])


def _copy(path: str, stream: IO[bytes] | None, target: str, digest: str) -> None:
    if stream is None:
        raise ArchiveError(f"{path}: cannot be read; copy it again")
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    found = verified_copy.write(stream, target, digest, _MODE)
    if found != digest:
        raise ArchiveError(f"{path}: {os.path.basename(target)}: found {found}, expected {digest}; "
                           "copy or gather it again")


def _check(path: str, work_dir: str, bill: bills.Bill) -> None:
    faults = [f"file {entry['name']}: missing" for entry in bill["files"]
              if not os.path.exists(file_path(work_dir, entry["name"]))]
    for number, entry in enumerate(bill["images"]):
        fault = image_fault(image_dir(work_dir, number), entry["digest"])
        if fault:
            faults.append(f"image {entry['name']}: {fault}")
    if faults:
        raise ArchiveError(f"{path}: not whole; copy or gather it again:\n" + "\n".join(f"- {item}" for item in faults))
    for number in range(len(bill["images"])):
        with open(os.path.join(image_dir(work_dir, number), VERSION_FILE), "wb") as stream:
            stream.write(VERSION_TEXT)

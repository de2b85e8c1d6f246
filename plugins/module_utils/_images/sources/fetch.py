# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches files once: from a URL, verified by a checksum, or out of an archive that came so."""
from __future__ import annotations

import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

from ..._common.files import cache_entry, file_digest
from ..._common.problems.errors import ReportedError
from ..._common.redaction.redaction import redacted
from ..._common.transfer import download


def fetched(url: str, checksum: str, cache_dir: str, ca_file: str | None, progress: Any) -> str:
    """Return the path of a file in the cache, downloaded if it is not there as it came.

    :param url: where it is
    :param checksum: ``sha256:`` and 64 hexadecimal digits
    :param cache_dir: see user_folders.cache_dir()
    :param ca_file: the server's certificate authority; None for the system's
    :param progress: a Progress
    :raises ReportedError: when it cannot be read, is another one, or others could have put one there
    """
    path = os.path.join(cache_dir, "downloads", checksum.partition(":")[2])
    cache_entry.require_own(cache_dir, os.path.dirname(path))
    # It was verified when it came, but a machine that lost its power, or a disk, may have another one by now, which
    # would be published with a checksum of its own.
    if file_digest.checksum(path) != checksum:
        progress.event(f"Downloading {redacted(url)}")
        download.file(url, path, checksum, ca_file,
                      waiting=lambda: progress.event(f"Another process downloads {redacted(url)}: waiting for it"))
        progress.wrote(path, "created")
    return path


def write_member(archive: str, member: str, target: IO[bytes]) -> None:
    """Write one file of an archive.

    :param archive: path of a tar file, of whatever compression
    :param member: the file's path in it
    :param target: where it is written
    :raises ReportedError: when it is not in it, or not a file
    """
    try:
        with tarfile.open(archive) as stream:
            found: Mapping[str, tarfile.TarInfo] = dict((os.path.normpath(item.name), item) for item in stream)
            wanted = found.get(os.path.normpath(member))
            source = stream.extractfile(wanted) if wanted is not None and wanted.isfile() else None
            if source is None:
                files = sorted(name for name, item in found.items() if item.isfile())
                raise ReportedError(f"downloads: member: found \"{member}\", expected a file of the archive: "
                                    f"{', '.join(files[:10]) or 'it has none'}; correct member")
            shutil.copyfileobj(source, target)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as exc:
        raise ReportedError(f"downloads: member: found a file that is no tar archive ({exc}), expected one; remove "
                            "member, or correct the URL") from exc

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that a module writes for its user: complete or not at all."""
from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from typing import Any

from . import left_over, regular_file

# Of a file that is longer than its new content.
_COMPARED_BYTES = 16 * 1024 ** 2
# Of a report that is new.
_REPORT_MODE = 0o644
_PREFIX = ".metal3-"
# What tempfile puts behind it.
_TEMPORARY = re.compile(re.escape(_PREFIX) + "[a-z0-9_]{8}")


def write(path: Any, content: Any, mode: Any, check_mode: Any) -> Any:
    """Bring a file to a content and a mode, in one step; return what it held, None when all is as it is to be.

    :param path: file to write; missing folders are made
    :param content: bytes
    :param mode: permissions
    :param check_mode: only say what would happen
    :raises OSError: when it can't be read or written
    """
    before = b""
    if os.path.exists(path):
        # What others may have put there is neither waited for nor taken into memory, and is replaced.
        with contextlib.suppress(regular_file.NotRegularError), regular_file.reading(path, follow=True) as (
                stream, found):
            before = stream.read(max(len(content), _COMPARED_BYTES) + 1)
            if before == content and found.st_mode & 0o777 == mode:
                return None
    if check_mode:
        return before
    with writing(path, mode) as stream:
        stream.write(content)
    return before


def own_mode(path: str) -> int | None:
    """Return the permissions of a file of this user's own, None where there is none.

    Those of a file that somebody else has made say nothing about who may read what takes its place.

    :param path: of the file
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() else None


def write_report(path: str, content: str, check_mode: bool) -> bool:
    """Write a report, whole, and return whether its file changed, or would have; who may read it stays as it is.

    :param path: of the file
    :param content: its text
    :param check_mode: write nothing
    :raises OSError: when it can't be read or written
    """
    mode = own_mode(path)
    return write(path, content.encode(), _REPORT_MODE if mode is None else mode, check_mode) is not None


def write_private(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file that only its owner may read, complete or not at all.

    :param path: file to write
    :param data: bytes
    :param mode: permissions
    """
    # A file of a name that can be foreseen may be there already, and be somebody else's, or a link.
    with writing(path, mode) as stream:
        stream.write(data)


@contextlib.contextmanager
def writing(path: str, mode: int) -> Iterator[Any]:
    """Give a file to write to for the time of a ``with``; it has its name only when that ends without an error.

    Before, remove what killed runs have left in its folder, which may be as long as an archive.

    :param path: file to write; missing folders are made
    :param mode: permissions
    :raises OSError: when it can't be written
    """
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, mode=0o700, exist_ok=True)
    left_over.remove(folder, _TEMPORARY, False)
    # A name that cannot be foreseen: in a folder that others write into it could be a link.
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=_PREFIX)
    with os.fdopen(descriptor, "wb") as stream, contextlib.ExitStack() as held:
        try:
            # Where a file system has no locks nothing is removed either.
            with contextlib.suppress(OSError):
                held.enter_context(left_over.locked(temporary))
            yield stream
            # Not atomic_move, which gives a new file the mode that the umask says; and by the descriptor: who may
            # write into the folder may put a link in the file's place.
            os.fchmod(descriptor, mode)
            stream.close()
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

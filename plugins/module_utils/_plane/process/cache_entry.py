# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of the cache that is either complete or not there."""
from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def making(directory: str, progress: Any) -> Iterator[str | None]:
    """Give a folder to fill, which gets its name when the block ends without an exception.

    Yields None if the folder is there already, perhaps since another process made it while this one waited. What a
    killed process left is removed first.

    :param directory: the folder's final name
    :param progress: a Progress
    """
    os.makedirs(os.path.dirname(directory), mode=0o755, exist_ok=True)
    partial = directory + ".partial"
    with open(directory + ".lock", "w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.event(f"Another process makes {directory}: waiting for it")
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.path.isdir(directory):
            yield None
            return
        shutil.rmtree(partial, ignore_errors=True)
        os.mkdir(partial, 0o755)
        try:
            yield partial
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        os.rename(partial, directory)
        progress.wrote(directory, "created")

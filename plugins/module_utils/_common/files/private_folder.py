# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Temporary folders for what nobody else may read: removed at the end, or by the next run after one that was killed."""
from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator

from . import left_over


@contextlib.contextmanager
def folder(prefix: str, parent: str | None = None) -> Iterator[str]:
    """Give a new folder of mode 0700 for the time of a ``with``; before, remove those that killed runs have left.

    :param prefix: beginning of the folder's name, of nothing else in its parent
    :param parent: folder that it is made in, None for that of temporary files
    """
    left_over.remove(parent or tempfile.gettempdir(), re.compile(re.escape(prefix) + ".*"), True)
    path = tempfile.mkdtemp(prefix=prefix, dir=parent)
    try:
        with left_over.locked(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)

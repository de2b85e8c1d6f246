# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on a server's disk, and something that a test leaves there."""
from __future__ import annotations

# Beyond what is wiped of a disk's partition table.
MARK, MARK_OFFSET = b"somebody's data", 64 * 1024 ** 2


def beginning(path, size=1024 * 1024):
    """Return the first bytes of a file."""
    with open(path, "rb") as stream:
        return stream.read(size)


def mark(path):
    """Write something to a disk where no partition table is."""
    with open(path, "r+b") as stream:
        stream.seek(MARK_OFFSET)
        stream.write(MARK)


def marked(path):
    """Tell whether it is still there."""
    with open(path, "rb") as stream:
        stream.seek(MARK_OFFSET)
        return stream.read(len(MARK)) == MARK

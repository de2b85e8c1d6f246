# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Headers of archives that others may have made: read as far as honest ones go; pure."""
from __future__ import annotations

import io
import tarfile

# Headers are blocks of half of it, but for those that say of a long name or a large file.
LONGEST_BYTES = 1024
# What tarfile raises for what is no archive. Of several headers for one file each is read inside of the one before.
FAULTS = (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError)


class ShortHeaders(io.BufferedIOBase):
    """Before a class of files: a header is refused that is longer. tarfile reads at once what it announces.

    :ivar in_file: whether it is a file's content that is read
    :ivar longest_bytes: of a header
    """

    in_file = False
    longest_bytes = LONGEST_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        """Return what is read.

        :raises TarError: for a header that is too long
        """
        if not self.in_file and (size is None or not 0 <= size <= self.longest_bytes):
            raise tarfile.ReadError("longer than headers are")
        return super().read(size)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that only their owner may read, written complete or not at all."""
from __future__ import annotations

from ..._common import whole_file


def write_private(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file that only its owner may read, complete or not at all.

    :param path: file to write
    :param data: bytes
    :param mode: permissions
    """
    # A file of a name that can be foreseen may be there already, and be somebody else's, or a link.
    with whole_file.writing(path, mode) as stream:
        stream.write(data)

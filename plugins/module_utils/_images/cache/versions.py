# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of an image server's folder are versions of an image that this collection has made.

A name alone does not say it: whoever puts other files there may name them by a date and a time of twelve digits. So a
version is one whose checksum file, which is written before it and removed after it, has the digits of its name.
"""
from __future__ import annotations

import os

from ..._common.files import regular_file
from . import cache_options

_CHECKSUM = ".sha256"
_LONGEST_BYTES = 1024


def recorded(directory: str, name: str) -> list[str]:
    """Return the names of an image's versions, and of those that a killed run has left without their file.

    :param directory: the folder
    :param name: of the image
    """
    listed = [item.removesuffix(_CHECKSUM) for item in os.listdir(directory) if item.endswith(_CHECKSUM)]
    return [item for item in cache_options.versions_in(listed, name) if _is_recorded(directory, item, name)]


def _is_recorded(directory: str, version: str, name: str) -> bool:
    try:
        with regular_file.reading(os.path.join(directory, version + _CHECKSUM)) as (stream, status):
            if regular_file.others_may_write(status):
                return False
            text: str = stream.read(_LONGEST_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    digest, _space, named = text.partition("  ")
    return named == f"{version}\n" and cache_options.version_name(name, digest) == version

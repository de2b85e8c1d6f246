# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders that other users may enter, whatever this machine's umask is: a web server, or the users of an image."""
from __future__ import annotations

import os


def make(path: str) -> None:
    """Make a folder and those above it.

    :param path: of the folder; one that is there keeps its mode
    """
    if path and not os.path.isdir(path):
        make(os.path.dirname(path))
        try:
            os.mkdir(path)
        except FileExistsError:
            # Another run has made it meanwhile; or it is no folder, as whoever uses it will find.
            return
        os.chmod(path, 0o755)

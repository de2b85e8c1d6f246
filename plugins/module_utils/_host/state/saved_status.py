# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the saved status of each host lies in a folder of the controller; pure."""
from __future__ import annotations

import os


def path(folder, name):
    """Return the path of a host's file; of a name that looks like a path only the last part counts.

    :param folder: path of the folder
    :param name: name of the host
    """
    return os.path.join(folder, os.path.basename(name) + ".json")

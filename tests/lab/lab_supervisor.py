# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supervisor of the lab's own programs, which tests have stop and start some of them."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support import REPOSITORY


def services():
    """Return the folder of the programs of the lab's services."""
    found = subprocess.run(
        [sys.executable, str(REPOSITORY / "lab" / "python_environment.py"), "path", "services",
         str(REPOSITORY / "lab" / "requirements.txt")], check=True, capture_output=True, text=True).stdout
    return Path(found.strip()) / "bin"


def control(lab, *arguments, check=True):
    """Let the supervisor do something.

    :param check: whether the programs must not be in that state already
    """
    subprocess.run([str(services() / "supervisorctl"), "-c", str(lab.dir / "supervisor" / "supervisord.conf"),
                    *arguments], check=check, capture_output=True, text=True)

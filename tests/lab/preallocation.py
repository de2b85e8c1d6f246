# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that a pool keeps for hosts by their names: the lab's CAPM3 with it, for the time of some tests."""
from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from support import REPOSITORY


def _set(enabled):
    """Run CAPM3 with or without preallocation by the names of hosts, by its role."""
    subprocess.run(
        [str(Path(sys.executable).parent / "ansible"), "management", "-i", str(REPOSITORY / "inventory" / "lab"), "-m",
         "ansible.builtin.include_role", "-a", "name=metal3.baremetal.capm3", "-e",
         json.dumps({"capm3_name_based_preallocation": enabled})], check=True, capture_output=True, timeout=300)


@contextlib.contextmanager
def by_host():
    """Let CAPM3 claim addresses by the names of hosts."""
    _set(True)
    try:
        yield
    finally:
        _set(False)

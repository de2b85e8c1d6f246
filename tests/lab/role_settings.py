# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other settings of the lab's controllers for the time of some tests, by the roles that run them."""
from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from support import INVENTORY


def _run(role, variables):
    subprocess.run(
        [str(Path(sys.executable).parent / "ansible"), "management", "-i", str(INVENTORY), "-m",
         "ansible.builtin.include_role", "-a", "name=metal3.baremetal." + role, "-e", json.dumps(variables)],
        check=True, capture_output=True, timeout=300)


@contextlib.contextmanager
def changed(role, **variables):
    """Run a controller with these variables of its role, and with the lab's own afterwards."""
    _run(role, variables)
    try:
        yield
    finally:
        _run(role, {})


def preallocation_by_host():
    """Let CAPM3 claim addresses by the names of hosts."""
    return changed("capm3", capm3_name_based_preallocation=True)

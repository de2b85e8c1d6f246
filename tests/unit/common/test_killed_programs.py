# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that a program is given in a file: what a run that was killed has left of them is gone with the next one."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

CALLS = {
    "skopeo": ("_common.transfer", "registry",
               "registry.manifest(registry.Registry('r.test', None, sys.argv[1], sys.argv[1]), 'a:1')"),
    "ipmitool": ("_bmc.protocols", "ipmi",
                 "ipmi.set_password(ipmi.Login('h', 1, 'u', 'old', 'ADMINISTRATOR', 1), 2, 'S3cret-new')"),
}
PROGRAM = "import sys\nfrom ansible_collections.metal3.baremetal.plugins.module_utils.{0} import {1}\n{2}\n"


def left(folder):
    return [name for name in os.listdir(folder) if name.startswith("metal3-")]


@pytest.mark.parametrize("program", sorted(CALLS))
def test_no_secret_stays_after_a_run_that_was_killed(program, tmp_path):
    temporary, programs, password = tmp_path / "tmp", tmp_path / "bin", tmp_path / "password"
    temporary.mkdir()
    programs.mkdir()
    password.write_text("S3cret-new")
    fake = programs / program
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(temporary),
                   "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PROGRAM.format(*CALLS[program]), str(password)]
    fake.write_text("#!/bin/sh\nkill -9 $PPID\n")
    fake.chmod(0o700)
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    (name,) = left(temporary)
    os.utime(temporary / name, (time.time() - 3600,) * 2)
    fake.write_text("#!/bin/sh\necho 'Set User Password command successful (user 2)'\n")
    assert subprocess.run(command, env=environment, check=False).returncode == 0
    assert os.listdir(temporary) == []

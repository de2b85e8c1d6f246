# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive that follows the ramdisk, as cpio and the kernel read it."""
from __future__ import annotations

import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._images.agent.cpio import File, archive

FILES = [File("/etc/agent/ca.crt", b"certificate"), File("/root/.ssh/authorized_keys", b"key\n", 0o600)]


def test_cpio_reads_files_and_permissions(tmp_path):
    subprocess.run(["cpio", "--extract", "--make-directories", "--quiet"], cwd=tmp_path, check=True,
                   input=archive(FILES))
    assert (tmp_path / "etc/agent/ca.crt").read_bytes() == b"certificate"
    assert (tmp_path / "root/.ssh/authorized_keys").read_bytes() == b"key\n"
    assert (tmp_path / "root/.ssh/authorized_keys").stat().st_mode & 0o777 == 0o600


def test_the_order_of_the_files_changes_nothing():
    assert archive(FILES) == archive(list(reversed(FILES)))


def test_folders_that_are_there_keep_their_permissions():
    made = archive(FILES, ["etc", "root"])
    assert b"etc/agent\0" in made and b"root/.ssh\0" in made
    assert b"\0root\0" not in made and b"etc\0\0\0" not in made


@pytest.mark.parametrize("count", range(5))
def test_it_ends_where_the_next_one_may_begin(count):
    assert len(archive([File("/a", b"x" * count)])) % 4 == 0

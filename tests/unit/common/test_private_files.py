# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of keys and passwords in folders that others may write to, such as one for Ironic's credentials."""
from __future__ import annotations

import os
import stat

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.whole_file import write_private


def test_a_file_is_its_owners_alone(tmp_path):
    path = tmp_path / "key"
    path.write_text("before")
    path.chmod(0o644)
    write_private(str(path), b"secret")
    assert path.read_bytes() == b"secret" and stat.S_IMODE(path.stat().st_mode) == 0o600
    write_private(str(path), b"public", 0o644)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 and os.listdir(tmp_path) == ["key"]


def test_a_link_of_a_name_that_can_be_foreseen_is_not_followed(tmp_path):
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("of root")
    folder.mkdir()
    (folder / "password.partial").symlink_to(victim)
    write_private(str(folder / "password"), b"secret")
    assert victim.read_text() == "of root" and not (folder / "password").is_symlink()


def test_a_file_that_somebody_else_has_open_does_not_get_the_secret(tmp_path):
    """Whoever has opened it keeps reading from it, whatever its mode becomes."""
    with open(tmp_path / "password.partial", "w+", encoding="utf-8") as others:
        write_private(str(tmp_path / "password"), b"secret")
        assert others.read() == ""

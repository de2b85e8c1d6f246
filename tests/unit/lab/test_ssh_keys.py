# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import stat

from cryptography.hazmat.primitives import serialization

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import ssh_keys


def test_keys_are_made_once_and_only_their_owner_reads_them(tmp_path):
    made = ssh_keys.ensure(str(tmp_path))
    folder = tmp_path / "secrets" / "ssh"
    assert made == [str(folder / "user_key"), str(folder / "host_key")]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(before) == ["host_key", "host_key.pub", "known_hosts", "user_key", "user_key.pub"]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())
    assert ssh_keys.ensure(str(tmp_path)) == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_public_key_is_its_private_key_s(tmp_path):
    ssh_keys.ensure(str(tmp_path))
    folder = tmp_path / "secrets" / "ssh"
    for name in ("user_key", "host_key"):
        private = serialization.load_ssh_private_key((folder / name).read_bytes(), None)
        public = serialization.load_ssh_public_key((folder / (name + ".pub")).read_bytes())
        assert private.public_key().public_bytes_raw() == public.public_bytes_raw()
    assert (folder / "known_hosts").read_text() == "* " + (folder / "host_key.pub").read_text()


def test_check_mode_makes_nothing(tmp_path):
    assert len(ssh_keys.ensure(str(tmp_path), check_mode=True)) == 2
    assert list(tmp_path.iterdir()) == []

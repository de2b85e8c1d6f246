# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of files are those that sha256sum prints."""
from __future__ import annotations

import hashlib
import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import file_digest

# More than is read at once.
CONTENT = b"0123456789abcdef" * 2 ** 17 + b"end"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    return str(tmp_path / "file")


@pytest.mark.parametrize("kind", ["md5", "sha256", "sha512"])
def test_the_digest_is_what_the_program_prints(path, kind):
    printed = subprocess.run([f"{kind}sum", path], check=True, capture_output=True, text=True).stdout.split()[0]
    assert file_digest.digest(path, kind) == printed
    assert file_digest.checksum(path, kind) == f"{kind}:{printed}"


def test_a_head_comes_before_the_content(path):
    assert file_digest.digest(path, head=b"head") == hashlib.sha256(b"head" + CONTENT).hexdigest()


def test_a_missing_file_has_no_checksum_and_a_folder_is_an_error(tmp_path):
    assert file_digest.checksum(str(tmp_path / "absent")) is None
    with pytest.raises(IsADirectoryError):
        file_digest.checksum(str(tmp_path))

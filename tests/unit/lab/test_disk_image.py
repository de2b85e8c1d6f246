# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small disk image: complete or not there, with what was put in."""
from __future__ import annotations

import json
import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import file_digest
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import disk_image


def test_an_image_has_a_partition_with_the_files(tmp_path):
    path = str(tmp_path / "small.raw")
    sha256 = disk_image.build(path, 16, {"readme.txt": "hello\n"})
    assert disk_image.is_complete(path)
    assert file_digest.digest(path) == sha256
    listed = subprocess.run(["/usr/sbin/sfdisk", "--json", path], check=True, capture_output=True, text=True).stdout
    partition, = json.loads(listed)["partitiontable"]["partitions"]
    assert (partition["start"], partition["name"]) == (2048, "lab-root")
    content = subprocess.run(["/usr/sbin/debugfs", "-R", "cat /readme.txt", f"{path}?offset={2048 * 512}"],
                             check=True, capture_output=True, text=True).stdout
    assert content == "hello\n"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["small.raw", "small.raw.sha256"]


def test_a_damaged_image_is_not_complete(tmp_path):
    path = tmp_path / "small.raw"
    disk_image.build(str(path), 16, {})
    with path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"x")
    assert not disk_image.is_complete(str(path))


def test_a_failure_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_image, "MIB", 1)
    with pytest.raises(disk_image.DiskImageError):
        disk_image.build(str(tmp_path / "small.raw"), 16, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("files, text", [
    ({"a.json": {"password": "dummy"}}, "files.a.json: found a dict, expected a text"),
    ({"count": 3}, "files.count: found a int, expected a text"),
    ({"../outside": "x"}, 'found the name "../outside"'),
    ({"": "x"}, 'found the name ""'),
])
def test_what_is_no_file_is_refused_without_its_content(tmp_path, files, text):
    with pytest.raises(disk_image.DiskImageError, match=text) as caught:
        disk_image.build(str(tmp_path / "small.raw"), 16, files)
    assert "dummy" not in str(caught.value) and list(tmp_path.iterdir()) == []

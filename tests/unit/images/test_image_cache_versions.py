# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of an image cache are versions that it has made, and are removed with them."""
from __future__ import annotations

import os

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.cache import cache_service
from ansible_collections.metal3.baremetal.plugins.module_utils._images.publishing.image_folder import ImageFolder

# As files are often named: a date and a time, of twelve digits as a version has them.
DATED = "node.202401011230.bin"


@pytest.fixture
def publish(tmp_path):
    """Return a function that publishes a text as an image, or removes it, and have the path of the folder."""
    def ensure(text=None, keep=0, check_mode=False):
        path = tmp_path / (text or "absent")
        if not path.exists():
            path.write_text(text or "")
        image = {"name": "node.bin", "url": None, "path": str(path), "checksum": None,
                 "checksum_type": None, "format": "as_is", "state": "present" if text else "absent"}
        return cache_service.ensure({"directory": str(tmp_path / "www"), "keep_versions": keep, "ca_file": None,
                                     "state": "present", "images": [image]}, check_mode, Progress())
    ensure.folder = tmp_path / "www"
    ensure.folder.mkdir()
    return ensure


def versions(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("node.") and name not in (
        "node.bin", "node.bin.json", "node.bin.sha256"))


@pytest.mark.parametrize("checksum", [None, f"{'0' * 64}  {DATED}\n", f"{'202401011230' + '0' * 52}  other\n"])
def test_a_file_of_another_origin_with_such_a_name_is_not_removed(publish, checksum):
    (publish.folder / DATED).write_text("of an operator")
    others = [DATED]
    if checksum:
        (publish.folder / (DATED + ".sha256")).write_text(checksum)
        others.append(DATED + ".sha256")
    version = publish("one")["images"][0]["version"]
    assert versions(publish.folder) == sorted([*others, version, version + ".sha256"])
    assert not publish("one")["changed"] and not publish("one", check_mode=True)["changed"]
    assert publish()["removed"] == ["node.bin"] and versions(publish.folder) == others


def test_a_version_whose_checksum_others_could_have_written_is_not_removed(publish):
    version = publish("one")["images"][0]["version"]
    (publish.folder / (version + ".sha256")).chmod(0o666)
    publish("two")
    assert (publish.folder / version).read_text() == "one"


def test_what_a_killed_run_has_left_of_a_version_is_removed_by_a_later_one(publish, monkeypatch):
    def killed(_self, _name, _version):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ImageFolder, "give_name", killed)
        with pytest.raises(KeyboardInterrupt):
            publish("one")
    former = publish("two", keep=1)["images"][0]["version"]
    assert versions(publish.folder) == [former, former + ".sha256"]
    last = publish("three", keep=1)["images"][0]["version"]
    assert versions(publish.folder) == sorted(name + end for name in (former, last) for end in ("", ".sha256"))
    assert not publish("three", keep=1)["changed"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that an image cache takes images from: changed while they are taken."""
from __future__ import annotations

import hashlib
import os
import shutil

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.cache import cache_service


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source" / "agent.iso"
    path.parent.mkdir()
    path.write_bytes(b"former")
    return path


@pytest.fixture
def cache(tmp_path):
    """Return a function that brings a folder to an image and returns the module's result, and have its path."""
    def ensure(**image):
        image = dict({"name": "agent.iso", "url": None, "path": None, "checksum": None, "checksum_type": None,
                      "format": "as_is", "state": "present"}, **image)
        return cache_service.ensure({"directory": str(tmp_path / "www"), "keep_versions": 1, "ca_file": None,
                                     "state": "present", "images": [image]}, False, Progress())
    ensure.folder = tmp_path / "www"
    return ensure


def test_a_file_that_is_replaced_while_its_copy_is_worked_on_is_published_by_the_next_run(cache, source, monkeypatch):
    """A conversion takes minutes."""
    def converted(self, *arguments):
        made = before(self, *arguments)
        (source.parent / "new").write_bytes(b"the later one")
        os.replace(source.parent / "new", source)
        return made

    before = cache_service.Cache._converted
    with monkeypatch.context() as patched:
        patched.setattr(cache_service.Cache, "_converted", converted)
        cache(path=str(source))
    assert (cache.folder / "agent.iso").read_bytes() == b"former"
    assert cache(path=str(source))["changed"]
    assert (cache.folder / "agent.iso").read_bytes() == b"the later one" and not cache(path=str(source))["changed"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_is_still_written_is_not_published_as_a_whole_one(cache, source, monkeypatch, when):
    def copied(reader, writer, *arguments):
        if when == "before":
            source.write_bytes(b"half of it")
        shutil_copy(reader, writer, *arguments)
        if when == "after":
            with open(source, "ab") as stream:
                stream.write(b", and the rest")

    shutil_copy = shutil.copyfileobj
    with monkeypatch.context() as patched:
        patched.setattr(cache_service.shutil, "copyfileobj", copied)
        with pytest.raises(ReportedError, match=r'path: found "/.*/agent.iso", which was written to while it was copied'
                                                r', expected .*; wait'):
            cache(path=str(source))
    assert not (cache.folder / "agent.iso").exists()
    assert os.listdir(cache.folder / cache_service.WORK) == []
    cache(path=str(source))
    assert (cache.folder / "agent.iso").read_bytes() == source.read_bytes()


def test_what_an_earlier_run_has_left_is_looked_at_before_it_is_gone_on_with(cache, source):
    """A machine that loses power keeps names of files whose contents were not on its disk yet."""
    digest = "sha256:" + hashlib.sha256(b"former").hexdigest()
    status = source.stat()
    work = cache.folder / cache_service.WORK
    work.mkdir(parents=True, mode=0o700)
    for checksum in (digest, None):
        named = checksum or f"{source} {status.st_size} {status.st_mtime_ns}"
        (work / hashlib.sha256(named.encode()).hexdigest()).write_bytes(b"")
        cache(path=str(source), checksum=checksum)
        assert (cache.folder / "agent.iso").read_bytes() == b"former"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives that a deploy agent, or who pretends to be one, has sent: read within the limit, whatever is in them."""
from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc

import pytest
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._logs import log_texts

LIMIT = 1024 ** 2


def packed(members, pax=None):
    """Return an archive, not compressed, of names and contents."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT, pax_headers=pax or {}) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_archives_are_read_however_they_are_compressed(compress):
    parts, is_cut = log_texts.unpacked(compress(packed([("a", b"text"), ("b", b"\0")])), LIMIT)
    assert parts == [("a", "text"), ("b", None)] and not is_cut


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_header_of_any_size_is_not_read_whole(compress):
    content = compress(packed([("a", b"text")], {"comment": "0" * 48 * LIMIT}))
    tracemalloc.start()
    try:
        found = log_texts.unpacked(content, LIMIT)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is None or found[1]
    assert peak < 30 * LIMIT


@pytest.mark.parametrize("size", [1000, 5 * LIMIT])
def test_headers_take_no_longer_than_they_are_long(size):
    """Digits only, among which tarfile searches for the length of a field."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, size
    block = header.tobuf(tarfile.USTAR_FORMAT) + (b"0" * size).ljust(-(-size // 512) * 512, b"\0")
    content = packed([("a", b"text")])[:1024] + block * (5 * LIMIT // size) + packed([("b", b"text")])
    assert within_processor_time(60, log_texts.unpacked, content, 10 * LIMIT) == ([("a", "text")], True)


def test_files_without_content_count_too():
    parts, is_cut = log_texts.unpacked(gzip.compress(packed((f"f{number}", b"") for number in range(1500))), LIMIT)
    assert len(parts) == 1000 and is_cut


@pytest.mark.parametrize("content", [
    b"", b"text", b"\x1f\x8b\0\0", gzip.compress(b"text", mtime=0), b"BZh9", b"\xfd7zXZ\0rest"])
def test_what_is_no_archive_is_none(content):
    assert log_texts.unpacked(content, LIMIT) is None


def test_what_comes_before_the_break_of_an_archive_is_kept():
    content = gzip.compress(packed([("a", b"text"), ("b", b"x" * 100000)]), compresslevel=0)
    parts, is_cut = log_texts.unpacked(content[:20000], LIMIT)
    assert parts == [("a", "text")] and is_cut

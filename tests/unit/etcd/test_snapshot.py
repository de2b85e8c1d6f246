# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot as etcd sends it: whole or refused; its archive, as it was written or as somebody has changed it."""
from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tracemalloc

import pytest
from fakes.etcd_snapshots import ABOUT, DATABASE, SNAPSHOT, messages

from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.errors import EtcdError
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.snapshot import (
    Blobs,
    Chunks,
    about_of,
    packed,
    unpacked,
)


def archive(about=ABOUT, content=SNAPSHOT):
    blobs = Blobs(messages(content), "etcd on Node n")
    chunks = Chunks(packed(about, blobs.size, blobs))
    return io.BytesIO(chunks.read())


@pytest.mark.parametrize("size", [512, 4096, 20000, len(SNAPSHOT)])
def test_a_snapshot_is_whole_however_it_comes(size):
    assert len(DATABASE) % 512 == 0
    blobs = Blobs(messages(size=size), "etcd")
    assert blobs.size == len(SNAPSHOT) and b"".join(blobs) == SNAPSHOT


def test_an_archive_comes_back(tmp_path):
    found = io.BytesIO()
    assert unpacked(archive(), found) == ABOUT and found.getvalue() == SNAPSHOT
    # Any program for archives reads it.
    with tarfile.open(fileobj=archive(), mode="r:gz") as members:
        assert members.getnames() == ["about.json", "snapshot.db"]
        assert members.extractfile("snapshot.db").read() == SNAPSHOT


def test_the_digest_of_chunks_is_that_of_what_was_read():
    chunks = Chunks([b"", b"abc", b"", b"d" * 70000])
    assert chunks.read(2) == b"ab" and chunks.read() == b"c" + b"d" * 70000
    assert chunks.sha256() == hashlib.sha256(b"abc" + b"d" * 70000).hexdigest()


CHANGED = bytearray(SNAPSHOT)
CHANGED[40000] ^= 1


@pytest.mark.parametrize(("given", "said"), [
    ([], "no database of etcd"),
    ([{"blob": "AAAA"}], "no database of etcd"),
    ([{"blob": "%"}], "none of a snapshot"),
    ([{"blob": 7}], "none of a snapshot"),
    ([{"blob": "", "remaining_bytes": "many"}], "none of a snapshot"),
    ([{"blob": "", "remaining_bytes": json.loads("Infinity")}], "none of a snapshot"),
    (messages(bytes(CHANGED)), "digest is another one"),
    (list(messages())[:-1], "expected"),
    (list(messages())[:1], "expected"),
    (messages(more=512), "expected"),
    (messages(more=-512), "expected")])
def test_what_is_not_whole_is_refused(given, said):
    with pytest.raises(EtcdError, match=said):
        b"".join(Blobs(given, "etcd on Node n"))


def test_who_sends_for_ever_is_not_listened_to():
    first = next(messages())

    def endless():
        while True:
            yield first

    with pytest.raises(EtcdError, match="expected"):
        b"".join(Blobs(endless(), "etcd"))


def changed(content):
    return io.BytesIO(gzip.compress(content))


def tar(*entries):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as members:
        for name, content, kind in entries:
            info = tarfile.TarInfo(name)
            info.size, info.type = (len(content), kind) if kind == tarfile.REGTYPE else (0, kind)
            info.linkname = "/etc/passwd" if kind == tarfile.SYMTYPE else ""
            members.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def extended(fields, count=1):
    """Return an archive that begins with extended headers of PAX."""
    info = tarfile.TarInfo("about.json")
    header = info.create_pax_header(dict(info.get_info(), mode=0o600), "utf-8")
    own = tarfile.TarInfo._create_pax_generic_header(fields, tarfile.XHDTYPE, "utf-8")
    return own * count + header


OWN = json.dumps({"format": 1, **ABOUT._asdict()}).encode()


@pytest.mark.parametrize("given", [
    io.BytesIO(b"no archive"), changed(b""), changed(b"no archive" * 100),
    changed(gzip.decompress(archive().getvalue())[:4000]),
    io.BytesIO(archive().getvalue()[:-200]),
    changed(tar(("about.json", OWN, tarfile.REGTYPE))),
    changed(tar(("about.json", OWN, tarfile.REGTYPE), ("snapshot.db", SNAPSHOT[:-1], tarfile.REGTYPE))),
    changed(tar(("about.json", OWN, tarfile.REGTYPE), ("snapshot.db", b"", tarfile.REGTYPE))),
    changed(tar(("about.json", OWN, tarfile.REGTYPE), ("snapshot.db", b"", tarfile.SYMTYPE))),
    changed(tar(("about.json", b"", tarfile.DIRTYPE), ("snapshot.db", SNAPSHOT, tarfile.REGTYPE))),
    changed(tar(("../about.json", OWN, tarfile.REGTYPE), ("snapshot.db", SNAPSHOT, tarfile.REGTYPE)))])
def test_an_archive_that_somebody_has_changed_is_refused(given):
    with pytest.raises(EtcdError, match="take another one"):
        unpacked(given, io.BytesIO())


@pytest.mark.parametrize("given", [
    # A hundred megabytes of one header, in some hundred kilobytes; headers of headers; a file of an exabyte of holes.
    changed(extended({"comment": "x" * 100_000_000})),
    changed(extended({"comment": "x"}, 5000)),
    changed(extended({"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.name": "about.json",
                      "GNU.sparse.size": str(2 ** 60), "GNU.sparse.map": f"{2 ** 60},0"})),
    changed(extended({"size": "9" * 900}))], ids=["long", "many", "sparse", "size"])
def test_headers_of_any_kind_are_refused_without_being_read(given):
    tracemalloc.start()
    try:
        with pytest.raises(EtcdError, match="take another one"):
            unpacked(given, io.BytesIO())
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_snapshot_of_any_size_is_not_taken():
    first = dict(next(messages()), remaining_bytes=str(2 ** 60))
    with pytest.raises(EtcdError, match="announced"):
        Blobs([first], "etcd on Node n")


@pytest.mark.parametrize("change", [
    {"format": 2}, {"cluster": None}, {"cluster": ""}, {"revision": "1"}, {"uid": ["u"]}, {"taken_at": "\x9b2J"}])
def test_a_description_that_is_not_whole_is_refused(change):
    with pytest.raises(EtcdError, match="take another one"):
        about_of(json.dumps(dict(json.loads(OWN), **change)).encode())


@pytest.mark.parametrize("content", [b"", b"[]", b"no JSON", b"[" * 100000])
def test_a_description_that_is_none_is_refused(content):
    with pytest.raises(EtcdError, match="take another one"):
        about_of(content)

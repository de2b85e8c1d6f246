# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive: what is written is read again, and nothing is taken of one that somebody has changed."""
from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tracemalloc

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import archive, verified_copy
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import bill as bills

IMAGE = "quay.io/metal3-io/ip-address-manager:v1.13.2"


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


LAYER, CONFIG, FILE = b"layer", b"{}", b"ramdisk"
MANIFEST = json.dumps({"config": {"digest": digest(CONFIG)}, "layers": [{"digest": digest(LAYER)}]}).encode()
LIST = json.dumps({"manifests": [{"digest": digest(MANIFEST)}]}).encode()
BILL = bills.compose("0.1.0", {IMAGE: digest(LIST)}, {"ipa.initramfs": (digest(FILE), len(FILE))})


def members(**changes):
    image = "images/0/"
    found = {
        bills.BILL: bills.dump(BILL), bills.SPDX: b"{}", bills.CYCLONEDX: b"{}", "files/ipa.initramfs": FILE,
        image + "manifest.json": LIST, image + digest(MANIFEST)[7:] + ".manifest.json": MANIFEST,
        image + digest(CONFIG)[7:]: CONFIG, image + digest(LAYER)[7:]: LAYER}
    return dict(found, **changes)


def made(path, contents, more=()):
    with tarfile.open(path, "w") as stream:
        for name, content in list(contents.items()) + list(more):
            member = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = 0 if member is content else len(content)
            stream.addfile(member, None if member is content else io.BytesIO(content))
    return str(path)


def extracted(path, tmp_path):
    work = tmp_path / "work"
    archive.extract(path, str(work), archive.bill_of(path), lambda line: None)
    return work


def test_what_was_written_is_read_again(tmp_path):
    work = extracted(made(tmp_path / "first.tar", members()), tmp_path)
    for name, content in members().items():
        if name.startswith("bill"):
            (work / name).write_bytes(content)
    second = str(tmp_path / "second.tar")
    archive.write(second, str(work), BILL)
    assert archive.bill_of(second, "sha256:" + bills.checksum(BILL)) == BILL
    again = tmp_path / "again"
    again.mkdir()
    assert (extracted(second, again) / "files" / "ipa.initramfs").read_bytes() == FILE
    with tarfile.open(second) as stream:
        assert set(stream.getnames()) == set(members())


def link(name, target, kind=tarfile.SYMTYPE):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_what_a_killed_run_has_left_beside_an_archive_or_a_copy_goes_with_the_next_one(tmp_path):
    work = extracted(made(tmp_path / "first.tar", members()), tmp_path)
    for name, content in members().items():
        if name.startswith("bill"):
            (work / name).write_bytes(content)
    (tmp_path / "placed").mkdir()
    for left in (tmp_path / ".metal3-abcdefgh", tmp_path / "placed" / ".metal3-abcdefgh"):
        left.write_bytes(b"half of it")
        os.utime(left, (0, 0))
    archive.write(str(tmp_path / "second.tar"), str(work), BILL)
    assert verified_copy.write(io.BytesIO(FILE), str(tmp_path / "placed" / "file"), digest(FILE), 0o644) == digest(FILE)
    assert sorted(os.listdir(tmp_path)) == ["first.tar", "placed", "second.tar", "work"]
    assert os.listdir(tmp_path / "placed") == ["file"]
    assert (tmp_path / "second.tar").stat().st_mode & 0o777 == 0o644


def test_a_copy_with_another_digest_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_bytes(b"before")
    assert verified_copy.write(io.BytesIO(b"other"), str(tmp_path / "file"), digest(FILE), 0o644) == digest(b"other")
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"before"


@pytest.mark.parametrize("name, content", [
    ("../outside", b"x"), ("/etc/cron.d/x", b"x"), ("files/../../outside", b"x"), ("files/other", b"x"),
    ("images/1/manifest.json", b"x"), ("images/0/../../../outside", b"x"), ("images/0/" + "0" * 63, b"x"),
    ("files/link", link("files/link", "/etc/passwd")), ("files/ipa.initramfs", FILE),
    ("files/hard", link("files/hard", "files/ipa.initramfs", tarfile.LNKTYPE)),
    ("device", link("device", "", tarfile.CHRTYPE)), ("images", link("images", "", tarfile.DIRTYPE)),
])
def test_what_the_bill_does_not_name_is_refused(tmp_path, name, content):
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    with pytest.raises(archive.ArchiveError, match="do not use this archive"):
        extracted(made(folder / "bad.tar", members(), [(name, content)]), folder)
    assert not list(tmp_path.rglob("outside")) and not (folder / "work" / "files" / "link").exists()


@pytest.mark.parametrize("name", ["files/ipa.initramfs", "images/0/manifest.json", "images/0/" + digest(LAYER)[7:],
                                  "images/0/" + digest(MANIFEST)[7:] + ".manifest.json"])
def test_contents_with_another_digest_are_not_kept(tmp_path, name):
    with pytest.raises(archive.ArchiveError, match=r"found sha256:.*, expected sha256:"):
        extracted(made(tmp_path / "bad.tar", members(**{name: b"changed"})), tmp_path)
    assert not (tmp_path / "work" / name).exists()


@pytest.mark.parametrize("name", ["files/ipa.initramfs", "images/0/manifest.json", "images/0/" + digest(LAYER)[7:],
                                  "images/0/" + digest(MANIFEST)[7:] + ".manifest.json"])
def test_what_is_missing_is_named(tmp_path, name):
    contents = members()
    del contents[name]
    with pytest.raises(archive.ArchiveError, match=r"not whole.*\n- (file ipa.initramfs|image quay.io.*): .*missing"):
        extracted(made(tmp_path / "bad.tar", contents), tmp_path)


def test_an_archive_of_another_bill_is_refused(tmp_path):
    path = made(tmp_path / "a.tar", members())
    with pytest.raises(archive.ArchiveError, match=r"checksum: found sha256:.*, expected sha256:0"):
        archive.bill_of(path, "sha256:" + "0" * 64)


@pytest.mark.parametrize("content", [
    b"", b"[]", b"not JSON", b"[" * 10 ** 6, bills.dump(dict(BILL, format=2)),
    bills.dump(dict(BILL, files=[{"name": "../x"}])),
    bills.dump(dict(BILL, files=[{"name": "../x", "digest": digest(b"")}])),
    bills.dump(dict(BILL, images=[{"name": "x", "digest": digest(b"")}])), bills.dump(dict(BILL, images=None)),
    bills.dump(dict(BILL, files=BILL["files"] * 2)),
])
def test_what_is_no_bill_is_refused(tmp_path, content):
    with pytest.raises(archive.ArchiveError, match="gather it again"):
        archive.bill_of(made(tmp_path / "a.tar", members(**{bills.BILL: content})))


def header(size, kind=tarfile.XHDTYPE):
    info = tarfile.TarInfo("header")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_header_that_fills_the_memory_is_not_read(tmp_path, kind, is_first):
    """A sparse file of a few kilobytes may announce as much as there is memory."""
    path, size = made(tmp_path / "a.tar", members()), 256 * 1024 ** 2
    end = 0 if is_first else os.path.getsize(path) - 10240
    with open(path, "r+b") as stream:
        stream.seek(end)
        stream.write(header(size, kind))
        stream.truncate(end + 512 + size + 10240)
    tracemalloc.start()
    try:
        with pytest.raises(archive.ArchiveError, match="longer than headers are"):
            extracted(path, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 32 * 1024 ** 2
    finally:
        tracemalloc.stop()


def test_headers_of_headers_are_refused(tmp_path):
    (tmp_path / "a.tar").write_bytes((header(512) + b"9 a=bcde\n".ljust(512, b"\0")) * 3000)
    with pytest.raises(archive.ArchiveError, match="copy or gather it again"):
        archive.bill_of(str(tmp_path / "a.tar"))


def test_a_pipe_in_the_place_of_an_archive_keeps_no_run_waiting(tmp_path):
    os.mkfifo(tmp_path / "a.tar")
    with pytest.raises(archive.ArchiveError, match="no regular file; correct the path"):
        archive.bill_of(str(tmp_path / "a.tar"))


def test_a_cut_archive_is_refused_and_a_whole_one_continues(tmp_path):
    path = made(tmp_path / "whole.tar", members())
    cut = tmp_path / "cut.tar"
    with open(path, "rb") as stream:
        cut.write_bytes(stream.read(os.path.getsize(path) // 2 // 512 * 512 + 100))
    with pytest.raises(archive.ArchiveError, match="again"):
        extracted(str(cut), tmp_path)
    events = []
    archive.extract(path, str(tmp_path / "work"), BILL, events.append)
    assert 0 < len(events) < len(members()) - 3


def test_the_bill_as_spdx_and_as_cyclonedx_names_the_same(tmp_path):
    spdx, cyclonedx = bills.spdx(BILL, "2026-11-23T00:00:00Z"), bills.cyclonedx(BILL, "2026-11-23T00:00:00Z")
    wanted = [digest(LIST)[7:], digest(FILE)[7:]]
    assert [item["checksums"][0]["checksumValue"] for item in spdx["packages"]] == wanted
    assert [item["hashes"][0]["content"] for item in cyclonedx["components"]] == wanted
    purl = f"pkg:oci/ip-address-manager@sha256%3A{wanted[0]}?repository_url=quay.io%2Fmetal3-io%2F"
    for found in (spdx["packages"][0]["externalRefs"][0]["referenceLocator"], cyclonedx["components"][0]["purl"]):
        assert found == purl + "ip-address-manager&tag=v1.13.2"
    assert {item["relatedSpdxElement"] for item in spdx["relationships"]} == {"SPDXRef-0", "SPDXRef-1"}
    assert spdx == bills.spdx(BILL, "2026-11-23T00:00:00Z")


@pytest.mark.parametrize("reference", ["ubuntu", "quay.io/a/b", "quay.io/a/b:v1@sha256:" + "0" * 64, "quay.io/A:v1",
                                       "quay.io/a/../b:v1", "quay.io/a b:v1", "-quay.io", "--all/x:v1 y"])
def test_names_of_images_need_registry_and_tag(reference):
    assert bills.reference_problem(reference)
    assert not bills.reference_problem(IMAGE)


@pytest.mark.parametrize("change, field", [
    ({"name": "../x"}, "name"), ({"name": ".x"}, "name"), ({"url": "file:///etc/passwd"}, "url"),
    ({"checksum": "sha256:0"}, "checksum")])
def test_files_need_a_name_a_url_and_a_checksum(change, field):
    entry = {"name": "x", "url": "https://example.org/x", "checksum": digest(b"")}
    assert bills.file_problems(entry) == []
    assert [problem.field for problem in bills.file_problems(dict(entry, **change))] == [field]


def test_lists_of_manifests_in_each_other_come_to_an_end(tmp_path):
    found = MANIFEST
    for _number in range(1500):
        (tmp_path / (digest(found)[7:] + ".manifest.json")).write_bytes(found)
        found = json.dumps({"manifests": [{"digest": digest(found)}]}).encode()
    (tmp_path / "manifest.json").write_bytes(found)
    assert "a list of manifests in" in archive.image_fault(str(tmp_path), digest(found))

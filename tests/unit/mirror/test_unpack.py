# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacking files of an archive, where others may write beside it and into the image server's folder."""
from __future__ import annotations

import hashlib
import os
import tarfile
from io import BytesIO
from types import SimpleNamespace

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import download
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import archive, service, work_folder
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import bill as bills

NAME, CONTENT = "agent.iso", b"image"
BILL = bills.compose("0.1.0", {}, {NAME: ("sha256:" + hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))})


@pytest.fixture
def site(tmp_path):
    """A folder with an archive."""
    with tarfile.open(tmp_path / "site.tar", "w") as stream:
        for name, content in ((bills.BILL, bills.dump(BILL)), (bills.SPDX, b"{}"), (bills.CYCLONEDX, b"{}"),
                              (f"files/{NAME}", CONTENT)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            stream.addfile(member, BytesIO(content))
    return tmp_path


@pytest.fixture
def private(tmp_path):
    """A file of root's."""
    path = tmp_path / "cron"
    path.write_bytes(b"root's")
    yield path
    assert path.read_bytes() == b"root's"


def unpack(site, check_mode=False, tell=lambda line: None, **more):
    return service.unpack(dict({"archive": str(site / "site.tar"), "checksum": None, "files_dir": str(site / "www"),
                                "bill_file": None, "work_dir": None}, **more), None, tell, check_mode)


def test_files_are_placed_readable_and_the_folder_of_the_run_goes(site):
    assert unpack(site)["placed"] == [NAME]
    assert (site / "www" / NAME).read_bytes() == CONTENT
    assert (site / "www" / NAME).stat().st_mode & 0o777 == 0o644
    assert sorted(os.listdir(site)) == ["site.tar", "www"] and os.listdir(site / "www") == [NAME]
    assert not unpack(site)["changed"]


def test_the_image_server_can_enter_the_folder_whatever_the_umask_is(site):
    before = os.umask(0o077)
    try:
        unpack(site)
    finally:
        os.umask(before)
    assert (site / "www").stat().st_mode & 0o777 == 0o755


def test_what_a_run_that_was_cut_has_extracted_is_used(site):
    work = site / "work"
    unpack(site, work_dir=str(work))
    os.unlink(site / "www" / NAME)
    events = []
    unpack(site, tell=events.append, work_dir=str(work))
    assert events == [] and (site / "www" / NAME).read_bytes() == CONTENT
    assert work.is_dir()


def link(folder):
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def plain(folder):
    folder.write_text("x")


def writable(mode):
    def make(folder):
        folder.mkdir()
        folder.chmod(mode)
    return make


def open_above(folder):
    folder.parent.chmod(0o777)


@pytest.mark.parametrize("make, text", [
    (link, "found a link"), (plain, "found no folder"), (writable(0o777), "found owner .*, mode 0777"),
    (writable(0o770), "mode 0770"), (open_above, "in which everybody may exchange it")])
@pytest.mark.parametrize("check_mode", [False, True])
def test_a_folder_that_others_could_have_filled_is_refused(site, make, text, check_mode):
    make(site / "site.tar.d")
    with pytest.raises(RefusedError, match=f"work_dir: .*{text}"):
        unpack(site, check_mode)
    assert not (site / "www").exists()


def test_a_folder_of_somebody_else_is_refused(site, monkeypatch):
    (site / "site.tar.d").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(RefusedError, match="expected a folder of the user 4711"):
        unpack(site)


def test_a_folder_in_that_of_somebody_else_is_refused(site, monkeypatch):
    """Who owns the folder with the archive may rename root's folder beside it, and put another one in its place."""
    own = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: SimpleNamespace(
        st_uid=4711, st_gid=4711, st_mode=0o40755) if str(path) == str(site) else own(path, **more))
    with pytest.raises(RefusedError, match=rf"found a folder in {site}, which is user 4711's, who may exchange it"):
        unpack(site)
    assert not (site / "www").exists()
    # With another one it goes on.
    (site / "own").mkdir()
    assert unpack(site, work_dir=str(site / "own" / "work"))["placed"] == [NAME]


@pytest.mark.parametrize("mode, refused", [(0o770, True), (0o2775, True), (0o1770, False), (0o755, False)])
def test_a_folder_in_that_of_another_group_is_refused(site, monkeypatch, mode, refused):
    """Each of the group may put another folder in the place of root's, in which root writes and removes."""
    site.chmod(mode)
    # As a umask of 002 has it: nobody else is in the own group.
    assert unpack(site)["placed"] == [NAME]
    os.unlink(site / "www" / NAME)
    monkeypatch.setattr(os, "getegid", lambda: 4711)
    for check_mode in (True, False):
        if refused:
            with pytest.raises(RefusedError, match=rf"found a folder in {site}, in which group \d+ may exchange it"):
                unpack(site, check_mode)
            assert sorted(os.listdir(site)) == ["site.tar", "www"]
        else:
            assert unpack(site, check_mode)["placed"] == [NAME]


def test_a_folder_that_another_run_works_in_is_refused(site):
    work = site / "work"
    with work_folder.held(str(work)):
        (work / "files").mkdir()
        with pytest.raises(RefusedError, match="work_dir: found one that another run works in, expected one of this"):
            unpack(site, work_dir=str(work))
        assert os.listdir(work) == ["files"]
    assert unpack(site, work_dir=str(work))["placed"] == [NAME]


def test_in_a_folder_as_tmp_nobody_exchanges_it(site):
    site.chmod(0o1777)
    assert unpack(site)["placed"] == [NAME]


def test_a_file_that_is_exchanged_after_it_was_extracted_is_not_placed(site, monkeypatch):
    """The images are pushed in between, for minutes."""
    extract = archive.extract

    def exchange(path, work_dir, bill, tell):
        extract(path, work_dir, bill, tell)
        with open(archive.file_path(work_dir, NAME), "wb") as stream:
            stream.write(b"another")

    monkeypatch.setattr(archive, "extract", exchange)
    with pytest.raises(ReportedError, match=r"agent\.iso: found sha256:.*, expected sha256:.* as the bill says"):
        unpack(site)
    assert os.listdir(site / "www") == []


def test_a_pipe_of_the_web_server_keeps_no_run_waiting_and_is_replaced(site):
    (site / "www").mkdir()
    os.mkfifo(site / "www" / NAME)
    os.mkfifo(site / "bill.json")
    assert unpack(site, True, bill_file=str(site / "bill.json"))["placed"] == [NAME]
    unpack(site, bill_file=str(site / "bill.json"))
    assert (site / "www" / NAME).read_bytes() == CONTENT and (site / "bill.json").read_bytes() == bills.dump(BILL)


def test_no_link_is_written_through(site, private, tmp_path):
    (site / "www").mkdir()
    (site / "www" / f".{NAME}.partial").symlink_to(private)
    (site / "www" / NAME).symlink_to(private)
    files = site / "work" / "files"
    files.mkdir(parents=True)
    (files / f"{NAME}.partial").symlink_to(private)
    unpack(site, work_dir=str(site / "work"))
    assert (site / "www" / NAME).read_bytes() == CONTENT and not (site / "www" / NAME).is_symlink()
    (site / "second.tar.partial").symlink_to(private)
    for name in (bills.BILL, bills.SPDX, bills.CYCLONEDX):
        (site / "work" / name).write_bytes(b"{}")
    archive.write(str(site / "second.tar"), str(site / "work"), BILL)
    with pytest.raises(ReportedError, match="link"):
        (files / "other.partial").symlink_to(private)
        download.file("http://127.0.0.1:1/", str(files / "other"), "sha256:" + "0" * 64)


def test_what_is_not_the_archives_stays_in_the_folder(site):
    (site / "site.tar.d").mkdir(mode=0o700)
    (site / "site.tar.d" / "mine").write_text("x")
    unpack(site)
    assert os.listdir(site / "site.tar.d") == ["mine"]
    work_folder.remove(str(site / "site.tar.d"))
    assert os.listdir(site / "site.tar.d") == ["mine"]


@pytest.mark.parametrize("checksum, found", [
    ("", '""'), ("None", '"None"'), (bills.checksum(BILL), '"[0-9a-f]{64}"'),
    ("SHA256:" + "0" * 64, '"SHA256:0+"')])
def test_a_checksum_that_is_none_is_refused_and_is_not_any_checksum(site, checksum, found):
    """A variable of a script that is not set would have every archive taken, whoever has made it."""
    for check_mode in (True, False):
        with pytest.raises(RefusedError, match=rf"checksum: found {found}, expected sha256: and 64 hexa"):
            unpack(site, check_mode, checksum=checksum)
    assert os.listdir(site) == ["site.tar"]

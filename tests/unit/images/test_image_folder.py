# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that an image server reads."""
from __future__ import annotations

import hashlib
import json
import os

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._images.publishing.image_folder import ImageFolder

CONTENTS = {"vmlinuz": "kernel", "initrd": "ramdisk"}


@pytest.fixture
def folder(tmp_path):
    return ImageFolder(str(tmp_path / "www"))


def publish(folder, contents=None, key="1", check=lambda made: None):
    def writer(text):
        def write(stream, _made):
            stream.write(text.encode())
        return write
    wrote = []
    contents = CONTENTS if contents is None else contents
    _files, differing = folder.publish(key, dict((name, writer(text)) for name, text in contents.items()), check,
                                       lambda path, action: wrote.append((os.path.basename(path), action)))
    assert [name for name, _action in wrote] == differing
    return differing


def test_files_fit_their_checksums(folder):
    assert publish(folder) == ["vmlinuz", "initrd"]
    for name, text in CONTENTS.items():
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert folder.published("1", list(CONTENTS))[name] == {
            "path": folder.path(name), "sha256": digest, "size_bytes": len(text)}
        with open(folder.path(name + ".sha256"), encoding="utf-8") as stream:
            assert stream.read() == f"{digest}  {name}\n"
        assert os.stat(folder.path(name)).st_mode & 0o777 == 0o644


def test_the_web_server_can_enter_the_folders_whatever_the_umask_is(tmp_path):
    before = os.umask(0o077)
    try:
        publish(ImageFolder(str(tmp_path / "srv" / "www")))
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "srv", tmp_path / "srv" / "www")] == [0o755] * 2


def test_a_folder_that_is_there_keeps_its_mode(folder):
    os.mkdir(folder.directory)
    os.chmod(folder.directory, 0o710)
    publish(folder)
    assert os.stat(folder.directory).st_mode & 0o777 == 0o710


def test_only_what_differs_is_written(folder):
    publish(folder)
    before = os.stat(folder.path("vmlinuz")).st_ino
    assert publish(folder, dict(CONTENTS, initrd="another"), "2") == ["initrd"]
    assert os.stat(folder.path("vmlinuz")).st_ino == before


@pytest.mark.parametrize("damage", ["vmlinuz", "vmlinuz.sha256", "image.json"])
def test_a_file_that_somebody_has_changed_or_deleted_is_not_taken_for_published(folder, damage):
    publish(folder)
    with open(folder.path(damage), "w", encoding="utf-8") as stream:
        stream.write("[]")
    assert folder.published("1", list(CONTENTS)) is None
    publish(folder)
    assert folder.published("1", list(CONTENTS))
    os.unlink(folder.path(damage))
    assert folder.published("1", list(CONTENTS)) is None


def test_other_inputs_and_other_files_are_not_published(folder):
    publish(folder)
    assert folder.published("2", list(CONTENTS)) is None
    assert folder.published("1", [*CONTENTS, "agent.iso"]) is None


def test_a_file_that_is_no_longer_wanted_goes_and_others_stay(folder):
    publish(folder)
    with open(folder.path("somebody's"), "w", encoding="utf-8") as stream:
        stream.write("x")
    publish(folder, {"initrd": "ramdisk"}, "2")
    assert sorted(os.listdir(folder.directory)) == [
        ".image.lock", "image.json", "initrd", "initrd.sha256", "somebody's"]


def test_what_is_refused_leaves_what_was_published(folder):
    publish(folder)

    def refuse(_made):
        raise ValueError
    with pytest.raises(ValueError):
        publish(folder, {"vmlinuz": "other"}, "2", refuse)
    assert folder.published("1", list(CONTENTS))
    assert not [name for name in os.listdir(folder.directory) if name.startswith(".metal3-")]


@pytest.fixture
def private(tmp_path):
    """A file of root's, which others must not read."""
    path = tmp_path / "shadow"
    path.write_text("root:hash")
    path.chmod(0o600)
    yield path
    assert path.read_text() == "root:hash" and path.stat().st_mode & 0o777 == 0o600


def test_links_that_others_have_put_into_the_folder_lead_nowhere(folder, private):
    """They had the names that files get while they are written: root overwrote what they led to, readable by all."""
    os.makedirs(folder.directory)
    for name in [*CONTENTS, "image.json", *(name + ".sha256" for name in CONTENTS)]:
        os.symlink(private, folder.path(name + ".new"))
        os.symlink(private, folder.path(name))
    publish(folder)
    assert not [name for name in (*CONTENTS, "image.json") if os.path.islink(folder.path(name))]
    assert folder.published("1", list(CONTENTS))


def test_a_link_in_place_of_the_lock_is_refused(folder, private):
    os.makedirs(folder.directory)
    os.symlink(private, folder.path(".image.lock"))
    with pytest.raises(ReportedError, match=r"image\.lock: found what cannot be locked .*a plain file of user"):
        publish(folder)


def test_nobody_else_can_keep_a_run_waiting_by_its_lock(folder):
    """The kernel gives a lock to whoever may read the file; the web server's user kept each run waiting for ever."""
    os.makedirs(folder.directory)
    with open(folder.path(".image.lock"), "wb"):
        os.chmod(folder.path(".image.lock"), 0o644)
    publish(folder)
    assert os.stat(folder.path(".image.lock")).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_lock_that_somebody_else_has_made_is_refused(folder, monkeypatch, kind):
    os.makedirs(folder.directory)
    if kind == "pipe":
        os.mkfifo(folder.path(".image.lock"))
    else:
        with open(folder.path(".image.lock"), "wb"):
            monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ReportedError, match=r"image\.lock: found what cannot be locked \(owner 0"):
        publish(folder)


def exchanged(folder, lead_to):
    """Put something else in the place of the folder in which files are made, as who may write above it can."""
    (name,) = [name for name in os.listdir(folder.directory) if name.startswith(".metal3-image-")]
    os.rename(folder.path(name), folder.path("aside"))
    lead_to(folder.path(name))


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_takes_the_place_of_the_folder_in_which_files_are_made_gets_none_of_them(folder, private, kind):
    others = private.parent / "others"
    others.mkdir()

    def write(stream, _made):
        exchanged(folder, os.mkdir if kind == "folder" else lambda path: os.symlink(others, path))
        stream.write(b"kernel")

    files, _differing = folder.publish("1", {"vmlinuz": write}, lambda made: None, lambda path, action: None)
    assert not list(others.iterdir())
    with open(files["vmlinuz"]["path"], "rb") as stream:
        assert stream.read() == b"kernel"


@pytest.mark.parametrize("moment", ["check", "later writer"])
def test_a_file_that_is_exchanged_before_it_has_its_name_is_not_published_with_its_checksum(folder, moment):
    """Servers would have booted it, with the checksum that the module returned."""
    found = []

    def exchange(_paths):
        # What is in the folder below it is out of reach of the web server's user.
        for name in [name for name in os.listdir(folder.directory) if name.startswith(".metal3-image-")]:
            found.append(name)
            os.rename(folder.path(name), folder.path(f"aside-{len(found)}"))
            with open(folder.path(name), "wb") as stream:
                stream.write(b"of somebody else")

    def kernel(stream, _made):
        stream.write(b"kernel")

    def medium(stream, made):
        if moment == "later writer":
            stream.flush()
            exchange(made)
        with open(made["vmlinuz"], "rb") as reader:
            stream.write(b"medium with " + reader.read())

    files, _differing = folder.publish(
        "1", {"vmlinuz": kernel, "agent.iso": medium}, exchange if moment == "check" else lambda made: None,
        lambda path, action: None)
    assert found
    for name, content in (("vmlinuz", b"kernel"), ("agent.iso", b"medium with kernel")):
        assert files[name]["sha256"] == hashlib.sha256(content).hexdigest()
        with open(folder.path(name), "rb") as stream:
            assert stream.read() == content


def test_a_file_that_somebody_else_could_change_later_is_written_again(folder):
    """It is looked at and then used; what it has may change between the two."""
    publish(folder)
    os.chmod(folder.path("initrd"), 0o666)
    assert folder.published("1", list(CONTENTS)) is None
    assert publish(folder) == ["initrd"]
    assert os.stat(folder.path("initrd")).st_mode & 0o777 == 0o644


def test_what_a_killed_run_has_left_is_removed(folder):
    publish(folder)
    os.mkdir(folder.path(".metal3-image-x"))
    # As releases of before had them.
    for path in (".metal3-image-x/vmlinuz", ".metal3-image-y"):
        with open(folder.path(path), "w", encoding="utf-8") as stream:
            stream.write("half")
    publish(folder)
    assert not [name for name in os.listdir(folder.directory) if name.startswith(".metal3-")]


@pytest.mark.parametrize("name", ["image.json", "vmlinuz.sha256"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_pipe_or_link_of_the_web_server_keeps_no_run_waiting_and_is_replaced(folder, tmp_path, name, kind):
    publish(folder)
    os.unlink(folder.path(name))
    if kind == "pipe":
        os.mkfifo(folder.path(name))
    else:
        (tmp_path / "own").write_text("of root")
        os.symlink(tmp_path / "own", folder.path(name))
    assert folder.published("1", list(CONTENTS)) is None
    publish(folder)
    assert folder.published("1", list(CONTENTS)) is not None
    assert not os.path.islink(folder.path(name))
    assert kind == "pipe" or (tmp_path / "own").read_text() == "of root"


def forged(folder, name="vmlinuz", content="of somebody else"):
    """Put another file in the place of a published one, with all that says of it."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    with open(folder.path("image.json"), encoding="utf-8") as stream:
        said = json.load(stream)
    for path, text in ((folder.path(name), content), (folder.path(name + ".sha256"), f"{digest}  {name}\n")):
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    said["files"][name] = {"sha256": digest, "size_bytes": len(content),
                           "modified_ns": os.stat(folder.path(name)).st_mtime_ns}
    with open(folder.path("image.json"), "w", encoding="utf-8") as stream:
        json.dump(said, stream)


@pytest.mark.parametrize("by_time", [False, True])
@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_checksum_that_others_could_have_written_is_not_believed(folder, mode, by_time):
    """Servers would boot what somebody who may write into the folder has put there, and Ironic would verify it."""
    publish(folder)
    forged(folder)
    os.chmod(folder.path("image.json"), mode)
    assert folder.published("1", list(CONTENTS), by_time) is None and folder.key() is None
    assert publish(folder) == ["vmlinuz"]
    assert folder.published("1", list(CONTENTS), by_time)["vmlinuz"]["sha256"] == hashlib.sha256(b"kernel").hexdigest()


def test_the_time_of_a_file_that_others_could_have_written_says_nothing(folder):
    publish(folder)
    before = os.stat(folder.path("vmlinuz"))
    with open(folder.path("vmlinuz"), "w", encoding="utf-8") as stream:
        stream.write("kern3l")
    os.utime(folder.path("vmlinuz"), ns=(before.st_atime_ns, before.st_mtime_ns))
    os.chmod(folder.path("vmlinuz"), 0o666)
    assert folder.published("1", list(CONTENTS), by_time=True) is None


@pytest.mark.parametrize("file", [{}, {"sha256": None}, {"sha256": 1}, None, "x"])
def test_a_description_without_a_checksum_is_none(folder, file):
    publish(folder)
    with open(folder.path("image.json"), encoding="utf-8") as stream:
        said = json.load(stream)
    said["files"]["vmlinuz"] = file
    with open(folder.path("image.json"), "w", encoding="utf-8") as stream:
        json.dump(said, stream)
    with open(folder.path("vmlinuz.sha256"), "w", encoding="utf-8") as stream:
        stream.write(f"{file.get('sha256') if isinstance(file, dict) else None}  vmlinuz\n")
    assert folder.published("1", list(CONTENTS)) is None

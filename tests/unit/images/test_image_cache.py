# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image cache: what is refused, what is downloaded and converted, versions, killed runs, removal."""
from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from fakes.http_server import HttpServer

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import regular_file
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.cache import cache_options, cache_service
from ansible_collections.metal3.baremetal.plugins.module_utils._images.disks import disk_image
from ansible_collections.metal3.baremetal.plugins.module_utils._images.publishing import private_work

SHA256, SHA512 = "0" * 64, "0" * 128
URL = "https://images.example.org/a.qcow2"
MIB = 1024 ** 2


def fields(*images):
    return [problem.field for problem in cache_options.problems(images)]


@pytest.mark.parametrize("image", [
    {"name": "a.raw", "url": URL, "checksum": SHA256, "format": "raw"},
    {"name": "a.qcow2", "url": URL, "checksum": "sha512:" + SHA512.upper(), "checksum_type": "sha512"},
    {"name": "agent.iso", "url": URL, "checksum": "https://images.example.org/SHA512SUMS"},
    {"name": "vmlinuz", "path": "/srv/vmlinuz"}, {"name": "../a", "state": "present", "path": "/a"},
    {"name": "old.raw", "state": "absent"}])
def test_nothing_is_wrong_with_what_is_documented(image):
    assert fields(image) == (["images[0].name"] if "/" in image["name"] else [])


@pytest.mark.parametrize("change, field", [
    ({"name": "a.sha256"}, "name"), ({"name": "a.json"}, "name"), ({"name": ".a"}, "name"), ({"name": None}, "name"),
    ({"name": "a.0123456789ab.raw"}, "name"), ({"name": "a.0123456789ab"}, "name"), ({"name": "a\n"}, "name"),
    ({"url": "file:///etc/shadow"}, "url"), ({"url": None}, ""), ({"path": "/a"}, ""),
    ({"url": None, "path": "a"}, "path"), ({"checksum": None}, "checksum"),
    ({"checksum": "md5:" + "0" * 32}, "checksum"),
    ({"checksum": "sha512:" + SHA256}, "checksum"), ({"checksum_type": "sha512"}, "checksum"),
    ({"checksum_type": "md5"}, "checksum_type"), ({"checksum": "http://images.example.org/SUMS"}, "checksum"),
    ({"format": "vmdk"}, "format"), ({"name": "a.qcow2", "format": "raw"}, "name")])
def test_what_is_refused(change, field):
    found = fields(dict({"name": "a.raw", "url": URL, "checksum": SHA256}, **change))
    assert ("images[0]." + field).rstrip(".") in found


def test_mistakes_of_all_images_are_named_at_once():
    images = [{"name": "a/b", "url": URL, "checksum": SHA256}, {"name": "c", "path": "/c"}, {"name": "c", "path": "d"}]
    assert fields(*images, "e") == ["images[0].name", "images[2].name", "images[2].path", "images[3]"]


@pytest.mark.parametrize("text, expected", [
    (f"{SHA256}  a.qcow2\n", "sha256:" + SHA256), (f"SHA512 (a.qcow2) = {SHA512}\n", "sha512:" + SHA512),
    (f"{SHA256}  b.qcow2\n", ""), (f"{'0' * 32}  a.qcow2\n", ""), ("<html>", "")])
def test_what_a_checksum_file_says(text, expected):
    image = {"name": "a", "url": URL, "checksum": "https://images.example.org/SUMS", "checksum_type": None}
    value, problems = cache_options.checksum_of_file(text, image, "images[0]")
    assert value == expected and bool(problems) is not bool(expected)


@pytest.mark.parametrize("kind, expected", [(None, SHA256), ("sha256", SHA256), ("sha512", SHA512)])
def test_a_checksum_file_may_have_a_checksum_of_each_type(kind, expected):
    """As those of Flatcar, whose first one is an MD5."""
    text = "".join(f"# {title} HASH\n{value}  a.qcow2\n{value}  b.qcow2\n" for title, value in (
        ("MD5", "0" * 32), ("SHA1", "0" * 40), ("SHA256", SHA256), ("SHA512", SHA512)))
    image = {"name": "a", "url": URL, "checksum": "https://images.example.org/DIGESTS", "checksum_type": kind}
    value, problems = cache_options.checksum_of_file(text, image, "images[0]")
    assert value.partition(":")[2] == expected and problems == []


def test_a_checksum_file_of_another_type_is_refused():
    image = {"name": "a", "url": URL, "checksum": "https://images.example.org/SUMS", "checksum_type": "sha512"}
    assert cache_options.checksum_of_file(f"{SHA256}  a.qcow2\n", image, "images[0]")[1]


def test_names_of_versions():
    assert cache_options.version_name("debian-12.raw", "ab" * 32) == "debian-12.abababababab.raw"
    assert cache_options.version_name("vmlinuz", "ab" * 32) == "vmlinuz.abababababab"
    names = ["a.abababababab.raw", "a.abababababab.raw.sha256", "a.raw", "b.abababababab.raw", "aX0123456789abXraw"]
    assert cache_options.versions_in(names, "a.raw") == ["a.abababababab.raw"]


class Server:
    """Serves the files of a folder; ``ranges`` has what was asked for of each, ``cut_after`` ends answers early."""

    def __init__(self, folder):
        self.ranges, self.cut_after = [], None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                data = (folder / self.path.strip("/")).read_bytes()
                begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
                outer.ranges.append(begin)
                self.send_response(206 if begin else 200)
                self.send_header("Content-Length", str(len(data) - begin))
                self.end_headers()
                self.wfile.write(data[begin:][:outer.cut_after])

            def log_message(self, *arguments):
                pass

        self.http = HttpServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.http.server_port}/{name}"


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def server(source):
    made = Server(source)
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def cache(tmp_path):
    """Return a function that brings a folder to images, and have its path."""
    def ensure(*images, check_mode=False, **options):
        empty = {"url": None, "path": None, "checksum": None, "checksum_type": None, "format": "as_is",
                 "state": "present"}
        params = dict({"directory": str(tmp_path / "www"), "keep_versions": 1, "ca_file": None, "state": "present"},
                      images=[dict(empty, **image) for image in images], **options)
        return cache_service.ensure(params, check_mode, Progress())
    ensure.folder = tmp_path / "www"
    return ensure


def test_a_link_of_another_user_is_not_published(cache, source, tmp_path, monkeypatch):
    """In a folder that others may write into it would lead to what only this user may read."""
    (tmp_path / "secret").write_text("of this user")
    (source / "agent.iso").symlink_to(tmp_path / "secret")
    assert cache({"name": "own.iso", "path": str(source / "agent.iso")})["changed"]
    if os.geteuid() == 0:
        os.lchown(source / "agent.iso", 65534, 65534)
    else:
        monkeypatch.setattr(regular_file.os, "geteuid", lambda: 65534)
    with pytest.raises(ReportedError, match=r'agent.iso: path: found ".*/agent.iso", a link of user \d+, expected'):
        cache({"name": "agent.iso", "path": str(source / "agent.iso")})
    assert not (cache.folder / "agent.iso").exists()


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files(folder):
    """Return the published files of a folder."""
    return sorted(name for name in os.listdir(folder) if not name.startswith(".") and not name.endswith(".sha256"))


def qcow2(path, text="data", *arguments):
    raw = path.with_suffix(".made")
    with open(raw, "wb") as stream:
        stream.truncate(4 * MIB)
        stream.seek(510)
        stream.write(b"\x55\xaa")
        stream.seek(MIB)
        stream.write(text.encode())
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", *arguments, raw, path], check=True)
    return raw


def test_a_download_is_published_once_with_its_checksum_and_its_version(cache, server, source):
    (source / "kernel").write_bytes(b"kernel")
    digest = sha256(source / "kernel")
    image = {"name": "vmlinuz", "url": server.url("kernel"),
             "checksum": "sha512:" + hashlib.sha512(b"kernel").hexdigest()}
    assert cache(image, check_mode=True)["changed"] and not cache.folder.exists()
    first = cache(image)
    version = f"vmlinuz.{digest[:12]}"
    assert first["images"] == [{
        "name": "vmlinuz", "path": str(cache.folder / "vmlinuz"), "changed": True, "sha256": digest, "size_bytes": 6,
        "version": version, "checksum_type": "sha256"}]
    for name in ("vmlinuz", version):
        assert (cache.folder / name).read_bytes() == b"kernel"
        assert (cache.folder / (name + ".sha256")).read_text() == f"{digest}  {name}\n"
        assert (cache.folder / name).stat().st_mode & 0o777 == 0o644
    assert os.listdir(cache.folder / cache_service.WORK) == []
    second = cache(image)
    assert not second["changed"] and second["images"][0] == dict(first["images"][0], changed=False)
    assert server.ranges == [0] and not cache(image, check_mode=True)["changed"]


def test_the_web_server_can_enter_the_folder_whatever_the_umask_is(cache, source):
    (source / "kernel").write_bytes(b"kernel")
    before = os.umask(0o077)
    try:
        cache({"name": "vmlinuz", "path": str(source / "kernel")})
    finally:
        os.umask(before)
    assert cache.folder.stat().st_mode & 0o777 == 0o755


def test_what_somebody_has_changed_is_published_again(cache, server, source):
    (source / "kernel").write_bytes(b"kernel")
    image = {"name": "vmlinuz", "url": server.url("kernel"), "checksum": sha256(source / "kernel")}
    version = cache(image)["images"][0]["version"]
    (cache.folder / "vmlinuz").unlink()
    (cache.folder / "vmlinuz").write_bytes(b"KERNEL")
    assert cache(image)["changed"] and (cache.folder / "vmlinuz").read_bytes() == b"kernel"
    (cache.folder / version).unlink()
    assert cache(image, check_mode=True)["changed"] and not (cache.folder / version).exists()
    assert cache(image)["changed"] and (cache.folder / version).samefile(cache.folder / "vmlinuz")
    assert len(server.ranges) == 2 and not cache(image)["changed"]


def test_a_wrong_checksum_publishes_nothing_and_the_other_images_come(cache, server, source):
    for name in ("a", "b"):
        (source / name).write_text(name)
    with pytest.raises(ReportedError, match=r"a: .*checksum: found sha256:.*, expected sha256:0000"):
        cache({"name": "a", "url": server.url("a"), "checksum": SHA256},
              {"name": "b", "url": server.url("b"), "checksum": sha256(source / "b")})
    assert files(cache.folder) == ["b", f"b.{sha256(source / 'b')[:12]}", "b.json"]


def test_a_download_that_was_cut_goes_on_where_it_stopped(cache, server, source):
    (source / "a").write_bytes(b"0123456789")
    image = {"name": "a", "url": server.url("a"), "checksum": sha256(source / "a")}
    server.cut_after = 4
    with pytest.raises(ReportedError, match="an answer that ended 6 bytes early; run again"):
        cache(image)
    server.cut_after = None
    cache(image)
    assert server.ranges == [0, 4] and (cache.folder / "a").read_bytes() == b"0123456789"


def test_a_partial_file_of_a_killed_run_is_taken_up(cache, server, source):
    (source / "a").write_bytes(b"0123456789")
    digest = "sha256:" + sha256(source / "a")
    work = cache.folder / cache_service.WORK
    work.mkdir(parents=True, mode=0o700)
    (work / (hashlib.sha256(digest.encode()).hexdigest() + ".partial")).write_bytes(b"012345")
    (work / "making-x").write_bytes(b"half a conversion")
    cache({"name": "a", "url": server.url("a"), "checksum": digest})
    assert server.ranges == [6] and os.listdir(work) == [] and (cache.folder / "a").read_bytes() == b"0123456789"


def test_a_qcow2_becomes_a_raw_disk_and_a_raw_disk_a_qcow2(cache, source):
    raw = qcow2(source / "a.qcow2")
    result = cache({"name": "a.raw", "path": str(source / "a.qcow2"), "format": "raw"},
                   {"name": "b.qcow2", "path": str(raw), "format": "qcow2"},
                   {"name": "c.qcow2", "path": str(source / "a.qcow2"), "format": "qcow2"})["images"]
    assert (cache.folder / "a.raw").read_bytes() == raw.read_bytes()
    assert [(image["format"], image["disk_bytes"]) for image in result] == [
        ("raw", 4 * MIB), ("qcow2", 4 * MIB), ("qcow2", 4 * MIB)]
    assert (cache.folder / "c.qcow2").read_bytes() == (source / "a.qcow2").read_bytes()
    # The data is small: its holes are none of the room that is asked for.
    assert disk_image.data_bytes(str(source / "a.qcow2"), "qcow2") < 2 * MIB


def test_a_backing_file_is_refused_by_any_name_and_leaves_nothing(cache, source):
    qcow2(source / "base.qcow2")
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", source / "base.qcow2", "-F", "qcow2",
                    source / "a.qcow2"], check=True)
    for name in ("a.qcow2", "kernel"):
        with pytest.raises(ReportedError, match="backing file: found a backing file"):
            cache({"name": name, "path": str(source / "a.qcow2")})
        assert files(cache.folder) == [] and os.listdir(cache.folder / cache_service.WORK) == []


def test_a_file_that_is_no_disk_is_refused_under_the_name_of_one(cache, source):
    (source / "a").write_bytes(b"<html>not found</html>")
    with pytest.raises(ReportedError, match="found another format"):
        cache({"name": "a.raw", "path": str(source / "a")})
    assert cache({"name": "a.html", "path": str(source / "a")})["changed"]


def test_a_ramdisk_is_published_under_its_usual_name_and_a_disk_under_it_is_looked_at(cache, source):
    (source / "ramdisk").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(1020))
    assert "format" not in cache({"name": "initrd.img", "path": str(source / "ramdisk")})["images"][0]
    raw = qcow2(source / "a.qcow2")
    for name, form in (("a.qcow2", "qcow2"), (raw.name, "raw")):
        assert cache({"name": "disk.img", "path": str(source / name)})["images"][0]["format"] == form


def test_room_is_asked_for_before_a_download_and_before_a_conversion(cache, server, source, monkeypatch):
    raw = qcow2(source / "a.qcow2", "data" * 2 ** 17, "-c")
    size = (source / "a.qcow2").stat().st_size

    class Full:
        f_bavail, f_frsize = size - 1, 1
    monkeypatch.setattr(os, "statvfs", lambda path: Full)
    image = {"name": "a.raw", "url": server.url("a.qcow2"), "checksum": sha256(source / "a.qcow2"), "format": "raw"}
    with pytest.raises(ReportedError, match="for the rest of the download; free space"):
        cache(image)
    Full.f_bavail = size
    with pytest.raises(ReportedError, match="for the image as raw; free space"):
        cache(image)
    Full.f_bavail = 2 ** 30
    cache(image)
    # What was downloaded was kept.
    assert server.ranges == [0, 0] and (cache.folder / "a.raw").read_bytes() == raw.read_bytes()


@pytest.mark.parametrize("error", [ReportedError("converting to raw: No space left on device"), KeyboardInterrupt()])
def test_a_conversion_that_ends_early_leaves_nothing_of_what_it_has_written(cache, source, monkeypatch, error):
    """The disk would stay full for what else writes there, until the next run."""
    def convert(path, kind, target):
        with open(target, "wb") as stream:
            stream.write(b"half")
        raise error

    qcow2(source / "a.qcow2")
    monkeypatch.setattr(disk_image, "convert", convert)
    with pytest.raises(type(error)):
        cache({"name": "a.raw", "path": str(source / "a.qcow2"), "format": "raw"})
    # What was copied is gone on with.
    left, = (cache.folder / cache_service.WORK).iterdir()
    assert left.read_bytes() == (source / "a.qcow2").read_bytes()


def test_former_versions_are_kept_by_number(cache, source):
    def publish(text, keep):
        (source / "a").write_text(text)
        return cache({"name": "a.bin", "path": str(source / "a")}, keep_versions=keep)["images"][0]["version"]

    one, two, three = (publish(text, 1) for text in ("one", "second", "the third"))
    assert files(cache.folder) == sorted([two, three, "a.bin", "a.bin.json"])
    assert (cache.folder / two).read_text() == "second" and (cache.folder / "a.bin").read_text() == "the third"
    assert not (cache.folder / (one + ".sha256")).exists()
    assert publish("the third", 0) == three and files(cache.folder) == sorted([three, "a.bin", "a.bin.json"])


def test_removal_takes_what_was_published_here_and_no_other(cache, source):
    (source / "a").write_text("a")
    cache({"name": "a", "path": str(source / "a")}, {"name": "b", "path": str(source / "a")})
    (cache.folder / "node.qcow2").write_text("of another module")
    (cache.folder / "node.qcow2.json").write_text('{"key": "0123", "files": {}}')
    gone = {"name": "b", "state": "absent"}
    assert cache(gone, check_mode=True)["removed"] == ["b"] and (cache.folder / "b").exists()
    result = cache(gone, {"name": "node.qcow2", "state": "absent"})
    assert result["removed"] == ["b"]
    assert [warning.split(";")[0] for warning in result["warnings"]] == [f"{cache.folder}/node.qcow2: not removed"]
    assert not [name for name in files(cache.folder) if name.startswith("b")]
    again = cache(gone)
    assert not again["changed"] and again["warnings"] == []
    assert cache(state="absent", check_mode=True)["removed"] == ["a"] and (cache.folder / "a").exists()
    result = cache(state="absent")
    # What another module has published is nobody's mistake.
    assert result["removed"] == ["a"] and result["warnings"] == []
    assert files(cache.folder) == ["node.qcow2", "node.qcow2.json"]
    (cache.folder / "node.qcow2").unlink()
    (cache.folder / "node.qcow2.json").unlink()
    assert not cache(state="absent")["changed"] and not cache.folder.exists()


def test_an_image_whose_record_others_may_write_stays_and_is_named(cache, source):
    (source / "a").write_text("a")
    cache({"name": "a", "path": str(source / "a")})
    (cache.folder / "a.json").chmod(0o666)
    for result in (cache(state="absent"), cache({"name": "a", "state": "absent"})):
        assert not result["changed"] and result["removed"] == [] and (cache.folder / "a").exists()
        assert result["warnings"] == [
            f"{cache.folder}/a: not removed; found no record of image_cache, or one that others could have written, "
            "expected a.json that only this user can write; delete the file if it is not needed"]


def test_what_others_have_put_in_the_place_of_the_work_folder_is_refused(cache, source, tmp_path):
    (source / "a").write_text("a")
    cache.folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    work = cache.folder / cache_service.WORK
    work.symlink_to(tmp_path / "elsewhere")
    image = {"name": "a", "path": str(source / "a")}
    with pytest.raises(ReportedError, match="expected a folder of this user that nobody else can enter"):
        cache(image)
    work.unlink()
    work.mkdir()
    work.chmod(0o755)
    with pytest.raises(ReportedError, match=r"mode 0755, expected a folder"):
        cache(image)
    assert os.listdir(tmp_path / "elsewhere") == [] and files(cache.folder) == []


def test_a_second_run_waits_for_the_first(tmp_path):
    path, events = tmp_path / "work", []

    class Watch:
        def event(self, text):
            events.append(text)
            fcntl.flock(other, fcntl.LOCK_UN)
    path.mkdir(mode=0o700)
    other = os.open(path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with private_work.held(str(path), Watch()) as work:
        (tmp_path / "moved").mkdir()
        path.rename(tmp_path / "moved" / "work")
        # It stays the folder that was checked.
        with open(os.path.join(work, "a"), "w", encoding="utf-8") as stream:
            stream.write("a")
    os.close(other)
    assert events == [f"Waiting for another run that works in {path}"]
    assert (tmp_path / "moved" / "work" / "a").exists()


def test_what_another_run_has_published_meanwhile_is_not_downloaded_again(cache, server, source, monkeypatch):
    (source / "kernel").write_bytes(b"kernel")
    image = {"name": "vmlinuz", "url": server.url("kernel"), "checksum": sha256(source / "kernel")}
    held = private_work.held

    def after_the_other_run(path, progress):
        monkeypatch.setattr(cache_service, "held", held)
        assert cache(image)["changed"]
        return held(path, progress)
    monkeypatch.setattr(cache_service, "held", after_the_other_run)
    assert not cache(image)["changed"] and server.ranges == [0]


@pytest.mark.parametrize("removes", [False, True])
def test_a_version_has_its_own_content_while_another_run_works_on_the_image(cache, source, monkeypatch, removes):
    """The other one begins when this one has published the image, and has not named its version."""
    for text in ("former", "later"):
        (source / text).write_text(text)
    kept, waits, others = cache_service.Cache._kept, threading.Event(), []

    def other():
        try:
            if removes:
                cache({"name": "vmlinuz", "state": "absent"})
            else:
                cache({"name": "vmlinuz", "path": str(source / "later")})
        finally:
            waits.set()

    def event(_progress, text):
        if text.startswith("Waiting for another run"):
            waits.set()

    def keeping(self, *arguments):
        monkeypatch.setattr(cache_service.Cache, "_kept", kept)
        others.append(threading.Thread(target=other))
        others[0].start()
        assert waits.wait(30)
        return kept(self, *arguments)

    monkeypatch.setattr(cache_service.Cache, "_kept", keeping)
    monkeypatch.setattr(Progress, "event", event)
    cache({"name": "vmlinuz", "path": str(source / "former")})
    others[0].join(30)
    found = files(cache.folder)
    assert found == [] if removes else len(found) == 4
    for name in found:
        if not name.endswith(".json"):
            assert (cache.folder / (name + ".sha256")).read_text() == f"{sha256(cache.folder / name)}  {name}\n"
            assert name == "vmlinuz" or name == f"vmlinuz.{sha256(cache.folder / name)[:12]}"


def test_a_run_that_waited_for_one_that_has_removed_the_folder_makes_it_again(tmp_path):
    path = tmp_path / "work"

    class Watch:
        def event(self, _text):
            path.rmdir()
            fcntl.flock(other, fcntl.LOCK_UN)

    path.mkdir(mode=0o700)
    other = os.open(path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with private_work.held(str(path), Watch()) as work:
        with open(os.path.join(work, "a"), "w", encoding="utf-8") as stream:
            stream.write("a")
        assert os.listdir(path) == ["a"]
    os.close(other)


def test_a_file_that_is_missing_is_refused_with_all_other_mistakes(cache):
    with pytest.raises(RefusedError) as caught:
        cache({"name": "a", "path": "/nonexistent"}, {"name": "b"}, keep_versions=-1)
    assert [problem.field for problem in caught.value.problems] == [
        "images[1]", "images[0].path", "keep_versions"]
    assert not cache.folder.exists()

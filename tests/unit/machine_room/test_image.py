# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images: download, verification, conversion."""
from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess

import pytest
from fakes.machine_room import make_image
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_room import image, image_format
from machine_room.disk import Disk
from machine_room.knobs import Knobs
from machine_room.web import Web


@pytest.fixture
def disk(tmp_path):
    disk = Disk({"name": "/dev/sda", "size_gib": 1}, str(tmp_path / "sda.raw"), Knobs())
    disk.ensure()
    return disk


@pytest.fixture
def raw(tmp_path, ironic):
    data = make_image(tmp_path / "image.raw")
    ironic.files["/os.raw"] = data
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(tmp_path / "image.raw"),
                    str(tmp_path / "image.qcow2")], check=True, timeout=30)
    ironic.files["/os.qcow2"] = (tmp_path / "image.qcow2").read_bytes()
    return data


def info(ironic, name, **changes):
    data = ironic.files["/" + name]
    return dict({"id": "i", "urls": [ironic.url + "/" + name], "disk_format": name.split(".")[1],
                 "os_hash_algo": "sha256", "os_hash_value": hashlib.sha256(data).hexdigest()}, **changes)


def write(disk, what):
    return image.write(Web(None), what, disk, lambda _byte_count: None)


@pytest.mark.parametrize("name", ["os.raw", "os.qcow2"])
def test_the_disk_has_the_images_bytes(ironic, disk, raw, name):
    assert write(disk, info(ironic, name)) == len(ironic.files["/" + name])
    assert disk.read(0, len(raw)) == raw


@pytest.mark.parametrize("algorithm", ["md5", "sha256", "sha512"])
def test_algorithms(ironic, disk, raw, algorithm):
    right = info(ironic, "os.raw", os_hash_algo=algorithm, os_hash_value=hashlib.new(algorithm, raw).hexdigest())
    assert write(disk, right) == len(raw) and disk.read(0, len(raw)) == raw
    with pytest.raises(image.ImageError, match="failed to verify"):
        write(disk, dict(right, os_hash_value=hashlib.new(algorithm, b"another").hexdigest()))


def test_checksum_alone_shows_its_algorithm(ironic, disk, raw):
    right = info(ironic, "os.raw", os_hash_algo=None, os_hash_value=None, checksum=hashlib.sha512(raw).hexdigest())
    assert write(disk, right) == len(raw) and disk.read(0, len(raw)) == raw
    with pytest.raises(image.ImageError, match="failed to verify"):
        write(disk, dict(right, checksum=hashlib.sha512(b"another").hexdigest()))


def test_checksum_file(ironic, disk, raw):
    digest = hashlib.sha256(raw).hexdigest()
    ironic.files["/sums"] = f"# sums\n{'0' * 64}  other.raw\n{digest} *os.raw\n".encode()
    listed = info(ironic, "os.raw", os_hash_value=ironic.url + "/sums")
    assert write(disk, listed) == len(raw) and disk.read(0, len(raw)) == raw
    ironic.files["/sums"] = ironic.files["/sums"].replace(b"*os.raw", b"*another.raw")
    with pytest.raises(image.ImageError, match=r"does not contain name os\.raw"):
        write(disk, listed)


@pytest.mark.parametrize("name", ["os.raw", "os.qcow2"])
def test_wrong_checksum(ironic, disk, raw, name):
    with pytest.raises(image.ImageError, match=r"failed to verify against checksum.*0000"):
        write(disk, info(ironic, name, os_hash_value="0" * 64))


def test_missing_image(ironic, disk, raw):
    with pytest.raises(image.ImageError, match="status code 404"):
        write(disk, info(ironic, "os.raw", urls=[ironic.url + "/gone.raw"]))


def test_server_that_is_down(ironic, disk, raw):
    with pytest.raises(image.ImageError, match="refused"):
        write(disk, info(ironic, "os.raw", urls=["http://127.0.0.1:1/os.raw"]))


def test_format_that_is_not_the_claimed_one(ironic, disk, raw):
    with pytest.raises(image.ImageError, match="format is qcow2, but vmdk was claimed"):
        write(disk, info(ironic, "os.qcow2", disk_format="vmdk"))
    with pytest.raises(image.ImageError, match="no qcow2 header, but qcow2 was claimed"):
        write(disk, info(ironic, "os.raw", disk_format="qcow2"))


def qcow2(tmp_path, *options):
    """Make an empty qcow2 image and return its bytes."""
    path = tmp_path / "made.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *options, str(path), "1M"], check=True, timeout=30)
    return path.read_bytes()


@pytest.mark.parametrize("options, message", [
    (["-F", "raw", "-b", "{secret}"], "has a backing file"),
    (["-o", "data_file={secret},data_file_raw=on"], "has an external data file"),
])
def test_an_image_that_refers_to_another_file_reads_none(ironic, disk, tmp_path, monkeypatch, options, message):
    """qemu-img, which runs as root in a lab, would put that file's content on the disk; it is not even asked."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"root's own" + bytes(1024 ** 2 - 10))
    ironic.files["/os.qcow2"] = qcow2(tmp_path, *(option.format(secret=secret) for option in options))
    secret.write_bytes(b"root's own" + bytes(1024 ** 2 - 10))
    monkeypatch.setattr(image, "_qemu_img", lambda *_arguments: pytest.fail("qemu-img was asked"))
    with pytest.raises(image.ImageError, match="Security: .*" + message):
        write(disk, info(ironic, "os.qcow2"))
    assert disk.read(0, 10) == bytes(10)


@pytest.mark.parametrize("name", ["vmdk", "vdi", "luks", None])
def test_other_formats_are_not_probed(ironic, disk, raw, name, monkeypatch):
    ironic.files["/os.other"] = b"# Disk DescriptorFile\nversion=1\nRW 2048 FLAT \"/etc/shadow\" 0\n"
    monkeypatch.setattr(image, "_qemu_img", lambda *_arguments: pytest.fail("qemu-img was asked"))
    with pytest.raises(image.ImageError, match="Security: "):
        write(disk, info(ironic, "os.other", disk_format=name))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.one_of(st.binary(max_size=120), st.binary(max_size=120).map(lambda rest: image_format.MAGIC + rest),
                 st.binary(min_size=100, max_size=120).map(lambda rest: image_format.MAGIC + b"\0\0\0\3" + rest)))
def test_any_header_is_a_self_contained_image_or_refused(header):
    try:
        image_format.check_header(header, "qcow2")
    except image_format.ImageFormatError as error:
        assert str(error)
    else:
        assert header.startswith(image_format.MAGIC) and not any(header[8:20])
        assert header[7] == 2 or not header[79] & image_format.EXTERNAL_DATA_FILE


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "data-file", "x"]), inner), max_leaves=6)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.one_of(st.text(max_size=20), JSON.map(json.dumps), st.fixed_dictionaries(
    {"format": st.just("qcow2")}, optional={"virtual-size": JSON | st.integers(1), "backing-filename": JSON,
                                            "format-specific": JSON}).map(json.dumps)))
def test_any_output_of_qemu_img_is_a_size_or_refused(text):
    try:
        size = image_format.virtual_size(text)
    except image_format.ImageFormatError as error:
        assert str(error)
    else:
        facts = json.loads(text)
        assert size == facts["virtual-size"] > 0 and not facts.get("backing-filename")


@pytest.mark.parametrize("name", ["os.raw", "os.qcow2"])
def test_image_larger_than_the_disk(ironic, tmp_path, raw, name):
    knobs = Knobs()
    disk = Disk({"name": "/dev/sda", "size_gib": 1}, str(tmp_path / "small.raw"), knobs)
    disk.ensure()
    knobs.set({"disk_too_small": True})
    large = make_image(tmp_path / "large.raw", 80)
    ironic.files["/os.raw"] = large
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(tmp_path / "large.raw"),
                    str(tmp_path / "large.qcow2")], check=True, timeout=30)
    ironic.files["/os.qcow2"] = (tmp_path / "large.qcow2").read_bytes()
    with pytest.raises((image.ImageError, OSError), match=r"No space left|exceeds the disk"):
        write(disk, info(ironic, name))


def test_power_cut_ends_a_download(ironic, disk, raw):
    def received(_byte_count):
        raise InterruptedError("no power")
    with pytest.raises(InterruptedError):
        image.write(Web(None), info(ironic, "os.raw"), disk, received)


def test_power_cut_ends_a_conversion(ironic, disk, raw, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "qemu-img"
    program.write_text(f"""#!/bin/sh
if [ "$1" = info ]; then exec {shutil.which('qemu-img')} "$@"; fi
echo $$ > {tmp_path / 'pid'}
exec sleep 600
""")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    def received(byte_count):
        if not byte_count and (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"):
            raise InterruptedError("no power")

    with pytest.raises(InterruptedError):
        image.write(Web(None), info(ironic, "os.qcow2"), disk, received)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_connection_that_breaks_is_reported_with_what_had_come(ironic, disk, raw, monkeypatch):
    class Broken(io.BytesIO):
        headers = {}

        def read(self, size):
            chunk = super().read(size)
            if not chunk:
                raise ConnectionResetError("reset by peer")
            return chunk

    monkeypatch.setattr(Web, "open", lambda *_arguments, **_options: Broken(b"x" * 100))
    with pytest.raises(image.ImageError, match=r"os\.raw: the connection broke after 100 bytes: reset by peer"):
        write(disk, info(ironic, "os.raw"))


@pytest.mark.parametrize("text, digest", [
    ("a" * 64 + "\n", "a" * 64),
    ("b" * 32 + "  os.raw", "b" * 32),
    ("SHA256 (os.raw) = " + "c" * 64, "c" * 64),
    ("d" * 128 + " *os.raw\n" + "e" * 128 + " other", "d" * 128),
])
def test_checksum_files_of_all_kinds(text, digest):
    assert image.parse_checksums(text, "os.raw") == digest


@pytest.mark.parametrize("text", ["", "no digest here", "a" * 64 + "  other.raw\n" + "b" * 64 + "  another.raw"])
def test_checksum_files_without_the_image(text):
    with pytest.raises(image.ImageError, match=r"does not contain name os\.raw"):
        image.parse_checksums(text, "os.raw")

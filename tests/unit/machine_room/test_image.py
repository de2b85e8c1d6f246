# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images: download, verification, conversion."""
from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess

import pytest
from machine_room import image
from machine_room.disk import Disk
from machine_room.knobs import Knobs
from machine_room.web import Web
from room_support import make_image


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
    write(disk, info(ironic, "os.raw", os_hash_algo=algorithm, os_hash_value=hashlib.new(algorithm, raw).hexdigest()))


def test_checksum_alone_tells_its_algorithm(ironic, disk, raw):
    write(disk, info(ironic, "os.raw", os_hash_algo=None, os_hash_value=None,
                     checksum=hashlib.sha512(raw).hexdigest()))


def test_checksum_file(ironic, disk, raw):
    digest = hashlib.sha256(raw).hexdigest()
    ironic.files["/sums"] = ("# sums\n%s  other.raw\n%s *os.raw\n" % ("0" * 64, digest)).encode()
    write(disk, info(ironic, "os.raw", os_hash_value=ironic.url + "/sums"))


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
    program.write_text("""#!/bin/sh
if [ "$1" = info ]; then exec %s "$@"; fi
echo $$ > %s
exec sleep 600
""" % (shutil.which("qemu-img"), tmp_path / "pid"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "%s:%s" % (program.parent, os.environ["PATH"]))

    def received(byte_count):
        if not byte_count and (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"):
            raise InterruptedError("no power")

    with pytest.raises(InterruptedError):
        image.write(Web(None), info(ironic, "os.qcow2"), disk, received)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_connection_that_breaks_is_told_with_what_had_come(ironic, disk, raw, monkeypatch):
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

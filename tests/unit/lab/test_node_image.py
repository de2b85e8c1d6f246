# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import hashlib
import json
import os
import tarfile

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import container_image, node_image

LDD = """/usr/sbin/nft:
\tlinux-vdso.so.1 (0x00007ffd3a5e6000)
\tlibnftables.so.1 => /lib/x86_64-linux-gnu/libnftables.so.1 (0x00007f0000000000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0000000000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f0000000000)
/usr/sbin/conntrack:
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0000000000)
/usr/lib/x86_64-linux-gnu/xtables/libxt_x.so:
\tstatically linked
"""


def test_packages_without_their_reasons():
    assert debian_root.packages("# list\nkmod\nsocat   # kubeadm\n\n") == ["kmod", "socat"]


def test_libraries_that_ldd_lists():
    assert node_image.library_paths(LDD) == [
        "/lib/x86_64-linux-gnu/libnftables.so.1", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]


def test_only_debians_own_sources_are_used():
    targets = "\n".join([
        "Debian|http://mirror.example/debian/|bookworm|main",
        "Debian|http://mirror.example/debian/|bookworm|contrib",
        "Debian|http://mirror.example/debian-security/|bookworm-security|main",
        "Debian|http://mirror.example/debian/|trixie|main",
        "Others|https://packages.example/|bookworm|main",
    ])
    assert debian_root.apt_sources(targets) == [
        "deb http://mirror.example/debian-security/ bookworm-security main",
        "deb http://mirror.example/debian/ bookworm main"]


def test_no_login_of_this_machine_comes_into_an_image():
    # apt-get indextargets gives the addresses as they are in the sources.
    targets = "Debian|https://kim:s3cret@mirror.example/debian/|bookworm|main"
    with pytest.raises(debian_root.ImageBuildError, match=r"mirror\.example/debian/ with a login, expected") as error:
        debian_root.apt_sources(targets)
    assert "s3cret" not in str(error.value)
    assert debian_root.apt_sources(targets.replace("Debian|", "Others|")) == []


def test_container_image_is_reproducible_and_complete(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o700)
    contents = [container_image.File("/usr/bin/program", str(program)),
                container_image.Link("/usr/bin/other", "program")]
    for name in ("one.tar", "two.tar"):
        container_image.write_archive(
            str(tmp_path / name), "registry.example/program:v1", contents, ["/usr/bin/program"], "x86_64",
            command=["serve"], user="65535:65535")
        os.utime(program, (1, 1))
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as archive:
        manifest = json.load(archive.extractfile("manifest.json"))[0]
        assert manifest["RepoTags"] == ["registry.example/program:v1"]
        config = archive.extractfile(manifest["Config"]).read()
        layer = archive.extractfile(manifest["Layers"][0]).read()
    assert manifest["Config"] == hashlib.sha256(config).hexdigest() + ".json"
    config = json.loads(config)
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    assert config["architecture"] == "amd64"
    assert config["config"]["Cmd"] == ["serve"]
    assert config["config"]["User"] == "65535:65535"
    (tmp_path / "layer.tar").write_bytes(layer)
    with tarfile.open(tmp_path / "layer.tar") as archive:
        members = {member.name: member for member in archive}
    assert sorted(members) == ["tmp", "usr", "usr/bin", "usr/bin/other", "usr/bin/program"]
    assert members["usr/bin/program"].mode == 0o755
    assert members["usr/bin/other"].linkname == "program"
    assert members["tmp"].mode == 0o1777
    assert {(member.uid, member.gid, member.mtime) for member in members.values()} == {(0, 0, 0)}


def test_the_first_of_two_files_with_one_path_counts(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    with open(tmp_path / "layer.tar", "wb") as stream:
        container_image.write_layer(stream, [container_image.File("/x", str(tmp_path / name)) for name in ("a", "b")])
    with tarfile.open(tmp_path / "layer.tar") as archive:
        assert archive.extractfile("x").read() == b"a"


def test_the_image_changes_its_folder_with_its_sources(tmp_path):
    class Programs:
        directory = "/cache/addons/1"

    source = tmp_path / "source"
    source.mkdir()
    (source / "packages.txt").write_text("kmod\n")

    def folder(engine="/cache/engine/1"):
        return node_image.NodeImage(str(source), "/cache", engine, Programs()).directory

    first = folder()
    assert folder() == first
    assert folder("/cache/engine/2") != first
    (source / "packages.txt").write_text("kmod\nsocat\n")
    assert folder() != first


def test_without_root_the_reason_is_reported(tmp_path, monkeypatch):
    class Programs:
        directory = "/cache/addons/1"

    (tmp_path / "source").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    image = node_image.NodeImage(str(tmp_path / "source"), str(tmp_path / "cache"), "/cache/engine/1", Programs())
    with pytest.raises(debian_root.ImageBuildError, match="needs root"):
        image.build(Progress())
    assert not os.path.exists(tmp_path / "cache")

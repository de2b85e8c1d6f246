# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controllers' images: their names, their layers, who may push them. The registry itself is in tests/lab."""
from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import tarfile

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import (
    container_image,
    credentials,
    oci_layout,
    registry,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import images
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine

PROGRAMS = {program.name for program in engine.SETS["management"]}
VERSIONS = dict.fromkeys(PROGRAMS, "v1.2.3")


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF" + bytes(100000))
    path.chmod(0o700)
    return path


def blob(directory, descriptor):
    """Return the content of a descriptor, which must be as it says."""
    data = (directory / "blobs" / "sha256" / descriptor["digest"].partition(":")[2]).read_bytes()
    assert len(data) == descriptor["size"]
    assert "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"]
    return data


def written(directory, program, user=images.DEFAULT_USER):
    digest = oci_layout.write(
        str(directory), [container_image.File("/manager", str(program))], ["/manager"], "x86_64", user)
    return digest, dict((path.relative_to(directory), path.read_bytes())
                        for path in directory.rglob("*") if path.is_file())


def test_the_same_program_gives_the_same_image_whenever_it_was_built(tmp_path, program):
    first = written(tmp_path / "one", program)
    os.utime(program, (1, 1))
    assert written(tmp_path / "two", program) == first
    program.write_bytes(b"another")
    assert written(tmp_path / "three", program)[0] != first[0]


def test_an_image_is_complete_and_runs_as_nobody_in_particular(tmp_path, program):
    directory = tmp_path / "image"
    digest, _files = written(directory, program)
    assert json.loads((directory / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads((directory / "index.json").read_text())
    assert [entry["digest"] for entry in index["manifests"]] == [digest] == [oci_layout.manifest_digest(directory)]
    manifest = json.loads(blob(directory, index["manifests"][0]))
    config = json.loads(blob(directory, manifest["config"]))
    assert config["config"]["User"] == "65532:65532" and config["config"]["Entrypoint"] == ["/manager"]
    layer = gzip.decompress(blob(directory, manifest["layers"][0]))
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        found = archive.extractfile("manager").read()
        assert {(member.name, member.mode, member.uid, member.gid, member.mtime) for member in archive} == {
            ("manager", 0o755, 0, 0, 0), ("tmp", 0o1777, 0, 0, 0)}
    assert found == program.read_bytes()


def test_every_controller_that_is_built_has_one_upstream_name():
    found = {image.reference: image for image in images.controller_images(VERSIONS)}
    assert [image.program for image in found.values()] == [part.program for part in catalogue.RENDERED]
    assert found["quay.io/metal3-io/baremetal-operator:v1.2.3"].path == "/baremetal-operator"
    plane = found["registry.k8s.io/cluster-api/kubeadm-control-plane-controller:v1.2.3"]
    assert (plane.program, plane.path) == ("cluster-api-control-plane-kubeadm", "/manager")


def test_the_programs_of_cert_manager_have_an_image_each():
    programs = ["cert-manager-cainjector", "cert-manager-controller", "cert-manager-webhook"]
    found = images.controller_images(dict.fromkeys(programs, "v1.11.5"))
    assert [image.program for image in found] == programs
    assert found[2] == ("quay.io/jetstack/cert-manager-webhook:v1.11.5", "cert-manager-webhook",
                        "/app/cmd/webhook/webhook", "1000:1000")


def test_images_are_made_once_for_programs_and_versions(tmp_path):
    engine_dir = tmp_path / "engine" / "0123"
    (engine_dir / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        (engine_dir / "bin" / name).write_text(name)
    made = registry.ControllerImages(str(engine_dir), VERSIONS, str(tmp_path))
    assert not made.complete()
    made.build(Progress())
    assert made.complete()
    times = {path: os.stat(path).st_mtime_ns for path in made.layouts().values()}
    again = registry.ControllerImages(str(engine_dir), VERSIONS, str(tmp_path))
    again.build(Progress())
    assert again.layouts() == made.layouts() and len(made.layouts()) == 6
    assert {path: os.stat(path).st_mtime_ns for path in times} == times
    newer = registry.ControllerImages(str(engine_dir), dict(VERSIONS, **{"cluster-api": "v9"}), str(tmp_path))
    assert newer.directory != made.directory


def test_a_build_that_fails_leaves_nothing(tmp_path):
    made = registry.ControllerImages(str(tmp_path / "none"), VERSIONS, str(tmp_path))
    with pytest.raises(FileNotFoundError):
        made.build(Progress())
    assert not made.complete() and not os.path.exists(made.directory + ".partial")


def test_a_registry_that_does_not_answer_is_named(tmp_path):
    for name in ("ca", "username", "password"):
        (tmp_path / name).write_text("")
    target = registry.Registry("https://127.0.0.1:9", "/etc/ssl/certs/ca-certificates.crt",
                               str(tmp_path / "username"), str(tmp_path / "password"))
    assert target.host == "127.0.0.1:9"
    with pytest.raises(registry.RegistryError, match=r"https://127\.0\.0\.1:9: .*refused"):
        registry.missing(target, {"quay.io/a/b:v1": "sha256:0"})


def test_the_login_for_pushing_is_chosen_once_and_its_file_is_written_again_when_lost(tmp_path):
    def texts():
        return [(tmp_path / path).read_text() for path in (
            "secrets/registry_username", "secrets/registry_password", "registry/htpasswd")]

    assert len(credentials.ensure_registry(str(tmp_path), check_mode=True)) == 3
    assert not (tmp_path / "secrets").exists()
    assert len(credentials.ensure_registry(str(tmp_path))) == 3
    username, password, entry = texts()
    assert credentials.ensure_registry(str(tmp_path)) == [] and texts() == [username, password, entry]
    assert password not in entry and (tmp_path / "registry" / "htpasswd").stat().st_mode & 0o777 == 0o600
    name, _colon, stored = entry.strip().partition(":{SSHA}")
    raw = base64.b64decode(stored)
    assert name == username and raw[:20] == hashlib.sha1(password.encode() + raw[20:]).digest() and len(raw) == 28
    for broken in ("", "somebody:{SSHA}AAAA", "no password file", entry.replace(username, "other")):
        (tmp_path / "registry" / "htpasswd").write_text(broken)
        assert credentials.ensure_registry(str(tmp_path)) == [str(tmp_path / "registry" / "htpasswd")]
        assert texts()[:2] == [username, password] and texts()[2].startswith(username + ":{SSHA}")


def pushed_to(tmp_path):
    files = [tmp_path / name for name in ("ca", "username", "password")]
    for file in files:
        file.write_text("")
    return registry.Registry("https://127.0.0.1:9", *map(str, files))


def test_tags_of_one_repository_are_pushed_one_after_the_other(tmp_path, monkeypatch):
    """The stand-in of skopeo holds a folder named after the repository while it runs, which a second one can't make."""
    program = tmp_path / "skopeo"
    program.write_text(f'#!/bin/sh\nfor last; do :; done\nname=$(basename "${{last%:*}}")\n'
                       f'mkdir "{tmp_path}/$name" && sleep 0.1 && rmdir "{tmp_path}/$name"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    progress = Progress()
    names = ["quay.io/a/ironic:v1", "quay.io/a/ironic:latest", "quay.io/a/bmo:v1", "quay.io/a/ironic:v2"]
    registry.push(pushed_to(tmp_path), dict.fromkeys(names, "/layout"), progress.wrote)
    assert {entry["object"] for entry in progress.written} == {f"image {name}" for name in names}


def test_a_push_that_fails_half_way_says_which_images_are_there(tmp_path, monkeypatch):
    """Skopeo's stand-in refuses one image, as a registry does whose disk is full."""
    program = tmp_path / "skopeo"
    program.write_text('#!/bin/sh\ncase "$*" in *broken*) echo no space left; exit 1 ;; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(registry, "SIDE_BY_SIDE", 1)
    target = pushed_to(tmp_path)
    progress = Progress()
    with pytest.raises(registry.RegistryError, match=r"broken:v1: .*no space left"):
        registry.push(target, {"quay.io/a/good:v1": "/a", "quay.io/a/broken:v1": "/b"}, progress.wrote)
    assert progress.written == [{"object": "image quay.io/a/good:v1", "action": "created"}]

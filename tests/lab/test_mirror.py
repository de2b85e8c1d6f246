# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images and files gathered from the lab's registry and image server, and unpacked where only the archive is."""
from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import plain_registry
import pytest
import registry_store
from registry_store import IMAGE, PINS
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue

pytestmark = [pytest.mark.nodes, pytest.mark.air_gap]

OPERATOR = "quay.io/metal3-io/baremetal-operator:" + PINS.version(catalogue.BMO)


@pytest.fixture(scope="module")
def other_side(tmp_path_factory):
    """A registry of another authority, empty, and a folder for files."""
    folder = tmp_path_factory.mktemp("site")
    with plain_registry.running(folder) as registry:
        yield SimpleNamespace(files=folder / "files", **vars(registry))


@pytest.fixture(scope="module")
def gathering(lab, tmp_path_factory):
    """What the playbook mirror_gather is given: two parts of the plane, and a file of the lab's image server."""
    folder, authority = tmp_path_factory.mktemp("archive"), str(lab.dir / "pki" / "ca.crt")
    content = (lab.dir / "www" / "agent" / "initrd").read_bytes()
    return {"mirror_archive": str(folder / "metal3.tar"), "mirror_parts": ["ipam", "bmo"],
            # The lab's cluster has them from its image.
            "mirror_add_ons": [],
            "mirror_source_registry": lab.figures["urls"]["registry"], "mirror_ca_file": authority,
            "mirror_files_ca_file": authority, "mirror_files": [{
                "name": "ipa.initramfs", "url": lab.figures["urls"]["image_server"] + "/agent/initrd",
                "checksum": "sha256:" + hashlib.sha256(content).hexdigest()}]}


@pytest.fixture(scope="module")
def archive(lab, gathering):
    """An archive that was gathered by a run that was killed, and one that went on."""
    work = Path(gathering["mirror_archive"] + ".d")
    running = lab.start("mirror_gather", extra=gathering)
    # The first image is whole once the second is begun.
    eventually((work / "images" / "1").exists, 300, "the second image", interval_seconds=0.01)
    running.kill()
    assert not Path(gathering["mirror_archive"]).exists()
    first = dict((path.name, path.stat().st_mtime_ns) for path in (work / "images" / "0").iterdir())
    run = lab.start("mirror_gather", extra=gathering).finish(300).ok()
    assert f"gathering {OPERATOR}" not in run.output and f"gathering {IMAGE}" in run.output
    assert first and run.changed() == 1
    checksum = next(word for word in run.output.replace('"', " ").split() if word.startswith("mirror_checksum="))
    return SimpleNamespace(path=gathering["mirror_archive"], checksum=checksum.partition("=")[2])


@pytest.fixture
def unpacking(archive, other_side):
    return {"mirror_archive": archive.path, "mirror_checksum": archive.checksum, "mirror_registry": other_side.host,
            "mirror_ca_file": other_side.ca, "mirror_files_dir": str(other_side.files)}


def test_what_is_gathered_once_is_not_gathered_again(lab, archive, gathering):
    assert lab.playbook("mirror_gather", extra=gathering).ok().changed() == 0
    assert not Path(archive.path + ".d").exists()


def test_an_image_that_is_not_there_and_a_wrong_checksum_are_named(lab, gathering, tmp_path):
    wrong = dict(gathering, mirror_archive=str(tmp_path / "x.tar"), mirror_images=["quay.io/metal3-io/unknown:v1"])
    lab.playbook("mirror_gather", extra=wrong).failed("1 of 3 images cannot be gathered",
                                                      "quay.io/metal3-io/unknown:v1: not in ")
    files = [dict(gathering["mirror_files"][0], checksum="sha256:" + "0" * 64)]
    wrong = dict(gathering, mirror_archive=str(tmp_path / "x.tar"), mirror_parts=[], mirror_files=files)
    lab.playbook("mirror_gather", extra=wrong).failed("agent/initrd: checksum: found sha256:", "find out who changed")
    assert not (tmp_path / "x.tar").exists()


def test_a_changed_archive_is_refused_and_nothing_of_it_is_used(lab, archive, unpacking, other_side, tmp_path):
    changed = tmp_path / "changed.tar"
    content = bytearray(Path(archive.path).read_bytes())
    # In the middle of a layer.
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    lab.playbook("mirror_unpack", extra=dict(unpacking, mirror_archive=str(changed))).failed(
        "found sha256:", "copy or gather it again")
    lab.playbook("mirror_unpack", extra=dict(unpacking, mirror_checksum="sha256:" + "0" * 64)).failed(
        "checksum: found " + archive.checksum, "find out who changed the archive")
    assert not other_side.images.exists() and not other_side.files.exists()


def test_a_node_pulls_upstreams_names_from_what_was_unpacked(lab, unpacking, gathering, other_side, tmp_path):
    run = lab.playbook("mirror_unpack", extra=unpacking).ok()
    assert run.changed() == 1 and lab.playbook("mirror_unpack", extra=unpacking).ok().changed() == 0
    assert (other_side.files / "ipa.initramfs").read_bytes() == (lab.dir / "www" / "agent" / "initrd").read_bytes()
    mirrors = [{"registry": "quay.io", "url": f"https://{other_side.host}/quay.io",
                "ca_certificate": Path(other_side.ca).read_text()}]
    other = "quay.io/metal3-io/cluster-api-provider-metal3:" + PINS.version(catalogue.CAPM3)
    _files, answers, _output = registry_store.pulled(lab, tmp_path, mirrors, [OPERATOR, IMAGE, other])
    store = registry_store.access(lab, tmp_path)
    for name in (OPERATOR, IMAGE):
        raw = registry_store.skopeo("inspect", "--raw", "--cert-dir", str(store.trust),
                                    f"docker://{gathering['mirror_source_registry'].partition('//')[2]}/{name}")
        assert json.loads(raw.stdout)["schemaVersion"] == 2
        assert "sha256:" + hashlib.sha256(raw.stdout.encode()).hexdigest() in answers[name], answers[name]
    # The lab's registry has it, this one does not.
    assert f"{other}: not found" in answers[other]

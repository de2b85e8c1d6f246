# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane as pods of a cluster whose nodes reach a registry that was filled from an archive alone.

Gathered is from the lab's registry and image server. The site's registry is another one, with another authority; the
manifests are those of the archive, and the cache of whoever installs is empty: nothing can be rendered or built.
"""
from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import plain_registry
import plane_site
import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = [pytest.mark.nodes, pytest.mark.air_gap]

SECONDS = 900
IRONIC = "quay.io/metal3-io/ironic:latest"
AGENT = {"vmlinuz": "ipa.kernel", "initrd": "ipa.initramfs"}


@pytest.fixture(scope="module")
def registry(lab, tmp_path_factory):
    """The site's registry, empty, where nodes reach it."""
    with plain_registry.running(tmp_path_factory.mktemp("registry"), plane_site.bridge(lab)) as found:
        yield found


@pytest.fixture(scope="module")
def archive(lab, tmp_path_factory):
    """The archive, gathered where everything is reached: its path and its checksum."""
    authority = str(lab.dir / "pki" / "ca.crt")
    files = [{"name": name, "url": f"{lab.figures['urls']['image_server']}/agent/{published}",
              "checksum": "sha256:" + hashlib.sha256((lab.dir / "www" / "agent" / published).read_bytes()).hexdigest()}
             for published, name in AGENT.items()]
    path = str(tmp_path_factory.mktemp("archive") / "metal3.tar")
    run = lab.playbook("mirror_gather", seconds=SECONDS, extra={
        "mirror_archive": path, "mirror_images": [IRONIC], "mirror_manifests": True, "mirror_files": files,
        "mirror_source_registry": lab.figures["urls"]["registry"], "mirror_ca_file": authority,
        "mirror_files_ca_file": authority}).ok()
    checksum = next(word for word in run.output.replace('"', " ").split() if word.startswith("mirror_checksum="))
    return SimpleNamespace(path=path, checksum=checksum.partition("=")[2])


@pytest.fixture(scope="module")
def files(lab, archive, registry, tmp_path_factory):
    """The folder that the archive was unpacked into, beside the images in the registry."""
    folder = tmp_path_factory.mktemp("site") / "files"
    lab.playbook("mirror_unpack", seconds=SECONDS, extra={
        "mirror_archive": archive.path, "mirror_checksum": archive.checksum, "mirror_registry": registry.host,
        "mirror_ca_file": registry.ca, "mirror_files_dir": str(folder)}).ok()
    return folder


@pytest.fixture(scope="module")
def kubeconfig(lab, registry):
    mirrors = [{"registry": name, "url": f"https://{registry.host}/{name}",
                "ca_certificate": Path(registry.ca).read_text()} for name in ("quay.io", "registry.k8s.io")]
    with plane_site.cluster(lab, "plane", lab_registry_mirrors=mirrors) as path:
        yield path


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, files, tmp_path_factory):
    found = plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))
    found["management_plane"]["manifests_dir"] = str(files)
    return found


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    """The environment of somebody without a cache, whom Go's module proxy does not answer."""
    folder = tmp_path_factory.mktemp("nothing")
    return {"XDG_CACHE_HOME": str(folder), "GOPROXY": "off", "GOFLAGS": "-mod=mod"}, folder


def test_without_the_archives_images_the_nodes_have_none(lab, target, variables, nothing, registry):
    """The lab's registry, which has them too, is not asked."""
    environment, _folder = nothing
    missing = "v0.0.1"
    lab.playbook("install", "--tags", "ironic", seconds=SECONDS, environment=environment, extra=dict(
        variables, ironic_image_version=missing, ironic_wait_timeout_seconds=90)).failed(f"ironic:{missing}: not found")


def test_the_archive_is_all_that_the_plane_needs(lab, target, variables, nothing, registry):
    environment, folder = nothing
    lab.playbook("install", seconds=SECONDS, environment=environment, extra=variables).ok()
    assert set(plane_site.managers(target)) == {name for part in RENDERED for name in part.images} | {"ironic"}
    assert plane_site.not_ready(target) == []
    assert not list(folder.rglob("kubectl")) and list(folder.rglob("*manifests*"))
    images = [status["imageID"] for pod in target.list(KNOWN["Pod"])[0] for status in pod["status"]["containerStatuses"]
              if "metal3-io" in status["image"]]
    assert images
    # Each was read from the site's registry by its digest.
    blobs = registry.images / "docker" / "registry" / "v2" / "blobs" / "sha256"
    stored = set(path.name for path in blobs.glob("*/*"))
    assert {image.rpartition(":")[2] for image in images} <= stored
    assert lab.playbook("install", seconds=SECONDS, environment=environment, extra=variables).ok().changed() == 0


def test_all_goes_again(lab, target, variables, nothing):
    lab.playbook("uninstall", seconds=SECONDS, environment=nothing[0], extra=dict(
        variables, metal3_confirm=len(plane_site.PARTS))).ok()
    assert not plane_site.definitions(target)

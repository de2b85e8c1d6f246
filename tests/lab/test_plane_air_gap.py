# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane as pods of a cluster whose nodes reach a registry that was filled from an archive alone.

Gathered is from the lab's registry and image server. The site's registry is another one, with another authority; the
manifests are those of the archive, and the cache of whoever installs is empty: nothing can be rendered or built. The
agent, its bootloader and the servers' image are the archive's too, from a web server of the site's.
"""
from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import folder_server
import plain_registry
import plane_site
import pytest
from support import HOST, NAMESPACE, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = [pytest.mark.nodes, pytest.mark.air_gap]

SECONDS = 900
# What of the site's inventory decides which images are gathered without being named.
SITE = {"management": {"hosts": {"bastion": {
    "management_plane": {"mode": "cluster"}, "ironic_mode": "cluster",
    "ironic_image_version": plane_site.IRONIC_VERSION}}}}
# Where the image server of those who gather has them → their name in the archive.
FILES = {"agent/vmlinuz": "ipa.kernel", "agent/initrd": "ipa.initramfs", "agent/esp.img": "esp.img",
         "images/lab.raw": "system.raw"}


def digest(path):
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@pytest.fixture(scope="module")
def registry(lab, tmp_path_factory):
    """The site's registry, empty, where nodes reach it."""
    with plain_registry.running(tmp_path_factory.mktemp("registry"), plane_site.bridge(lab)) as found:
        yield found


@pytest.fixture(scope="module")
def archive(lab, tmp_path_factory):
    """The archive, gathered where everything is reached: its path and its checksum."""
    authority = str(lab.dir / "pki" / "ca.crt")
    files = [{"name": name, "url": f"{lab.figures['urls']['image_server']}/{published}",
              "checksum": "sha256:" + digest(lab.dir / "www" / published)} for published, name in FILES.items()]
    folder = tmp_path_factory.mktemp("archive")
    path, inventory = str(folder / "metal3.tar"), folder / "hosts.json"
    inventory.write_text(json.dumps(SITE))
    run = lab.playbook("mirror_gather", seconds=SECONDS, inventory=inventory, extra={
        "mirror_archive": path, "mirror_manifests": True, "mirror_files": files,
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
def web(lab, files, tmp_path_factory):
    """The site's web server of the archive's files."""
    address = plane_site.bridge(lab)
    certificate = plane_site.issue(lab, tmp_path_factory.mktemp("web"), address)
    with folder_server.running(files, address, certificate) as found:
        yield found


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, files, web, tmp_path_factory):
    found = plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))
    found["management_plane"]["manifests_dir"] = str(files)
    found["ironic_environment"]["BOOTLOADER"] = web.url + "/esp.img"
    return dict(found, bmo_deploy_kernel_url=web.url + "/ipa.kernel", bmo_deploy_ramdisk_url=web.url + "/ipa.initramfs")


@pytest.fixture(scope="module")
def server(lab, kubeconfig):
    """A server of the lab's that the site's plane gets: its name and variables."""
    name, *_others = [name for name, host in sorted(lab.hosts().items())
                      if not host["spec"].get("consumerRef") and lab.state(name) == "available"]
    with plane_site.let_go(lab, [name], kubeconfig, SECONDS) as found:
        yield name, found[name]


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


def test_a_server_gets_its_system_by_what_the_archive_has(lab, target, server, files, web, nothing):
    name, of_server = server
    environment, _folder = nothing
    of_server = dict(of_server, bmh_image={"url": web.url + "/system.raw", "checksum": digest(files / "system.raw"),
                                           "checksum_type": "sha256", "format": "raw"})
    lab.playbook("enroll", *only(name), seconds=SECONDS, environment=environment, extra=of_server).ok()
    lab.playbook("provision", *only(name), seconds=SECONDS, environment=environment, extra=of_server).ok()
    assert target.get(HOST, NAMESPACE, name)["status"]["provisioning"]["state"] == "provisioned"
    assert {(name, 200) for name in FILES.values()} <= set(web.requested)
    run = lab.playbook("provision", *only(name), seconds=SECONDS, environment=environment, extra=of_server)
    assert run.ok().changed() == 0
    lab.playbook("unenroll", *only(name), seconds=SECONDS, environment=environment, extra=dict(
        of_server, metal3_confirm=1)).ok()


def test_all_goes_again(lab, target, variables, nothing):
    lab.playbook("uninstall", seconds=SECONDS, environment=nothing[0], extra=dict(
        variables, metal3_confirm=len(plane_site.PARTS))).ok()
    assert not plane_site.definitions(target)

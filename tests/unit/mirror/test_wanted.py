# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an archive is to have: images of clusters and of planes, and those that a list names."""
from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.spec import (
    ENDPOINT_HOLDERS,
    NETWORK_ADDONS,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import endpoint, flannel
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render.images import ADD_ONS
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import registry
from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import image_lists, plane_images, service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME

# As kubeadm prints it.
LIST = """registry.k8s.io/kube-apiserver:v1.35.4
registry.k8s.io/pause:3.10.1
"""


def images_of(text):
    pairs = [line.strip().lstrip("- ").partition(": ") for line in text.splitlines()]
    return sorted(value for key, dummy, value in pairs if key == "image")


def test_all_that_a_cluster_with_flannel_pulls_is_gathered():
    rendered = yaml.safe_dump(flannel.objects(["10.244.0.0/16"], None, None))
    assert set(images_of(rendered)) == set(service.wanted([], [], [], None, add_ons=["flannel"]).images)


def test_the_image_of_kube_vip_is_that_of_the_endpoint():
    image, = service.wanted([], [], [], None, add_ons=["kube-vip"]).images
    assert image == endpoint.images.reference(endpoint.images.KUBE_VIP, None, None)


def test_each_add_on_is_a_value_of_a_clusters_description():
    assert set(ADD_ONS) <= set(ENDPOINT_HOLDERS) | set(NETWORK_ADDONS)


def test_lists_are_read_without_what_is_no_image(tmp_path):
    path = tmp_path / "images.txt"
    path.write_text("# of v1.35.4\n\n" + LIST)
    assert image_lists.read([str(path)]) == LIST.split()


def test_lists_that_cannot_be_read_are_all_named(tmp_path):
    pipe, binary = tmp_path / "pipe", tmp_path / "binary"
    os.mkfifo(pipe)
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(RefusedError) as error:
        image_lists.read([str(pipe), str(binary), str(tmp_path / "missing")])
    assert [Path(item.subject.split('"')[1]).name for item in error.value.problems] == ["pipe", "binary", "missing"]


def test_a_name_in_a_list_that_is_no_image_is_refused(tmp_path):
    path = tmp_path / "images.txt"
    path.write_text("I1129 version.go:253] remote version is much newer\n")
    with pytest.raises(RefusedError):
        service.wanted([], image_lists.read([str(path)]), [], None)


DIGEST, OTHER = ("sha256:" + number * 64 for number in "12")
ENGINE = Path(__file__).resolve().parents[3] / "lab" / "engine"


def of_plane(*parts, source_dir=None, **ironic):
    plane = {"parts": list(parts), "ironic": dict({"image_version": "v35.0.0"}, **ironic) if ironic else None}
    return service.wanted([], [], [], source_dir, planes=[plane])


def test_a_plane_s_ironic_is_gathered_with_what_its_pod_has_beside_it():
    others = {"keepalived": {"version": "v0.9.0"}}
    found = of_plane(keepalived=True, mariadb=False, cache_url="https://images.example", images=others)
    assert found.images == ["quay.io/metal3-io/ironic-ipa-downloader:latest", "quay.io/metal3-io/ironic:v35.0.0",
                            "quay.io/metal3-io/keepalived:v0.9.0"]
    assert found.digests == {}


def test_a_digest_of_the_inventory_goes_before_what_a_tag_stands_for(monkeypatch):
    found = of_plane(digest=DIGEST, mariadb=True)
    assert found.images == ["quay.io/metal3-io/ironic:v35.0.0", "quay.io/metal3-io/mariadb:latest"]
    assert found.digests == {"quay.io/metal3-io/ironic:v35.0.0": DIGEST}
    stored = {f"quay.io/metal3-io/ironic@{DIGEST}": DIGEST, "quay.io/metal3-io/ironic:v35.0.0": OTHER,
              "quay.io/metal3-io/mariadb:latest": OTHER}
    monkeypatch.setattr(registry, "digest", lambda dummy, name: stored.get(name))
    source = registry.Registry("mirror.example")
    assert service._digests(source, found.images, found.digests) == (
        {found.images[0]: DIGEST, found.images[1]: OTHER}, [])
    stored[f"quay.io/metal3-io/ironic@{DIGEST}"] = OTHER
    assert f"@{DIGEST}: found {OTHER}" in service._digests(source, found.images, found.digests)[1][0]
    del stored[f"quay.io/metal3-io/ironic@{DIGEST}"]
    error, = service._digests(source, found.images, found.digests)[1]
    assert f"ironic@{DIGEST}: not in mirror.example; correct the image's name or digest" in error


@pytest.mark.parametrize(("images", "text"), [
    ([f"quay.io/a/b:v1@{DIGEST}", f"quay.io/a/b:v1@{OTHER}"], 'image "quay.io/a/b:v1": digest: found'),
    (["quay.io/a/b:v1@sha256:1"], 'image "quay.io/a/b:v1": digest: found "sha256:1"'),
    ([f"quay.io/a/b@{DIGEST}"], 'image "quay.io/a/b": found another form')])
def test_what_is_wrong_with_a_digest_is_named(images, text):
    with pytest.raises(RefusedError) as error:
        service.wanted([], images, [], None)
    assert text in str(error.value)
    # One and the same twice.
    assert service.wanted([], [f"quay.io/a/b:v1@{DIGEST}"] * 2, [], None).digests == {"quay.io/a/b:v1": DIGEST}


def test_a_part_s_images_have_the_version_of_its_manifests_or_of_the_module_that_they_are_rendered_of():
    images = BY_NAME["cert_manager"].images.values()
    assert of_plane({"name": "cert_manager", "version": "v1.21.2"}).images == sorted(
        f"{image}:v1.21.2" for image in images)
    pinned = of_plane({"name": "cert_manager", "source_dir": str(ENGINE / "cert_manager")}, source_dir=str(ENGINE))
    assert set(image.partition(":")[0] for image in pinned.images) == set(images)
    assert set(image.partition(":")[2] for image in pinned.images) == {"v1.11.5"}
    # The module has no cert-manager.
    with pytest.raises(RefusedError) as error:
        of_plane({"name": "cert_manager", "version": None}, source_dir=str(ENGINE))
    assert "part cert_manager: version: not set" in str(error.value)
    assert "set cert_manager_options.version" in str(error.value)
    named = service.wanted(["ipam"], [], [], str(ENGINE)).images
    assert of_plane({"name": "ipam"}, source_dir=str(ENGINE)).images == named


def test_what_a_plane_is_described_by_is_what_installs_its_ironic():
    """One name for one option, wherever a user writes it."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._plane.ironic_module import ironic_argument_spec
    spec = ironic_argument_spec()
    options = plane_images.OPTIONS["ironic"]["options"]
    assert options and all(spec[name] == option for name, option in options.items())


@pytest.mark.parametrize("content, text", [
    (None, "No such file or directory"), ("[", "YAML documents"), ("kind: Deployment\n", "apiVersion: not set")])
def test_manifests_of_an_operator_that_cannot_be_read_are_refused(tmp_path, content, text):
    path = tmp_path / "install.yaml"
    if content:
        path.write_text(content)
    with pytest.raises(RefusedError, match=text):
        service.wanted([], [], [], None, planes=[{"parts": [], "ironic_operator": {"manifests": str(path)}}])


def test_what_nobody_says_of_an_operator_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr(service.registry, "digest", lambda source, name: "sha256:" + "0" * 64)
    params = {"parts": [], "images": [], "image_lists": [], "files": [], "source_dir": None, "programs": False,
              "manifests": False, "folders": [], "cluster_add_ons": [], "archive": str(tmp_path / "a.tar"),
              "work_dir": None, "release": "1", "planes": [{"parts": [], "ironic_operator": {"version": "35.0"}}]}
    result = service.gather(params, None, lambda line: None, True)
    assert result["warnings"] == [
        "ironic_operator_manifests: not set, which would say the operator's image; set it to a file with the manifests "
        "that the Ironic operator is installed from, or name the image in mirror_images"]

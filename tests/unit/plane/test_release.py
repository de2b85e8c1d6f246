# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests out of a registry's artifact and out of a clusterctl repository: those of the digest, for the contract."""
from __future__ import annotations

import hashlib
import json
import os

import pytest
from fakes import artifacts

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.transfer import registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import inventory, release_service, sources

COMPONENTS = b"""
apiVersion: apps/v1
kind: Deployment
metadata: {name: ipam-controller-manager, namespace: metal3-ipam-system}
spec: {template: {spec: {serviceAccountName: ipam-manager, containers: [{name: manager}]}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ippools.ipam.metal3.io, labels: {cluster.x-k8s.io/v1beta2: v1alpha1}}
"""
METADATA = b"""
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
  - {major: 1, minor: 13, contract: v1beta2}
  - {major: 1, minor: 10, contract: v1beta1}
  - {major: 1, minor: 9, contract: v9}
"""
FILES = {"ipam-components.yaml": COMPONENTS, "metadata.yaml": METADATA}
BASE = "https://releases.test/ipam/"


def checksums(files):
    return dict((name, "sha256:" + hashlib.sha256(content).hexdigest()) for name, content in files.items())


def read(fetch=None, **given):
    return sources.read([dict({"name": "ipam", "version": "v1.13.2"}, **given)], lambda folder: folder, fetch)["ipam"]


def refused(field, fetch=None, **given):
    with pytest.raises(RefusedError) as caught:
        read(fetch, **given)
    (problem,) = caught.value.problems
    assert problem.field == field
    return str(caught.value)


def kinds(found):
    return [obj["kind"] for obj in found[0]]


@pytest.fixture()
def repository(tmp_path):
    folder = tmp_path / "ipam" / "v1.13.2"
    folder.mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return folder.parent


@pytest.fixture()
def skopeo(monkeypatch):
    fake = artifacts.Skopeo(FILES)
    monkeypatch.setattr(registry, "_run", fake)
    return fake


def source(fake, tag=""):
    return f"oci://registry.test:5000/providers/ipam{tag}@{artifacts.digest(fake.raw)}"


def test_a_folder_with_releases_gives_the_version_that_is_asked_for(repository):
    assert kinds(read(manifests=str(repository))) == [
        "Namespace", "Deployment", "CustomResourceDefinition", "Provider"]
    text = refused("version", manifests=str(repository), version="v1.13.3")
    assert "one that the repository has: v1.13.2" in text


def test_checksums_of_a_folder_are_held_to(repository):
    read(manifests=str(repository), checksums=checksums(FILES))
    (repository / "v1.13.2" / "ipam-components.yaml").write_bytes(COMPONENTS + b"\n")
    refused("checksums", manifests=str(repository), checksums=checksums(FILES))


def test_a_file_for_any_part_is_taken_only_without_one_of_the_parts_own(repository):
    release = repository / "v1.13.2"
    (release / "components.yaml").write_text("- 1")
    read(manifests=str(repository))
    (release / "ipam-components.yaml").rename(release / "components.yaml")
    read(manifests=str(repository))
    (release / "components.yaml").rename(release / "core-components.yaml")
    assert "expected ipam-components.yaml or components.yaml" in refused("manifests", manifests=str(repository))


def test_a_url_is_asked_for_the_files_that_have_checksums_and_no_others():
    asked = []

    def fetch(url, _limit):
        asked.append(url)
        return FILES[url.rpartition("/")[2]]

    read(fetch, manifests=BASE, checksums=checksums(FILES))
    assert asked == [f"{BASE}v1.13.2/ipam-components.yaml", f"{BASE}v1.13.2/metadata.yaml"]
    asked.clear()
    for given in (None, checksums({"ipam-components.yaml": COMPONENTS}), checksums({"metadata.yaml": METADATA}),
                  dict(checksums(FILES), **{"metadata.yaml": "md5:1"})):
        refused("checksums", fetch, manifests=BASE, checksums=given)
    assert asked == []
    refused("checksums", lambda _url, _limit: b"other", manifests=BASE, checksums=checksums(FILES))


def test_a_server_that_does_not_have_the_file_is_named():
    def fetch(_url, _limit):
        raise OSError("HTTP 404 Not Found")

    assert f"{BASE}v1.13.2/ipam-components.yaml: HTTP 404" in refused(
        "manifests", fetch, manifests=BASE, checksums=checksums(FILES))


@pytest.mark.parametrize("content, text", [
    (None, "found no metadata.yaml"), (b"a: [", "metadata.yaml:"), (b"- 1", "of another form"),
    (b"\xff", "bytes that are no UTF-8"), (b"kind: Metadata\nreleaseSeries: [1]", "of another form"),
    (METADATA.replace(b"minor: 13", b"minor: 14"), "with 0 entries of 1.13"),
    (METADATA.replace(b"minor: 10", b"minor: 13"), "with 2 entries of 1.13"),
    (METADATA.replace(b"v1beta2", b"v1alpha4"), "a contract that is not known"),
])
def test_a_release_whose_metadata_do_not_fit_is_refused(repository, content, text):
    path = repository / "v1.13.2" / "metadata.yaml"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RefusedError, match=text):
        read(manifests=str(repository))


def test_what_is_no_provider_to_clusterctl_needs_no_metadata(tmp_path):
    (tmp_path / "v0.13.1").mkdir()
    (tmp_path / "v0.13.1" / "components.yaml").write_bytes(COMPONENTS)
    found = sources.read([{"name": "bmo", "version": "v0.13.1", "manifests": str(tmp_path)}], lambda folder: folder)
    assert kinds(found["bmo"]) == ["Deployment", "CustomResourceDefinition"]


@pytest.mark.parametrize("tag", ["", ":v1.13.2"])
def test_an_artifact_is_asked_for_by_its_digest_with_the_given_authority_and_login(skopeo, tmp_path, tag):
    for name in ("ca", "user", "password"):
        (tmp_path / name).write_text("canary-" + name)
    given = dict((f"manifests_{option}", str(tmp_path / name)) for option, name in (
        ("ca_file", "ca"), ("username_file", "user"), ("password_file", "password")))
    assert "Provider" in kinds(read(manifests=source(skopeo, tag), **given))
    asked, copied = skopeo.calls
    name = f"docker://registry.test:5000/providers/ipam@{artifacts.digest(skopeo.raw)}"
    assert asked[-1] == name and copied[-2] == name
    assert "--cert-dir" in asked and "--src-cert-dir" in copied and "canary" not in str(skopeo.calls)


@pytest.mark.parametrize("text", [
    "oci://registry.test/ipam:v1.13.2", "oci://registry.test/ipam@sha256:12", "oci://registry.test@sha256:" + "0" * 64,
    "oci://user:canary-7@registry.test/ipam@sha256:" + "0" * 64])
def test_an_artifact_is_named_by_a_digest_and_without_a_login(skopeo, text):
    assert "canary" not in refused("manifests", manifests=text) and not skopeo.calls


def test_another_manifest_than_that_of_the_digest_is_not_copied(skopeo):
    wanted = source(skopeo)
    skopeo.raw += b" "
    assert "found another manifest" in refused("manifests", manifests=wanted)
    assert [call[0] for call in skopeo.calls] == ["inspect"]


def test_another_layer_than_the_manifest_names_is_refused(skopeo):
    skopeo.blobs[artifacts.digest(COMPONENTS)] += b"\n"
    assert "a layer that is not sha256:" in refused("manifests", manifests=source(skopeo))


@pytest.mark.parametrize("raw, text", [
    (b"{", "Expecting"), (b"[]", "no manifest with layers"), (b'{"manifests": []}', "a list of manifests"),
    (json.dumps({"layers": [{"annotations": {artifacts.TITLE: "ipam-components.yaml"}, "digest": "../x", "size": 1}]}
                ).encode(), "without a valid digest and size"),
    (artifacts.manifest(FILES).replace(b"metadata.yaml", b"ipam-components.yaml"), "a name twice"),
    (json.dumps({"layers": [{"annotations": {artifacts.TITLE: "ipam-components.yaml"}, "size": 1 << 40,
                             "digest": "sha256:" + "0" * 64}]}).encode(), "1099511627776 bytes, more than"),
])
def test_what_is_no_artifact_of_files_is_refused_before_it_is_copied(skopeo, raw, text):
    skopeo.raw = raw
    assert text in refused("manifests", manifests=source(skopeo))
    assert [call[0] for call in skopeo.calls] == ["inspect"]


def test_what_a_registry_refuses_is_reported(skopeo):
    skopeo.error = "manifest unknown"
    assert "nothing in the registry at registry.test:5000/providers/ipam@sha256" in refused(
        "manifests", manifests=source(skopeo))
    skopeo.error = "x509: certificate signed by unknown authority"
    assert "give the file of the authority" in refused("manifests", manifests=source(skopeo))


def test_checksums_that_have_no_effect_are_refused(skopeo, repository):
    digest = "sha256:" + "0" * 64
    refused("checksum", manifests=source(skopeo), checksum=digest)
    refused("checksums", manifests=source(skopeo), checksums={"metadata.yaml": digest})
    refused("checksum", manifests=str(repository), checksum=digest)
    refused("checksums", manifests="https://releases.test/ipam.yaml", checksums={"ipam.yaml": digest})


def test_an_authority_that_cannot_be_read_is_named(tmp_path):
    missing = str(tmp_path / "ca.crt")
    assert missing in refused("manifests_ca_file", manifests=BASE, checksums=checksums(FILES),
                              manifests_ca_file=missing)


def test_the_core_of_a_release_brings_clusterctls_inventory_along_once(tmp_path):
    def core(*more):
        (tmp_path / "v1.13.5").mkdir(exist_ok=True)
        (tmp_path / "v1.13.5" / "metadata.yaml").write_bytes(METADATA)
        (tmp_path / "v1.13.5" / "core-components.yaml").write_text("---\n".join([
            json.dumps({"apiVersion": "apps/v1", "kind": "Deployment",
                        "metadata": {"name": "capi-controller-manager", "namespace": "capi-system"},
                        "spec": {"template": {"spec": {"serviceAccountName": "capi-manager"}}}}) + "\n",
            *(json.dumps(obj) + "\n" for obj in more)]))
        found = sources.read([{"name": "capi", "version": "v1.13.5", "manifests": str(tmp_path)}], None)
        return [obj for obj in found["capi"][0] if obj["metadata"]["name"] == inventory.NAME]

    (made,) = core()
    version = made["spec"]["versions"][0]
    assert version["name"] == "v1alpha3" and {"providerName", "type", "version"} <= set(
        version["schema"]["openAPIV3Schema"]["properties"])
    given = dict(made, spec={"of": "upstream"})
    assert [obj["spec"] for obj in core(given)] == [{"of": "upstream"}]


def test_what_is_no_file_and_half_of_a_file_are_not_taken(repository, monkeypatch):
    path = repository / "v1.13.2" / "ipam-components.yaml"
    monkeypatch.setattr(release_service, "LONGEST_BYTES", len(COMPONENTS) - 1)
    assert "more than" in refused("manifests", manifests=str(repository))
    assert "more than" in refused("manifests", manifests=str(path))
    path.unlink()
    os.mkfifo(path)
    assert "no regular file" in refused("manifests", manifests=str(repository))
    assert "no regular file" in refused("manifests", manifests=str(path))

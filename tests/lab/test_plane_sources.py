# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane from releases: clusterctl's repositories in a folder and on an image server, a file by URL, an artifact.

The releases are the lab's own, of what its engine has rendered; registry and image server are the lab's.
"""
from __future__ import annotations

import json

import plane_site
import pytest
import registry_store
import releases

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import inventory, release
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME, RENDERED

pytestmark = pytest.mark.plane

SECONDS = 900
SERVED = "releases-of-a-test"
# Namespaces of the site's choice, of the IP address manager and of the Bare Metal Operator.
ADDRESSES, METAL = "addresses", "metal"


@pytest.fixture(scope="module")
def kubeconfig(lab):
    return plane_site.workload(lab)


@pytest.fixture(scope="module")
def cluster_api(lab, tmp_path_factory):
    """One folder with the release of Cluster API: its core, its two kubeadm providers."""
    folder = tmp_path_factory.mktemp("cluster-api")
    made = releases.write(lab, folder, BY_NAME["capi"])
    for name in ("cabpk", "kcp"):
        releases.components(lab, BY_NAME[name], made / release.names(BY_NAME[name])[0])
    return folder


@pytest.fixture(scope="module")
def ipam(lab, tmp_path_factory):
    """An artifact with a release of IPAM: its name without a digest, its digest."""
    store = registry_store.opened(lab, tmp_path_factory.mktemp("store"))
    made = releases.write(lab, tmp_path_factory.mktemp("ipam"), BY_NAME["ipam"])
    name = f"private/releases/ipam:{releases.version(BY_NAME['ipam'])}"
    digest = releases.push(store, name, sorted(made.iterdir()), tmp_path_factory.mktemp("layout"))
    return f"oci://{store.host}/{name}", digest


@pytest.fixture(scope="module")
def served(lab):
    """A folder of the lab's image server, and its URL."""
    folder = lab.dir / "www" / "images" / SERVED
    folder.mkdir()
    yield folder, f"{lab.figures['urls']['image_server']}/images/{SERVED}/"
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, cluster_api, ipam, served):
    authority = str(lab.dir / "pki" / "ca.crt")
    folder, url = served
    capm3 = releases.write(lab, folder, BY_NAME["capm3"])
    bmo = releases.components(lab, BY_NAME["bmo"], folder / "bmo.yaml")
    secrets = lab.dir / "secrets"
    return {
        "management_plane": {"mode": "cluster", "kubeconfig": str(kubeconfig), "certificates": "collection",
                             "definitions": "remove"},
        "bmo_ironic_url": "https://192.0.2.1:6385/v1/",
        "capi_options": {"version": releases.version(BY_NAME["capi"]), "manifests": str(cluster_api)},
        "ipam_options": {"version": releases.version(BY_NAME["ipam"]), "manifests": "@".join(ipam),
                         "namespace": ADDRESSES, "manifests_ca_file": authority,
                         "manifests_username_file": str(secrets / "registry_username"),
                         "manifests_password_file": str(secrets / "registry_password")},
        "bmo_options": {"version": releases.version(BY_NAME["bmo"]), "manifests": url + "bmo.yaml",
                        "checksum": releases.checksum(bmo), "manifests_ca_file": authority, "namespace": METAL},
        "capm3_options": {"version": releases.version(BY_NAME["capm3"]), "manifests": url,
                          "checksums": dict((path.name, releases.checksum(path)) for path in capm3.iterdir()),
                          "manifests_ca_file": authority}}


def elsewhere(target):
    """Return the Deployments of the namespaces that the site has chosen."""
    return dict((namespace, item["metadata"]["name"]) for namespace in (ADDRESSES, METAL)
                for item in target.list(KNOWN["Deployment"], namespace)[0])


def install(lab, variables, part=None, **changes):
    given = dict(variables, **{f"{part}_options": dict(variables[f"{part}_options"], **changes)}) if part else variables
    return lab.playbook("install", extra=given, seconds=SECONDS)


def test_what_does_not_fit_is_refused_before_anything_is_written(lab, target, variables, ipam):
    zeros = "sha256:" + "0" * 64
    install(lab, variables, "bmo", checksum=zeros).failed(
        "part bmo: checksum: found", "find out who changed the manifests")
    install(lab, variables, "capm3", checksums=dict(variables["capm3_options"]["checksums"],
                                                    **{release.METADATA: zeros})).failed("metadata.yaml: sha256:")
    install(lab, variables, "ipam", manifests=f"{ipam[0]}@{zeros}").failed("part ipam: manifests: found nothing in the")
    install(lab, variables, "ipam", manifests_username_file=None, manifests_password_file=None).failed(
        "part ipam: manifests: ", "correct user name and password")
    install(lab, variables, "ipam", manifests_ca_file=None).failed("give the file of the authority")
    install(lab, variables, "capi", version="v1.13.98").failed("part capi: version: found", "the repository has: v1.")
    assert not plane_site.definitions(target)


def test_every_part_comes_up_from_its_release_and_a_second_run_changes_nothing(lab, target, variables):
    install(lab, variables).ok()
    names = {name for part in RENDERED for name in part.images}
    assert {*plane_site.managers(target), *elsewhere(target).values()} == names
    assert elsewhere(target) == {ADDRESSES: "ipam-controller-manager", METAL: "baremetal-operator-controller-manager"}
    assert not {BY_NAME["ipam"].namespace, BY_NAME["bmo"].namespace} & plane_site.namespaces(target)
    assert plane_site.not_ready(target) == []
    # No manifest has the definition of clusterctl's inventory.
    assert target.get(KNOWN["CustomResourceDefinition"], None, inventory.NAME)
    assert dict((item["type"], item["version"]) for item in target.list(KNOWN["Provider"])[0]) == dict(
        (part.type, releases.version(part)) for part in releases.PROVIDERS)
    again = install(lab, variables)
    assert again.ok().changed() == 0, json.dumps(again.output[-3000:])


def test_certificates_and_logs_of_all_namespaces_are_found(lab, variables, tmp_path):
    found = lab.playbook("certificates", extra=variables, seconds=SECONDS).ok().output
    assert f"Secret {ADDRESSES}/" in found and f"Secret {METAL}/" in found
    lab.playbook("collect_logs", extra=dict(variables, collect_logs_dir=str(tmp_path / "logs")), seconds=SECONDS).ok()
    assert {ADDRESSES, METAL} <= {path.name for path in (tmp_path / "logs" / "events").glob("*")} | {
        path.name for path in (tmp_path / "logs" / "pods").glob("*")}


def test_removal_by_another_machine_leaves_nothing(lab, target, variables, tmp_path):
    """Nothing of the plane is in its cache."""
    before = plane_site.namespaces(target)
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(RENDERED)), seconds=SECONDS,
                 environment={"XDG_CACHE_HOME": str(tmp_path)}).ok()
    assert not plane_site.definitions(target)
    assert before - plane_site.namespaces(target) >= {ADDRESSES, METAL, *(
        part.namespace for part in RENDERED if part.name not in ("ipam", "bmo"))}
    assert not plane_site.managers(target) and not elsewhere(target)

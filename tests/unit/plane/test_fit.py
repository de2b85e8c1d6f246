# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version matrix: what is found of each part in a cluster, what fits, and what is refused or warned of."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit, fit_service, matrix
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME, RENDERED

NAMES = [part.name for part in RENDERED]
VERSIONS = {"capi": "v1.13.5", "cabpk": "v1.13.5", "kcp": "v1.13.5", "ipam": "v1.13.2", "bmo": "v0.13.2",
            "capm3": "v1.13.2"}


def definition(part, api_version, kind, stored=None, contract="v1beta2"):
    group, _slash, version = api_version.partition("/")
    labels = {"cluster.x-k8s.io/provider": part.label, f"cluster.x-k8s.io/{contract}": version} if part.label else {}
    return {"kind": "CustomResourceDefinition",
            "metadata": {"name": f"{kind.lower()}s.{group}", "labels": labels},
            "spec": {"group": group, "names": {"kind": kind}, "versions": [{"name": version, "served": True}]},
            "status": {"storedVersions": stored or [version]}}


def provider(part, version):
    return {"metadata": {"name": part.label, "namespace": part.namespace}, "type": part.type,
            "providerName": part.provider_name, "version": version}


def deployment(part, version, available=1):
    name, image = next(iter(part.images.items()))
    return {"metadata": {"name": name, "namespace": part.namespace},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [
                {"image": f"mirror.example.org:5000/{image}:{version}@sha256:{'0' * 64}"}]}}},
            "status": {"availableReplicas": available}}


def plane(kubernetes="v1.35.4", without=(), pods=True, contract="v1beta2", **changes):
    versions = {name: version for name, version in dict(VERSIONS, **changes).items() if name not in without}
    parts = [BY_NAME[name] for name in versions]
    return fit.plane(
        kubernetes, [provider(part, versions[part.name]) for part in parts if part.type],
        [deployment(part, versions[part.name]) for part in parts] if pods else [],
        [definition(part, *kind, contract=contract) for part in parts for kind in part.managed])


def problems(there, planned=None, wanted=None):
    return fit.problems(there, planned or {}, NAMES if wanted is None else wanted)


def test_what_upstream_released_together_fits():
    assert problems(plane()) == ([], [])


def test_versions_are_read_from_the_inventory_and_from_images_by_any_mirror():
    there = plane()
    assert {name: item.version for name, item in there.parts.items()} == VERSIONS
    assert there.parts["bmo"].source == "Deployment baremetal-operator-system/baremetal-operator-controller-manager"
    assert there.parts["capm3"].source == "Provider capm3-system/infrastructure-metal3"
    label = deployment(BY_NAME["bmo"], "main")
    assert fit.plane(None, [], [label], []).parts["bmo"].version is None
    label["metadata"]["labels"] = {"app.kubernetes.io/version": "v0.13.1"}
    assert fit.plane(None, [], [label], []).parts["bmo"].version == "v0.13.1"


def test_a_part_that_nothing_says_the_version_of_is_warned_of():
    found, warnings = problems(plane(pods=False))
    assert found == [] and warnings == [
        "part bmo: version not known: found definitions alone; only its definitions were checked"]


@pytest.mark.parametrize("there, text", [
    (plane(kubernetes="v1.31.9"), "part capi: version: found v1.13.5 in Kubernetes v1.31.9, expected Kubernetes "
                                  "v1.32 to v1.36; upgrade the cluster"),
    (plane(kubernetes="v1.37.0"), "v1.13.5 in Kubernetes v1.37.0, expected Kubernetes v1.32 to v1.36; take a newer"),
    (plane(kcp="v1.13.4"), "part kcp: version: found kubeadm control plane provider v1.13.4 with Cluster API v1.13.5, "
                           "expected v1.13.5"),
    (plane(capm3="v1.12.3", bmo="v0.12.4"), "part capm3: version: found Cluster API provider Metal3 v1.12.3 with "
                                            "Cluster API v1.13.5, expected v1.13.x"),
    (plane(ipam="v1.14.0"), "part ipam: version: found IP address manager v1.14.0 with Cluster API v1.13.5"),
    (plane(bmo="v0.12.4"), "part bmo: version: found v0.12.4 with CAPM3 v1.13.2, expected v0.13.x or v0.14.x"),
    (plane(without=["ipam"]), "part ipam: found no IP address manager, expected IP address manager in the cluster"),
])
def test_what_does_not_fit_is_refused(there, text):
    found, _warnings = problems(there)
    assert len(found) == 1 and text in str(found[0])


def test_a_patch_of_cluster_api_brings_a_newer_kubernetes():
    newer = dict.fromkeys(("capi", "cabpk", "kcp"), "v1.13.6")
    assert problems(plane(kubernetes="v1.37.0", **newer)) == ([], [])


def test_a_contract_that_cluster_api_does_not_know_is_refused():
    found, _warnings = problems(plane(contract="v1alpha4"))
    assert {problem.subject: problem.actual for problem in found} == {
        f"part {name}": "v1alpha4" for name in ("cabpk", "kcp", "capm3")} | {"part ipam": "v1alpha4"}
    assert {problem.code for problem in found} == {"plane-contract"}


def test_a_contract_is_foreseen_before_the_manifests_are_rendered(monkeypatch):
    """What is there names the former one, which says nothing of what is to run."""
    planned = {"capm3": fit.Planned("v1.13.1", [])}
    assert problems(plane(contract="v1beta1"), planned) == ([], [])
    assert [row["contracts"] for row in fit.rows(plane(contract="v1beta1"), planned) if row["name"] == "capm3"] == [
        ["v1beta2"]]
    monkeypatch.setitem(fit.matrix.CONTRACTS, 13, ("v1beta1",))
    found, _warnings = problems(plane(contract="v1beta1"), planned)
    assert [(problem.subject, problem.actual) for problem in found if problem.code == "plane-contract"] == [
        ("part capm3", "v1beta2")]


def test_a_kind_that_is_not_served_in_the_version_that_is_read_is_refused():
    there = plane()
    old = there.definitions["metal3machines.infrastructure.cluster.x-k8s.io"]
    old["spec"]["versions"] = [{"name": "v1alpha5", "served": True}, {"name": "v1beta2", "served": False}]
    [problem] = problems(there)[0]
    assert (problem.code, problem.field, problem.actual) == ("part-version-not-served", "Metal3Machine", "v1alpha5")
    assert "expected v1beta2 or v1beta1, which" in str(problem)


def test_a_plane_of_v1beta1_fits():
    old = dict.fromkeys(("capi", "cabpk", "kcp"), "v1.10.10")
    there = plane("v1.33.1", contract="v1beta1", **old, ipam="v1.10.4", capm3="v1.10.4", bmo="v0.10.5")
    for definition_ in there.definitions.values():
        if definition_["spec"]["group"].endswith("x-k8s.io"):
            definition_["spec"]["versions"] = [{"name": "v1beta1", "served": True}]
    assert problems(there) == ([], [])


def test_pods_that_are_not_available_are_named():
    there = fit.plane("v1.35.4", [], [deployment(BY_NAME["bmo"], "v0.13.2", available=0)],
                      [definition(BY_NAME["bmo"], "metal3.io/v1alpha1", "BareMetalHost")])
    [problem] = problems(there, wanted=["bmo"])[0]
    assert problem.code == "part-unavailable" and "kubectl -n baremetal-operator-system describe pods" in problem.hint


def test_what_is_stored_in_a_version_that_goes_is_refused():
    part = BY_NAME["capm3"]
    there = plane()
    there.definitions["metal3machines.infrastructure.cluster.x-k8s.io"]["status"]["storedVersions"] = [
        "v1alpha5", "v1beta2"]
    planned = {"capm3": fit.Planned("v1.13.2", [definition(part, *kind) for kind in part.managed])}
    [problem] = problems(there, planned, ["capm3"])[0]
    assert str(problem) == (
        "CustomResourceDefinition metal3machines.infrastructure.cluster.x-k8s.io: status.storedVersions: found "
        "v1alpha5, expected only v1beta2, which the new definition has; install the versions between one after the "
        "other: each migrates what is stored")


def test_an_upgrade_begins_with_the_core_and_warns_of_what_comes_next():
    older = {name: version.replace(".13.", ".12.") for name, version in VERSIONS.items() if name != "bmo"}
    there = plane(**older)
    core = {name: fit.Planned("v1.13.5", []) for name in ("capi", "cabpk", "kcp")}
    found, warnings = problems(there, core, list(core))
    assert found == [] and [text.partition(":")[0] for text in warnings] == ["part ipam", "part capm3"]
    # A core that stays behind is none.
    [problem] = problems(there, {"ipam": fit.Planned("v1.13.2", [])}, ["ipam"])[0]
    assert problem.code == "plane-same-minor"


def test_the_matrix_has_a_row_for_each_part_that_is_there_or_planned():
    there = plane(without=["capm3"])
    rows = {row["name"]: row for row in fit.rows(there, {"capm3": fit.Planned("v1.13.2", [])})}
    assert list(rows) == ["kubernetes", "capi", "cabpk", "kcp", "ipam", "bmo", "capm3"]
    assert rows["capm3"]["found"] is None and rows["capm3"]["planned"] == "v1.13.2"
    assert rows["capm3"]["needs"] == ["Cluster API v1.13", "Bare Metal Operator v0.13 to v0.14"]
    assert rows["bmo"]["stored"] == ["v1alpha1"] and rows["bmo"]["needs"] == ["Ironic API 1.89"]
    lines = fit.table(list(rows.values()))
    assert lines[0].split() == ["part", "found", "planned", "contracts", "stored", "needs"]
    assert [line.split()[:3] for line in lines[1:3]] == [["kubernetes", "v1.35.4", "unchanged"],
                                                         ["capi", "v1.13.5", "unchanged"]]


def test_each_cluster_api_of_the_matrix_has_all_that_is_asked():
    assert set(matrix.KUBERNETES) == set(matrix.CONTRACTS) == set(matrix.OPERATOR)
    assert {minor for minor, _kubernetes in matrix.FIRST_PATCH} <= set(matrix.KUBERNETES)


class Reader:
    """An API server that refuses some kinds."""

    server = "https://server"

    def __init__(self, forbidden=()):
        self.forbidden = forbidden

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        if resource.kind in self.forbidden:
            raise KubeError("forbidden", 403)
        return [], "1"

    def request(self, _method, _path):
        return {"gitVersion": "v1.35.4"}


def test_who_may_not_read_all_is_warned_of_what_was_not_checked():
    there, warnings = fit_service.read(Reader(["Deployment"]))
    assert there.kubernetes == "v1.35.4" and len(warnings) == 1 and "whether pods are available" in warnings[0]


def test_a_refusal_has_the_matrix():
    with pytest.raises(fit_service.UnfitError) as caught:
        fit_service.run(Reader(), ["bmo"])
    result = caught.value.result()
    assert [row["name"] for row in result["matrix"]] == ["kubernetes"] and len(result["problems"]) == 1

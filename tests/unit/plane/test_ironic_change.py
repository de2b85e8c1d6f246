# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another Ironic in a cluster than the one that is there: whose it is, its version, the number, the way back."""
from __future__ import annotations

import copy

import pytest
from fakes.plane_server import Server
from plane import test_cluster_ironic as one_pod

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic, ironic_change, service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import settings as part_settings
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import OWNER_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit

NAMESPACE = one_pod.NAMESPACE
ENTRY = "Deployment", NAMESPACE, "ironic"


def present(server, check_mode=False, **changes):
    return one_pod.run(server, one_pod.options(**changes), check_mode).present()


def installed(**changes):
    """Return a cluster with an Ironic."""
    server = Server()
    present(server, **changes)
    server.writes.clear()
    return server


def with_host(server, state="available"):
    server.store("BareMetalHost", "metal3", {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {
        "name": "a", "namespace": "metal3"}, "status": {"provisioning": {"state": state}}})
    return server


def of_others(label=None, image=ironic.IMAGE + ":latest", namespace=NAMESPACE):
    """Return a cluster with an Ironic that kubectl has applied."""
    server = Server()
    labels = {OWNER_LABEL[0]: label} if label else {}
    deployment = copy.deepcopy(one_pod.shipped()[0])
    deployment["metadata"] = {"name": "ironic", "namespace": namespace, "labels": labels}
    for item in deployment["spec"]["template"]["spec"]["containers"]:
        item["image"] = image
    server.store("Deployment", namespace, deployment, "kubectl")
    return server


def image(server):
    return next(item["image"] for item in server.objects[ENTRY]["spec"]["template"]["spec"]["containers"]
                if item["name"] == "ironic")


# Whose it is

@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("label", [None, "Helm"])
def test_somebody_elses_ironic_is_refused_until_it_is_adopted(label, check_mode):
    server = of_others(label)
    before = copy.deepcopy(server.objects[ENTRY])
    for adopted in ([], ["bmo"]):
        with pytest.raises(RefusedError) as caught:
            present(server, check_mode, adopt=adopted)
        found = f"found {label}" if label else "not set"
        assert f"part ironic: Deployment {NAMESPACE}/ironic: metadata.labels.{OWNER_LABEL[0]}: {found}, expected " \
               f"{OWNER_LABEL[1]}; " in str(caught.value)
        assert "add ironic to adopt (management_plane.adopt)" in str(caught.value)
        assert server.objects[ENTRY] == before and server.writes == []
    assert present(server, check_mode, adopt=["ironic"])["changed"]
    if not check_mode:
        assert server.objects[ENTRY]["metadata"]["labels"][OWNER_LABEL[0]] == OWNER_LABEL[1]
        # The name counts for nothing any more.
        assert not present(server)["changed"]


def test_the_pod_of_an_adopted_ironic_is_this_collections_alone():
    """What others have in it, such as a DHCP server, would stay with the image that it had."""
    def containers(*names):
        return {"f:spec": {"f:containers": dict((f'k:{{"name":"{name}"}}', {"f:image": {}}) for name in names)}}

    labels = {"f:metadata": {"f:labels": {"f:team": {}}}}
    status = {"manager": "kubelet", "operation": "Update", "subresource": "status", "fieldsV1": {
        "f:spec": {"f:template": {}}}}
    theirs = [
        {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": dict(
            labels, **{"f:spec": {"f:replicas": {}, "f:template": containers("ironic", "ironic-dnsmasq")}})},
        {"manager": "kubectl-set", "operation": "Update", "fieldsV1": {
            "f:spec": {"f:template": containers("mariadb")}}}]
    stored = {"apiVersion": "apps/v1", "metadata": {"managedFields": [*theirs, status]}}
    before = copy.deepcopy(stored)
    found = ironic_change.taken_over(stored)
    assert stored == before
    assert [item["fieldsV1"] for item in found] == [
        dict(labels, **{"f:spec": {"f:replicas": {}}}), {"f:spec": {}}, status["fieldsV1"],
        {"f:spec": {"f:template": containers("ironic", "ironic-dnsmasq", "mariadb")}}]
    assert (found[-1]["manager"], found[-1]["operation"]) == ("metal3.baremetal", "Apply")


def test_an_ironic_of_ours_in_another_namespace_is_not_left_beside_this_one():
    server = installed()
    with pytest.raises(RefusedError, match=rf'found "?{NAMESPACE}"?, expected elsewhere; set ironic_namespace='):
        present(server, namespace="elsewhere")
    # Not one of others, nor what merely has the name.
    present(of_others(namespace="theirs"))
    present(of_others(OWNER_LABEL[1], image="example.org/website:1", namespace="ours"))


# Which version

@pytest.mark.parametrize("tag, version", [
    ("v39.0.0", "v39.0.0"), ("v35.0.1-rc.1", "v35.0.1-rc.1"), ("release-38.0", "v38.0.0"), ("latest", None),
    ("main", None), ("", None), (None, None)])
def test_a_tag_says_a_version_or_nothing(tag, version):
    assert fit.release_of_tag(tag) == version


def plan(server, adopt=(), confirm=None, **changes):
    """Return the plan of a plane whose only part in the cluster is an Ironic."""
    wanted = dict({"namespace": NAMESPACE, "image_version": "v39.0.0", "mariadb": False, "mariadb_claim": None,
                   "database": None}, **changes)
    return service.Components(server, {
        "parts": [], "certificates": "collection", "objects": [], "definitions": "keep", "adopt": list(adopt),
        "planned_ironic": wanted, "confirm": confirm, "confirm_among": [], "wait": False, "wait_timeout_seconds": 1},
        {}, True, Progress(None), sleep=lambda seconds: None, clock=lambda: 0.0).present()


def row(result):
    return next((item["found"], item["planned"], item["source"]) for item in result["matrix"]
                if item["name"] == "ironic")


def test_the_plan_has_a_row_for_ironic():
    server, source = installed(), f"Deployment {NAMESPACE}/ironic"
    assert row(plan(Server())) == (None, "v39.0.0", None)
    assert row(plan(server, image_version="v39.1.0")) == ("v39.0.0", "v39.1.0", source)
    assert row(plan(server, image_version="latest")) == ("v39.0.0", None, source)
    lines = plan(server, image_version="latest")["table"]
    assert next(line.split() for line in lines if line.startswith("ironic"))[:2] == ["ironic", "v39.0.0"]
    # Of a run that leaves it alone.
    there = fit.plane("v1.35.4", [], [server.objects[ENTRY]], [])
    assert [(item["name"], item["found"], item["changes"]) for item in fit.rows(there, {})][1:] == [
        ("ironic", "v39.0.0", False)]


def test_a_branch_and_a_mirror_with_a_digest_say_the_version_too():
    server = of_others(image=f"mirror.example:5000/{ironic.IMAGE}:release-38.0@sha256:{'0' * 64}")
    assert row(plan(server, adopt=["ironic"]))[0] == "v38.0.0"


def test_the_plan_refuses_what_ironic_itself_would_be_refused_for():
    with pytest.raises(RefusedError, match=r"part ironic: Deployment .*add ironic to adopt"):
        plan(of_others())
    with pytest.raises(RefusedError, match=r"1 in transition \(metal3/a: inspecting\)"):
        plan(with_host(installed(), "inspecting"), image_version="v39.1.0")
    with pytest.raises(RefusedError, match="set ironic_namespace"):
        plan(installed(), namespace="elsewhere")
    plan(with_host(installed(), "inspecting"))


def test_an_ironic_that_manages_hosts_gets_another_version_only_with_the_number():
    server = with_host(installed())
    found = plan(server, image_version="v39.1.0")
    assert found["upgrades"] == [
        {"part": "ironic", "found": "v39.0.0", "planned": "v39.1.0", "interrupts": True}]
    assert "1 part (ironic)" in found["confirmation"] and "metal3_confirm=1" in found["warnings"][-1]
    assert plan(server, image_version="v39.1.0", confirm="1")["confirmation"] == ""
    with pytest.raises(ReportedError, match=r"1 part \(ironic\).*metal3_confirm=1"):
        present(server, image_version="v39.1.0")
    assert server.writes == [] and image(server).endswith(":v39.0.0")
    assert "metal3_confirm=1" in present(server, True, image_version="v39.1.0")["warnings"][0]
    assert present(server, image_version="v39.1.0", confirm_upgrade="1")["upgrades"] == found["upgrades"]
    assert image(server).endswith(":v39.1.0")


def test_without_hosts_and_for_other_settings_no_number_is_asked_for():
    assert present(installed(), image_version="v39.1.0")["changed"]
    assert present(with_host(installed()), fast_track=False)["changed"]
    # What has no pod interrupts nothing.
    server = with_host(installed(standby=True))
    server.objects[ENTRY]["status"] = {}
    assert present(server, standby=True, image_version="v39.1.0")["changed"]


def with_database(server, **changes):
    return one_pod.present_with_mariadb(server, one_pod.with_mariadb(**changes))


def test_a_database_that_outlives_the_pod_does_not_go_back():
    server = Server()
    with_database(server)
    server.writes.clear()
    for older in ("v38.0.0", "release-35.0"):
        with pytest.raises(RefusedError, match=r"part ironic: version: found \"?v39.0.0\"?, expected .* or older; "
                                               r"set ironic_image_version=v39.0.0 or newer: .*PersistentVolumeClaim"):
            with_database(server, image_version=older)
        with pytest.raises(RefusedError, match=r"set ironic_image_version=v39\.0\.0 or newer"):
            plan(server, image_version=older, mariadb=True, mariadb_claim="data")
    assert server.writes == []
    # What goes with the pod leaves nothing to go back from; nor does a database that is given up.
    assert present(installed(), image_version="v38.0.0")["changed"]
    assert with_database(server, image_version="v38.0.0", mariadb_claim="other", confirm="ironic")["changed"]


def test_a_database_that_an_unknown_version_has_changed_asks_for_the_number():
    server = Server()
    with_database(server, image_version="latest")
    with pytest.raises(ReportedError, match="metal3_confirm=1"):
        with_database(server)
    assert with_database(server, confirm_upgrade="1")["changed"]


# The way back

def broken(server, tag):
    """Have Ironic's image of a tag not start."""
    server.broken = tag
    return server


@pytest.mark.parametrize("changes", [
    {"image_version": "v39.1.0"}, {"image_registry_mirror": "mirror.example"}, {"digest": "sha256:" + "0" * 64}])
def test_an_ironic_that_does_not_come_up_with_another_image_is_rolled_back(changes):
    server = installed()
    before = copy.deepcopy(server.objects[ENTRY]["spec"])
    variables = copy.deepcopy(server.objects["ConfigMap", NAMESPACE, ironic.CONFIG_MAP]["data"])
    server.broken = part_settings.image(ironic.IMAGE, changes.get("image_version", "v39.0.0"),
                                        changes.get("image_registry_mirror"), changes.get("digest"))
    if "image_registry_mirror" in changes:
        # The end of a name is that of the one before.
        assert server.broken.endswith(before["template"]["spec"]["containers"][0]["image"])
    with pytest.raises(ReportedError, match=r"upgrade of Ironic from quay\.io/metal3-io/ironic:v39\.0\.0 to .* failed "
                                            r"and was rolled back: .*Deployment baremetal-operator-system/ironic"):
        present(server, wait=True, fast_track=False, **changes)
    assert server.objects[ENTRY]["spec"] == before
    assert server.objects["ConfigMap", NAMESPACE, ironic.CONFIG_MAP]["data"] == variables


def test_what_did_not_work_before_is_not_gone_back_to_and_other_settings_stay_for_a_look():
    server = installed()
    server.objects[ENTRY]["status"] = {"replicas": 1}
    with pytest.raises(ReportedError) as caught:
        present(broken(server, ":v39.1.0"), wait=True, image_version="v39.1.0")
    assert "rolled back" not in str(caught.value) and image(server).endswith(":v39.1.0")
    server = installed()
    with pytest.raises(ReportedError) as caught:
        present(broken(server, ":v39.0.0"), wait=True, fast_track=False)
    assert "rolled back" not in str(caught.value)
    assert server.objects["ConfigMap", NAMESPACE, ironic.CONFIG_MAP]["data"]["IRONIC_FAST_TRACK"] == "false"

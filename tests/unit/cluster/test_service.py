# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs of the module ``cluster`` against an API server in memory: what is written, kept and taken away."""
from __future__ import annotations

import json

import pytest
from fakes.clusters import IMAGE, OTHER_IMAGE, Plane, run, service_of

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

NETWORKS = {
    "prov": {"interface": "eth0", "ipv4": {
        "ranges": [{"start": "198.18.0.20", "end": "198.18.0.39"}], "prefix": 24, "gateway": "198.18.0.1"}},
    "storage": {"interface": "eth1", "ipv4": {
        "ranges": [{"start": "198.18.1.20", "end": "198.18.1.39"}], "prefix": 24}}}


@pytest.fixture
def plane():
    return Plane()


def sizes(result):
    return dict((change["owner"], (change["replicas_before"], change["replicas_after"]))
                for change in result["changes"])


def test_a_second_run_changes_nothing(plane):
    assert run(plane, networks=NETWORKS)["changed"] is True
    writes = len(plane.writes())
    result = run(plane, networks=NETWORKS)
    assert result["changed"] is False and len(plane.writes()) == writes


class UpgradedPlane(Plane):
    """Has been upgraded since all was applied: what we own is named as in the older version, until it is applied again.

    The server itself, which has both versions, knows what it is.
    """

    def __init__(self):
        super().__init__()
        self.before_upgrade = set()

    def upgrade(self):
        self.before_upgrade = set(key for key, item in self.objects.items() if item["metadata"].get("managedFields"))

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        items, version = super().list(resource, namespace, label_selector, field_selector)
        for item in items:
            if (item["kind"], item["metadata"]["name"]) in self.before_upgrade:
                item["metadata"]["managedFields"] = [dict(
                    entry, apiVersion=f"{resource.group}/v1beta1", fieldsV1={"f:spec": {"f:olderName": {}}})
                    for entry in item["metadata"]["managedFields"]]
        return items, version

    def apply(self, resource, namespace, body, dry_run=False, force=True, checked=None):
        result = super().apply(resource, namespace, body, dry_run, force, checked)
        if not dry_run:
            self.before_upgrade.discard((resource.kind, body["metadata"]["name"]))
        return result


@pytest.mark.parametrize("more", [{}, {"node_drain_timeout_seconds": 60}])
def test_an_option_taken_away_after_an_upgrade_of_the_plane_is_noticed(more):
    plane = UpgradedPlane()
    with_option = {"replicas": 1, "ntp_servers": ["192.0.2.123"]}
    run(plane, control_plane=with_option)
    plane.upgrade()
    without = {"replicas": 1, **more}
    for check_mode in (True, False):
        result = run(plane, check_mode, control_plane=without)
        assert result["changed"] is True
        assert [(change["owner"], change["rolls"], change["reasons"]) for change in result["changes"]] == [
            ("c1-control-plane", True, ["ntp_servers"])]
        owner, = [item for item in result["diff"] if "KubeadmControlPlane" in item["after_header"]]
        assert "ntp" in owner["before"]["spec"]["kubeadmConfigSpec"]
        assert "ntp" not in owner["after"]["spec"]["kubeadmConfigSpec"]
    assert "ntp" not in plane.spec("KubeadmControlPlane", "c1-control-plane")["kubeadmConfigSpec"]
    again = run(plane, control_plane=without)
    assert (again["changed"], again["changes"], again["diff"]) == (False, [], [])


def test_what_is_ours_is_named_in_the_newer_version_as_soon_as_it_is_served():
    """Of a version that is not served any more the API server forgets whose its fields are."""
    plane = UpgradedPlane()
    run(plane)
    plane.upgrade()
    all_of_it = set(plane.before_upgrade)
    # The definition of another provider is of before yet.
    plane.versions = {"KubeadmControlPlane": "v1beta1"}
    for check_mode, left in ((True, all_of_it), (False, {("KubeadmControlPlane", "c1-control-plane")})):
        result = run(plane, check_mode)
        assert (result["changed"], result["changes"], result["diff"]) == (False, [], [])
        assert plane.before_upgrade == left
    plane.versions = {}
    run(plane)
    writes = len(plane.stored)
    assert plane.before_upgrade == set() and not run(plane)["changed"] and len(plane.stored) == writes


def test_the_switched_off_feature_for_ignition_is_explained(plane, monkeypatch):
    apply = plane.apply

    def refuse(resource, namespace, body, *arguments, **options):
        """As Cluster API's webhooks do."""
        if "'format': 'ignition'" in str(body):
            raise KubeError("spec.format: Forbidden: can be set only if the KubeadmBootstrapFormatIgnition feature "
                            "gate is enabled", 422)
        return apply(resource, namespace, body, *arguments, **options)

    monkeypatch.setattr(plane, "apply", refuse)
    with pytest.raises(RefusedError, match="KubeadmBootstrapFormatIgnition, which is off; set capi_options"):
        run(plane, user_data_format="ignition")
    assert plane.stored == []


def test_rights_in_one_namespace_are_enough(plane):
    """Without the check nothing else is read; with it the rest of the check is made."""
    plane.only_one_namespace = True
    assert run(plane)["warnings"] == []
    for name in ("clusters.cluster.x-k8s.io", "metal3clusters.infrastructure.cluster.x-k8s.io"):
        plane.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", name,
                  spec={"versions": [{"name": "v1beta2", "served": True}]})
    with pytest.raises(RefusedError, match="no BareMetalHost in namespace metal3"):
        run(plane, check_hosts=True, name="c2")
    plane.add("metal3.io/v1alpha1", "BareMetalHost", "a", spec={}, status={
        "provisioning": {"state": "available"},
        "hardware": {"ramMebibytes": 8192, "storage": [{"sizeBytes": 10 ** 11}]}})
    alone = run(plane, check_hosts=True, name="c2", endpoint={"host": "198.18.0.11", "holder": "none"},
                workers={})
    assert ["not compared" in line for line in alone["warnings"]] == [True, True]


@pytest.mark.parametrize("check_mode", [True, False])
def test_replicas_left_out_later_stay_as_they_are(plane, check_mode):
    run(plane)
    result = run(plane, check_mode, workers={"one": {}, "two": {"replicas": 1}})
    assert result["changed"] is False and result["changes"] == []
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 3


def test_replicas_left_out_stay_when_something_else_of_the_pool_changes(plane):
    run(plane)
    workers = {"one": {"machine_labels": {"a": "b"}}, "two": {"replicas": 1}}
    assert sizes(run(plane, check_mode=True, workers=workers)) == {"c1-one": (3, 3)}
    assert sizes(run(plane, workers=workers)) == {"c1-one": (3, 3)}
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 3


def test_what_an_autoscaler_set_is_not_touched(plane):
    run(plane)
    plane.scale("c1-one", 7)
    workers = {"one": {"machine_labels": {"a": "b"}}, "two": {"replicas": 1}}
    assert sizes(run(plane, workers=workers)) == {"c1-one": (7, 7)}
    item = plane.objects["MachineDeployment", "c1-one"]
    assert item["spec"]["replicas"] == 7
    ours = [entry for entry in item["metadata"]["managedFields"] if entry["manager"] == "metal3.baremetal"]
    assert "f:replicas" not in ours[0]["fieldsV1"]["f:spec"]


@pytest.mark.parametrize("least, most, replicas", [(1, 5, 3), (4, 6, 4), (1, 2, 2)])
def test_a_pool_is_handed_to_an_autoscaler_as_cluster_api_wants_it(plane, least, most, replicas):
    """The number stays when it is in the range, and what becomes of it otherwise is reported before."""
    run(plane)
    workers = {"one": {"autoscaler": {"min_size": least, "max_size": most}}, "two": {"replicas": 1}}
    assert sizes(run(plane, check_mode=True, workers=workers)) == {"c1-one": (3, replicas)}
    run(plane, workers=workers)
    item = plane.objects["MachineDeployment", "c1-one"]
    assert item["spec"]["replicas"] == replicas
    assert "f:replicas" not in item["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert run(plane, workers=workers)["changed"] is False


def test_a_new_pool_of_an_autoscaler_begins_small(plane):
    workers = {"one": {"autoscaler": {"min_size": 2, "max_size": 5}}}
    assert sizes(run(plane, check_mode=True, workers=workers))["c1-one"] == (0, 2)
    run(plane, workers=workers)
    assert plane.spec("MachineDeployment", "c1-one")["replicas"] == 2


def test_a_pool_that_goes_takes_its_templates_along_once_its_machines_are_gone(plane):
    run(plane)
    template, data = plane.add_machine("c1-two")
    bootstrap = plane.spec("MachineDeployment", "c1-two")["template"]["spec"]["bootstrap"]["configRef"]["name"]
    workers = {"one": {"replicas": 3}}
    planned = run(plane, check_mode=True, workers=workers)
    assert planned["removed"] == ["MachineDeployment c1-two"]
    assert ("MachineDeployment", "c1-two") in plane.objects
    result = run(plane, workers=workers)
    assert result["removed"] == ["MachineDeployment c1-two"]
    assert plane.names("MachineDeployment") == ["c1-one"]
    assert result["collected"] == ["KubeadmConfigTemplate " + bootstrap]
    assert template in plane.names("Metal3MachineTemplate") and data in plane.names("Metal3DataTemplate")
    del plane.objects["Metal3Machine", "c1-two-m"]
    result = run(plane, workers=workers)
    assert result["collected"] == ["Metal3DataTemplate " + data, "Metal3MachineTemplate " + template]
    assert run(plane, workers=workers)["changed"] is False


def test_templates_of_before_go_when_no_machine_is_of_them(plane):
    run(plane)
    template, dummy = plane.add_machine("c1-one")
    old = set(plane.names("Metal3MachineTemplate"))
    assert run(plane, prune=False, image=OTHER_IMAGE)["collected"] == []
    assert template in old and old < set(plane.names("Metal3MachineTemplate"))
    left = run(plane, prune=False, image=OTHER_IMAGE)["unused"]
    assert left == ["Metal3MachineTemplate " + name for name in sorted(old - {template})]
    assert run(plane, image=OTHER_IMAGE)["collected"] == left
    assert old & set(plane.names("Metal3MachineTemplate")) == {template}


def test_nothing_of_others_is_taken_away(plane):
    run(plane)
    foreign = plane.add("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3MachineTemplate", "c1-one-00000000",
                        spec={"template": {"spec": {}}})
    foreign["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    assert run(plane)["changed"] is False
    assert "c1-one-00000000" in plane.names("Metal3MachineTemplate")


def test_host_reuse_and_cleaning_reach_machines_that_are_there(plane):
    """CAPM3 reads nodeReuse in the template of the machine that goes, and takes the cleaning mode from there too."""
    run(plane)
    old, dummy = plane.add_machine("c1-one")
    other = plane.spec("MachineDeployment", "c1-two")["template"]["spec"]["infrastructureRef"]["name"]
    plane.add_machine("c1-two")
    workers = {"one": {"replicas": 3, "max_surge": 0, "max_unavailable": 1, "node_reuse": True,
                       "automated_cleaning_mode": "disabled"}, "two": {"replicas": 1}}
    result = run(plane, image=OTHER_IMAGE, workers=workers)
    new = plane.spec("MachineDeployment", "c1-one")["template"]["spec"]["infrastructureRef"]["name"]
    assert new != old
    for name in (old, new):
        spec = plane.spec("Metal3MachineTemplate", name)
        assert (spec["nodeReuse"], spec["template"]["spec"]["automatedCleaningMode"]) == (True, "disabled")
    assert plane.spec("Metal3MachineTemplate", old)["template"]["spec"]["image"]["url"] == IMAGE["url"]
    assert plane.spec("Metal3MachineTemplate", other)["nodeReuse"] is False
    assert {"kind": "Metal3MachineTemplate", "name": old, "action": "updated"} in result["objects"]
    order = [name for verb, kind, name, dry_run in plane.writes() if verb == "APPLY" and not dry_run]
    assert order.index(old, order.index(new)) < len(order) - 1 - order[::-1].index("c1-one")
    assert run(plane, image=OTHER_IMAGE, workers=workers)["changed"] is False


def test_templates_of_a_pool_are_distinguished_from_those_of_a_pool_whose_name_begins_the_same(plane):
    workers = {"a": {"replicas": 1}, "a-b": {"replicas": 1, "max_surge": 0, "max_unavailable": 1, "node_reuse": True}}
    run(plane, workers=workers)
    old = dict((owner, plane.add_machine(owner)[0]) for owner in ("c1-a", "c1-a-b"))
    run(plane, workers=workers, image=OTHER_IMAGE)
    reused = dict((owner, plane.spec("Metal3MachineTemplate", name)["nodeReuse"]) for owner, name in old.items())
    assert reused == {"c1-a": False, "c1-a-b": True}


def test_host_reuse_and_cleaning_alone_replace_no_machine(plane):
    run(plane)
    before = plane.names("Metal3MachineTemplate")
    workers = {"one": {"replicas": 3, "automated_cleaning_mode": "disabled"}, "two": {"replicas": 1}}
    result = run(plane, workers=workers)
    assert result["changed"] is True and result["changes"] == []
    assert plane.names("Metal3MachineTemplate") == before


def of_pools(result):
    return [line for line in result["warnings"] if "IPPool" in line]


def test_a_cleaning_mode_that_capm3_cannot_pass_on_is_warned_of(plane):
    expressions = [{"key": "rack", "operator": "Exists"}]
    pools = [{"one": {"replicas": 1, "host_selector_expressions": expressions, "automated_cleaning_mode": mode},
              "two": {"replicas": 1, "automated_cleaning_mode": mode}} for mode in ("metadata", "disabled")]
    run(plane, workers=pools[0])
    template = plane.add_machine("c1-one")[0]
    warnings = run(plane, check_mode=True, workers=pools[1])["warnings"]
    assert len(warnings) == 1 and f"Metal3MachineTemplate {template}: " in warnings[0]
    assert "keep metadata" in warnings[0]
    run(plane, workers=pools[1])
    assert run(plane, workers=pools[1])["warnings"] == []


def test_the_cleaning_mode_is_left_to_each_host(plane):
    """CAPM3 leaves machines and hosts alone only when the template has no mode at all."""
    run(plane)
    template = plane.add_machine("c1-one")[0]
    workers = {"one": {"replicas": 3, "automated_cleaning_mode": "host"}, "two": {"replicas": 1}}
    result = run(plane, workers=workers)
    assert "automatedCleaningMode" not in plane.spec("Metal3MachineTemplate", template)["template"]["spec"]
    assert result["changes"] == [] and plane.spec("Metal3MachineTemplate", template)["template"]["spec"]["image"]
    warning, = result["warnings"]
    assert "those that there are, and their hosts, keep metadata" in warning
    again = run(plane, workers=workers)
    assert again["changed"] is False and again["warnings"] == []


def test_a_cluster_without_network_add_on_is_warned_of_when_it_is_to_become_available(plane):
    warnings = [run(plane, check_mode=True, wait_for=goal)["warnings"] for goal in ("available", "nodes")]
    assert [len(lines) for lines in warnings] == [1, 0] and "network_addon: no manifest" in warnings[0][0]


def test_a_network_add_on_for_other_pods_is_refused(plane):
    flannel = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-flannel-cfg"},
               "data": {"net-conf.json": '{"Network": "10.244.0.0/16"}'}}
    with pytest.raises(RefusedError, match=r"pod_cidrs: found 192\.168\.0\.0/18, expected 10\.244\.0\.0/16"):
        run(plane, manifests=[flannel])
    assert plane.names("Cluster") == []


def take_address(plane, data, deleting=False):
    claim = plane.add("ipam.metal3.io/v1alpha1", "IPClaim", data + "-0-c1-storage",
                      spec={"pool": {"name": "c1-storage"}}, status={"address": {"name": "c1-storage-198-18-1-20"}})
    if deleting:
        claim["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["ipam.metal3.io/ipclaim"])
    plane.add("ipam.metal3.io/v1alpha1", "IPAddress", "c1-storage-198-18-1-20", spec={
        "address": "198.18.1.20", "pool": {"name": "c1-storage"}, "claim": {"name": claim["metadata"]["name"]}})


def test_a_pool_of_addresses_goes_with_its_network_when_nobody_needs_it(plane):
    run(plane, networks=NETWORKS)
    dummy, data = plane.add_machine("c1-one")
    take_address(plane, data)
    networks = {"prov": NETWORKS["prov"]}
    planned = run(plane, check_mode=True, networks=networks)
    result = run(plane, networks=networks)
    assert "c1-storage" in plane.names("IPPool")
    for warnings in (of_pools(planned), of_pools(result)):
        assert len(warnings) == 1
        assert "IPPool c1-storage" in warnings[0] and data in warnings[0] and "198.18.1.20" in warnings[0]
    del plane.objects["Metal3Machine", "c1-one-m"]
    result = run(plane, networks=networks)
    assert "c1-storage" in plane.names("IPPool") and "198.18.1.20" in str(of_pools(result)[0])
    # IPAM keeps a pool that is being deleted until the last of its claims is gone.
    take_address(plane, data, deleting=True)
    planned = run(plane, prune=False, networks=networks)
    assert planned["unused"] == ["IPPool c1-storage"] and "c1-storage" in plane.names("IPPool")
    result = run(plane, networks=networks)
    assert result["collected"] == ["IPPool c1-storage"] and of_pools(result) == []
    assert plane.names("IPPool") == ["c1-prov"]
    assert run(plane, networks=networks)["changed"] is False


@pytest.mark.parametrize("check_mode", [True, False])
def test_what_is_being_deleted_is_refused_with_the_other_problems(plane, check_mode):
    run(plane, networks=NETWORKS)
    for kind, name in (("Cluster", "c1"), ("MachineDeployment", "c1-one"), ("IPPool", "c1-prov")):
        plane.objects[kind, name]["metadata"].update(
            deletionTimestamp="2026-11-25T20:00:00Z", finalizers=["cluster.x-k8s.io"])
    writes = len(plane.writes())
    with pytest.raises(RefusedError) as caught:
        run(plane, check_mode, check_hosts=True, networks=NETWORKS)
    text = str(caught.value)
    for title in ("Cluster metal3/c1", "MachineDeployment metal3/c1-one", "IPPool metal3/c1-prov"):
        assert f"{title}: found an object that is being deleted since 2026-11-25T20:00:00Z, held by cluster.x-k" in text
    assert "no BareMetalHost in namespace metal3" in text and len(plane.writes()) == writes


def test_a_template_of_before_that_is_being_deleted_is_not_written(plane):
    run(plane)
    old, dummy = plane.add_machine("c1-one")
    plane.objects["Metal3MachineTemplate", old]["metadata"].update(
        deletionTimestamp="2026-11-25T20:00:00Z", finalizers=["example.org/own"])
    before = plane.spec("Metal3MachineTemplate", old)
    assert run(plane, image=OTHER_IMAGE, automated_cleaning_mode="disabled", confirm="4")["changed"] is True
    assert plane.spec("Metal3MachineTemplate", old) == before


def test_a_pool_that_a_person_made_for_the_cluster_stays(plane):
    pool = plane.add("ipam.metal3.io/v1alpha1", "IPPool", "theirs", spec={
        "clusterName": "c1", "namePrefix": "theirs", "pools": [{"start": "198.18.2.20", "end": "198.18.2.29"}]})
    pool["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c1"}
    run(plane, networks=NETWORKS)
    result = run(plane, networks=NETWORKS)
    assert "theirs" in plane.names("IPPool") and "theirs" not in json.dumps(result["warnings"])


def test_addresses_from_an_annotations_pool_are_warned_of(plane):
    networks = {"prov": {"interface": "eth0", "ipv4": {
        "pool_annotation": {"object": "baremetalhost", "annotation": "example.org/pool"}}}}
    warnings = run(plane, networks=networks)["warnings"]
    assert len(warnings) == 1
    assert "networks.prov.ipv4.pool_annotation" in warnings[0] and "IPClaim" in warnings[0]


def test_flannel_is_among_what_is_applied_and_nothing_is_missing(plane):
    result = run(plane, check_mode=True, wait_for="available", network_addon="flannel", pod_cidrs=["10.244.0.0/16"])
    assert not [line for line in result["warnings"] if "network_addon" in line]
    assert [item["object"] for item in result["manifests"]][-1] == "DaemonSet kube-flannel/kube-flannel-ds"


@pytest.mark.parametrize("versions, expected", [
    ({}, "v1beta2"), ({"Metal3RemediationTemplate": "v1beta1"}, "v1beta1"),
    # The client converts both then.
    ({"Metal3RemediationTemplate": "v1beta1", "MachineHealthCheck": "v1beta1"}, "v1beta2")])
def test_a_health_check_refers_to_its_template_in_the_version_that_is_served(plane, versions, expected):
    plane.versions = versions
    run(plane, control_plane={"replicas": 1, "health_check": {"reboot_retry_limit": 1}})
    [check] = [item for (kind, _name), item in plane.objects.items() if kind == "MachineHealthCheck"]
    reference = check["spec"]["remediation"]["templateRef"]
    assert reference["apiVersion"] == f"infrastructure.cluster.x-k8s.io/{expected}"


def test_a_pool_of_another_cluster_is_not_taken_over(plane):
    """``c1-a`` with the network ``prov`` and ``c1`` with ``a-prov`` would have a pool of one name."""
    theirs = dict(NETWORKS["prov"], ipv4=dict(NETWORKS["prov"]["ipv4"], ranges=[
        {"start": "198.18.0.40", "end": "198.18.0.49"}]))
    endpoint = {"host": "198.18.0.11", "holder": "none"}
    run(plane, name="c1-a", endpoint=endpoint, networks={"prov": theirs})
    before = plane.spec("IPPool", "c1-a-prov")
    own = {"a-prov": NETWORKS["prov"]}
    with pytest.raises(RefusedError, match="adopt: found IPPool c1-a-prov of cluster c1-a, which others have made"):
        run(plane, networks=own)
    assert plane.spec("IPPool", "c1-a-prov") == before and "c1" not in plane.names("Cluster")
    assert run(plane, networks=own, adopt="c1")["changed"] is True
    assert plane.spec("IPPool", "c1-a-prov")["clusterName"] == "c1"
    assert run(plane, networks=own)["changed"] is False


def shared_pool(plane):
    """Let ``c2`` take addresses of the pool of ``c1``, and return this pool's name."""
    run(plane, networks=NETWORKS)
    theirs = {"prov": {"interface": "eth0", "ipv4": {"pool": "c1-prov"}}}
    run(plane, name="c2", endpoint={"host": "198.18.0.11", "holder": "none"}, networks=theirs)
    return "c1-prov"


def test_a_teardown_does_not_take_a_pool_from_another_cluster(plane):
    pool = shared_pool(plane)
    with pytest.raises(RefusedError, match=(
            f"cluster metal3/c1: found IPPool {pool}, which is needed by Metal3DataTemplate c2-control-plane-[0-9a-f]+ "
            "of cluster c2")):
        service_of(plane, confirm="c1").absent()
    assert "c1" in plane.names("Cluster") and pool in plane.names("IPPool")
    # That has no pool of its own.
    assert service_of(plane, confirm="c2", name="c2").absent()["changed"] is True
    assert service_of(plane, confirm="c1").absent()["changed"] is True


@pytest.mark.parametrize("metadata, needed", [
    ({}, True), ({"labels": {"cluster.x-k8s.io/cluster-name": "c2"}}, True),
    ({"labels": {"cluster.x-k8s.io/cluster-name": "c1"}}, False),
    ({"labels": {"cluster.x-k8s.io/cluster-name": "gone"}}, False),
    ({"ownerReferences": [{"kind": "Metal3Data", "name": "c1-one-0"}]}, False),
    ({"deletionTimestamp": "2026-11-25T20:00:00Z"}, False)])
def test_a_teardown_does_not_take_a_pool_under_the_claims_of_others(plane, metadata, needed):
    run(plane, networks=NETWORKS)
    plane.add("cluster.x-k8s.io/v1beta2", "Cluster", "c2", spec={})
    claim = plane.add("ipam.metal3.io/v1alpha1", "IPClaim", "storage-head", spec={"pool": {"name": "c1-prov"}})
    claim["metadata"].update(metadata)
    service = service_of(plane, confirm="c1")
    if needed:
        with pytest.raises(RefusedError, match="IPPool c1-prov, which is needed by IPClaim storage-head of "):
            service.absent()
    else:
        assert service.absent()["changed"] is True


@pytest.mark.parametrize("spec", [{}, {"spec": {}}, {"spec": {"address": "what", "pool": {"name": "c1-prov"}}},
                                  {"spec": {"address": "198.18.0.21", "pool": {"name": "c1-prov"}}}])
def test_an_address_object_that_lacks_fields_ends_no_run(plane, spec):
    """Only its address, its pool and its claim are required, and that only of a spec that is there."""
    run(plane, networks=NETWORKS)
    plane.add("ipam.metal3.io/v1alpha1", "IPAddress", "by-hand", **spec)
    with pytest.raises(RefusedError, match="no BareMetalHost in namespace metal3"):
        run(plane, check_hosts=True, networks=NETWORKS)
    assert run(plane, networks=NETWORKS)["changed"] is False

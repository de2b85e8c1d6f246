# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change does to machines, which templates are left over, and what remains of a deleted cluster."""
from __future__ import annotations

import copy
import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout import rollout as cluster_rollout
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.rollout.reasons import reasons
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import leftovers
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import snapshot as workflow_snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.writing import prune as cluster_prune
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.transport import FIELD_MANAGER
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile import plan
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import resource_for

PARAMS = {"name": "c1", "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"},
          "image": {"url": "https://x/a.raw", "checksum": "0" * 64}, "workers": {"one": {"replicas": 2}, "two": {}}}


def described(**changes):
    description, mistakes = cluster_description.read(dict(PARAMS, **changes))
    assert mistakes == []
    return description


def rendered(**changes):
    return cluster_render.render(described(**changes))


def stored(items):
    """Objects as they would be listed after an apply by this collection."""
    result = copy.deepcopy(items)
    for item in result:
        item["metadata"]["managedFields"] = [{"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {}}]
    return result


class Server:
    """Stands in for the client: lists what it was given."""

    def __init__(self, items):
        self.items = items

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        return [item for item in self.items
                if resource_for(item["apiVersion"], item["kind"]) == resource], "1"


def machine(name, owner):
    labels = {"cluster.x-k8s.io/cluster-name": "c1"}
    labels.update({"cluster.x-k8s.io/control-plane": ""} if owner == "control-plane" else
                  {"cluster.x-k8s.io/deployment-name": "c1-" + owner})
    return {"kind": "Machine", "metadata": {"name": name, "labels": labels}, "spec": {}}


def answers(items):
    """What the API server would store, with the default of a new MachineDeployment."""
    result = copy.deepcopy(dict(((item["kind"], item["metadata"]["name"]), item) for item in items))
    result["MachineDeployment", "c1-two"]["spec"].setdefault("replicas", 1)
    return result


def preview(old, new, description=None):
    objects = {}
    for item in stored(old) + [machine("m-0", "control-plane"), machine("m-1", "one"), machine("m-2", "one")]:
        objects.setdefault(item["kind"], []).append(item)
    snapshot = workflow_snapshot.Snapshot(objects, "c1")
    replaced = cluster_rollout.predecessors(stored(old), new)
    changes = cluster_rollout.preview(
        plan.plan(Server(stored(old)), new, resource_of=resource_for), snapshot, answers(new),
        lambda entry: reasons(description, entry, replaced, new) if description else [])
    return dict((change["owner"], change) for change in changes)


def test_nothing_changes_when_nothing_changes():
    assert preview(rendered(), rendered()) == {}


def test_a_new_cluster_replaces_nothing():
    changes = preview([], rendered())
    assert dict((name, (change["replicas_after"], change["rolls"])) for name, change in changes.items()) == {
        "c1-control-plane": (1, False), "c1-one": (2, False), "c1-two": (1, False)}


def test_a_new_version_replaces_all_machines():
    newer = {"kubernetes_version": "v1.36.0"}
    changes = preview(rendered(), rendered(**newer), described(**newer))
    assert changes["c1-control-plane"]["machines"] == ["m-0"]
    assert changes["c1-one"]["machines"] == ["m-1", "m-2"]
    assert changes["c1-one"]["reasons"] == ["kubernetes_version"]
    assert "replaces m-1, m-2, because of kubernetes_version" in "\n".join(
        cluster_rollout.lines(list(changes.values())))


def test_a_new_image_replaces_machines_by_new_templates_in_both_api_versions():
    image = {"url": "https://x/b.raw", "checksum": "0" * 64}
    for version in ("v1beta2", "v1beta1"):
        changes = preview(rendered(api_version=version), rendered(api_version=version, image=image),
                          described(api_version=version, image=image))
        assert changes["c1-control-plane"]["rolls"] and changes["c1-one"]["rolls"], version
        assert changes["c1-control-plane"]["reasons"] == ["image"]


NETWORK = {"interface": "eth0", "ipv4": {"mode": "dhcp"}}


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
@pytest.mark.parametrize("option, value", [
    ("host_selector", {"rack": "r1"}), ("host_selector_expressions", [{"key": "a", "operator": "Exists"}]),
    ("node_labels", {"example.org/a": "b"}), ("kubelet_extra_args", {"v": 5}), ("node_taints", []),
    ("kubelet_configuration", {"maxPods": 250}), ("files", [{"path": "/a", "content": "b"}]),
    ("pre_commands", ["a"]), ("post_commands", ["a"]), ("boot_commands", ["a"]), ("users", [{"name": "a"}]),
    ("ssh_authorized_keys", ["ssh-ed25519 a"]), ("ntp_servers", ["192.0.2.1"]), ("cri_socket", "a"),
    ("metadata", {"strings": [{"key": "a", "value": "b"}]}), ("custom_deploy", "a"), ("skip_phases", ["addon"]),
    ("ignore_preflight_errors", ["Mem"]), ("networks", {"one": NETWORK}), ("node_name", "machine"),
    ("join_configuration", {"discovery": {}}), ("user_data_format", "ignition"), ("cloud_provider_enabled", True),
    ("provider_id_by_kubelet", True)])
def test_the_reason_for_a_rollout_is_the_option_that_changed(option, value, version):
    changed = {option: value, "api_version": version}
    before = {"node_name": "host", "api_version": version} if option == "node_name" else {"api_version": version}
    changes = preview(rendered(**before), rendered(**changed), described(**changed))
    assert changes["c1-one"]["reasons"] == [option]
    if option in ("networks", "node_name", "cloud_provider_enabled", "provider_id_by_kubelet"):
        return
    own = {"workers": dict(PARAMS["workers"], one=dict(changed, replicas=2)), "api_version": version}
    del own["workers"]["one"]["api_version"]
    changes = preview(rendered(api_version=version), rendered(**own), described(**own))
    assert list(changes) == ["c1-one"]
    assert f"workers.one.{option}" in changes["c1-one"]["reasons"]


@pytest.mark.parametrize("holder", ["keepalived", "kube-vip"])
def test_the_endpoints_holder_is_a_reason(holder):
    changed = {"endpoint": {"host": "198.18.0.10", "holder": holder, "interface": "eth0"},
               "networks": {"one": NETWORK}}
    before = {"networks": {"one": NETWORK}}
    changes = preview(rendered(**before), rendered(**changed), described(**changed))
    assert changes["c1-control-plane"]["reasons"] == ["endpoint"]


def test_a_change_of_size_replaces_nothing():
    workers = {"one": {"replicas": 5}, "two": {}}
    changes = preview(rendered(), rendered(workers=workers))
    assert list(changes) == ["c1-one"]
    assert (changes["c1-one"]["replicas_before"], changes["c1-one"]["replicas_after"]) == (2, 5)
    assert changes["c1-one"]["rolls"] is False


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
@pytest.mark.parametrize("changed", [
    {"remediation": {"max_retry": 3, "retry_period_seconds": 60, "min_healthy_period_seconds": 60,
                     "max_in_flight": 1}},
    {"deletion_order": "newest"}, {"min_ready_seconds": 60},
    {"health_check": {"unhealthy_machine_conditions": [
        {"type": "NodeHealthy", "status": "False", "timeout_seconds": 60}]}}],
    ids=["remediation", "deletion order", "minimum of seconds", "conditions of machines"])
def test_how_owners_replace_and_take_away_machines_replaces_none(changed, version):
    """By Cluster API's own comparison (machinedeployment/mdutil: MachineTemplateUpToDate)."""
    before, after = rendered(api_version=version), rendered(api_version=version, **changed)
    assert before != after
    changes = preview(before, after, described(api_version=version, **changed))
    assert not [change for change in changes.values() if change["rolls"] or change["machines"]]
    assert [item["metadata"]["name"] for item in before] == [
        item["metadata"]["name"] for item in after if item["kind"] != "MachineHealthCheck"]


def of(items):
    objects = {}
    for item in items:
        objects.setdefault(item["kind"], []).append(item)
    return objects


def names(items):
    return sorted(f"{item['kind']} {item['metadata']['name']}" for item in items)


def test_new_templates_take_the_place_of_those_that_their_owners_had():
    changes = {"image": {"url": "https://x/b.raw", "checksum": "0" * 64}, "kubelet_extra_args": {"v": 3},
               "metadata": {"strings": [{"key": "a", "value": "b"}]}}
    for version in ("v1beta2", "v1beta1"):
        old, new = rendered(), rendered(api_version=version, **changes)
        replaced = cluster_rollout.predecessors(old, new)
        templates = [item for item in new if item["kind"] in cluster_rollout.TEMPLATE_KINDS]
        assert len(templates) == len(replaced) == 8
        for item in templates:
            was = replaced[(item["kind"], item["metadata"]["name"])]
            assert was in old and was["kind"] == item["kind"] and was["metadata"]["name"] != item["metadata"]["name"]
            # All but the digest of the content.
            assert was["metadata"]["name"].rpartition("-")[0] == item["metadata"]["name"].rpartition("-")[0]
        assert cluster_rollout.predecessors([], new) == {}


def test_templates_are_left_over_only_when_nobody_refers_to_them():
    old, new = rendered(), rendered(image={"url": "https://x/b.raw", "checksum": "0" * 64})
    template = next(item for item in old if item["kind"] == "Metal3MachineTemplate" and "one" in json.dumps(item))
    user = {"kind": "Metal3Machine", "spec": {}, "metadata": {
        "name": "m-1", "annotations": {"cluster.x-k8s.io/cloned-from-name": template["metadata"]["name"]}}}
    left = names(cluster_prune.unused_templates(of(old + new), new, "c1"))
    assert len(left) == 3 and all(name.startswith("Metal3MachineTemplate ") for name in left)
    assert "Metal3MachineTemplate " + template["metadata"]["name"] in left
    still = names(cluster_prune.unused_templates(of([*old, *new, user]), new, "c1"))
    assert set(left) - set(still) == {"Metal3MachineTemplate " + template["metadata"]["name"]}
    foreign = copy.deepcopy(old)
    for item in foreign:
        item["metadata"]["labels"].pop("app.kubernetes.io/managed-by")
    assert cluster_prune.unused_templates(of(foreign + new), new, "c1") == []


def test_a_template_that_a_machine_set_with_machines_needs_is_kept():
    old, new = rendered(), rendered(kubelet_extra_args={"v": 3})
    unused = names(cluster_prune.unused_templates(of(old + new), new, "c1"))
    assert [name for name in unused if name.startswith("KubeadmConfigTemplate c1-one-")]
    name = next(entry for entry in unused if entry.startswith("KubeadmConfigTemplate c1-one-")).split()[1]
    # Its status is late.
    owner = {"kind": "MachineSet", "metadata": {"name": "s"}, "status": {"replicas": 1}, "spec": {
        "replicas": 0, "template": {"spec": {"infrastructureRef": {"name": "x"},
                                             "bootstrap": {"configRef": {"name": name}}}}}}
    machine = {"kind": "Machine", "metadata": {"name": "m", "uid": "m", "labels": {"cluster.x-k8s.io/set-name": "s"}}}
    config = {"kind": "KubeadmConfig", "metadata": {
        "name": "m", "annotations": {"cluster.x-k8s.io/cloned-from-name": name},
        "ownerReferences": [{"kind": "Machine", "name": "m", "uid": "m"}]}}

    def is_unused(*found):
        return "KubeadmConfigTemplate " + name in names(
            cluster_prune.unused_templates(of([*old, *new, *found]), new, "c1"))

    assert not is_unused(owner, machine) and is_unused(owner)
    assert not is_unused(machine, config) and is_unused(config), "the garbage collector is late"


def test_a_pool_that_is_not_described_any_more_goes_with_its_health_check():
    check = {"health_check": {"enabled": True}}
    old = rendered(workers={"one": {"replicas": 2}, "two": check})
    gone = cluster_prune.undescribed(of(old), rendered(workers={"one": {"replicas": 2}}), "c1")
    assert names(gone) == ["MachineDeployment c1-two", "MachineHealthCheck c1-two"]
    assert cluster_prune.undescribed(of(old), old, "c1") == []


def test_what_is_left_of_a_deleted_cluster():
    pool = {"kind": "IPPool", "metadata": {"name": "c1-p"}, "spec": {"clusterName": "c1"}}
    address = {"kind": "IPAddress", "metadata": {"name": "a"},
               "spec": {"address": "198.18.0.20", "pool": {"name": "c1-p"}}}
    busy = {"kind": "BareMetalHost", "metadata": {"name": "h"}, "spec": {},
            "status": {"provisioning": {"state": "deprovisioning"}}}
    other = {"kind": "IPPool", "metadata": {"name": "x"}, "spec": {"clusterName": "other"}}
    bare = {"kind": "IPAddress", "metadata": {"name": "b"}}
    rest = leftovers(of([pool, address, bare, busy, other]), "c1", ["h"])
    assert rest == ["IPPool c1-p", "addresses 198.18.0.20", "host h in state deprovisioning"]
    busy["status"]["provisioning"]["state"] = "available"
    assert leftovers(of([busy, other]), "c1", ["h"]) == []

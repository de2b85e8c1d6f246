# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a changed cluster by the real API server, its webhooks and the controllers; no host is needed.

Its machines wait for hosts for ever, in a namespace without any.
"""
from __future__ import annotations

import re

import pytest
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.service import ClusterService
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

NAMESPACE = "changes"
NAME = "c1"
IMAGE = {"url": "https://images.example.org/a.raw", "checksum": "0" * 64}
NETWORKS = {
    "machines": {"interface": "eth0", "ipv4": {
        "ranges": [{"start": "198.51.100.20", "end": "198.51.100.39"}], "prefix": 24, "gateway": "198.51.100.1"}},
    "storage": {"interface": "eth1", "ipv4": {
        "ranges": [{"start": "203.0.113.20", "end": "203.0.113.39"}], "prefix": 24}}}
SELECTOR = [{"key": "rack", "operator": "Exists"}, {"key": "gpu", "operator": "DoesNotExist"}]
PARAMS = {
    "name": NAME, "namespace": NAMESPACE, "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.51.100.10"},
    "image": IMAGE, "networks": NETWORKS, "attached_networks": ["machines"],
    "workers": {"sized": {"replicas": 3, "host_selector_expressions": SELECTOR},
                "empty": {"replicas": 0, "attached_networks": ["machines", "storage"]}}}


class Cluster:
    """One cluster on the lab's API server."""

    def __init__(self, lab):
        self.kube = lab.kube

    def _service(self, params, check_mode=False, wait_for="none", confirm=None):
        options = {"check_hosts": False, "check_network": False, "image_ca_file": None, "wait_for": wait_for,
                   "wait_timeout_seconds": 120, "node_startup_timeout_seconds": 60, "prune": True, "confirm": confirm,
                   "manifests": []}
        return ClusterService(self.kube, params, options, check_mode, Progress())

    def run(self, check_mode=False, workers=None, confirm=None, **changes):
        """Run the module; ``workers`` says what differs, None a pool that is to go."""
        params = dict(PARAMS, **changes)
        pools = dict(PARAMS["workers"], **dict(
            (name, pool and dict(PARAMS["workers"][name], **pool)) for name, pool in (workers or {}).items()))
        params["workers"] = dict((name, pool) for name, pool in pools.items() if pool is not None)
        return self._service(params, check_mode, confirm=confirm).present()

    def restore(self):
        """Bring the cluster back to its description, whatever machines that takes away."""
        def is_restored():
            try:
                self.run()
            except RefusedError as exc:
                # What the test before has removed, and is on its way.
                if "being deleted since" in str(exc):
                    return False
                self.run(confirm=re.search(r"expected (\d+), the number of machines", str(exc)).group(1))
            return True

        eventually(is_restored, 60, "what was removed is gone, and the cluster as it is described")

    def machines(self, owner):
        """Return the names of an owner's Machines."""
        return [name for name in self.names("Machine") if name.startswith(owner + "-")]

    def delete(self):
        self._service(PARAMS, wait_for="available", confirm=NAME).absent()

    def get(self, kind, name):
        return self.kube.get(KNOWN[kind], NAMESPACE, name)

    def names(self, kind):
        return [item["metadata"]["name"] for item in self.kube.list(KNOWN[kind], NAMESPACE)[0]]

    def replicas(self):
        return self.get("MachineDeployment", "c1-sized")["spec"]["replicas"]


@pytest.fixture(scope="module")
def made(lab):
    """The cluster, for all tests of this file."""
    lab.kube.apply(KNOWN["Namespace"], None, {
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    cluster = Cluster(lab)
    yield cluster
    cluster.delete()
    lab.kube.delete(KNOWN["Namespace"], None, NAMESPACE)


@pytest.fixture
def cluster(made):
    """The cluster as described, whatever a test has made of it."""
    made.restore()
    return made


def sizes(result):
    return dict((change["owner"], (change["replicas_before"], change["replicas_after"]))
                for change in result["changes"])


def test_machines_stay_when_nobody_says_any_more_how_many_there_are(cluster):
    left_out = {"sized": {"replicas": None, "machine_labels": {"a": "b"}}}
    assert sizes(cluster.run(check_mode=True, workers=left_out)) == {"c1-sized": (3, 3)}
    cluster.run(workers=left_out)
    assert cluster.replicas() == 3
    assert cluster.run(workers=left_out)["changed"] is False
    # As an autoscaler does.
    cluster.kube.patch(KNOWN["MachineDeployment"], NAMESPACE, "c1-sized", {"spec": {"replicas": 4}},
                       subresource="scale")
    left_out = {"sized": {"replicas": None, "machine_labels": {"a": "c"}}}
    assert sizes(cluster.run(workers=left_out)) == {"c1-sized": (4, 4)}
    assert cluster.replicas() == 4
    # The fourth may come while the cluster is restored, which counts the machines that are there.
    eventually(lambda: len(cluster.machines("c1-sized")) == 4, 60, "4 Machines")


def test_a_pool_is_handed_to_the_autoscaler(cluster):
    handed = {"sized": {"replicas": None, "autoscaler": {"min_size": 1, "max_size": 5}}}
    assert sizes(cluster.run(check_mode=True, workers=handed)) == {"c1-sized": (3, 3)}
    cluster.run(workers=handed)
    assert cluster.replicas() == 3
    assert cluster.run(workers=handed)["changed"] is False
    cluster.run()
    narrow = {"sized": {"replicas": None, "autoscaler": {"min_size": 1, "max_size": 2}}}
    assert sizes(cluster.run(check_mode=True, workers=narrow)) == {"c1-sized": (3, 2)}
    eventually(lambda: len(cluster.machines("c1-sized")) == 3, 60, "three machines")
    with pytest.raises(RefusedError, match="MachineDeployment c1-sized loses 1 machine out of these 3: c1-sized-"):
        cluster.run(workers=narrow)
    assert cluster.replicas() == 3
    cluster.run(workers=narrow, confirm="1")
    assert cluster.replicas() == 2


def test_a_pool_with_machines_goes_only_when_their_number_is_repeated(cluster):
    """Against the real API server, whose controllers write the objects all the time."""
    eventually(lambda: len(cluster.machines("c1-sized")) == 3, 60, "three machines")
    for workers in ({"sized": None}, {"sized": {"state": "absent"}}):
        with pytest.raises(RefusedError, match="expected 3, the number of machines") as refused:
            cluster.run(workers=workers)
        assert "MachineDeployment c1-sized is deleted with its 3 machines: c1-sized-" in str(refused.value)
        warnings = cluster.run(check_mode=True, workers=workers)["warnings"]
        assert [line for line in warnings if "would be refused" in line and cluster.machines("c1-sized")[0] in line]
    assert len(cluster.machines("c1-sized")) == 3
    assert cluster.run(workers={"sized": {"state": "absent"}}, confirm="3")["removed"] == ["MachineDeployment c1-sized"]
    eventually(lambda: not cluster.machines("c1-sized"), 60, "no machine of the pool")


def test_a_cluster_of_others_is_left_alone(cluster):
    labels = cluster.get("Cluster", NAME)["metadata"]["labels"]
    cluster.kube.patch(KNOWN["Cluster"], NAMESPACE, NAME, {"metadata": {"labels": {
        "app.kubernetes.io/managed-by": "Helm"}}})
    try:
        with pytest.raises(RefusedError, match="adopt: found Cluster c1, which others have made"):
            cluster.run()
        with pytest.raises(RefusedError, match="adopt: found Cluster c1, which others have made"):
            cluster.delete()
    finally:
        cluster.kube.patch(KNOWN["Cluster"], NAMESPACE, NAME, {"metadata": {"labels": labels}})


def machine_of(cluster, owner):
    """Return the name of one of the Metal3Machines of an owner, which are there without a host."""
    return eventually(lambda: [name for name in cluster.names("Metal3Machine") if name.startswith(owner + "-")], 60,
                      f"a Metal3Machine of {owner}")[0]


def test_the_cleaning_mode_changes_in_place(cluster):
    machine, selected = machine_of(cluster, "c1-control-plane"), machine_of(cluster, "c1-sized")
    templates = cluster.names("Metal3MachineTemplate")
    result = cluster.run(automated_cleaning_mode="disabled")
    assert result["changed"] and result["changes"] == [] and cluster.names("Metal3MachineTemplate") == templates
    eventually(lambda: cluster.get("Metal3Machine", machine)["spec"]["automatedCleaningMode"] == "disabled", 60,
               f"the cleaning mode of {machine}")
    warnings = [line for line in result["warnings"] if "automated_cleaning_mode" in line]
    assert len(warnings) == 1 and "Metal3MachineTemplate c1-sized-" in warnings[0]
    # What CAPM3 does to that machine.
    expressions = cluster.get("Metal3Machine", selected)["spec"]["hostSelector"]["matchExpressions"]
    assert [entry.pop("values") for entry in expressions] == [[], []]
    with pytest.raises(KubeError, match="values: Required value"):
        cluster.kube.patch(KNOWN["Metal3Machine"], NAMESPACE, selected, {
            "spec": {"automatedCleaningMode": "disabled", "hostSelector": {"matchExpressions": expressions}}},
            dry_run=True)


def test_a_pool_of_workers_and_a_network_go_with_all_that_was_made_for_them(cluster):
    def of_empty(kind):
        return [name for name in cluster.names(kind) if name.startswith("c1-empty-")]

    eventually(lambda: of_empty("MachineSet"), 60, "the pool's MachineSet")
    without = {"networks": {"machines": NETWORKS["machines"]},
               "workers": {"empty": {"attached_networks": ["machines"]}}}
    result = cluster.run(**without)
    assert "IPPool c1-storage" in result["collected"], result
    eventually(lambda: "c1-storage" not in cluster.names("IPPool"), 60, "no pool c1-storage")
    assert cluster.run(**without)["changed"] is False
    without["workers"] = {"empty": None}
    assert cluster.run(check_mode=True, **without)["removed"] == ["MachineDeployment c1-empty"]
    assert cluster.run(**without)["removed"] == ["MachineDeployment c1-empty"]
    eventually(lambda: not of_empty("MachineSet"), 60, "no MachineSet of the pool")
    cluster.run(**without)
    for kind in ("Metal3MachineTemplate", "Metal3DataTemplate", "KubeadmConfigTemplate"):
        eventually(lambda kind=kind: not of_empty(kind), 60, f"no {kind} of the pool")
    assert cluster.run(**without)["changed"] is False
    assert "c1-machines" in cluster.names("IPPool")

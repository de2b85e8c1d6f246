# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopped rollouts against a real etcd and kube-apiserver, without controllers: what the writes leave, and take away.

The CRDs are those of Cluster API, kubeadm's providers, CAPM3 and IPAM, without their webhooks; Machines are written
here. What the controllers make of it: ``tests/lab/test_rollout_stop.py``.
"""
from __future__ import annotations

import json
from pathlib import Path

import control_plane
import pytest
import yaml
from fakes.cluster_wait import Waits
from fakes.clusters import OTHER_IMAGE, PARAMS
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.service import ClusterService
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.engine import Engine

ROOT = Path(__file__).parents[2]
CRD = KNOWN["CustomResourceDefinition"]
PARTS = ("capi", "cabpk", "kcp", "capm3", "ipam")
NOTE, PAUSED = "metal3.baremetal/rollout-stopped", "cluster.x-k8s.io/paused"
POOL, PLANE = ("MachineDeployment", "c1-one"), ("KubeadmControlPlane", "c1-control-plane")
NEW_SET = ("MachineSet", "c1-one-new")
OPTIONS = {"check_hosts": False, "check_network": False, "image_ca_file": None, "wait_for": "available",
           "wait_timeout_seconds": 5, "node_startup_timeout_seconds": 5, "prune": True, "confirm": None,
           "manifests": []}
# With what the API server has defaults for, and lists.
MACHINES = {"kubelet_extra_args": {"v": 2}, "files": [{"path": "/etc/a", "content": "x", "owner": "root:root"}],
            "ntp_servers": ["198.18.0.1"], "ssh_authorized_keys": ["ssh-ed25519 AAAA a"]}
WORKERS = {"one": {"replicas": 2}}
BAD = {"one": {"replicas": 2, "image": OTHER_IMAGE}}
GOOD = {"one": {"replicas": 2, "image": dict(OTHER_IMAGE, url="https://x/c.raw")}}


class Server(control_plane.ControlPlane):
    """An API server with the CRDs of all that a cluster has."""

    def __init__(self, engine_dir, work_dir):
        super().__init__(engine_dir, work_dir)
        self._manifests = Path(engine_dir) / "manifests-2"
        self._crds = self._manifests / "bmo.yaml"

    def serve(self):
        """Write the CRDs and wait until their kinds are served."""
        kube, kinds = self.client(), []
        for name in PARTS:
            for document in yaml.safe_load_all((self._manifests / f"{name}.yaml").read_text(encoding="utf-8")):
                if document and document["kind"] == CRD.kind:
                    # Nobody would answer it.
                    document["spec"].pop("conversion", None)
                    kube.apply(CRD, None, document)
                    kinds.append(document["spec"]["names"]["kind"])
        for kind in sorted(set(kinds) & set(KNOWN)):
            self._until(lambda kind=kind: kube.list(KNOWN[kind], "metal3"), f"serving {kind}s")
        kube.create(KNOWN["Namespace"], None, {"metadata": {"name": "metal3"}})


@pytest.fixture(scope="module")
def kube(tmp_path_factory):
    control_plane.READY_SECONDS = 300
    engine = Engine(str(ROOT / "lab" / "engine"), user_folders.cache_dir())
    with Server(engine.directory, tmp_path_factory.mktemp("server")) as found:
        found.serve()
        yield found.client()


@pytest.fixture
def waits(monkeypatch):
    found = Waits()
    monkeypatch.setattr(cluster_run, "ClusterWait", found)
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    return found


def run(kube, check_mode=False, confirm=None, rollout="described", **changes):
    params = dict(PARAMS, **MACHINES, **dict({"workers": WORKERS}, **changes))
    return ClusterService(kube, params, dict(OPTIONS, confirm=confirm, rollout=rollout), check_mode, Reports(),
                          sleep=lambda _seconds: None).present()


def stopped(kube, waits, **arguments):
    """Run until a new machine does not come, and return what is said of it."""
    waits.fails = "available"
    with pytest.raises(WaitFailedError) as failed:
        run(kube, **arguments)
    waits.fails = None
    return str(failed.value)


def marks(kube, kind, name):
    found = kube.get(KNOWN[kind], "metal3", name)["metadata"].get("annotations") or {}
    return dict((key, value) for key, value in found.items() if key in (NOTE, PAUSED))


def spec(kube, kind, name):
    return kube.get(KNOWN[kind], "metal3", name)["spec"]


def add(kube, kind, name, spec, **labels):
    resource = KNOWN[kind]
    kube.create(resource, "metal3", {
        "apiVersion": resource.api_version, "kind": kind, "spec": dict(spec, clusterName="c1"), "metadata": {
            "name": name, "namespace": "metal3", "labels": {
                "cluster.x-k8s.io/cluster-name": "c1",
                **dict((f"cluster.x-k8s.io/{key.replace('_', '-')}", value) for key, value in labels.items())}}})


def add_machine(kube, name, **labels):
    add(kube, "Machine", name, {"bootstrap": {"dataSecretName": "x"}, "infrastructureRef": {
        "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3Machine", "name": name}}, **labels)


def is_up_to_date(kube, name, status, node=True):
    """Do what Cluster API notes of a Machine."""
    condition = {"type": "UpToDate", "status": status, "reason": "A", "message": "",
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}
    kube.patch(KNOWN["Machine"], "metal3", name, {"status": {
        "conditions": [condition], **({"nodeRef": {"name": name}} if node else {})}}, subresource="status")


@pytest.fixture
def cluster(kube, waits):
    """A cluster with its machines: a pool that has begun with a new one, and a control plane that has not."""
    if kube.get(KNOWN["Cluster"], "metal3", "c1"):
        return
    run(kube)
    kube.patch(KNOWN["Cluster"], "metal3", "c1", {"status": {"initialization": {"controlPlaneInitialized": True}}},
               subresource="status")
    template = spec(kube, *POOL)["template"]
    for part in ("old", "new"):
        add(kube, "MachineSet", f"c1-one-{part}", {"replicas": 1, "template": template, "selector": {
            "matchLabels": {"a": part}}}, deployment_name="c1-one")
    for name, part in (("c1-one-0", "old"), ("c1-one-1", "old"), ("c1-one-2", "new")):
        add_machine(kube, name, deployment_name="c1-one", set_name=f"c1-one-{part}")
        is_up_to_date(kube, name, "False" if part == "old" else "True", part == "old")
    add_machine(kube, "c1-control-plane-0", control_plane="")
    is_up_to_date(kube, "c1-control-plane-0", "True")


@pytest.mark.usefixtures("cluster")
def test_a_resumed_rollout_leaves_nothing_of_its_stop(kube, waits):
    text = stopped(kube, waits, workers=BAD, confirm="2")
    assert "c1-one is paused (annotation cluster.x-k8s.io/paused), and so is MachineSet c1-one-new: c1-one-0" in text
    assert marks(kube, *POOL)[PAUSED] == marks(kube, *NEW_SET)[PAUSED] == NOTE
    assert marks(kube, "MachineSet", "c1-one-old") == marks(kube, *PLANE) == {}
    with pytest.raises(RefusedError, match="whose rollout a run has stopped at"):
        run(kube, workers=BAD)
    before = kube.get(KNOWN[POOL[0]], "metal3", POOL[1])
    for rollout in ("described", "resume", "rollback"):
        looked = run(kube, True, workers=BAD, rollout=rollout)
        assert looked["losses"] == [] and bool(looked["objects"]) == (rollout != "described")
    assert kube.get(KNOWN[POOL[0]], "metal3", POOL[1]) == before
    assert run(kube, workers=BAD, rollout="resume")["losses"] == []
    assert marks(kube, *POOL) == marks(kube, *NEW_SET) == {} and spec(kube, *POOL) == before["spec"]
    assert not run(kube, workers=BAD, rollout="resume")["changed"]


@pytest.mark.usefixtures("cluster")
def test_a_corrected_one_is_released_by_the_apply_itself_and_a_users_pause_is_not(kube, waits):
    """Once more by a run that changes nothing, as after one that was killed."""
    stopped(kube, waits, workers=BAD, confirm="2")
    run(kube, workers=GOOD, confirm="2")
    assert marks(kube, *POOL) == marks(kube, *NEW_SET) == {}
    assert not run(kube, workers=GOOD)["objects"]
    stopped(kube, waits, workers=GOOD)
    kube.patch(KNOWN[POOL[0]], "metal3", POOL[1], {"metadata": {"annotations": {PAUSED: "mine"}}})
    run(kube, workers=BAD, confirm="2")
    assert marks(kube, *POOL) == {PAUSED: "mine"}
    kube.patch(KNOWN[POOL[0]], "metal3", POOL[1], {"metadata": {"annotations": {PAUSED: None}}})


@pytest.mark.usefixtures("cluster")
def test_a_pool_is_afterwards_what_it_was_before(kube, waits):
    run(kube, confirm="2")
    was = spec(kube, *POOL)
    stopped(kube, waits, workers=BAD, confirm="2")
    assert spec(kube, *POOL) != was
    run(kube, workers=BAD, rollout="rollback")
    assert spec(kube, *POOL) == was and marks(kube, *POOL) == marks(kube, *NEW_SET) == {}
    back = run(kube)
    assert back["objects"] == back["changes"] == []


@pytest.mark.usefixtures("cluster")
def test_a_control_plane_is_afterwards_what_it_was_before(kube, waits):
    """With what the API server has filled in, so that the next run of the former description changes nothing."""
    run(kube, confirm="2")
    for name in ("c1-one-0", "c1-one-1", "c1-one-2"):
        is_up_to_date(kube, name, "True")
    was = json.dumps(spec(kube, *PLANE), sort_keys=True)
    change = {"control_plane": {
        "image": OTHER_IMAGE, "pre_commands": ["true"], "files": [{"path": "/etc/n", "content": "z"}],
        "kubelet_extra_args": {"v": 4}, "ntp_servers": ["198.18.0.9"]}}
    is_up_to_date(kube, "c1-control-plane-0", "False")
    assert f"KubeadmControlPlane {PLANE[1]} is paused" in stopped(kube, waits, confirm="1", **change)
    with pytest.raises(RefusedError, match="whose rollout a run has stopped at"):
        run(kube, **change)
    assert run(kube, True, rollout="resume", **change)["losses"] == []
    add_machine(kube, "c1-control-plane-1", control_plane="")
    planned = run(kube, True, rollout="rollback", **change)
    assert planned["changes"][0]["machines"] == ["c1-control-plane-1"] and planned["losses"] == []
    run(kube, rollout="rollback", **change)
    assert json.dumps(spec(kube, *PLANE), sort_keys=True) == was and marks(kube, *PLANE) == {}
    back = run(kube)
    assert back["objects"] == back["changes"] == []

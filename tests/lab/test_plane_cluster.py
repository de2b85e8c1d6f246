# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane's controllers as pods of the lab's workload cluster: installed by the playbook, asked, removed.

The workload cluster is the lab's own; its nodes pull the images from the lab's registry.
"""
from __future__ import annotations

import json
import os
import subprocess

import leaders
import plane_site
import pytest
import releases
from plane_site import definitions, managers, namespaces
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED

pytestmark = pytest.mark.plane

SECONDS = 900
PARTS = ",".join(part.name for part in RENDERED)


@pytest.fixture(scope="module")
def kubeconfig(lab):
    return plane_site.workload(lab)


@pytest.fixture(scope="module")
def variables(kubeconfig):
    return {"management_plane": {
        "mode": "cluster", "kubeconfig": str(kubeconfig), "certificates": "collection",
        "definitions": "remove"}, "bmo_ironic_url": "https://192.0.2.1:6385/v1/"}


def clusterctl(lab, *arguments):
    return subprocess.run([lab.figures["engine_dir"] + "/bin/clusterctl", *arguments], capture_output=True, text=True,
                          check=False, timeout=300, env=dict(
                              os.environ, XDG_CONFIG_HOME=str(lab.dir), CLUSTERCTL_DISABLE_VERSIONCHECK="true"))


def test_a_plan_shows_every_object_and_writes_nothing(lab, target, variables):
    before = namespaces(target)
    run = lab.playbook("install", "--check", "--diff", extra=variables, seconds=SECONDS).ok()
    for title in ("Namespace capi-system", "Deployment capi-system/capi-controller-manager",
                  "CustomResourceDefinition clusters.cluster.x-k8s.io",
                  "Deployment capm3-system/capm3-controller-manager"):
        assert title in run.output
    rows = dict((line.split()[0], line.split()[1:]) for line in run.output.splitlines() if len(line.split()) > 4)
    assert all(rows[part.name][0] == "none" and rows[part.name][1].startswith("v") for part in RENDERED)
    assert namespaces(target) == before and not definitions(target)


def test_a_run_that_was_killed_is_continued_and_every_webhook_answers(lab, target, variables):
    running = lab.start("install", extra=variables)
    eventually(lambda: "capi-system" in namespaces(target), SECONDS, "namespace capi-system")
    running.kill()
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    found = managers(target)
    assert set(found) == set(name for part in RENDERED for name in part.images)
    for item in found.values():
        assert item["status"]["availableReplicas"] == item["spec"].get("replicas", 1)
    pool = {"apiVersion": "ipam.metal3.io/v1alpha1", "kind": "IPPool",
            "metadata": {"name": "refused", "namespace": "default"}, "spec": {
                "namePrefix": "refused", "pools": [{"start": "198.18.0.20", "end": "198.18.0.10", "prefix": 24}]}}
    with pytest.raises(KubeError, match="start address must be less than or equal to end address"):
        target.create(KNOWN["IPPool"], "default", pool)


def test_a_second_run_changes_nothing(lab, variables):
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


@pytest.fixture
def claimed(target):
    """A callable that asks the IPAM controller for an address and returns it."""
    pool = {"apiVersion": "ipam.metal3.io/v1alpha1", "kind": "IPPool",
            "metadata": {"name": "elected", "namespace": "default"}, "spec": {
                "namePrefix": "elected", "pools": [{"start": "203.0.113.20", "end": "203.0.113.29", "prefix": 24}]}}
    names = []

    def claim(name):
        names.append(name)
        wanted = {"apiVersion": "ipam.metal3.io/v1alpha1", "kind": "IPClaim",
                  "metadata": {"name": name, "namespace": "default"}, "spec": {"pool": {"name": "elected"}}}
        # The webhook's Service may still lead to a pod that is gone.
        eventually(lambda: target.create(KNOWN["IPClaim"], "default", wanted), 120, f"claim {name}", not_yet=KubeError)
        return eventually(lambda: (target.get(KNOWN["IPClaim"], "default", name).get("status") or {}).get("address"),
                          120, f"an address for {name}")

    target.create(KNOWN["IPPool"], "default", pool)
    yield claim
    for name in names:
        target.delete(KNOWN["IPClaim"], "default", name)
    eventually(lambda: not target.list(KNOWN["IPAddress"], "default")[0], 120, "no address in use")
    target.delete(KNOWN["IPPool"], "default", "elected")
    eventually(lambda: target.get(KNOWN["IPPool"], "default", "elected") is None, 60, "the pool gone")


def test_of_two_replicas_one_acts_and_the_other_when_it_is_killed(lab, target, variables, claimed):
    name = "ipam-controller-manager"
    several = dict(variables, ipam_options={"replicas": 2, "affinity": leaders.apart(managers(target)[name])})
    lab.playbook("install", extra=several, seconds=SECONDS).ok()
    deployment = managers(target)[name]
    namespace = deployment["metadata"]["namespace"]
    there = eventually(lambda: len(leaders.pods(target, deployment)) == 2 and leaders.pods(target, deployment), 120,
                       "two pods")
    assert deployment["status"]["availableReplicas"] == 2
    leader = eventually(lambda: set(leaders.holders(target, deployment).values()) & set(there), 60, "a leader").pop()
    # One lease, so that no other pod acts beside it.
    leases = sorted(leaders.holders(target, deployment))
    assert len(leases) == 1
    assert claimed("before")["name"].startswith("elected-")
    leaders.kill(target, namespace, leader)
    after = eventually(lambda: [holder for holder in leaders.holders(target, deployment).values() if holder != leader],
                       120, "another leader")
    assert after[0] in leaders.pods(target, deployment) and sorted(leaders.holders(target, deployment)) == leases
    assert claimed("after")["name"].startswith("elected-")
    eventually(lambda: managers(target)[name]["status"].get("availableReplicas") == 2, 180, "two pods again")
    again = leaders.pods(target, deployment)
    # The new one has found the other in its place.
    usable = leaders.usable_nodes(target, next(iter(again.values())))
    assert len({pod["spec"]["nodeName"] for pod in again.values()}) == min(2, len(usable)), (usable, sorted(again))
    held = sorted(leaders.holders(target, deployment).values())
    holder = held[0]
    beside, = set(again) - {holder}
    leaders.kill(target, namespace, beside)
    assert claimed("beside")["name"].startswith("elected-")
    eventually(lambda: beside not in leaders.pods(target, deployment)
               and managers(target)[name]["status"].get("availableReplicas") == 2, 180, "two pods once more")
    # Whoever acts goes on when another one is lost.
    assert sorted(leaders.holders(target, deployment).values()) == held
    assert lab.playbook("install", extra=several, seconds=SECONDS).ok().changed() == 0
    lab.playbook("install", extra=variables, seconds=SECONDS).ok()
    assert len(leaders.pods(target, managers(target)[name])) == 1


def test_clusterctl_finds_all_providers_and_would_move_a_cluster_there(lab, target, variables):
    kinds = set(item["type"] for item in target.list(KNOWN["Provider"])[0])
    assert kinds == set(part.type for part in RENDERED if part.type)
    path = variables["management_plane"]["kubeconfig"]
    done = clusterctl(lab, "move", "--dry-run", "--kubeconfig", str(lab.dir / "kubeconfig"), "--to-kubeconfig", path,
                      "-n", "metal3")
    assert done.returncode == 0 and "Creating objects in the target cluster" in done.stderr, json.dumps(vars(done))


def test_clusterctl_plans_an_upgrade_of_what_has_a_newer_version(lab, variables, tmp_path):
    config = releases.repositories(lab, tmp_path, newer="ipam")
    done = clusterctl(lab, "upgrade", "plan", "--config", str(config), "--kubeconfig",
                      variables["management_plane"]["kubeconfig"])
    assert done.returncode == 0, json.dumps(vars(done))
    assert "contract version:" in done.stdout and "v1beta2" in done.stdout, done.stdout
    rows = dict((fields[0], fields[1:]) for fields in map(str.split, done.stdout.splitlines()) if len(fields) > 4)
    for part in releases.PROVIDERS:
        newer = [releases.NEWER] if part.name == "ipam" else ["Already", "up", "to", "date"]
        assert rows[part.label] == [part.namespace, part.type, releases.version(part), *newer], done.stdout
    assert "clusterctl upgrade apply --contract v1beta2" in done.stdout


@pytest.fixture
def paused(target):
    """A Cluster that nothing is done for, and its Metal3Cluster."""
    name = "described"
    kinds = {"Cluster": {"paused": True, "infrastructureRef": {
        "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3Cluster", "name": name}},
        "Metal3Cluster": {"controlPlaneEndpoint": {"host": "192.0.2.1", "port": 6443}, "cloudProviderEnabled": False}}
    for kind, spec in kinds.items():
        target.create(KNOWN[kind], "default", {"apiVersion": KNOWN[kind].api_version, "kind": kind,
                                               "metadata": {"name": name, "namespace": "default"}, "spec": spec})
    yield name
    # Cluster API keeps its finalizer as long as a Cluster is paused.
    target.patch(KNOWN["Cluster"], "default", name, {"spec": {"paused": False}})
    for kind in kinds:
        target.delete(KNOWN[kind], "default", name)
    for kind in kinds:
        eventually(lambda kind=kind: target.get(KNOWN[kind], "default", name) is None, 60, f"{kind} deleted")


def test_clusterctl_describes_a_cluster_of_the_plane(lab, variables, paused):
    done = clusterctl(lab, "describe", "cluster", paused, "-n", "default", "--show-conditions", "all", "--kubeconfig",
                      variables["management_plane"]["kubeconfig"])
    assert done.returncode == 0, json.dumps(vars(done))
    assert f"Cluster/{paused}" in done.stdout and f"Metal3Cluster/{paused}" in done.stdout, done.stdout


def test_what_manages_something_is_not_removed(lab, target, variables):
    pool = {"apiVersion": "ipam.metal3.io/v1alpha1", "kind": "IPPool",
            "metadata": {"name": "kept", "namespace": "default"}, "spec": {"namePrefix": "kept", "pools": []}}
    target.create(KNOWN["IPPool"], "default", pool)
    try:
        lab.playbook("uninstall", extra=dict(variables, metal3_confirm=PARTS), seconds=SECONDS).failed(
            "part ipam: IPPool: found 1 (default/kept), expected none")
    finally:
        target.delete(KNOWN["IPPool"], "default", "kept")
    eventually(lambda: target.get(KNOWN["IPPool"], "default", "kept") is None, 60, "pool deleted")
    assert len(managers(target)) == len(RENDERED)


def test_removal_asks_for_a_confirmation_and_leaves_nothing(lab, target, variables):
    lab.playbook("uninstall", extra=variables, seconds=SECONDS).failed(f"set metal3_confirm={len(RENDERED)}")
    lab.playbook("uninstall", extra=dict(variables, metal3_confirm=len(RENDERED)), seconds=SECONDS).ok()
    assert not definitions(target)
    assert not namespaces(target) & set(part.namespace for part in RENDERED)
    assert lab.playbook("uninstall", extra=variables, seconds=SECONDS).ok().changed() == 0

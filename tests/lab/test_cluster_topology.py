# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster by ClusterClass lives as a plain one does: made, run again, scaled, replaced, upgraded, and gone.

One control plane machine and a worker on four servers; the order of a rollout is Cluster API's.
"""
from __future__ import annotations

import json

import living_cluster
import other_kubernetes
import pytest
import small_cluster
from support import NAMESPACE, eventually
from workload import Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import belongs
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.topology import OWNED_LABEL
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]

NAME = "classy"
PLANE, POOL = f"{NAME}-control-plane", f"{NAME}-pool-a"
SECONDS = 1500
CLASS_KINDS = ("ClusterClass", "KubeadmControlPlaneTemplate", "Metal3ClusterTemplate", "Metal3MachineTemplate",
               "KubeadmConfigTemplate", "Metal3DataTemplate")
KINDS = ("Cluster", "Metal3Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "Machine",
         "Metal3Machine", "KubeadmConfig", "IPPool", "IPClaim", *CLASS_KINDS)


@pytest.fixture(scope="module")
def site(lab):
    """The cluster's description; the cluster is made here and deleted afterwards."""
    variables = dict(small_cluster.variables(lab, NAME, {}, endpoint=14),
                     cluster_options=dict(small_cluster.labs_options(), topology=True))
    with living_cluster.made(living_cluster.Site(lab, NAME, {"replicas": 1}, variables)) as found:
        yield found


@pytest.fixture(scope="module")
def workload(lab, site):
    return Workload(lab, NAME, site.variables["cluster_workload_kubeconfig"])


def stored(lab, kind):
    """Return the cluster's objects of a kind by name."""
    return dict((item["metadata"]["name"], item) for item in lab.kube.list(KNOWN[kind], NAMESPACE)[0]
                if belongs(item, NAME))


def topology(lab):
    return lab.kube.get(KNOWN["Cluster"], NAMESPACE, NAME)["spec"]["topology"]


def generations(lab):
    """Return what a write would change; claims of machines that are gone follow these in their own time."""
    return dict(((kind, name), item["metadata"].get("generation")) for kind in KINDS if kind != "IPClaim"
                for name, item in stored(lab, kind).items())


def is_quiet(site):
    """Run twice when nothing is to change: in check mode with its diff, and for real."""
    checked = site.run("--check", "--diff").ok()
    assert checked.changed() == 0 and "+++" not in checked.output
    before = generations(site.lab)
    assert site.run().ok().changed() == 0
    assert generations(site.lab) == before


def test_cluster_api_has_made_it_of_a_class_under_the_names_of_a_plain_cluster(lab, site, workload):
    made_class, = stored(lab, "ClusterClass")
    assert topology(lab)["classRef"]["name"] == made_class
    for kind, names in (("Metal3Cluster", [NAME]), ("KubeadmControlPlane", [PLANE]), ("MachineDeployment", [POOL])):
        found = stored(lab, kind)
        assert list(found) == names and all(OWNED_LABEL in item["metadata"]["labels"] for item in found.values())
    assert len(workload.ready()) == 2 and set(workload.hosts().values()) <= set(lab.servers)


def test_a_second_run_changes_nothing_and_shows_the_tree(lab, site, workload):
    is_quiet(site)
    shown = site.run("--check").ok().output
    for text in (f"Cluster {NAME}", f"KubeadmControlPlane {PLANE}: 1/1 ready", f"MachineDeployment {POOL}: 1/1 ready"):
        assert text in shown


def test_it_keeps_its_topology(lab, site, workload):
    options = site.variables["cluster_options"]
    plain = dict((name, value) for name, value in options.items() if name != "topology")
    lab.playbook("cluster", extra=dict(site.extra(), cluster_options=plain)).failed(
        "expected a topology, as the cluster has it")


def test_a_pool_grows_and_shrinks(lab, site, workload):
    site.run(pool={"replicas": 2}).ok()
    assert len(workload.machines("pool-a")) == 2 and len(workload.ready()) == 3
    is_quiet(site)
    versions = lab.versions()
    site.run(pool={"replicas": 1}).failed("loses 1 machine out of these 2", "expected 1, the number of machines")
    assert lab.versions() == versions
    site.run(confirm=1).ok()
    assert len(workload.machines("pool-a")) == 1 and len(workload.ready()) == 2


def test_another_label_of_nodes_replaces_the_pools_machine_by_a_new_class(lab, site, workload):
    """Refused without the number of machines; killed in the middle, and taken up without it."""
    before, plane = workload.hosts("pool-a"), workload.hosts("control-plane")
    made_class, versions = list(stored(lab, "ClusterClass")), lab.versions()
    refused = site.run(pool={"node_labels": {"example.org/generation": "two"}}).failed(
        "expected 1, the number of machines", f"MachineDeployment {POOL} replaces its 1 machine")
    assert all(f"{name} on host {host}" in " ".join(refused.output.split()) for name, host in before.items())
    assert "because of cluster_workers.pool-a.node_labels" in " ".join(site.run("--check").ok().output.split())
    assert lab.versions() == versions
    running = lab.start("cluster", extra=site.extra(confirm=1))
    eventually(lambda: set(workload.machines("pool-a")) - set(before), 300, "a new machine")
    running.kill()
    site.run().ok()
    after = workload.hosts("pool-a")
    assert len(after) == 1 and not set(after) & set(before) and workload.hosts("control-plane") == plane
    assert [node["metadata"]["labels"].get("example.org/generation") for name, node in workload.nodes().items()
            if name in after] == ["two"]
    # The class of before is gone with the templates that only it has named.
    now, = stored(lab, "ClusterClass")
    assert [now] != made_class and topology(lab)["classRef"]["name"] == now
    is_quiet(site)


def test_another_image_replaces_all_machines(lab, site, workload):
    """By a run that is killed at the first one, and one that goes on."""
    before = workload.hosts()
    images = lab.dir / "www" / "images"
    for suffix in ("", ".sha256"):
        copy = images / f"again.qcow2{suffix}"
        copy.unlink(missing_ok=True)
        if suffix:
            copy.write_text((images / "node.qcow2.sha256").read_text().replace("node.", "again."))
        else:
            copy.symlink_to((images / "node.qcow2").resolve())
    image = dict(site.variables["cluster_image"])
    image.update(url=image["url"].replace("node.", "again."), checksum=image["checksum"].replace("node.", "again."))
    site.run(cluster_image=image).failed("expected 2, the number of machines")
    running = lab.start("cluster", extra=site.extra(confirm=2))
    eventually(lambda: set(workload.machines("control-plane")) - set(before), 600, "the new control plane machine")
    running.kill()
    site.run().ok()
    assert len(workload.machines()) == 2 and not set(workload.hosts()) & set(before) and len(workload.ready()) == 2
    is_quiet(site)


def test_kubernetes_is_upgraded_control_plane_first(lab, site, workload, tmp_path):
    """By the playbook ``upgrade``: version and image change at once, and Cluster API brings the pool when it may.

    The run is killed when the control plane is done; the next one finishes what Cluster API goes on with.
    """
    following = other_kubernetes.served(lab, tmp_path)
    changes = {"cluster_kubernetes_version": following.kubernetes_version, "cluster_image": following.image,
               "upgrade_backup": False}
    before = workload.machines()
    site.run(playbook="upgrade", **changes).failed("expected 2, the number of machines")
    running = lab.start("upgrade", extra=site.extra(confirm=2))
    # Whoever looks sees the new control plane before the pool has a machine of the new version.
    eventually(lambda: [item for name, item in workload.machines("pool-a").items() if name not in before], 900,
               "the pool's new machine")
    plane, = workload.machines("control-plane").values()
    assert plane["spec"]["version"] == following.kubernetes_version and plane["status"]["nodeRef"]["name"]
    running.kill()
    site.run(playbook="upgrade", confirm=1).ok()
    assert set(item["spec"]["version"] for item in workload.machines().values()) == {following.kubernetes_version}
    assert set(node["status"]["nodeInfo"]["kubeletVersion"] for node in workload.nodes().values()) == {
        following.kubernetes_version}
    assert len(workload.ready()) == 2 and not set(workload.machines()) & set(before)
    is_quiet(site)


OTHER = "shop"
# What the class says itself.
OF_CLASS = ("supported_links", "registry_mirrors", "ignore_preflight_errors", "kube_proxy_configuration", "topology")


def users_class(lab, site):
    """Make a class as a user would, out of the stored one: other names, no labels, a variable with its patch."""
    made_class, = stored(lab, "ClusterClass").values()
    plane = made_class["spec"]["controlPlane"]
    sources = [made_class["spec"]["infrastructure"]["templateRef"], plane["templateRef"],
               plane["machineInfrastructure"]["templateRef"]]
    machine = stored(lab, "Metal3MachineTemplate")[sources[2]["name"]]
    sources.append({"kind": "Metal3DataTemplate", "name": machine["spec"]["template"]["spec"]["dataTemplate"]["name"]})
    names = dict((source["name"], f"users-{position}") for position, source in enumerate(sources))
    old = site.variables["cluster_endpoint"]["host"]
    address = old.rpartition(".")[0] + ".15"
    replaced = dict(names, **{f'"{NAME}"': f'"{OTHER}"', f"{old}/": f"{address}/", f'"{old}"': f'"{address}"',
                              "virtual_router_id 14": "virtual_router_id 15"})

    def copied(spec):
        text = json.dumps(spec)
        for before, after in replaced.items():
            text = text.replace(before, after)
        return json.loads(text)

    for source in sources:
        item = stored(lab, source["kind"])[source["name"]]
        lab.kube.apply(KNOWN[source["kind"]], NAMESPACE, {
            "apiVersion": item["apiVersion"], "kind": item["kind"], "spec": copied(item["spec"]),
            "metadata": {"name": names[source["name"]], "namespace": NAMESPACE}})
    spec = copied({"infrastructure": made_class["spec"]["infrastructure"], "controlPlane": plane})
    del spec["infrastructure"]["naming"], spec["controlPlane"]["naming"]
    spec["variables"] = [{"name": "cleaning", "required": True, "schema": {"openAPIV3Schema": {"type": "string"}}}]
    spec["patches"] = [{"name": "cleaning", "definitions": [{
        "selector": {"apiVersion": machine["apiVersion"], "kind": machine["kind"],
                     "matchResources": {"controlPlane": True}},
        "jsonPatches": [{"op": "replace", "path": "/spec/template/spec/automatedCleaningMode",
                         "valueFrom": {"variable": "cleaning"}}]}]}]
    lab.kube.apply(KNOWN["ClusterClass"], NAMESPACE, {
        "apiVersion": made_class["apiVersion"], "kind": "ClusterClass", "spec": spec,
        "metadata": {"name": "users", "namespace": NAMESPACE}})
    return address, [("ClusterClass", "users")] + [(source["kind"], names[source["name"]]) for source in sources]


def test_a_cluster_of_a_users_class(lab, site, workload):
    """Without image and networks; it goes, and the class stays."""
    address, theirs = users_class(lab, site)
    options = dict((name, value) for name, value in site.variables["cluster_options"].items() if name not in OF_CLASS)

    def extra(confirm="", **variables):
        return dict(
            site.variables, cluster_name=OTHER, cluster_endpoint={"host": address}, cluster_image=None,
            cluster_networks=None, cluster_kubernetes_version=topology(lab)["version"], cluster_workers={},
            cluster_control_plane={"replicas": 1}, metal3_confirm=confirm, cluster_options=dict(
                options, cluster_class={"name": "users", "variables": variables}),
            cluster_workload_kubeconfig=str(lab.dir / "kubeconfigs" / OTHER))

    def run(*arguments, **more):
        return lab.playbook("cluster", *arguments, extra=extra(**more), seconds=SECONDS)

    gone = dict(extra(), **small_cluster.teardown(OTHER))
    try:
        run(clean="metadata").failed("expected one of cleaning, which ClusterClass metal3/users has")
        run(cleaning="metadata").ok()
        assert run("--check", "--diff", cleaning="metadata").ok().changed() == 0
        assert run(cleaning="metadata").ok().changed() == 0
        machine, = Workload(lab, OTHER, lab.dir / "kubeconfigs" / OTHER).machines().values()
        assert not machine["metadata"]["name"].startswith(f"{OTHER}-control-plane")
        run(cleaning="disabled").failed("expected 1, the number of machines")
    finally:
        lab.playbook("teardown", extra=gone, seconds=SECONDS).ok()
    assert all(lab.kube.get(KNOWN[kind], NAMESPACE, name) for kind, name in theirs)
    assert lab.playbook("teardown", extra=gone, seconds=SECONDS).ok().changed() == 0
    for kind, name in theirs:
        lab.kube.delete(KNOWN[kind], NAMESPACE, name)


def test_nothing_is_left_of_it(lab, site, workload):
    """Last: the fixture's own teardown then finds nothing."""
    hosts = workload.hosts().values()
    lab.playbook("teardown", extra=dict(site.variables, **small_cluster.teardown(NAME)), seconds=SECONDS).ok()
    left = dict((kind, list(stored(lab, kind))) for kind in KINDS if stored(lab, kind))
    assert left == {}
    for name in hosts:
        lab.wait_for_host(name, lambda found: found["status"]["provisioning"]["state"] == "available", "available")
    again = lab.playbook("teardown", extra=dict(site.variables, **small_cluster.teardown(NAME)), seconds=SECONDS)
    assert again.ok().changed() == 0

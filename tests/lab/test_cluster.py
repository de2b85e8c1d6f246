# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job: a description becomes a cluster of real nodes, grows, shrinks, and goes without a trace."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import small_cluster
from consoles import next_to_print
from inventory_plugin import listed
from jinja2 import Environment, StrictUndefined
from machine_room.node_boot.names import network_namespace
from operator_account import ACCOUNT, kubectl
from step_watch import StepWatch
from support import HOST, NAMESPACE, REPOSITORY, eventually
from workload import AGNHOST

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.manifests import resource_set
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import belongs
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._manifests import rollout
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

NAME = "workload"
# That of the images in the node image.
VERSION = "1.35.4"
KINDS = ("Cluster", "Metal3Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "Machine",
         "Metal3Machine", "KubeadmConfig", "KubeadmConfigTemplate", "Metal3MachineTemplate", "Metal3DataTemplate",
         "Metal3Data", "Metal3DataClaim", "IPPool", "IPClaim", "IPAddress", "Secret")
RESOURCE_SET = KNOWN["ClusterResourceSet"]
# Long enough for a busy machine; a test that takes longer has something wrong.
SECONDS = 900


def objects(lab, name=NAME):
    """Return the generations of all objects of a cluster; Secrets have none."""
    return dict(((kind, item["metadata"]["name"]), item["metadata"].get("generation"))
                for kind in KINDS for item in lab.kube.list(KNOWN[kind], NAMESPACE)[0]
                if belongs(item, name) or (item["metadata"]["name"] + "-").startswith(name + "-"))


def workload(lab):
    """Return a client of the workload cluster's own API server."""
    return KubeClient({"kubeconfig": str(kubeconfig(lab))})


def nodes(lab):
    """Return the workload cluster's nodes and whether they are ready, as its own API server reports."""
    return dict((node["metadata"]["name"], any(
        entry["type"] == "Ready" and entry["status"] == "True" for entry in node["status"]["conditions"]))
        for node in workload(lab).list(KNOWN["Node"])[0])


def host_of(lab, node):
    """Return the name of the server that a node runs on."""
    machine = lab.kube.get(KNOWN["Machine"], NAMESPACE, node)
    metal3_machine = lab.kube.get(KNOWN["Metal3Machine"], NAMESPACE, machine["spec"]["infrastructureRef"]["name"])
    return metal3_machine["metadata"]["annotations"]["metal3.io/BareMetalHost"].rpartition("/")[2]


def module(lab, module_name, **arguments):
    """Run a module of the collection against the workload cluster, as a user does, and return its result."""
    arguments.update(kubeconfig=str(lab.dir / "kubeconfig"), cluster_name=NAME)
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ansible"), "localhost", "-m", "metal3.baremetal." + module_name, "-a",
         json.dumps(arguments)], capture_output=True, text=True, check=False, timeout=900,
        env=dict(os.environ, ANSIBLE_STDOUT_CALLBACK="ansible.builtin.minimal"))
    return json.loads(done.stdout.partition("=>")[2]) if done.returncode == 0 else {"failed": done.stdout}


def kubeconfig(lab):
    return lab.dir / "kubeconfigs" / NAME


def workers(count, confirm=0):
    """Return what to give to the playbook for so many workers.

    :param confirm: how many machines that takes away
    """
    return ("-e", json.dumps({"cluster_workers": {"pool-a": {"replicas": count}},
                              "metal3_confirm": str(confirm or "")}))


def machines_of(lab, pool):
    """Return the Machines of a pool of workers that are not being deleted, with their hosts."""
    return dict((item["metadata"]["name"], host_of(lab, item["metadata"]["name"]))
                for item in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
                if f"-{pool}-" in item["metadata"]["name"] and not item["metadata"].get("deletionTimestamp"))


@pytest.fixture(scope="module")
def _inventory():
    """Let the lab's inventory have the cluster, which it has not for the other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", NAME)
        yield


@pytest.fixture(scope="module", autouse=True)
def _nothing_left(lab, as_operator, _inventory):
    """Take the cluster away after the module; as all its runs, with the rights of docs/rbac."""
    try:
        yield
    finally:
        lab.playbook("teardown", "-e", "metal3_confirm=" + NAME, seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def _cluster(lab):
    lab.playbook("cluster", seconds=SECONDS).ok()


@pytest.fixture
def without_cluster():
    """For a test that makes the cluster itself."""


@pytest.fixture(autouse=True)
def _cluster_of_the_test(request):
    if "without_cluster" not in request.fixturenames:
        request.getfixturevalue("_cluster")


def _with_workers(lab, count):
    """Have the cluster with so many workers, whatever the test before has left."""
    pool = lab.kube.get(KNOWN["MachineDeployment"], NAMESPACE, NAME + "-pool-a")
    # Without an answer of the cluster's the playbook waits for one.
    with contextlib.suppress(KubeError):
        if pool and pool["spec"]["replicas"] == count and list(nodes(lab).values()) == [True] * (1 + count):
            return
    surplus = len(machines_of(lab, "pool-a")) - count
    lab.playbook("cluster", *workers(count, max(0, surplus)), seconds=SECONDS).ok()


@pytest.fixture
def _one_worker(lab):
    _with_workers(lab, 1)


@pytest.fixture
def _two_workers(lab):
    _with_workers(lab, 2)


def test_a_run_that_is_killed_again_and_again_is_continued_and_nothing_is_doubled(lab, without_cluster):
    """Killed while it writes its objects, while the first host is deployed, and while that machine boots."""
    uids, watch = set(), StepWatch(lab, NAME)
    with watch.running():
        for stage in ("writing ", "step 12", "step 13"):
            run = lab.start("cluster")
            eventually(lambda seen=run, words=stage: words in seen.output or seen.process.poll() is not None, SECONDS,
                       f"a run to be killed at {stage!r}")
            assert stage in run.output, run.output
            run.kill()
            uids |= set(item["metadata"]["uid"] for item in lab.kube.list(KNOWN["Cluster"], NAMESPACE)[0])
        lab.playbook("cluster", seconds=SECONDS).ok()
    # What takes no time on this engine may go by between two looks.
    courses = watch.ends_complete()
    print(f"steps: {courses}")
    assert {12, 13, 15} <= set(courses[NAME + "-control-plane"])
    # Its user data waits for the control plane.
    assert {6, 12, 13, 15} <= set(courses[NAME + "-pool-a"])
    assert uids == {lab.kube.get(KNOWN["Cluster"], NAMESPACE, NAME)["metadata"]["uid"]}
    machines = lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
    assert len(machines) == 2
    assert sorted(item["metadata"]["name"] for item in machines) == sorted(nodes(lab))
    used = [host["spec"]["consumerRef"]["name"] for host in lab.hosts().values() if host["spec"].get("consumerRef")]
    assert sorted(used) == sorted(item["spec"]["infrastructureRef"]["name"] for item in machines)


def test_both_machines_are_ready_nodes(lab):
    assert list(nodes(lab).values()) == [True, True]


def test_nodes_have_the_addresses_of_the_pool_and_the_names_of_their_machines(lab):
    client = workload(lab)
    pool = set(item["spec"]["address"] for item in lab.kube.list(KNOWN["IPAddress"], NAMESPACE)[0]
               if item["spec"]["pool"]["name"] == NAME + "-nodes")
    seen = set()
    for node in client.list(KNOWN["Node"])[0]:
        seen |= set(entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP")
        assert lab.kube.get(KNOWN["Machine"], NAMESPACE, node["metadata"]["name"])
    assert seen == pool and len(seen) == 2


def test_machines_and_their_hosts_are_in_the_inventory_group_of_the_cluster(lab, tmp_path):
    groups, variables = listed(lab, tmp_path, {
        "sources": ["hosts", "machines"], "keyed_groups": [{"key": "metal3.cluster", "prefix": "cluster"}],
        "groups": {"control_plane": "metal3.control_plane | default(false)"}})
    assert sorted(groups["metal3_machines"]) == sorted(nodes(lab))
    taken = dict((node, host_of(lab, node)) for node in nodes(lab))
    assert sorted(groups["cluster_" + NAME]) == sorted([*taken, *taken.values()])
    assert len(groups["control_plane"]) == 1
    for node, host in taken.items():
        facts = variables[node]["metal3"]
        assert (facts["node"], facts["host"], facts["kubernetes_version"]) == (node, host, "v" + VERSION)
        # What CAPM3 reports of a machine are the addresses of its host at inspection.
        assert sorted(facts["addresses"]) == sorted(variables[host]["metal3"]["addresses"])


def answering(client, pod, seen):
    """Add to ``seen`` what the Service answered when the pod asked it by name, and return it."""
    # While cluster DNS and kube-proxy learn of the Service, a dial has only errors.
    question = "dial?host=echo.default.svc.cluster.local&port=80&request=hostname&protocol=http&tries=1"
    answer = client.request("GET", KNOWN["Pod"].path("default", pod + ":8080", "proxy/" + question))
    seen.update(answer.get("responses", []))
    return seen


def test_pods_answer_across_nodes_by_name(lab):
    """Each pod asks the Service by its name: cluster DNS, kube-proxy and the route to the other node."""
    client = workload(lab)
    eventually(lambda: rollout.missing(client.get(KNOWN["Deployment"], "kube-system", "coredns")) is None, 180,
               "CoreDNS is Ready", not_yet=KubeError)
    template = (REPOSITORY / "roles" / "lab" / "templates" / "echo.yml.j2").read_text()
    manifest = Environment(undefined=StrictUndefined).from_string(template.replace(
        "{{ cluster_kubernetes_version | regex_replace('^v', '') }}", VERSION)).render(lab_echo_replicas=2)
    assert module(lab, "manifests", manifests=[manifest])["changed"]
    assert not module(lab, "manifests", manifests=[manifest])["changed"]
    pods = dict((pod["metadata"]["name"], pod["spec"]["nodeName"]) for pod in client.list(
        KNOWN["Pod"], "default", "app=echo")[0])
    assert set(pods.values()) == set(nodes(lab))
    assert module(lab, "service_probe", name="echo", port="http", path="hostname", answers=2)["answers"] == sorted(pods)
    for pod, node in pods.items():
        seen = set()
        eventually(lambda pod=pod, seen=seen: answering(client, pod, seen) == set(pods), 120,
                   f"both pods, reached from {node} through the Service", not_yet=KubeError)


def test_a_node_reaches_the_image_server(lab):
    url = "https://%s:%d/images/lab.raw.sha256" % (
        lab.figures["bridge"]["address"].partition("/")[0], lab.figures["ports"]["image_server"])
    ask = ("import ssl, sys, urllib.request as r; context = ssl.create_default_context(cafile=sys.argv[2]);"
           "print(r.urlopen(sys.argv[1], timeout=10, context=context).read().decode())")
    names = nodes(lab)
    assert names
    for node in names:
        done = subprocess.run(
            ["ip", "netns", "exec", network_namespace(lab.figures["index"], host_of(lab, node)), sys.executable, "-c",
             ask, url, str(lab.dir / "pki" / "ca.crt")], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == (lab.dir / "www" / "images" / "lab.raw.sha256").read_text().strip()


def test_a_cluster_resource_set_of_somebody_else_reaches_the_cluster_and_runs_leave_it_alone(lab):
    """Cluster API itself brings its objects into each cluster with a label, which is set beside the playbook."""
    def labelled(value):
        lab.kube.patch(KNOWN["Cluster"], NAMESPACE, NAME, {"metadata": {"labels": {"example.org/extra": value}}})

    def brought():
        return workload(lab).get(KNOWN["ConfigMap"], "default", "brought")

    inner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "brought", "namespace": "default"},
             "data": {"by": "Cluster API"}}
    lab.kube.create(KNOWN["ConfigMap"], NAMESPACE, {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra", "namespace": NAMESPACE},
        "data": {"brought.json": json.dumps(inner)}})
    try:
        lab.kube.create(RESOURCE_SET, NAMESPACE, {
            "apiVersion": RESOURCE_SET.api_version, "kind": RESOURCE_SET.kind,
            "metadata": {"name": "extra", "namespace": NAMESPACE},
            "spec": {"clusterSelector": {"matchLabels": {"example.org/extra": "yes"}}, "strategy": "Reconcile",
                     "resources": [{"kind": "ConfigMap", "name": "extra"}]}})
        assert brought() is None
        labelled("yes")
        found = eventually(brought, 120, "the object of the ClusterResourceSet", not_yet=KubeError)
        assert found["data"] == inner["data"]
        assert lab.playbook("cluster", seconds=SECONDS).ok().changed() == 0
        assert lab.kube.get(KNOWN["Cluster"], NAMESPACE, NAME)["metadata"]["labels"]["example.org/extra"] == "yes"
    finally:
        labelled(None)
        lab.kube.delete(RESOURCE_SET, NAMESPACE, "extra")
        lab.kube.delete(KNOWN["ConfigMap"], NAMESPACE, "extra")
        eventually(lambda: lab.kube.get(RESOURCE_SET, NAMESPACE, "extra") is None, 60, "the ClusterResourceSet gone")


def for_cluster_api(value, name="by-cluster-api"):
    """Return what gives the cluster a ConfigMap with a value, a Secret and a pod by a ClusterResourceSet."""
    def made(api_version, kind, **parts):
        return dict({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}, **parts)

    labels = {"app": name}
    manifests = [
        made("v1", "ConfigMap", data={"a": value}), made("v1", "Secret", stringData={"a": "canary-7f3a"}),
        made("apps/v1", "Deployment", spec={"selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [
                {"name": "pod", "image": AGNHOST, "args": ["pause"], "imagePullPolicy": "IfNotPresent"}]}}})]
    return "-e", json.dumps({"cluster_manifests": manifests, "cluster_resource_set": "Reconcile"})


def sets_of(lab):
    """Return what the management cluster has for a ClusterResourceSet of the playbook's."""
    return sorted((kind, item["metadata"]["name"]) for kind in (resource_set.KIND, *resource_set.BUNDLES)
                  for item in lab.kube.list(KNOWN[kind], NAMESPACE, resource_set.selector(NAME))[0])


@pytest.fixture
def may_make_sets(lab):
    """The operator with the rights that ClusterResourceSets need; afterwards nothing is left of one."""
    name, role = "metal3-operator-resource-sets", "metal3-baremetal-resource-sets"
    bound = kubectl(lab, "create", "rolebinding", name, "--namespace", NAMESPACE, "--clusterrole", role,
                    "--serviceaccount", f"{NAMESPACE}:{ACCOUNT}")
    assert bound.returncode == 0, bound.stderr
    try:
        yield
    finally:
        lab.playbook("cluster", seconds=SECONDS).ok()
        for kind in ("Deployment", "ConfigMap", "Secret"):
            workload(lab).delete(KNOWN[kind], "default", "by-cluster-api")
        assert kubectl(lab, "delete", "rolebinding", name, "--namespace", NAMESPACE).returncode == 0


def test_cluster_api_brings_what_is_described_and_its_set_goes_with_the_option(lab, may_make_sets):
    def brought(kind):
        return workload(lab).get(KNOWN[kind], "default", "by-cluster-api")

    check = lab.playbook("cluster", "--check", "--diff", *for_cluster_api("one"), seconds=SECONDS).ok()
    assert check.changed() == 1 and sets_of(lab) == [] and brought("ConfigMap") is None
    assert "canary-7f3a" not in check.output
    run = lab.playbook("cluster", *for_cluster_api("one"), seconds=SECONDS).ok()
    assert run.changed() == 1
    assert [kind for kind, _name in sets_of(lab)] == ["ClusterResourceSet", "ConfigMap", "Secret"]
    # The wait has ended when it was there and ran.
    assert brought("ConfigMap")["data"] == {"a": "one"} and brought("Secret") is not None
    assert rollout.missing(brought("Deployment")) is None
    managers = set(entry["manager"] for entry in brought("ConfigMap")["metadata"]["managedFields"])
    assert managers and "metal3.baremetal" not in managers
    assert lab.playbook("cluster", *for_cluster_api("one"), seconds=SECONDS).ok().changed() == 0

    before = sets_of(lab)
    assert lab.playbook("cluster", *for_cluster_api("two"), seconds=SECONDS).ok().changed() == 1
    assert brought("ConfigMap")["data"] == {"a": "two"}
    assert len(sets_of(lab)) == len(before) and len(set(sets_of(lab)) - set(before)) == 1

    assert lab.playbook("cluster", seconds=SECONDS).ok().changed() == 1
    eventually(lambda: sets_of(lab) == [], 60, "the ClusterResourceSet gone")
    assert brought("ConfigMap")["data"] == {"a": "two"}, "what was brought stays"
    assert lab.playbook("cluster", seconds=SECONDS).ok().changed() == 0


def test_what_does_not_start_is_reported_with_the_pods_reason(lab):
    bad = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "bad"}, "spec": {
        "selector": {"matchLabels": {"app": "bad"}}, "template": {
            "metadata": {"labels": {"app": "bad"}},
            "spec": {"containers": [{"name": "bad", "image": "no such image"}]}}}}
    message = module(lab, "manifests", manifests=[bad])["failed"]
    assert "Deployment default/bad: 0 of 1 pods available; pod bad-" in message and "InvalidImageName" in message
    workload(lab).delete(KNOWN["Deployment"], "default", "bad")


def test_the_kubeconfig_is_its_owners_only_and_is_not_printed(lab):
    assert kubeconfig(lab).stat().st_mode & 0o777 == 0o600
    run = lab.playbook("cluster", "-vvv", "--diff", seconds=SECONDS).ok()
    key = re.search(r"client-key-data: (\S+)", kubeconfig(lab).read_text()).group(1)
    assert key not in run.output
    assert str(kubeconfig(lab)) in run.output


def test_a_second_run_changes_nothing_and_check_mode_agrees(lab):
    before = objects(lab)
    assert lab.playbook("cluster", seconds=SECONDS).ok().changed() == 0
    assert lab.playbook("cluster", "--check", "--diff").ok().changed() == 0
    assert objects(lab) == before


def test_another_api_version_rolls_nothing(lab):
    names = set(objects(lab))
    run = lab.playbook("cluster", "--check", "-e", "lab_api_version=v1beta1").ok()
    assert run.changed() == 0, run.output
    assert set(objects(lab)) == names


def test_check_mode_says_which_machines_would_roll(lab):
    before = objects(lab)
    machine = next(item["metadata"]["name"] for item in lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
                   if "pool-a" in item["metadata"]["name"])
    labels = json.dumps({"cluster_workers": {"pool-a": {"replicas": 1, "node_labels": {"example.org/a": "b"}}}})
    run = lab.playbook("cluster", "--check", "-e", labels).ok()
    assert f"MachineDeployment {NAME}-pool-a: replaces {machine}" in run.output
    assert "KubeadmControlPlane" not in run.output.replace(f"KubeadmControlPlane {NAME}-control-plane: 1/1", "")
    assert objects(lab) == before


BAD = [
    ({"cluster_workers": {"pool-a": {"replicas": 9}}}, "workers.pool-a.host_selector: found 1 free"),
    ({"cluster_workers": {"pool-a": {"replicas": 2, "host_selector": {"rack": "none"}}}}, "hosts with these labels"),
    ({"cluster_workers": {"pool-a": {"replicas": 60}}}, "networks.nodes.ipv4.ranges: found 41 addresses"),
    ({"cluster_kubernetes_version": "v1.99.0"}, "which Cluster API v1.13 supports"),
    ({"cluster_control_plane": {"replicas": 2}}, "control_plane.replicas: found 2, expected an odd number"),
    ({"cluster_options": {"node_labls": {}}}, "cluster_options.node_labls: found an unknown option"),
    ({"cluster_workers": {"pool-a": {"network_data": {"links": {"vlans": [
        {"id": "v", "vlanID": 5, "vlanLink": "eno1"}]}}}}},
     "workers.pool-a.network_data.links.vlans: found \"vlan\", "
     "expected a link of cluster_options.supported_links, which are ethernet"),
    ({"cluster_workers": {"pool-a": {"replicas": 1, "host_selector": {"match_labels": {"rack": "r1"}}}}},
     "write the labels themselves: host_selector: {rack: r1}"),
    ({"cluster_workers": {"pool-a": {"replicas": 2, "metadata": {"fromHostInterfaces": [
        {"key": "mac", "interface": "eno9"}]}}}}, "expected an interface eno9"),
    ({"cluster_image": {"url": "https://127.0.0.1:1/node.img", "checksum": "0" * 64}}, "image.format: not set"),
    ({"cluster_image": {"url": "https://127.0.0.1:1/node.raw", "checksum": "0" * 64}}, "image.url: found https://127.0.0.1:1/node.raw"),
    ({"cluster_endpoint": {"host": "203.0.113.9"}}, "endpoint.host: found \"203.0.113.9\", expected an address in"),
]


@pytest.mark.parametrize("variables, words", BAD)
def test_what_can_not_work_is_refused_before_anything_is_written(lab, variables, words):
    before = objects(lab)
    lab.playbook("cluster", "-e", json.dumps(variables)).failed(words)
    assert objects(lab) == before


@pytest.mark.usefixtures("_one_worker")
def test_a_health_check_that_gives_up_before_a_server_has_booted_is_named(lab):
    """In check mode: the machine of the pool would be replaced, and its successor given up while it boots."""
    run = lab.playbook("cluster", "--check", "-e", json.dumps({"cluster_workers": {"pool-a": {
        "replicas": 1, "node_labels": {"example.org/generation": "two"},
        "health_check": {"node_startup_timeout_seconds": 30}}}})).ok()
    message = r"node_startup_timeout_seconds is 30, but Machine \S+ took .* to become a node"
    assert re.search(message, run.output), run.output


@pytest.mark.usefixtures("_one_worker")
def test_clusters_of_one_play_do_not_count_on_the_same_host(lab, tmp_path):
    """Each of the two could have the last free host, and neither begins."""
    free = [name for name in lab.servers if lab.state(name) == "available"]
    second = dict(small_cluster.variables(lab, "second", {}), cluster_workers={"pool-b": {"replicas": len(free) - 1}})
    path = tmp_path / "clusters.json"
    path.write_text(json.dumps({"clusters": {
        "hosts": {"second": second},
        "children": {NAME: {"hosts": {NAME + "-cluster": {"cluster_workers": {"pool-a": {"replicas": 2}}}}}}}}))
    before = objects(lab)
    lab.playbook("cluster", "-i", str(path), "--limit", "second", "--check").ok()
    run = lab.playbook("cluster", "-i", str(path)).failed("goes to control_plane of cluster metal3/second")
    found = dict((name, (numbers["changed"], numbers["failed"])) for name, numbers in run.recap().items())
    assert found == {"localhost": (0, 0), NAME + "-cluster": (0, 1), "second": (0, 1)}
    assert objects(lab) == before and objects(lab, "second") == {}


@pytest.mark.long
@pytest.mark.usefixtures("_one_worker")
def test_a_worker_comes_although_the_image_server_dies_in_mid_deployment(lab, room):
    # Asking for it takes seconds, in which the moment would pass.
    pid = lab.pid("image-server")
    writes_image = next_to_print(lab, "writing image", SECONDS)
    for server in lab.servers:
        room.set_knobs(server, slow_download=20)
    try:
        run = lab.start("cluster", *workers(2))
        host = writes_image()
        os.kill(pid, signal.SIGKILL)
    finally:
        for server in lab.servers:
            room.clear_knobs(server)
    eventually(lambda: f"(host {host}): error: Image provisioning failed" in run.output, 300,
               "the failed deployment is reported")
    # The operator looks again by itself after two minutes, or when something about the host changes.
    lab.kube.patch(HOST, NAMESPACE, host, {"metadata": {"annotations": {"example.org/look": "again"}}})
    try:
        run.finish(SECONDS).ok()
    finally:
        lab.kube.patch(HOST, NAMESPACE, host, {"metadata": {"annotations": {"example.org/look": None}}})
    assert list(nodes(lab).values()) == [True, True, True]


@pytest.mark.usefixtures("_two_workers")
def test_a_worker_comes_back_after_a_power_cut(lab, room):
    node = next(name for name in nodes(lab) if "pool-a" in name)
    server = host_of(lab, node)
    try:
        # Without power its BMC is off too, so that nobody switches it on again.
        room.set_knobs(server, bmc_unreachable=True)
        room.power(server, "power_off")
        eventually(lambda: not nodes(lab)[node], 300, "the node is not ready", not_yet=KubeError)
    finally:
        room.clear_knobs(server)
    room.power(server, "power_on")
    eventually(lambda: nodes(lab)[node], 300, "the node is ready again", not_yet=KubeError)
    assert lab.playbook("cluster", *workers(2), seconds=SECONDS).ok().changed() == 0


@pytest.mark.usefixtures("_two_workers")
def test_workers_go_only_when_their_number_is_repeated(lab, tmp_path):
    """Fewer replicas, a pool that is not described any more, and no description of workers at all."""
    before, machines = objects(lab), machines_of(lab, "pool-a")
    assert len(machines) == 2
    named = ["%s on host %s" % item for item in machines.items()]
    for variables, number in (({"cluster_workers": {"pool-a": {"replicas": 1}}}, 1), ({"cluster_workers": {}}, 2)):
        run = lab.playbook("cluster", "-e", json.dumps(variables)).failed(
            f"expected {number}, the number of machines", *named)
        assert run.changed() == 0
        # Without --diff.
        output = lab.playbook("cluster", "--check", "-e", json.dumps(variables)).ok().output
        assert "would be refused" in output and all(name in "".join(output.split("\n")) for name in machines), output
        lab.playbook("cluster", "-e", json.dumps(dict(variables, metal3_confirm="9"))).failed("found 9, expected")
    # What is lost in the inventory stays in the cluster.
    site = tmp_path / "site"
    shutil.copytree(REPOSITORY / "inventory" / "lab", site)
    path = site / "group_vars" / "clusters.yml"
    lost = ('cluster_control_plane:\n  replicas: "{{ lab_control_planes | int }}"\n'
            'cluster_workers:\n  pool-a:\n    replicas: 1\n')
    assert lost in path.read_text()
    path.write_text(path.read_text().replace(lost, ""))
    run = lab.playbook("cluster", inventory=site, seconds=SECONDS).ok()
    assert run.changed() == 0 and "workers: not set" in run.output
    assert objects(lab) == before
    lab.playbook("cluster", *workers(1, confirm=1), seconds=SECONDS).ok()
    assert list(nodes(lab).values()) == [True, True] and len(machines_of(lab, "pool-a")) == 1


@pytest.mark.long
@pytest.mark.usefixtures("_one_worker")
def test_a_worker_that_loses_power_while_it_joins_comes_or_is_reported(lab, room):
    """cloud-init does not begin again what the power cut interrupted: the machine never joins, and a new one does."""
    joins = next_to_print(lab, "Running pre-flight checks", SECONDS)
    run = lab.start("cluster", *workers(2), "-e", "cluster_node_startup_timeout_seconds=60")
    server = joins()
    room.power(server, "power_off")
    room.power(server, "power_on")
    run.finish(SECONDS)
    if run.returncode:
        run.failed("bootstrap failed: host " + server, "delete the Machine for its owner to make another")
        machine = re.search(r"Machine (\S+pool-a\S+): bootstrap failed", run.output).group(1)
        lab.kube.delete(KNOWN["Machine"], NAMESPACE, machine)
        lab.playbook("cluster", *workers(2), seconds=SECONDS).ok()
    assert list(nodes(lab).values()) == [True, True, True]
    lab.playbook("cluster", *workers(1, confirm=1), seconds=SECONDS).ok()


@pytest.mark.usefixtures("_one_worker")
def test_a_wrong_checksum_ends_the_wait_with_the_cause(lab):
    """A second cluster, whose image's checksum file says what is not so."""
    images = lab.dir / "www" / "images"
    (images / "wrong.sha256").write_text(f"{0:064d}  node.qcow2\n")
    variables = small_cluster.variables(lab, "broken", {
        "checksum": lab.figures["urls"]["image_server"] + "/images/wrong.sha256"})
    try:
        lab.playbook("cluster", extra=variables, seconds=SECONDS).failed(
            "cluster metal3/broken can't become ready", "the image's checksum is not the given one")
        assert ("Secret", "broken-ca") in objects(lab, "broken")
    finally:
        lab.playbook("teardown", extra=dict(variables, **small_cluster.teardown("broken")), seconds=SECONDS).ok()
        (images / "wrong.sha256").unlink()
    wait_until_nothing_is_left(lab, "broken")


def wait_until_nothing_is_left(lab, name):
    """Wait for the garbage collector, which takes Secrets and the like away in its own time."""
    eventually(lambda: not objects(lab, name), 120, f"nothing is left of cluster {name}")


@pytest.mark.usefixtures("_one_worker")
def test_teardown_wants_the_name_and_leaves_nothing(lab):
    lab.playbook("teardown").failed("confirm: not set, expected the cluster's name", "to continue set metal3_confirm=")
    assert list(nodes(lab).values()) == [True, True]
    used = [host["metadata"]["name"] for host in lab.hosts().values() if host["spec"].get("consumerRef")]
    assert len(used) == 2
    lab.playbook("teardown", "-e", "metal3_confirm=" + NAME, seconds=SECONDS).ok()
    wait_until_nothing_is_left(lab, NAME)
    assert not kubeconfig(lab).exists()
    assert [lab.state(name) for name in used] == ["available", "available"]
    assert lab.playbook("teardown", "-e", "metal3_confirm=" + NAME).ok().changed() == 0

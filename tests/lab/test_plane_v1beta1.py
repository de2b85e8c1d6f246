# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management plane that serves only v1beta1: Cluster API 1.10 with its webhooks, and the collection on it.

It needs the lab's programs, but no lab that runs. Cluster API and its kubeadm providers are the real ones of that
release, on an API server of their own; CAPM3 and the machines are played (``played_metal3.py``). What is read is
compared with what the conversion webhooks of the lab's present programs return for the same objects.
"""
from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import older_contract
import older_samples
import pytest
from fakes import move_planes
from played_metal3 import PlayedMetal3, old
from support import eventually, killed_module, module

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion import stored
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import controllers, provider
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.process_mode import process_mode
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import (
    ThrowawayServers,
    free_ports,
)

pytestmark = pytest.mark.plane

NAMESPACE, NAME = "metal3", "prod"
# The newest that Cluster API 1.10 knows.
KUBERNETES = "v1.33.1"
HOSTS = 4
# By which the pool's machine is replaced.
CHANGED = {"workers": {"pool-a": {"replicas": 1, "pre_commands": ["true"]}}}
HARDWARE = {"nics": [{"name": "eno1", "mac": "00:5c:52:00:00:01"}], "cpu": {"count": 8},
            "storage": [{"name": "/dev/sda", "sizeBytes": 500 * 10 ** 9}]}
CRD = KNOWN["CustomResourceDefinition"]
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
# What conversion webhooks are compared on: all that Cluster API's controllers wrote, and what was played of CAPM3.
KINDS = ("Cluster", "Machine", "MachineSet", "MachineDeployment", "KubeadmControlPlane", "KubeadmConfig",
         "KubeadmConfigTemplate", "Metal3Cluster", "Metal3Machine", "Metal3MachineTemplate", "Metal3DataTemplate")


def shipped(name):
    """Return the objects of a part of the present release."""
    return manifests.load(os.path.join(move_planes.engine_dir(), manifests.FOLDER, name + ".yaml"))


def definitions(objects):
    return [item for item in objects if item["kind"] == CRD.kind]


def started(servers, on, part, webhook, program):
    """Start a manager; return where its webhooks are.

    :param servers: a ThrowawayServers
    :param on: name of the API server that it works on
    :param part: name of the part
    :param webhook: port of its webhooks
    :param program: path of the program
    """
    name = f"{on}-{part}"
    health, diagnostics = free_ports(2)
    servers.issue(controllers.serving_certificate(name))
    servers.add(name, program, [
        f"--kubeconfig={servers.kubeconfig(on)}", f"--webhook-port={webhook}", f"--health-addr=127.0.0.1:{health}",
        f"--diagnostics-address=127.0.0.1:{diagnostics}", "--leader-elect=false",
        f"--webhook-cert-dir={os.path.join(servers.pki, name, controllers.SERVING_FOLDER)}"],
        {"PATH": os.environ["PATH"], "POD_NAMESPACE": catalogue.BY_NAME[part].namespace,
         "METAL3_WEBHOOK_HOST": "127.0.0.1"},
        {"url": f"http://127.0.0.1:{health}/readyz"})
    return f"https://127.0.0.1:{webhook}"


def create(client, objects):
    for item in objects:
        resource = KNOWN[item["kind"]]
        client.create(resource, item["metadata"].get("namespace") if resource.namespaced else None, item)


def parts(servers, client, rendered, bin_dir):
    """Give an API server Cluster API with a CAPM3 of v1beta1: definitions, programs, and webhooks that are asked.

    :param rendered: part's name → its objects as upstream ships them
    :param bin_dir: folder of the parts' programs
    """
    authority = Path(servers.pki, "ca.crt").read_text()
    urls = dict((name, f"https://127.0.0.1:{port}") for name, port in zip(rendered, free_ports(len(rendered))))
    found = [item for item in definitions(shipped("capi")) if item["spec"]["group"].startswith("clusterctl.")]
    found += definitions([item for name, objects in rendered.items()
                          for item in process_mode(objects, urls[name], authority)])
    found += older_contract.of_older_provider(definitions(shipped("capm3")))
    found += definitions(shipped("bmo")) + definitions(shipped("ipam"))
    found = list(dict((item["metadata"]["name"], item) for item in found).values())
    create(client, found)
    provider.wait_established(client, [item["metadata"]["name"] for item in found], 120)
    create(client, [item for objects in rendered.values() for item in objects if item["kind"] == "Namespace"])
    create(client, [item for objects in rendered.values() for item in objects if item["kind"] == "Provider"])
    for name, objects in rendered.items():
        url = started(servers, "plane", name, int(urls[name].rpartition(":")[2]), os.path.join(
            bin_dir, older_contract.PROGRAMS[name]))
        create(client, [item for item in process_mode(objects, url, authority) if item["kind"] in WEBHOOKS])


def collector(servers):
    """Start what deletes objects whose owner is gone, as each management cluster has it."""
    port, = free_ports(1)
    servers.add("collector", "kube-controller-manager", [
        f"--kubeconfig={servers.kubeconfig('plane')}", "--controllers=garbage-collector-controller",
        "--bind-address=127.0.0.1", f"--secure-port={port}", "--leader-elect=false",
        f"--tls-cert-file={servers.pki}/server.crt", f"--tls-private-key-file={servers.pki}/server.key"],
        {"PATH": os.environ["PATH"]},
        {"url": f"https://127.0.0.1:{port}/healthz", "ca_file": os.path.join(servers.pki, "ca.crt")})


def authority_of_workload(servers):
    """Return the Secret by which Cluster API's certificates are those of the workload cluster's API server."""
    data = dict((f"tls.{kind}", base64.b64encode(Path(servers.pki, f"ca.{kind}").read_bytes()).decode())
                for kind in ("crt", "key"))
    return {"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "data": data, "metadata": {
        "name": f"{NAME}-ca", "namespace": NAMESPACE, "labels": {"cluster.x-k8s.io/cluster-name": NAME}}}


OLDER, MIXED = "Cluster API 1.10", "the present Cluster API"


@pytest.fixture(scope="module", params=[OLDER, MIXED])
def plane(request):
    """A plane, a place for the workload cluster's API server, and hosts.

    CAPM3 1.11 and 1.12, which serve only v1beta1, too, run beside a Cluster API that serves v1beta2.
    """
    bin_dir = move_planes.programs()
    rendered = dict((name, shipped(name)) for name in older_contract.PROGRAMS)
    if request.param == OLDER:
        with pytest.MonkeyPatch.context() as monkeypatch:
            programs = older_contract.built(monkeypatch)
        bin_dir, rendered = programs.bin_dir, programs.rendered(os.path.join(bin_dir, "kubectl"))
    with ThrowawayServers(move_planes.programs(), ["plane", "workload"]) as servers:
        client, workload = (KubeClient({"kubeconfig": servers.kubeconfig(name)}) for name in ("plane", "workload"))
        for of, names in ((client, (NAMESPACE, "kube-system")), (workload, ("kube-system",))):
            for name in names:
                if of.get(KNOWN["Namespace"], None, name) is None:
                    move_planes.make_namespace(of, name)
        parts(servers, client, rendered, bin_dir)
        for number in range(HOSTS):
            for resource, obj, _owner in move_planes.host(number, held=False):
                if resource.kind == "HardwareData":
                    obj["spec"]["hardware"].update(HARDWARE)
                made = client.create(
                    resource, NAMESPACE, dict(obj, metadata=dict(obj["metadata"], namespace=NAMESPACE)))
                if obj.get("status"):
                    client.patch(resource, NAMESPACE, made["metadata"]["name"], {"status": obj["status"]},
                                 subresource="status")
        client.create(KNOWN["Secret"], NAMESPACE, authority_of_workload(servers))
        collector(servers)
        with PlayedMetal3(client, workload, NAMESPACE, KUBERNETES) as played:
            yield SimpleNamespace(is_mixed=request.param == MIXED, client=client, workload=workload, played=played,
                                  kubeconfig=servers.kubeconfig("plane"),
                                  port=int(workload.server.rpartition(":")[2]))


def described(plane, **changes):
    """Return options of the module ``cluster``, which say nothing of versions of the API."""
    url = "http://198.18.0.1/node.qcow2"
    options = {
        "kubeconfig": plane.kubeconfig, "namespace": NAMESPACE, "name": NAME, "kubernetes_version": KUBERNETES,
        "endpoint": {"host": "localhost", "port": plane.port, "holder": "none"},
        "image": {"url": url, "checksum": f"{url}.sha256", "checksum_type": "sha256", "format": "qcow2"},
        "networks": {"nodes": {"interface": "eno1", "ipv4": {
            "ranges": [{"start": "198.18.0.20", "end": "198.18.0.40"}], "prefix": 23, "gateway": "198.18.0.1"}}},
        "pod_cidrs": ["10.244.0.0/16"], "service_cidrs": ["10.96.0.0/16"], "ssh_authorized_keys": [],
        "control_plane": {"replicas": 1}, "workers": {"pool-a": {"replicas": 1}},
        "check_network": False, "wait_for": "nodes", "wait_timeout_seconds": 300}
    options.update(changes)
    return options


def cluster(plane, *flags, **changes):
    return module("cluster", *flags, **described(plane, **changes))


def read(plane, kind):
    return plane.client.list(KNOWN[kind], NAMESPACE)[0]


def uids(plane, kind):
    return set(item["metadata"]["uid"] for item in read(plane, kind))


def is_going(plane, kind):
    """Return whether an object of a kind is being deleted."""
    return any("deletionTimestamp" in item["metadata"] for item in read(plane, kind))


def test_only_v1beta1_is_served(plane):
    """All of it, or what CAPM3 has."""
    served = set(item["spec"]["group"] for item in plane.client.list(CRD)[0] for version in item["spec"]["versions"]
                 if version["served"] and version["name"] == "v1beta2")
    assert "infrastructure.cluster.x-k8s.io" not in served
    assert ("cluster.x-k8s.io" in served) == plane.is_mixed and (served == set()) != plane.is_mixed
    if not plane.is_mixed:
        with pytest.raises(KubeError):
            plane.client.request("GET", "/apis/cluster.x-k8s.io/v1beta2")


def test_a_cluster_is_made_by_runs_that_are_killed(plane):
    """While its objects are written, and while its machines are made."""
    tried = cluster(plane, "--check")
    assert tried["changed"] and read(plane, "Cluster") == []
    killed_module("cluster", lambda: read(plane, "Cluster"), **described(plane))
    made = uids(plane, "Cluster")
    killed_module("cluster", lambda: read(plane, "Machine"), **described(plane))
    found = cluster(plane)
    assert len(found["machines"]) == 2 and uids(plane, "Cluster") == made
    assert all(machine["node"] for machine in found["machines"]), found["machines"]
    for kind in ("Cluster", "Metal3Cluster"):
        assert plane.client.list(old(kind), NAMESPACE)[0], kind
    again = cluster(plane)
    assert not again["changed"], again["diff"]


def test_what_the_older_version_is_asked_for_by_name_changes_nothing(plane):
    assert not cluster(plane, api_version="v1beta1", wait_for="none")["changed"]


def test_what_is_read_is_what_upstream_converts(plane, present):
    compared = set()
    for kind in KINDS:
        for item in plane.client.list(old(kind), NAMESPACE)[0]:
            if plane.is_mixed and not item["apiVersion"].startswith("infrastructure."):
                continue
            theirs = present.convert(item)
            ours = stored.newer(json.loads(json.dumps(item)))
            title = f"{kind} {item['metadata']['name']}"
            assert (ours["apiVersion"], said(ours["spec"])) == (theirs["apiVersion"], said(theirs["spec"])), title
            if kind == "Metal3Machine":
                # Those of v1beta1 under the names of v1beta2, which upstream's conversion does not give.
                assert {entry["type"] for entry in ours["status"].pop("conditions")} >= {"AssociateBareMetalHost"}
            elif kind == "Metal3Cluster":
                assert {entry["type"] for entry in ours["status"].pop("conditions")} >= {"Ready"}
            assert said(ours.get("status") or {}) == said(theirs.get("status") or {}), title
            compared.add(kind)
    assert compared == set(kind for kind in KINDS if kind.startswith("Metal3") or not plane.is_mixed)


def test_each_field_of_a_status_is_what_upstream_converts(present):
    for item in older_samples.SAMPLES:
        theirs, ours = present.convert(item), stored.newer(json.loads(json.dumps(item)))
        assert ours["apiVersion"] == theirs["apiVersion"]
        assert said(ours["spec"]) == said(theirs.get("spec") or {}), item["kind"]
        assert said(ours.get("status") or {}) == said(theirs.get("status") or {}), item["kind"]


def said(value):
    """Return a value without what says nothing: Go leaves it out, the API server may have it."""
    if isinstance(value, dict):
        found = dict((key, said(entry)) for key, entry in value.items())
        return dict((key, entry) for key, entry in found.items() if entry not in (None, False, 0, "", {}, []))
    return [said(entry) for entry in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def present():
    """The conversion webhooks of the present release, on an API server of their own."""
    names = (*older_contract.PROGRAMS, "capm3")
    found = [item for name in names for item in definitions(shipped(name))]
    with ThrowawayServers(move_planes.programs(), ["present"]) as servers:
        client = KubeClient({"kubeconfig": servers.kubeconfig("present")})
        move_planes.install(client, ("CustomResourceDefinition",))
        programs = dict(older_contract.PROGRAMS, capm3="cluster-api-provider-metal3")
        urls = dict((name, started(servers, "present", name, port, os.path.join(
            move_planes.programs(), programs[name]))) for name, port in zip(names, free_ports(len(names))))
        owners = dict((item["metadata"]["name"], name) for name in names for item in definitions(shipped(name)))
        assert len(owners) == len(found)
        context = ssl.create_default_context(cafile=os.path.join(servers.pki, "ca.crt"))

        def convert(item):
            resource = KNOWN[item["kind"]]
            review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {
                "uid": "1", "desiredAPIVersion": resource.api_version, "objects": [item]}}
            request = urllib.request.Request(
                urls[owners[f"{resource.plural}.{resource.group}"]] + "/convert", json.dumps(review).encode(),
                {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                response = json.load(answer)["response"]
            assert response["result"]["status"] == "Success", response["result"]
            return response["convertedObjects"][0]

        yield SimpleNamespace(convert=convert)


def test_pools_grow_and_shrink(plane):
    grown = cluster(plane, workers={"pool-a": {"replicas": 2}})
    assert grown["changed"] and len(grown["machines"]) == 3
    [pool] = read(plane, "MachineDeployment")
    assert pool["status"]["upToDateReplicas"] == 2
    killed_module("cluster", lambda: is_going(plane, "Machine"), **described(plane, confirm="1"))
    assert not cluster(plane)["changed"]
    eventually(lambda: len(read(plane, "Machine")) == 2, 120, "one machine less")


def test_an_option_that_the_newer_version_names_otherwise_is_taken_away(plane):
    def drain():
        [pool] = read(plane, "MachineDeployment")
        return (pool["spec"]["template"]["spec"].get("deletion") or {}).get("nodeDrainTimeoutSeconds")

    assert cluster(plane, workers={"pool-a": {"replicas": 1, "node_drain_timeout_seconds": 90}})["changed"]
    assert drain() == 90
    assert cluster(plane, "--check")["changed"] and drain() == 90
    assert cluster(plane)["changed"] and drain() is None
    assert not cluster(plane)["changed"]


def test_machines_are_replaced_after_confirmation_by_a_run_that_is_killed(plane):
    """It is killed when the new machine is made; the next one needs no number."""
    before = uids(plane, "Machine")
    planned = cluster(plane, "--check", **CHANGED)
    [change] = [item for item in planned["changes"] if item["machines"]]
    assert change["owner"] == f"{NAME}-pool-a"
    killed_module("cluster", lambda: uids(plane, "Machine") - before, **described(plane, confirm="1", **CHANGED))
    cluster(plane, **CHANGED)
    after = uids(plane, "Machine")
    assert len(before & after) == 1 and len(after) == 2
    assert not cluster(plane, **CHANGED)["changed"]


def test_reports_say_what_there_is(plane, tmp_path):
    [found] = module("cluster_info", kubeconfig=plane.kubeconfig, namespace=NAMESPACE)["clusters"]
    assert found["name"] == NAME and found["phase"] == "Provisioned"
    names = sorted(item["metadata"]["name"] for item in read(plane, "Machine"))
    assert sorted(machine["node"] for machine in found["machines"]) == names
    kept = tmp_path / "logs"
    module("plane_logs", kubeconfig=plane.kubeconfig, dest=str(kept), namespaces=[NAMESPACE])
    texts = "".join(path.read_text(errors="replace") for path in kept.rglob("*") if path.is_file())
    assert all(name in texts for name in names)
    ends = module("plane_certificates_info", kubeconfig=plane.kubeconfig)
    assert any(f"{NAME}-ca" in json.dumps(row) for row in ends["certificates"]), ends


def test_the_plane_is_known_and_its_kubernetes_is_too_new_for_it(plane):
    """Cluster API 1.10 is not tested with the Kubernetes of the lab's programs, which is the one thing found."""
    if plane.is_mixed:
        module("plane_check", kubeconfig=plane.kubeconfig, parts=["capi", "cabpk", "kcp"])
        return
    with pytest.raises(AssertionError) as failed:
        module("plane_check", kubeconfig=plane.kubeconfig, parts=["capi", "cabpk", "kcp"])
    lines = str(failed.value)
    assert "expected Kubernetes v1.29 to v1.33" in lines
    assert "part-version-not-served" not in lines and "plane-contract" not in lines


def test_a_machine_is_replaced_by_name_by_a_run_that_is_killed(plane):
    """It may be gone when the next one begins, which then says that the cluster waits for the rest."""
    name = next(item["metadata"]["name"] for item in read(plane, "Machine") if "pool-a" in item["metadata"]["name"])
    of_it = {"kubeconfig": plane.kubeconfig, "namespace": NAMESPACE, "cluster_name": NAME, "machines": [name]}
    module("machine_action", action="mark_for_scale_in", **of_it)
    killed_module("machine_action", lambda: is_going(plane, "Machine"), action="replace", confirm="1", **of_it)
    assert not cluster(plane, **CHANGED)["changed"]
    names = [item["metadata"]["name"] for item in read(plane, "Machine")]
    assert name not in names and len(names) == 2


def test_machines_are_hosts_of_an_inventory(plane, tmp_path):
    source = tmp_path / "machines.metal3.yml"
    source.write_text(json.dumps({"plugin": "metal3.baremetal.baremetal_hosts", "sources": ["machines"],
                                  "kubeconfig": plane.kubeconfig, "namespaces": [NAMESPACE]}))
    made = subprocess.run(["ansible-inventory", "-i", str(source), "--list"], capture_output=True, text=True,
                          check=False, timeout=120)
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout)["_meta"]["hostvars"]
    assert set(found) == {item["metadata"]["name"] for item in read(plane, "Machine")}, made.stderr


def test_a_topology_is_refused(plane):
    with pytest.raises(AssertionError, match=r"a cluster with a topology, and (metal3)?clusters\."):
        cluster(plane, name="other", topology=True, wait_for="none")


def test_nothing_is_left_of_a_cluster_whose_deletion_was_killed(plane):
    absent = described(plane, state="absent", confirm=NAME)
    killed_module("cluster", lambda: is_going(plane, "Cluster"), **absent)
    module("cluster", **absent)
    left = [f"{kind} {item['metadata']['name']}" for kind in KINDS for item in read(plane, kind)]
    assert left == []
    assert all(item["status"]["provisioning"]["state"] == "available" for item in read(plane, "BareMetalHost"))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two planes without controllers for the real clusterctl: real API servers with the engine's definitions, and objects.

What is moved between them is what a plane has whose controllers have done their work, with status.
"""
from __future__ import annotations

import contextlib
import os
import subprocess

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import until_nothing
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import bulk
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import copies, graph
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, manifests
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine, provider
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import ThrowawayServers

SETTINGS = Resource("metal3.io", "v1alpha1", "hostfirmwaresettings", "HostFirmwareSettings", True)
# What of a plane's objects is needed here: definitions, inventory, and Deployments that say which version it is.
KINDS = ("CustomResourceDefinition", "Namespace", "Provider", "Deployment")
PASSWORD = "cGFzc3dvcmQtb2YtYS1ibWM="
_WAIT_SECONDS = 120
_INTERVAL_SECONDS = 0.2


def engine_dir():
    """Return the folder of the lab's programs and manifests."""
    repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    return engine.Engine(os.path.join(repository, "lab", "engine"), user_folders.cache_dir()).directory


def programs():
    return os.path.join(engine_dir(), "bin")


def clusterctl():
    return os.path.join(programs(), "clusterctl")


@contextlib.contextmanager
def planes():
    """Two API servers that have what an installed plane has, without its controllers: a ThrowawayServers."""
    with ThrowawayServers(programs(), ["here", "there"]) as servers:
        for name in ("here", "there"):
            install(client(servers, name))
        yield servers


def client(servers, name):
    return KubeClient({"kubeconfig": servers.kubeconfig(name)})


def install(of, kinds=KINDS):
    """Give an API server what an installed plane has, without its webhooks and without pods.

    :param kinds: out of KINDS; where pods can start, a Deployment starts its controller
    """
    shipped = [item for part in catalogue.RENDERED for item in manifests.load(
        os.path.join(engine_dir(), manifests.FOLDER, part.name + ".yaml")) if item["kind"] in kinds]
    by_kind = dict((kind, [item for item in shipped if item["kind"] == kind]) for kind in KINDS)
    definitions = copies.definitions(by_kind["CustomResourceDefinition"])
    _all(of, KNOWN["CustomResourceDefinition"], definitions)
    _all(of, KNOWN["Namespace"], by_kind["Namespace"] + [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("kube-system",) if of.get(KNOWN["Namespace"], None, name) is None])
    provider.wait_established(of, [item["metadata"]["name"] for item in definitions], _WAIT_SECONDS)
    _all(of, KNOWN["Provider"], by_kind["Provider"])
    _all(of, KNOWN["Deployment"], by_kind["Deployment"])
    # What their pods would be.
    for item in by_kind["Deployment"]:
        of.patch(KNOWN["Deployment"], item["metadata"]["namespace"], item["metadata"]["name"], {"status": {
            "replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1}}, subresource="status")


def _all(of, resource, objects):
    def creator(item):
        return lambda: of.create(resource, item["metadata"].get("namespace"), item)

    for outcome in bulk.run([creator(item) for item in objects], 3):
        if outcome.error is not None:
            raise outcome.error


def restart(servers, name):
    """Kill an API server, as a machine that loses power does, and start it again; returns when it answers.

    :param servers: a ThrowawayServers
    :param name: ``here`` or ``there``
    """
    former = servers._processes[name]
    former.kill()
    former.wait(_WAIT_SECONDS)
    with open(os.path.join(servers.folder, name + ".log"), "ab") as log:
        servers._processes[name] = subprocess.Popen(former.args, stdin=subprocess.DEVNULL, stdout=log,
                                                    stderr=subprocess.STDOUT, start_new_session=True)
    late = until_nothing(lambda: not _answers(client(servers, name)), _WAIT_SECONDS, _INTERVAL_SECONDS)
    assert not late, f"API server {name} does not answer"


def _answers(of):
    try:
        of.request("GET", "/readyz", any_content=True)
    except KubeError:
        return False
    return True


def make_namespace(of, namespace):
    of.create(KNOWN["Namespace"], None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})


def host(number, consumer=None, held=True):
    """Return a BareMetalHost as the operator leaves it, with what belongs to it."""
    name = f"host-{number:03d}"
    status = {"errorCount": 0, "errorMessage": "", "hardwareProfile": "", "operationalStatus": "OK", "poweredOn": True,
              "lastUpdated": "2026-11-24T00:00:00Z", "operationHistory": {}, "triedCredentials": {},
              "goodCredentials": {}, "provisioning": {
                  "ID": f"00000000-0000-0000-0000-{number:012d}", "bootMode": "UEFI",
                  "image": {"url": ""}, "state": "provisioned" if consumer else "available"}}
    spec = {"online": True, "bootMACAddress": "00:5c:52:%02x:%02x:01" % divmod(number, 256), "bmc": {
        "address": f"redfish-virtualmedia://198.18.0.1/redfish/v1/Systems/{number}", "credentialsName": name + "-bmc"}}
    if consumer:
        spec["consumerRef"] = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "Metal3Machine",
                               "name": consumer}
        spec["externallyProvisioned"] = True
        status["provisioning"]["state"] = "externally provisioned"
    bmh = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "status": status, "spec": spec, "metadata": {
        "name": name, "labels": {"rack": f"r{number // 40}"}, "finalizers": ["baremetalhost.metal3.io"]}}
    if held:
        bmh["metadata"]["annotations"] = {host_annotations.PAUSED: checks.HELD,
                                          host_annotations.STATUS: host_annotations.saved_status(bmh)}
    owner = ("BareMetalHost", name, "metal3.io/v1alpha1")
    return [
        (KNOWN["BareMetalHost"], bmh, None),
        (KNOWN["Secret"], {"apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": name + "-bmc", "labels": {"environment.metal3.io": "baremetal"}}, "data": {
                "username": "YWRtaW4=", "password": PASSWORD}}, owner),
        (KNOWN["HardwareData"], {"apiVersion": "metal3.io/v1alpha1", "kind": "HardwareData", "metadata": {"name": name},
                                 "spec": {"hardware": {"hostname": name, "ramMebibytes": 65536}}}, owner),
        (SETTINGS, {"apiVersion": "metal3.io/v1alpha1", "kind": "HostFirmwareSettings", "metadata": {"name": name},
                    "spec": {"settings": {}}}, owner),
    ]


def cluster(name):
    """Return a Cluster of one machine, on no host, with what belongs to it."""
    group = "cluster.x-k8s.io/v1beta2"
    owner = ("Cluster", name, group)
    metal3 = "infrastructure.cluster.x-k8s.io"
    return [
        (KNOWN["Cluster"], {"apiVersion": group, "kind": "Cluster", "metadata": {
            "name": name, "finalizers": ["cluster.cluster.x-k8s.io"]}, "spec": {"infrastructureRef": {
                "apiGroup": metal3, "kind": "Metal3Cluster", "name": name}}, "status": {"initialization": {
                    "infrastructureProvisioned": True, "controlPlaneInitialized": True}, "conditions": [{
                        "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
                        "lastTransitionTime": "2026-11-24T00:00:00Z"}]}}, None),
        (KNOWN["Metal3Cluster"], {"apiVersion": metal3 + "/v1beta2", "kind": "Metal3Cluster", "metadata": {
            "name": name}, "spec": {"controlPlaneEndpoint": {"host": "198.18.0.9", "port": 6443},
                                    "cloudProviderEnabled": False}}, owner),
        (KNOWN["Machine"], {"apiVersion": group, "kind": "Machine", "metadata": {
            "name": name + "-m", "labels": {"cluster.x-k8s.io/cluster-name": name}}, "spec": {
                "clusterName": name, "providerID": f"metal3://x/{name}", "bootstrap": {"dataSecretName": name + "-m"},
                "infrastructureRef": {"apiGroup": metal3, "kind": "Metal3Machine", "name": name + "-m"}},
            "status": {"nodeRef": {"name": name + "-m"}, "phase": "Running"}}, owner),
        (KNOWN["Metal3Machine"], {"apiVersion": metal3 + "/v1beta2", "kind": "Metal3Machine", "metadata": {
            "name": name + "-m"}, "spec": {"image": {
                "url": "http://198.18.0.1/a.qcow2", "checksum": "http://198.18.0.1/a.sha256"}}},
         ("Machine", name + "-m", group)),
        (KNOWN["Secret"], {"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": {
            "name": name + "-kubeconfig", "labels": {"cluster.x-k8s.io/cluster-name": name}},
            "data": {"value": PASSWORD}}, owner),
        (KNOWN["IPPool"], {"apiVersion": "ipam.metal3.io/v1alpha1", "kind": "IPPool", "metadata": {
            "name": name + "-pool", "labels": {"cluster.x-k8s.io/cluster-name": name}}, "spec": {
                "namePrefix": name, "clusterName": name, "pools": []}}, owner),
    ]


def populate(of, namespace, hosts, clusters=("c",), held=True, change=lambda number, entries: entries, first=0):
    """Create hosts and clusters with status in a new namespace; return how many objects that is.

    :param hosts: how many hosts
    :param first: number of the first host: a server of another namespace's host is refused
    :param clusters: names of the clusters
    :param held: whether the hosts are held for a move
    :param change: callable that takes the number of a host and what :func:`host` returns, and returns what is created
    """
    make_namespace(of, namespace)
    due = [entry for number in range(first, first + hosts) for entry in change(number, host(number, held=held))]
    due += [entry for name in clusters for entry in cluster(name)]
    uids = {}
    total = len(due)
    while due:
        ready = [entry for entry in due if entry[2] is None or entry[2][:2] in uids]
        for entry, outcome in zip(ready, bulk.run([_creator(of, namespace, uids, *entry) for entry in ready])):
            if outcome.error is not None:
                raise outcome.error
            uids[entry[0].kind, entry[1]["metadata"]["name"]] = outcome.value["metadata"]["uid"]
        due = [entry for entry in due if entry not in ready]
    return total


def _creator(of, namespace, uids, resource, obj, owner):
    def create():
        metadata = dict(obj["metadata"], namespace=namespace)
        if owner:
            metadata["ownerReferences"] = [{"apiVersion": owner[2], "kind": owner[0], "name": owner[1],
                                            "uid": uids[owner[:2]]}]
        stored = of.create(resource, namespace, dict(obj, metadata=metadata))
        if obj.get("status"):
            of.patch(resource, namespace, metadata["name"], {"status": obj["status"]}, subresource="status")
        return stored
    return create


def objects(of, namespace, resources=()):
    """Return the objects of a namespace that are moved, by key.

    :param resources: their kinds; those of :func:`populate` by default
    """
    resources = resources or [KNOWN[kind] for kind in (
        "BareMetalHost", "Secret", "HardwareData", "Cluster", "Metal3Cluster", "Machine", "Metal3Machine",
        "IPPool")] + [SETTINGS]
    found = {}
    for resource in resources:
        try:
            listed = of.list(resource, namespace)[0]
        except KubeError:
            # Of an API server that a test has just killed.
            continue
        found.update((graph.key(item), item) for item in listed)
    return found

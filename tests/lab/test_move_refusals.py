# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each check before a move violated one by one on real API servers with the real definitions and RBAC: it is named,
nothing is written on either side, and what is corrected is no problem any more.

The planes are API servers without controllers; the lab's own servers and plane take no part.
"""
from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from fakes import move_planes, moves
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import Resource
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.service import Move
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, fit
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import provider

pytestmark = pytest.mark.pivot

NAMESPACE = "refused"
HOSTS = 2
HOST = "host-000"
SECONDS = 60
# A port on which nothing listens.
CLOSED = "redfish+http://127.0.0.1:1/redfish/v1/Systems/1"
OPERATOR = "baremetal-operator-controller-manager"


class Planes:
    """Both sides, and what was changed of them, to be taken back."""

    def __init__(self, servers, folder):
        self.servers, self.folder = servers, folder
        self.here, self.there = (move_planes.client(servers, name) for name in ("here", "there"))
        self.kubeconfigs = dict((name, servers.kubeconfig(name)) for name in ("here", "there"))
        move_planes.populate(self.here, NAMESPACE, HOSTS)
        move_planes.make_namespace(self.there, NAMESPACE)

    def versions(self):
        return [dict((key, item["metadata"]["resourceVersion"]) for key, item in found.items()) for side in (
            self.here, self.there) for found in [move_planes.objects(side, NAMESPACE)]] + [
                side.get(KNOWN["ConfigMap"], NAMESPACE, record.NAME) for side in (self.here, self.there)]

    def attempt(self, check_mode, reach_from="none", ironic="", machine=None, former=None, **kubeconfigs):
        paths = dict(self.kubeconfigs, **kubeconfigs)
        params = moves.move_params(
            namespace=NAMESPACE, confirm=str(HOSTS), clusterctl=move_planes.clusterctl(),
            work_dir=str(self.folder / "work"), kubeconfig=paths["here"], to_kubeconfig=paths["there"],
            reach_from=reach_from, ironic_namespace=NAMESPACE, ironic_deployment=ironic,
            **({"machine_ironic": machine} if machine else {}),
            **dict({"former_ironic_namespace": NAMESPACE}, **(former or {})))
        here, there = (KubeClient({"kubeconfig": paths[name]}) for name in ("here", "there"))
        return Move(here, there, params, check_mode, Progress(None)).moved()

    @contextlib.contextmanager
    def patched(self, side, kind, name, change, back, namespace=NAMESPACE, subresource=None):
        client = getattr(self, side)
        options = {"subresource": subresource} if subresource else {}
        client.patch(KNOWN[kind], namespace, name, change, **options)
        try:
            yield {}
        finally:
            client.patch(KNOWN[kind], namespace, name, back, **options)

    @contextlib.contextmanager
    def created(self, side, kind, obj):
        client = getattr(self, side)
        client.create(KNOWN[kind], NAMESPACE, obj)
        try:
            yield {}
        finally:
            client.delete(KNOWN[kind], NAMESPACE, obj["metadata"]["name"])

    @contextlib.contextmanager
    def account(self, side, *withheld):
        """Give a kubeconfig of an account that may do all but what is withheld, as (group, plural, verb)."""
        client, name = getattr(self, side), "little"
        verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
        rules = [{"apiGroups": [group], "resources": [plural], "verbs": [verb for verb in verbs if verb != without]}
                 for group, plural, without in withheld]
        defined = [(item["spec"]["group"], item["spec"]["names"]["plural"])
                   for item in client.list(KNOWN["CustomResourceDefinition"])[0]]
        kept = {(item.group, item.plural) for item in KNOWN.values()} | set(defined)
        kept -= {(group, plural) for group, plural, _verb in withheld}
        rules += [{"apiGroups": [group], "resources": [plural], "verbs": verbs} for group, plural in sorted(kept)]
        subject = {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}
        objects = [("ServiceAccount", NAMESPACE, {"apiVersion": "v1", "kind": "ServiceAccount"}),
                   ("ClusterRole", None, {"rules": rules}),
                   ("ClusterRoleBinding", None, {"subjects": [subject], "roleRef": {
                       "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}})]
        for kind, namespace, obj in objects:
            client.create(KNOWN[kind], namespace, dict(
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind}, **obj, metadata={"name": name}))
        try:
            token = subprocess.run(
                [os.path.join(move_planes.programs(), "kubectl"), "--kubeconfig", self.kubeconfigs[side], "create",
                 "token", name, "--namespace", NAMESPACE], check=True, capture_output=True, text=True).stdout.strip()
            config = yaml.safe_load(Path(self.kubeconfigs[side]).read_text())
            for user in config["users"]:
                user["user"] = {"token": token}
            path = self.folder / f"{side}.kubeconfig"
            path.touch(mode=0o600)
            path.write_text(json.dumps(config))
            yield {side: str(path)}
        finally:
            for kind, namespace, _obj in reversed(objects):
                client.delete(KNOWN[kind], namespace, name)


@pytest.fixture(scope="module")
def planes(tmp_path_factory):
    with move_planes.planes() as servers:
        yield Planes(servers, tmp_path_factory.mktemp("planes"))


def noted(name, value):
    return {"metadata": {"annotations": {name: value}}}


def labelled(name, value):
    return {"metadata": {"labels": {name: value}}}


def of_host(planes, change, back, subresource=None):
    return planes.patched("here", "BareMetalHost", HOST, change, back, subresource=subresource)


def unlabelled(planes):
    return planes.patched("here", "CustomResourceDefinition", "hostfirmwaresettings.metal3.io",
                          labelled(catalogue.CLUSTERCTL_LABEL, None), labelled(catalogue.CLUSTERCTL_LABEL, ""), None)


def in_transition(planes):
    return of_host(planes, *({"status": {"provisioning": {"state": state}}} for state in ("inspecting", "available")),
                   subresource="status")


def paused(planes):
    return of_host(planes, noted(host_annotations.PAUSED, "by hand"), noted(host_annotations.PAUSED, checks.HELD))


def reboots(planes):
    return of_host(planes, noted(host_annotations.REBOOT, ""), noted(host_annotations.REBOOT, None))


def paused_cluster(planes):
    return planes.patched("here", "Cluster", "c", {"spec": {"paused": True}}, {"spec": {"paused": None}})


def blocked(planes):
    return planes.patched("here", "Machine", "c-m", noted(checks.BLOCK, ""), noted(checks.BLOCK, None))


def owner_gone(planes):
    return planes.created("here", "HardwareData", {
        "apiVersion": "metal3.io/v1alpha1", "kind": "HardwareData", "spec": {}, "metadata": {
            "name": "orphan", "namespace": NAMESPACE, "labels": {}, "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "old",
                "uid": "00000000-0000-0000-0000-000000000000"}]}})


@contextlib.contextmanager
def older_operator(planes):
    part, = (part for part in catalogue.RENDERED if part.name == "bmo")
    with contextlib.ExitStack() as stack:
        # Of the engine's own manifests, whose image has no tag, nobody knows the version.
        for side, version in (("here", "v0.13.2"), ("there", "v0.13.0")):
            stack.enter_context(planes.patched(side, "Deployment", OPERATOR, labelled(fit.VERSION_LABEL, version),
                                               labelled(fit.VERSION_LABEL, None), part.namespace))
        yield {}


def name_taken(planes):
    return planes.created("there", "Secret", {"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "c-kubeconfig", "namespace": NAMESPACE}})


def no_room(planes):
    return planes.created("there", "ResourceQuota", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": NAMESPACE},
        "spec": {"hard": {"count/secrets": "1"}}})


def may_not_create(planes):
    return planes.account("there", ("metal3.io", "baremetalhosts", "create"), ("", "secrets", "create"))


def may_not_delete(planes):
    return planes.account("here", ("cluster.x-k8s.io", "machines", "delete"))


@contextlib.contextmanager
def unreachable(planes):
    former = planes.here.get(KNOWN["BareMetalHost"], NAMESPACE, HOST)["spec"]["bmc"]["address"]
    others = [name for _group, kind, name in move_planes.objects(planes.here, NAMESPACE)
              if kind == "BareMetalHost" and name != HOST]
    with contextlib.ExitStack() as stack:
        stack.enter_context(of_host(planes, {"spec": {"bmc": {"address": CLOSED}}}, {
            "spec": {"bmc": {"address": former}}}))
        for name in others:
            address = planes.here.get(KNOWN["BareMetalHost"], NAMESPACE, name)["spec"]["bmc"]["address"]
            stack.enter_context(planes.patched("here", "BareMetalHost", name, {"spec": {"bmc": {"address": ""}}}, {
                "spec": {"bmc": {"address": address}}}))
        yield {"reach_from": "here"}


@contextlib.contextmanager
def secret_stays(planes):
    name = HOST + "-bmc"
    owners = planes.here.get(KNOWN["Secret"], NAMESPACE, name)["metadata"]["ownerReferences"]
    with planes.patched("here", "Secret", name, {"metadata": {"ownerReferences": None}},
                        {"metadata": {"ownerReferences": owners}}):
        yield {}


def ironic(planes, address=None, side="there", replicas=1, volumes=(), mounts=()):
    """An Ironic of which no pod runs: nobody is there who would start one."""
    env = [{"name": "PROVISIONING_IP", "value": address}] if address else []
    return planes.created(side, "Deployment", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ironic", "namespace": NAMESPACE}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "ironic"}}, "template": {
                "metadata": {"labels": {"app": "ironic"}}, "spec": {"volumes": list(volumes), "containers": [{
                    "name": "ironic", "image": "registry.example.org/ironic:v1", "env": env,
                    "volumeMounts": list(mounts)}]}}}})


@contextlib.contextmanager
def policy_refuses(planes):
    """An admission policy over there that lets no machine in, and no rehearsal has."""
    name, group, words = "no-machines", "admissionregistration.k8s.io", "no machines today"
    kinds = [Resource(group, "v1", plural, kind, False) for plural, kind in (
        ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
        ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"))]
    specs = [{"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [{
        "apiGroups": ["cluster.x-k8s.io"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["machines"]}]},
        "validations": [{"expression": "false", "message": words}]},
        {"policyName": name, "validationActions": ["Deny"]}]
    for kind, spec in zip(kinds, specs):
        planes.there.create(kind, None, {"apiVersion": f"{group}/v1", "kind": kind.kind, "metadata": {"name": name},
                                         "spec": spec})

    def is_refused():
        with pytest.raises(RefusedError):
            planes.attempt(True)
        return True

    try:
        # Its API server takes it up some time after it is stored.
        eventually(is_refused, 60, "the policy refuses", not_yet=(pytest.fail.Exception,))
        yield {}
    finally:
        for kind in reversed(kinds):
            planes.there.delete(kind, None, name)
        eventually(lambda: planes.attempt(True)["due"], 60, "the policy is gone", not_yet=(RefusedError,))


@contextlib.contextmanager
def no_node(planes):
    with ironic(planes):
        yield {"ironic": "ironic"}


@contextlib.contextmanager
def same_address(planes):
    with ironic(planes, "192.0.2.20"):
        running = {"status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}}
        planes.there.patch(KNOWN["Deployment"], NAMESPACE, "ironic", running, subresource="status")
        yield {"ironic": "ironic", "machine": {"ip": "192.0.2.20", "dhcp_networks": []}}


@contextlib.contextmanager
def user_data_stays(planes):
    with planes.created("here", "Secret", {"apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": "user-data", "namespace": NAMESPACE}}), of_host(planes, {
                "spec": {"userData": {"name": "user-data", "namespace": NAMESPACE}}}, {"spec": {"userData": None}}):
        yield {}


@contextlib.contextmanager
def other_namespace(planes):
    move_planes.make_namespace(planes.here, "rack2")
    host = move_planes.host(77)[0][1]
    planes.here.create(KNOWN["BareMetalHost"], "rack2", host)
    try:
        yield {}
    finally:
        planes.here.patch(KNOWN["BareMetalHost"], "rack2", "host-077", {"metadata": {"finalizers": None}})
        planes.here.delete(KNOWN["BareMetalHost"], "rack2", "host-077")


@contextlib.contextmanager
def ironic_that_nobody_names(planes):
    with ironic(planes, side="here"):
        yield {}


@contextlib.contextmanager
def ironic_that_is_not_there(planes):
    yield {"former": {"former_ironic_deployment": "ironic"}}


@contextlib.contextmanager
def ironic_with_a_database(planes):
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "db"}}
    with ironic(planes, side="here", replicas=0, volumes=[claim],
                mounts=[{"name": "data", "mountPath": "/var/lib/mysql"}]):
        yield {"former": {"former_ironic_deployment": "ironic"}}


@contextlib.contextmanager
def ironic_of_an_operator(planes):
    """With the operator's kind, whose definition has nothing of the real one but its names."""
    kind = KNOWN["Ironic"]
    name = f"{kind.plural}.{kind.group}"
    planes.here.create(KNOWN["CustomResourceDefinition"], None, {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
        "spec": {"group": kind.group, "scope": "Namespaced", "names": {"plural": kind.plural, "kind": kind.kind},
                 "versions": [{"name": kind.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    try:
        provider.wait_established(planes.here, [name], SECONDS)
        with planes.created("here", "Ironic", {"apiVersion": f"{kind.group}/{kind.version}", "kind": kind.kind,
                                               "metadata": {"name": "ironic", "namespace": NAMESPACE}}):
            yield {}
    finally:
        planes.here.delete(KNOWN["CustomResourceDefinition"], None, name)


@contextlib.contextmanager
def may_not_stop_ironic(planes):
    with ironic(planes, side="here", replicas=0), planes.account("here", ("apps", "deployments", "patch")) as account:
        yield dict(account, former={"former_ironic_deployment": "ironic"})


@contextlib.contextmanager
def may_not_ask_in_its_pod(planes):
    with ironic(planes):
        running = {"status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}}
        planes.there.patch(KNOWN["Deployment"], NAMESPACE, "ironic", running, subresource="status")
        with planes.account("there", ("", "pods/exec", "create")) as account:
            yield dict(account, ironic="ironic", reach_from="auto")


REFUSALS = {
    user_data_stays: f"Secret user-data: found one that would stay, and that hosts name: BareMetalHost {HOST}",
    other_namespace: f"namespace {NAMESPACE}: found 1 hosts in other namespaces of the plane that lets go",
    ironic_that_nobody_names: f"Deployment {NAMESPACE}/ironic: spec.replicas: found an Ironic that runs in the plane",
    ironic_that_is_not_there: f"Deployment {NAMESPACE}/ironic: found none, expected the Ironic that lets go",
    ironic_with_a_database: f"Deployment {NAMESPACE}/ironic: former_ironic_url: found no URL, and a database that",
    ironic_of_an_operator: f"Ironic {NAMESPACE}/ironic: found an Ironic of the Ironic operator, which starts it again",
    may_not_stop_ironic: "kubeconfig: found a user who may not patch deployments.apps, expected one who may, in",
    may_not_ask_in_its_pod: "to_kubeconfig: found a user who may not create pods/exec, expected one who may, in",
    secret_stays: f"BareMetalHost {HOST}: spec.bmc.credentialsName: found Secret {HOST}-bmc, which would stay",
    no_node: f"Deployment {NAMESPACE}/ironic: spec.template.spec: found no node over there that is ready and takes",
    same_address: "env.PROVISIONING_IP: found 192.0.2.20, which this machine has, expected an address of its own",
    unlabelled: f"kind HostFirmwareSettings of metal3.io: found {HOSTS} objects that clusterctl does not look for",
    in_transition: f"BareMetalHost {HOST}: status.provisioning.state: found inspecting",
    paused: f'BareMetalHost {HOST}: metadata.annotations.baremetalhost.metal3.io/paused: found "by hand"',
    reboots: f"BareMetalHost {HOST}: metadata.annotations.reboot.metal3.io: found set",
    paused_cluster: "Cluster c: spec.paused: found true",
    blocked: "Machine c-m: metadata.annotations.clusterctl.cluster.x-k8s.io/block-move",
    owner_gone: "HardwareData orphan: metadata.ownerReferences: found Machine old",
    older_operator: "part bmo: version: found v0.13.0 over there",
    name_taken: "Secret c-kubeconfig: found an object of this name over there",
    no_room: "ResourceQuota few: spec.hard.count/secrets",
    may_not_create: "to_kubeconfig: found a user who may not create secrets, create baremetalhosts.metal3.io",
    may_not_delete: "kubeconfig: found a user who may not delete machines.cluster.x-k8s.io",
    unreachable: f"BareMetalHost {HOST}: spec.bmc.address: found connection refused at 127.0.0.1:1/tcp",
    policy_refuses: "Machine c-m: found ValidatingAdmissionPolicy 'no-machines' with binding 'no-machines' denied "
                    "request: no machines today, expected an object that the plane lets in; correct it",
}


@pytest.mark.parametrize("violate", REFUSALS, ids=lambda violate: violate.__name__)
def test_what_is_in_the_way_is_named_and_nothing_is_written(planes, violate):
    with violate(planes) as options:
        before = planes.versions()
        for check_mode in (True, False):
            with pytest.raises(RefusedError) as refused:
                planes.attempt(check_mode, **options)
            assert REFUSALS[violate] in str(refused.value)
            # No pod of the parts runs there either: nodes are missing for all of them.
            expected = 1 + len(catalogue.RENDERED) if violate is no_node else 1
            assert len(refused.value.problems) == expected, str(refused.value)
        assert planes.versions() == before and before[2:] == [None, None]


def test_without_any_of_this_it_moves(planes):
    before = set(move_planes.objects(planes.here, NAMESPACE))
    assert planes.attempt(False)["changed"]
    assert set(move_planes.objects(planes.there, NAMESPACE)) == before
    assert move_planes.objects(planes.here, NAMESPACE) == {}

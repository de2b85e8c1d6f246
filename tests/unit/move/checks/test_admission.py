# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plane that takes over would refuse or change is found by a dry run."""
from __future__ import annotations

import copy

import pytest
from fakes.planes import NAMESPACE, world

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import admission
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import graph
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side

PASSWORD = "cGFzc3dvcmQ="


def tried(there, answer=lambda body: body, accepted=(), change=lambda objects: None):
    sent = []

    def create(_resource, namespace, body, dry_run=False):
        assert dry_run
        sent.append((namespace, copy.deepcopy(body)))
        found = answer(copy.deepcopy(body))
        if isinstance(found, KubeError):
            raise found
        return found

    there.create = create
    side = Side(there, NAMESPACE)
    objects = graph.Graph(world(), side.kinds).moved
    change(objects)
    return admission.tried(side, objects, accepted), sent


def of_machine(answer):
    return lambda body: answer(body) if body["kind"] == "Machine" else body


def refusing(text, status=403):
    return of_machine(lambda _body: KubeError(f"Machine metal3/m: {text}", status))


def test_each_object_is_tried_once_and_held_as_it_arrives(there):
    found, sent = tried(there)
    assert (found.problems, found.warnings) == ([], [])
    assert sorted(f"{body['kind']} {body['metadata']['name']}" for _namespace, body in sent) == sorted(
        graph.title(graph.key(obj)) for obj in graph.Graph(world(), Side(there, NAMESPACE).kinds).moved)
    assert set(namespace for namespace, _body in sent) == {NAMESPACE}
    assert not any("uid" in body["metadata"] or "resourceVersion" in body["metadata"] for _namespace, body in sent)
    assert there.objects.keys() == there.objects.keys() - {("Machine", "m")}


def test_no_value_of_a_secret_is_sent(there):
    """In check mode nobody has confirmed yet that it is the right plane."""
    def secret(objects):
        for obj in objects:
            if obj["kind"] == "Secret":
                obj["data"] = {"password": PASSWORD}

    found, sent = tried(there, change=secret)
    bodies = [body for _namespace, body in sent if body["kind"] == "Secret"]
    assert bodies and all(body["data"]["password"] not in ("", PASSWORD) for body in bodies)
    assert not any(kind == "Secret" for _group, kind, _name in found.stored)


@pytest.mark.parametrize("text, status", [
    ("admission webhook \"v.example.org\" denied the request: no", 403),
    ("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", 422),
    ("spec.clusterName: Required value", 422), ("strict decoding error", 400), ("exceeded quota: few", 403),
    ("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on", 403),
    ('failed calling webhook "v.example.org": connection refused', 500)])
def test_a_refusal_is_a_problem_with_its_words(there, text, status):
    found, _sent = tried(there, refusing(text, status))
    problem, = found.problems
    assert problem.subject == "Machine m" and problem.actual == text and found.warnings == []
    assert set(found.stored) == set(key for key in found.stored if key[1] != "Machine")


def test_of_a_quota_that_was_counted_each_refusal_is_not_said_once_more(there):
    words = "exceeded quota: few, requested: count/machines.cluster.x-k8s.io=1, used: count/machines=1, limited: 1"
    found, _sent = tried(there, refusing(words))
    counted = [Problem("move-blocked", f"ResourceQuota {name}", "", None, "", "") for name in ("few", "other")]
    assert found.besides(counted) == [] != found.problems == found.besides(counted[1:]) == found.besides([])


@pytest.mark.parametrize("text, status", [
    ("admission webhook \"v.example.org\" does not support dry run", 400), ("no answer within 30 s", None),
    ("User \"u\" cannot create resource \"machines\"", 403), ("etcdserver: leader changed", 500),
    # It arrives before this one does.
    ("admission webhook \"v.example.org\" denied the request: Cluster \"c\" not found", 403), ("already exists", 409)])
def test_what_says_nothing_of_the_object_is_a_warning(there, text, status):
    found, _sent = tried(there, refusing(text, status))
    assert found.problems == [] and "lets in 1 of 10 objects was not found out: Machine m: " in found.warnings[0]


def test_a_refusal_that_is_accepted_is_a_warning(there):
    """What refuses a Secret may have looked at its values, which it has not been sent."""
    def refused(body):
        named = f"Secret {NAMESPACE}/{body['metadata']['name']}: "
        return KubeError(named + "denied the request: no certificate", 403) if body["kind"] == "Secret" else body

    names = ["Secret c-kubeconfig", "Secret free-bmc", "Secret used-bmc"]
    found, _sent = tried(there, refused)
    assert sorted(problem.subject for problem in found.problems) == names
    assert all("values were replaced by digests" in problem.hint for problem in found.problems)
    found, _sent = tried(there, refused, accepted=names)
    assert found.problems == [] and "Secret c-kubeconfig: denied the request: no certificate" in found.warnings[0]


def test_another_namespace_is_asked_where_it_is_not_there_yet(there):
    del there.objects["Namespace", NAMESPACE]
    found, sent = tried(there, refusing(f"spec.ref.namespace: must be default, not {NAMESPACE}", 422))
    assert set(namespace for namespace, _body in sent) == {"default"}
    assert all(body["metadata"]["namespace"] == "default" for _namespace, body in sent)
    # That says nothing of the namespace that is meant.
    assert found.problems == [] and len(found.warnings) == 2
    assert tried(there, refusing(f"webhook {NAMESPACE}.io denied the request", 403))[0].problems


def test_what_would_be_stored_as_something_else_is_a_problem(there):
    def stripped(body):
        body["spec"].pop("providerID")
        return dict(body, spec=dict(body["spec"], added="by default"))

    found, _sent = tried(there, of_machine(stripped))
    assert [str(problem) for problem in found.problems] == [
        "Machine m: spec.providerID: found a field that would be lost over there by what lets objects in, expected the "
        "same on both sides; correct what changes it there; nothing was written"]
    assert found.stored["cluster.x-k8s.io", "Machine", "m"]["spec"]["added"] == "by default"
    assert tried(there, of_machine(stripped), accepted=["Machine m"])[0].problems == []


def test_what_is_there_or_has_no_kind_there_is_left_to_other_checks(there):
    there.objects["BareMetalHost", "free"] = next(item for item in world() if item["metadata"]["name"] == "free")
    kind = there.objects["CustomResourceDefinition", "machines.cluster.x-k8s.io"]

    def without_kinds(objects):
        kind["spec"]["versions"][0]["served"] = False
        objects.append({"apiVersion": "example.org/v1", "kind": "Other", "metadata": {"name": "x", "uid": "u"}})

    side = Side(there, NAMESPACE)
    objects = graph.Graph(world(), side.kinds).moved
    without_kinds(objects)
    found, sent = tried(there, change=without_kinds)
    assert found == admission.Tried([], [], found.stored)
    assert not {"Machine", "Other"} & set(body["kind"] for _namespace, body in sent)
    assert ("BareMetalHost", "free") not in set((body["kind"], body["metadata"]["name"]) for _namespace, body in sent)


def test_an_object_is_tried_in_its_version(there):
    there.objects["CustomResourceDefinition", "machines.cluster.x-k8s.io"]["spec"]["versions"] = [
        {"name": "v1beta2", "served": True, "storage": False}, {"name": "v1", "served": True, "storage": True}]
    versions = []

    def create(resource, _namespace, body, dry_run):
        versions.append((body["kind"], resource.api_version, body["apiVersion"]))
        return body

    there.create = create
    side = Side(there, NAMESPACE)
    admission.tried(side, [item for item in world() if item["kind"] == "Machine"])
    assert versions == [("Machine", "cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta2")]

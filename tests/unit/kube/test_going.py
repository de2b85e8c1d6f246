# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are being deleted: refused for an apply, all at once; not for a deletion, a patch or a look."""
from __future__ import annotations

import copy
import pathlib
import re

import pytest
from fakes.kubernetes import Server
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import finalizers
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile import plan
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.reconcile import Reconcile
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.advice import next_step_of
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import error_from_answer
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECRET = KNOWN["Secret"]
SINCE = "2026-11-25T20:00:00Z"
HELD = "baremetalhost.metal3.io/secret"


def secret(name, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "n"}, "data": data}


def reconcile(server, check_mode=False, kind=Reconcile):
    return kind(server, check_mode, Reports(), lambda seconds: None)


def mark(server, name, held_by=HELD):
    server.objects["Secret", name]["metadata"].update(deletionTimestamp=SINCE, finalizers=[held_by])


@pytest.fixture
def server():
    """A server with the Secrets a, b and c, of which a and b are being deleted."""
    result = Server()
    run = reconcile(result)
    run.write(run.plan([secret(name, x="1") for name in "abc"]))
    for name in "ab":
        mark(result, name)
    result.requests.clear()
    return result


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("value", ["1", "2"])
def test_all_objects_are_refused_at_once_whether_they_differ_or_not(server, check_mode, value):
    with pytest.raises(RefusedError) as caught:
        reconcile(server, check_mode).plan([secret(name, x=value) for name in "abcd"])
    assert str(caught.value) == "2 problems, nothing was changed:\n" + "\n".join(
        f"- Secret n/{name}: found an object that is being deleted since {SINCE}, held by {HELD}, expected one that "
        f"stays; {finalizers.HINT}" for name in "ab")
    assert [problem.code for problem in caught.value.problems] == ["being-deleted"] * 2
    assert server.writes() == []


def test_a_look_shows_them_and_a_write_refuses_them_one_by_one(server):
    run = reconcile(server)
    entries = run.look([secret("a", x="2"), secret("b", x="1"), secret("c", x="2")])
    assert [entry.action for entry in entries] == ["update", "unchanged", "update"]
    for write in (run.dry_run, run.write):
        written = write(entries)
        assert [(item.action, item.changed) for item in written] == [
            ("unchanged", False), ("unchanged", False), ("updated", True)]
        assert [SINCE in item.error.message if item.error else None for item in written] == [True, True, None]
    assert [name for _verb, _kind, name, _dry_run in server.writes()] == ["c", "c"]


def test_what_is_deleted_between_plan_and_write_is_not_written(server):
    run = reconcile(server)
    entry, = run.plan([secret("c", x="2")])

    def delete():
        mark(server, "c")
        server.objects["Secret", "c"]["metadata"]["resourceVersion"] += "0"

    server.meanwhile["Secret", "c"] = delete
    written, = run.write([entry])
    assert written.error.message.startswith(f"Secret n/c: found an object that is being deleted since {SINCE}")
    assert server.objects["Secret", "c"]["data"] == {"x": "1"}


def test_deleting_again_changes_nothing(server):
    written, = reconcile(server).delete(SECRET, [server.objects["Secret", "a"]])
    assert (written.action, written.changed, written.error) == ("unchanged", False, None)
    assert server.writes() == []


def test_a_patch_may_be_what_lets_an_object_go(server):
    stored = copy.deepcopy(server.objects["Secret", "a"])
    change = {"metadata": {"annotations": {"paused": None}}}
    written, = reconcile(server).write([plan.Entry(SECRET, "n", "a", plan.UPDATE, None, stored, {}, {}, change)])
    assert (written.action, written.error) == ("updated", None)


@pytest.mark.parametrize(("held_by", "by_itself"), [
    ([], True), (["foregroundDeletion"], True), (["customresourcecleanup.apiextensions.k8s.io"], True), ([HELD], False),
    (["foregroundDeletion", HELD], False)])
def test_what_kubernetes_alone_holds_goes_by_itself(held_by, by_itself):
    obj = {"kind": "Deployment", "metadata": {"deletionTimestamp": SINCE, "finalizers": held_by}}
    assert finalizers.goes_by_itself(obj) is by_itself


def test_a_namespace_says_what_is_left_in_it():
    obj = {"kind": "Namespace", "metadata": {"name": "n", "deletionTimestamp": SINCE}, "spec": {
        "finalizers": ["kubernetes"]}, "status": {"conditions": [
            {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "All resources discovered"},
            {"type": "NamespaceContentRemaining", "status": "True", "message": "baremetalhosts. has 1 instances"}]}}
    assert finalizers.deletion_of(obj) == (
        f"being deleted since {SINCE}, held by kubernetes (baremetalhosts. has 1 instances)")
    assert finalizers.goes_by_itself(obj)
    # Of other kinds it is no finalizer.
    assert "held by nothing" in finalizers.deletion_of(dict(obj, kind="Other"))


def test_a_create_in_a_namespace_that_goes_names_it_and_the_next_step():
    error = error_from_answer(403, {
        "kind": "Status", "reason": "Forbidden",
        "message": 'secrets "a" is forbidden: unable to create new content in namespace n because it is being '
                   'terminated',
        "details": {"causes": [{"reason": "NamespaceTerminating", "message": "namespace n is being terminated",
                                "field": "metadata.namespace"}]}}, "Secret n/a")
    assert "namespace n is being terminated" in error.message
    step = next_step_of(error, "PATCH", "/api/v1/namespaces/n/secrets/a", {}, "https://server", "me")
    assert step.startswith("wait until the namespace is gone, then run again")


ROOT = pathlib.Path(__file__).parents[3] / "plugins" / "module_utils"
# Who plans without refusing, and why that writes to nothing that is being deleted.
LOOKS = {
    "_host/enrolment/reconcile.py": "change_rules.py refuses such hosts, with what else is against the list",
    "_host/enrolment/writes.py": "rules/secret.py refuses such Secrets, before a host is detached",
    "_ipam/claim_service.py": "change_problems refuses such claims, before refused ones are deleted",
    "_kube/reconcile/reconcile.py": "Reconcile.plan",
    "_manifests/service.py": "_plan refuses them, after it has waited for those that go by themselves",
    "_plane/cluster/ironic_service.py": "a trial, which stores nothing",
    "_plane/cluster/operated_service.py": "a trial, which stores nothing",
    "_plane/cluster/removal_service.py": "what there is to be removed",
    "_plane/cluster/service.py": "certificates that were written, which are waited for",
    "_plane/upgrade/service.py": "a rollback, which keeps them out and names them",
}
PLANS = {
    "_cluster/lifecycle/planning.py": "objects of a cluster, after checking.py has refused those that it has listed",
    "_cluster/lifecycle/resource_set_service.py":
        "a cluster's ClusterResourceSet and its bundles, before anything is written",
    "_host/enrolment/writes.py": "the Namespace of hosts, which is not there",
    "_ipam/pool_service.py": "pools",
    "_manifests/service.py": "all manifests, by what _look has found",
    "_plane/cluster/ironic_service.py": "all objects of Ironic, before the first of several writes",
    "_plane/process/provider_service.py": "objects of the providers of a bootstrap plane",
    "_resources/service.py": "objects beside the BareMetalHost",
}


@pytest.mark.parametrize(("method", "files"), [("look", LOOKS), ("plan", PLANS)])
def test_each_caller_has_said_whether_it_refuses(method, files):
    """A room that plans in a new place adds it here, with the reason."""
    call = re.compile(rf"\b(?:self|writes|reconcile)\._?{method}\(")
    of_writes = re.compile(r"_kube\.reconcile\.reconcile import|class Reconcile|service import Components")
    texts = dict((str(path.relative_to(ROOT)), path.read_text()) for path in ROOT.rglob("*.py"))
    found = set(name for name, text in texts.items() if call.search(text) and of_writes.search(text))
    assert found == set(files)


def test_only_the_reconcile_plans_by_itself():
    found = set(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py")
                if re.search(r"\bplan\.plan\(", path.read_text()) and "_kube" in path.parts)
    assert found == {"_kube/reconcile/reconcile.py"}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reconcile: what is listed, what is asked of the server, what is written, deleted and reported."""
from __future__ import annotations

import copy
import pathlib
import re

import pytest
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile import checked, plan
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.reconcile import Reconcile, raise_refused
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.report import counts, difference
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

SECRET = KNOWN["Secret"]


def secret(name, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "n"}, "data": data}


def reconcile(server, kind=Reconcile, check_mode=False):
    return kind(server, check_mode, Reports(), lambda seconds: None)


class Server:
    """Holds Secrets by name and records the requests it gets."""

    server = "https://server"
    quoted, spelled = "", None

    def __init__(self, *objects, refuse=()):
        self.objects = dict((obj["metadata"]["name"], obj) for obj in objects)
        self.refuse = refuse
        self.lists, self.applied, self.deleted, self.patched, self.meanwhile = 0, [], [], [], {}

    def list(self, _resource, _namespace, _label_selector=None):
        self.lists += 1
        return list(self.objects.values()), "1"

    def get(self, _resource, _namespace, name):
        return self.objects.get(name)

    def apply(self, _resource, _namespace, body, dry_run=False, checked=None):
        name = body["metadata"]["name"]
        if name in self.refuse:
            raise KubeError(f"Secret n/{name}: refused {self.quoted}", 422)
        # A plan asks without a precondition, which says nothing of what is stored then.
        if not dry_run or checked is not None:
            self._compare(name, checked)
        self.applied.append((name, dry_run))
        return self.spelled or dict(body, stored=True)

    def patch(self, _resource, _namespace, name, _body, dry_run=False, checked=None):
        self._compare(name, checked)
        self.patched.append(name)

    def delete(self, _resource, _namespace, name, dry_run=False, checked=None):
        self._compare(name, checked)
        self.deleted.append((name, dry_run))
        return True

    def _compare(self, name, checked):
        if name in self.meanwhile:
            self.objects[name] = self.meanwhile.pop(name)
        if checked is not (self.objects.get(name) or precondition.ABSENT):
            raise KubeError(f"Secret n/{name}: modified", 409)


def test_one_list_and_only_differences_are_written():
    server = Server(secret("same", a="1"), secret("other", a="1"))
    entries = plan.plan(server, [secret("same", a="1"), secret("other", a="2"), secret("new", a="3")])
    assert server.lists == 1
    assert [entry.action for entry in entries] == ["unchanged", "update", "create"]
    outcomes = reconcile(server).write(entries)
    assert sorted(server.applied) == [("new", False), ("other", False)]
    assert outcomes[0].value is server.objects["same"]
    assert outcomes[2].value["stored"]


def test_check_mode_asks_the_server_without_storing():
    server = Server()
    reconcile(server, check_mode=True).write(plan.plan(server, [secret("new", a="1")]))
    assert server.applied == [("new", True)]


def test_one_refusal_does_not_hide_the_others():
    server = Server(refuse=("bad",))
    outcomes = reconcile(server).write(plan.plan(server, [secret("bad", a="1"), secret("good", a="1")]))
    assert outcomes[0].error.status == 422
    assert outcomes[1].error is None


def test_what_was_listed_already_is_not_listed_again():
    server = Server()
    entries = plan.plan(server, [secret("a", x="1")], {(SECRET, "n"): {"a": secret("a", x="1")}})
    assert server.lists == 0
    assert entries[0].action == "unchanged"


def test_what_changed_meanwhile_is_compared_again_before_it_is_written():
    server = Server(secret("taken", a="1"))
    entries = plan.plan(server, [secret("taken", a="2"), secret("new", a="3"), secret("same", a="4")])
    server.meanwhile = {"taken": secret("taken", a="1", b="5"), "new": secret("new", a="6"),
                        "same": secret("same", a="4")}
    outcomes = reconcile(server).write(entries)
    assert [outcome.error for outcome in outcomes] == [None, None, None]
    assert [outcome.entry.action for outcome in outcomes] == ["update", "update", "unchanged"]
    assert sorted(server.applied) == [("new", False), ("taken", False)]


def test_a_write_that_is_refused_on_the_second_look_is_not_made():
    server = Server()
    entries = plan.plan(server, [secret("new", a="1")])
    server.meanwhile = {"new": secret("new", a="2")}

    class Guarded(Reconcile):
        def problems_again(self, entry, stored):
            return [f"{entry.name} is in use"]

    outcome, = reconcile(server, Guarded).write(entries)
    assert outcome.error.message == "changed by somebody else during this run: new is in use"
    assert server.applied == []


STORED = secret("a", x="1")
STORED["metadata"].update(uid="u", resourceVersion="7")


def other(**data):
    return dict(copy.deepcopy(STORED), data=data, metadata=dict(STORED["metadata"], resourceVersion="8"))


def test_an_object_is_deleted_as_it_was_read():
    server = Server(STORED)
    item, = reconcile(server).delete(SECRET, [STORED])
    assert (item.action, item.changed, server.deleted) == ("deleted", True, [("a", False)])


def test_check_mode_tries_a_deletion():
    server = Server(STORED)
    item, = reconcile(server, check_mode=True).delete(SECRET, [STORED])
    assert (item.action, server.deleted) == ("deleted", [("a", True)])


@pytest.mark.parametrize(("stored", "action"), [
    (None, "unchanged"), (dict(other(), metadata=dict(other()["metadata"], deletionTimestamp="t")), "unchanged"),
    (other(x="2"), "deleted")])
def test_what_becomes_of_an_object_that_somebody_else_changes_before_its_deletion(stored, action):
    server = Server(STORED)
    server.meanwhile = {"a": stored}
    item, = reconcile(server).delete(SECRET, [STORED])
    assert (item.error, item.action) == (None, action)


def test_an_object_that_is_being_deleted_is_not_deleted_again():
    server = Server()
    going = dict(STORED, metadata=dict(STORED["metadata"], deletionTimestamp="t"))
    item, = reconcile(server).delete(SECRET, [going])
    assert (item.action, server.deleted) == ("unchanged", [])


def test_an_update_that_stores_what_is_stored_already_is_none():
    """The server spells a value its own way: only its answer shows that nothing changed."""
    server = Server(STORED)
    server.spelled = STORED
    for check_mode in (True, False):
        item, = reconcile(server, check_mode=check_mode).write(plan.plan(server, [secret("a", x="01")]))
        assert (item.action, item.changed) == ("unchanged", False)


@pytest.mark.parametrize("stays, wanted, action, before", [
    # What we owned, under a name that is unknown here, goes.
    (None, "1", "update", {"a": "1", "old": "0"}),
    # All that we owned is still wanted, or is somebody else's as well.
    ("0", "1", "unchanged", {"a": "1"}),
    # More goes than what differs by itself.
    (None, "2", "update", {"a": "1", "old": "0"}),
])
def test_what_was_applied_in_another_version_is_asked_of_the_server(stays, wanted, action, before):
    current = secret("a", a="1", old="0")
    current["metadata"].update(resourceVersion="7", managedFields=[
        {"manager": "metal3.baremetal", "operation": "Apply", "apiVersion": "v1beta1", "fieldsV1": {}}])
    server = Server(current)
    server.spelled = copy.deepcopy(current)
    server.spelled["metadata"]["managedFields"][0]["apiVersion"] = "v1"
    server.spelled["data"] = {"a": wanted, **({"old": stays} if stays else {})}
    for check_mode in (True, False):
        entry, = plan.plan(server, [secret("a", a=wanted)])
        assert (entry.action, entry.before, entry.after) == (action, {"data": before}, {"data": {"a": wanted}})
        item, = reconcile(server, check_mode=check_mode).write([entry])
        assert item.changed is (action == "update")
    assert ("a", False) in server.applied or action == "unchanged"
    server.objects["a"] = server.spelled
    assert [entry.action for entry in plan.plan(server, [secret("a", a=wanted)])] == ["unchanged"]


def test_what_was_applied_in_another_version_and_is_refused_is_left_to_the_write():
    current = secret("a", a="1")
    current["metadata"].update(managedFields=[
        {"manager": "metal3.baremetal", "operation": "Apply", "apiVersion": "v1beta1", "fieldsV1": {}}])
    entry, = plan.plan(Server(current, refuse=["a"]), [secret("a", a="1")])
    assert entry.action == "update"


def test_what_rests_on_a_write_that_check_mode_does_not_make_is_not_tried():
    class Resting(Reconcile):
        def can_try(self, entry):
            return False

    server = Server()
    item, = reconcile(server, Resting, check_mode=True).write(plan.plan(server, [secret("new", a="1")]))
    assert (item.action, server.applied) == ("created", [])
    reconcile(server, Resting).write(plan.plan(server, [secret("new", a="1")]))
    assert server.applied == [("new", False)]


def test_a_patch_that_no_room_plans_again_is_a_defect_and_not_a_write():
    server = Server(STORED)
    entry = plan.Entry(SECRET, "n", "a", plan.UPDATE, None, dict(STORED, old=True), {}, {}, {"data": {}})
    with pytest.raises(NotImplementedError):
        reconcile(server).write([entry])


def test_refusals_are_reported_together_without_the_objects_secrets():
    server = Server(refuse=("bad", "worse"))
    server.quoted = "hunter2hunter2"
    written = reconcile(server).write(plan.plan(server, [
        secret("bad", a=server.quoted), secret("worse", a="1"), secret("good", a="1")]))
    with pytest.raises(KubeError) as caught:
        raise_refused(server, written)
    assert "refused 2 of 3 objects:\n- Secret n/bad: refused " in caught.value.message
    assert "- Secret n/worse: refused" in caught.value.message and "hunter2" not in caught.value.message
    raise_refused(server, written[2:])


def test_a_refusal_takes_its_verb_from_what_was_refused():
    server = Server(secret("gone"), refuse=("bad",))
    entries = [plan.deletion(SECRET, server.objects["gone"])] + plan.plan(server, [secret("bad", a="1")])
    with pytest.raises(KubeError, match="https://server refused 1 of 2 objects"):
        raise_refused(server, reconcile(server).write(entries))


def test_another_object_of_the_name_is_not_deleted():
    """It was read again and deleted, though nobody had checked it."""
    server = Server(dict(secret("old"), metadata={"name": "old", "namespace": "n", "uid": "1"}))
    entry = plan.deletion(SECRET, server.objects["old"])
    server.meanwhile["old"] = dict(secret("old"), metadata={"name": "old", "namespace": "n", "uid": "2"})
    (written,) = reconcile(server).write([entry])
    assert server.deleted == [] and not written.changed
    assert written.error.message.startswith("Secret n/old: found another object of this name than the one that was")


class Patching(Reconcile):
    def plan_again(self, entry, stored):
        return entry._replace(current=stored) if stored else entry._replace(action=plan.UNCHANGED)


@pytest.mark.parametrize(("stored", "patched"), [(other(x="2"), ["a"]), (None, []), (
    dict(other(), metadata=dict(other()["metadata"], uid="another")), None)])
def test_a_patch_is_planned_again_for_the_same_object_only(stored, patched):
    """Annotations and power went to another host that was enrolled under the name meanwhile."""
    server = Server(STORED)
    server.meanwhile["a"] = stored
    entry = plan.Entry(SECRET, "n", "a", plan.UPDATE, None, STORED, {}, {}, {"data": {}})
    (written,) = reconcile(server, Patching).write([entry])
    assert server.patched == (patched or [])
    assert (written.error is None) == (patched is not None)
    assert patched is not None or "found another object of this name than the one that was checked; it stays as it " \
        "is; look at it, then run again" in written.error.message


def test_an_apply_is_of_whatever_has_the_name():
    server = Server(STORED)
    entries = plan.plan(server, [secret("a", x="2")])
    server.meanwhile["a"] = dict(other(x="1"), metadata=dict(other()["metadata"], uid="another"))
    (written,) = reconcile(server).write(entries)
    assert written.error is None and server.applied == [("a", False)]


def test_what_was_stored_is_kept_for_a_run_that_fails_later():
    class InTwo(Reconcile):
        def send(self, entry, dry_run):
            self.begun(entry)
            return super().send(entry, dry_run)

    server = Server(secret("gone"), refuse=("bad",))
    entries = [plan.deletion(SECRET, server.objects["gone"])] + plan.plan(server, [secret("bad", a="1")])
    run = reconcile(server)
    run.dry_run(entries)
    assert run.progress.written == []
    run.write(entries)
    assert run.progress.written == [{"object": "Secret n/gone", "action": "deleted"}]
    run = reconcile(server, InTwo)
    (written,) = run.write(entries[1:])
    assert written.error and written.changed and run.progress.written == [
        {"object": "Secret n/bad", "action": "created"}]


@pytest.mark.parametrize(("action", "headers"), [
    ("create", ("", "Secret n/a")), ("update", ("Secret n/a", "Secret n/a")), ("delete", ("Secret n/a", ""))])
def test_a_difference_names_the_object_and_hides_its_secrets(action, headers):
    found = difference(plan.Entry(SECRET, "n", "a", action, {}, None, {"data": {"x": "1"}}, {"data": {"x": "2"}}))
    assert (found["before_header"], found["after_header"]) == headers
    assert (found["before"], found["after"]) == ({"data": {"x": "(hidden)"}}, {"data": {"x": "(hidden, changed)"}})


def test_counts_have_one_form():
    results = [{"action": action, "error": ""} for action in ("created", "updated", "updated", "unchanged")]
    assert counts(results + [{"action": "unchanged", "error": "no"}, {"action": "renewed", "error": ""}]) == {
        "total": 6, "created": 1, "updated": 2, "deleted": 0, "unchanged": 2, "failed": 1}


def test_only_the_reconcile_uses_the_loop_below_it():
    """A second skeleton would answer conflicts and lost answers in a way of its own."""
    root = pathlib.Path(checked.__file__).parents[2]
    importing = re.compile(r"import .*\bchecked\b(?! as)|_kube\.reconcile\.checked")
    users = [path.name for path in sorted(root.rglob("*.py"))
             if importing.search(path.read_text(encoding="utf-8")) and "_lint" not in path.parts]
    assert users == ["reconcile.py"]

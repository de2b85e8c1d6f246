# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply plans: what is listed, what is asked of the server, what is written."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._kube import apply, precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.resources import KNOWN

SECRET = KNOWN["Secret"]


def secret(name, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "n"}, "data": data}


class Server:
    """Holds Secrets by name and records the requests it gets."""

    def __init__(self, *objects, refuse=()):
        self.objects = dict((obj["metadata"]["name"], obj) for obj in objects)
        self.refuse = refuse
        self.lists, self.applied, self.meanwhile = 0, [], {}

    def list(self, _resource, _namespace):
        self.lists += 1
        return list(self.objects.values()), "1"

    def get(self, _resource, _namespace, name):
        return self.objects.get(name)

    def apply(self, _resource, _namespace, body, dry_run=False, checked=None):
        name = body["metadata"]["name"]
        if name in self.refuse:
            raise KubeError(f"Secret n/{name}: refused", 422)
        if name in self.meanwhile:
            self.objects[name] = self.meanwhile.pop(name)
        if checked is not (self.objects.get(name) or precondition.ABSENT):
            raise KubeError(f"Secret n/{name}: modified", 409)
        self.applied.append((name, dry_run))
        return dict(body, stored=True)


def test_one_list_and_only_differences_are_written():
    server = Server(secret("same", a="1"), secret("other", a="1"))
    entries = apply.plan(server, [secret("same", a="1"), secret("other", a="2"), secret("new", a="3")])
    assert server.lists == 1
    assert [entry.action for entry in entries] == ["none", "update", "create"]
    outcomes = apply.execute(server, entries)
    assert sorted(server.applied) == [("new", False), ("other", False)]
    assert outcomes[0].value is server.objects["same"]
    assert outcomes[2].value["stored"]


def test_check_mode_asks_the_server_without_storing():
    server = Server()
    apply.execute(server, apply.plan(server, [secret("new", a="1")]), dry_run=True)
    assert server.applied == [("new", True)]


def test_one_refusal_does_not_hide_the_others():
    server = Server(refuse=("bad",))
    outcomes = apply.execute(server, apply.plan(server, [secret("bad", a="1"), secret("good", a="1")]))
    assert outcomes[0].error.status == 422
    assert outcomes[1].error is None


def test_what_was_listed_already_is_not_listed_again():
    server = Server()
    entries = apply.plan(server, [secret("a", x="1")], {(SECRET, "n"): {"a": secret("a", x="1")}})
    assert server.lists == 0
    assert entries[0].action == "none"


def test_what_changed_meanwhile_is_compared_again_before_it_is_written():
    server = Server(secret("taken", a="1"))
    entries = apply.plan(server, [secret("taken", a="2"), secret("new", a="3"), secret("same", a="4")])
    server.meanwhile = {"taken": secret("taken", a="1", b="5"), "new": secret("new", a="6"),
                        "same": secret("same", a="4")}
    outcomes = apply.execute(server, entries)
    assert [outcome.error for outcome in outcomes] == [None, None, None]
    assert [outcome.task.action for outcome in outcomes] == ["update", "update", "none"]
    assert sorted(server.applied) == [("new", False), ("taken", False)]


def test_a_write_that_is_refused_on_the_second_look_is_not_made():
    server = Server()
    entries = apply.plan(server, [secret("new", a="1")])
    server.meanwhile = {"new": secret("new", a="2")}

    def decide(entry):
        raise KubeError(f"{entry.name} is in use")

    outcome, = apply.execute(server, entries, decide=decide)
    assert outcome.error.message == "new is in use"
    assert server.applied == []

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes that rest on a check: what a conflict, a lost answer and both together lead to."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile import checked
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

STORED = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}


class Recorder(KubeClient):
    """Records requests in place of sending them."""

    def __init__(self):
        self.sent = []

    def request(self, method, path, query=None, body=None, *_arguments, **_options):
        self.sent.append((method, body))
        return {"metadata": {"name": "a"}}


def conflict():
    return KubeError("Secret n/a: the object has been modified", 409, "Conflict")


class Store:
    """One number with a version; writes name the version that they rest on."""

    def __init__(self, number=0):
        self.number, self.version, self.before, self.lost, self.writes = number, 1, [], 0, 0

    def send(self, task):
        version, number = task
        if self.before:
            self.before.pop(0)(self)
        if version != self.version:
            raise conflict()
        self.set(number)
        self.writes += 1
        if self.lost:
            self.lost -= 1
            raise KubeError("no answer", reason="Unreachable")
        return number

    def set(self, number):
        self.number, self.version = number, self.version + 1

    def decide(self, task):
        if self.number == 99:
            raise KubeError("in use by somebody", 409)
        if self.number == task[1]:
            return checked.Settled(self.number)
        return self.version, task[1]


def write(store, tasks, sleep=lambda seconds: None):
    return checked.write(tasks, store.send, store.decide, lambda text: None, sleep)


def test_a_changed_object_is_read_and_decided_again():
    store = Store()
    store.before = [lambda one: one.set(5)]
    written, = write(store, [(1, 3)])
    assert (written.value, written.error, written.task, store.writes) == (3, None, (2, 3), 1)


def test_a_write_that_is_no_longer_allowed_is_not_made():
    store = Store()
    store.before = [lambda one: one.set(99)]
    written, = write(store, [(1, 3)])
    assert "in use" in written.error.message
    assert (store.number, store.writes) == (99, 0)


def test_a_lost_answer_is_not_followed_by_a_second_write():
    store, slept = Store(), []
    store.lost = 1
    written, = write(store, [(1, 3)], slept.append)
    assert (written.error, written.task, store.writes, slept) == (None, (1, 3), 1, [1])


def test_what_another_wrote_after_a_lost_answer_stays():
    store = Store()
    store.lost = 1
    store.before = [lambda one: None, lambda one: one.set(99)]
    written, = write(store, [(1, 3)], lambda seconds: None)
    assert "in use" in written.error.message
    assert (store.number, store.writes) == (99, 1)


def test_an_object_that_never_rests_ends_with_what_to_do():
    store = Store()
    store.before = [lambda one: one.set(5)] * (checked.ROUNDS + 5)
    written, = write(store, [(1, 3)])
    assert written.error.status == 409
    assert "run again" in written.error.message
    assert store.writes == 0


def test_an_api_server_that_stays_silent_ends_the_attempts():
    store, slept = Store(), []
    store.before = [lambda one: (dummy for dummy in ()).throw(KubeError("no answer", reason="Unreachable"))] * 9
    written, = write(store, [(1, 3)], slept.append)
    assert (written.error.reason, slept) == ("Unreachable", [1, 2, 4, 8, 15])


def test_other_tasks_go_on_and_the_order_stays():
    stores = {1: Store(), 2: Store(), 3: Store()}
    stores[2].before = [lambda one: one.set(5)]
    written = checked.write([1, 2, 3], lambda key: stores[key].send((1 if key != 2 else stores[2].version, 7)),
                            lambda key: key, print, print)
    assert [item.task for item in written] == [1, 2, 3]
    assert [item.error for item in written] == [None, None, None]


@pytest.mark.parametrize(("condition", "metadata"), [
    (None, {"name": "a"}),
    (STORED, {"name": "a", "uid": "u", "resourceVersion": "7"}),
    (precondition.ABSENT, {"name": "a", "resourceVersion": "1"}),
])
def test_an_apply_and_a_merge_patch_carry_what_was_checked(condition, metadata):
    client, body = Recorder(), {"metadata": {"name": "a"}}
    client.apply(KNOWN["Secret"], "n", body, checked=condition)
    client.patch(KNOWN["Secret"], "n", "a", body, checked=condition)
    assert [sent["metadata"] for dummy, sent in client.sent] == [metadata, metadata]
    assert body == {"metadata": {"name": "a"}}


def test_a_deletion_carries_what_was_checked():
    client = Recorder()
    client.delete(KNOWN["Secret"], "n", "a", checked=STORED)
    assert client.sent[0][1]["preconditions"] == {"uid": "u", "resourceVersion": "7"}


def test_an_object_that_is_gone_or_needs_no_write_is_settled_without_a_value():
    store = Store()
    store.before = [lambda one: one.set(5)]
    written, = checked.write([(1, 3)], store.send, lambda task: checked.Settled(), lambda text: None, None)
    assert (written.value, written.error, store.writes) == (None, None, 0)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Following objects through lost connections, expired watches and refusals."""
from __future__ import annotations

import threading
import time

import pytest
from fakes.time_limits import ends

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import follow as follow_module
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.follow import follow
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses import patience
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

HOST = KNOWN["BareMetalHost"]


def host(name, version):
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


class Server:
    """Answers LIST and watch calls from scripts: lists of objects, lists of events, or errors to raise.

    A callable returns what is to be answered, when the test wants it to be.
    """

    def __init__(self, lists, watches):
        self.lists, self.watches = list(lists), list(watches)
        self.end = threading.Event()

    def list(self, _resource, _namespace, _selector):
        answer = self.lists.pop(0)
        if callable(answer):
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        return answer, "1"

    def watch(self, _resource, _namespace, _version, _seconds, _selector):
        if not self.watches:
            self.end.wait(5)
            return
        answer = self.watches.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield from answer


def steps(server, until, seconds=5):
    seen = []
    for step in follow(server, HOST, "n", time.monotonic() + seconds, tick_seconds=0.05):
        seen.append((sorted(step.objects), sorted(step.changed), step.unreachable_seconds is not None))
        if until(step):
            server.end.set()
            return seen
    pytest.fail(f"not reached: {seen}")


def test_events_update_the_objects():
    server = Server([[host("a", 1)]], [[
        {"type": "ADDED", "object": host("b", 2)},
        {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "3"}}},
        {"type": "DELETED", "object": host("a", 4)},
    ]])
    seen = steps(server, lambda step: sorted(step.objects) == ["b"])
    assert {name for _objects, changed, _lost in seen for name in changed} == {"a", "b"}


def test_an_expired_watch_lists_again_and_reports_what_vanished():
    server = Server([[host("a", 1)], [host("b", 9)]], [KubeError("too old", 410, "Expired")])
    seen = steps(server, lambda step: sorted(step.objects) == ["b"])
    assert "a" in seen[-1][1]


def test_a_lost_server_is_reported_and_taken_up_again():
    reported = threading.Event()

    def until(step):
        if step.unreachable_seconds is not None:
            reported.set()
        return bool(step.objects)
    seen = steps(Server([KubeError("refused"), lambda: [host("a", 1)] if reported.wait(5) else []], []), until)
    assert seen[-1] == (["a"], ["a"], False)


@pytest.mark.parametrize("error", [KubeError("forbidden", 403, "Forbidden"), TypeError("a defect")])
def test_a_final_refusal_or_a_defect_ends_the_wait(error):
    with pytest.raises(type(error)):
        steps(Server([error], []), lambda step: False)


FORBIDDEN = KubeError("forbidden", 403, "Forbidden")


def test_what_was_allowed_may_be_forbidden_for_a_moment(monkeypatch):
    """An API server that has started again has not read its roles yet."""
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.01,))
    server = Server([[host("a", 1)], FORBIDDEN, FORBIDDEN, [host("b", 9)]], [KubeError("connection lost")])
    steps(server, lambda step: sorted(step.objects) == ["b"])
    assert server.lists == []


def test_what_stays_forbidden_ends_the_wait(monkeypatch):
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.01,))
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 0.2)
    with pytest.raises(KubeError, match="forbidden"):
        steps(Server([[host("a", 1)]] + [FORBIDDEN] * 1000, [KubeError("connection lost")]), lambda step: False)


def test_a_watch_that_is_not_allowed_ends_the_wait_at_once():
    server = Server([[host("a", 1)]], [FORBIDDEN])
    with pytest.raises(KubeError, match="forbidden"):
        steps(server, lambda step: step.unreachable_seconds is not None)


def test_a_watch_that_was_allowed_may_be_forbidden_for_a_moment(monkeypatch):
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.01,))
    server = Server([[host("a", 1)], [host("b", 9)]], [[{"type": "MODIFIED", "object": host("a", 2)}], FORBIDDEN])
    steps(server, lambda step: sorted(step.objects) == ["b"])


def test_the_deadline_ends_it():
    with ends():
        assert list(follow(Server([[]], []), HOST, "n", time.monotonic() + 0.2, tick_seconds=0.05))


class Refusing(Server):
    """Refuses credentials until it is set to accept them."""

    def __init__(self):
        super().__init__([], [])
        self.accepting = threading.Event()

    def list(self, *_arguments):
        if not self.accepting.is_set():
            raise KubeError("Unauthorized", 401, "Unauthorized")
        return [host("a", 1)], "1"


def test_one_401_does_not_end_a_long_wait(monkeypatch):
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.01,))
    server = Refusing()

    def until(step):
        if step.unreachable_seconds is not None:
            server.accepting.set()
        return bool(step.objects)

    assert [lost for _objects, _changed, lost in steps(server, until)][-1] is False


def test_a_401_that_lasts_ends_it(monkeypatch):
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.01,))
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 0.2)
    with pytest.raises(KubeError, match="Unauthorized"):
        steps(Refusing(), lambda step: False)


class Short(Server):
    """Ends every watch at once, without an event."""

    def __init__(self):
        super().__init__([[host("a", 1)]], [])
        self.watched = 0

    def watch(self, *_arguments):
        self.watched += 1
        return iter(())


def test_a_watch_that_ends_at_once_is_taken_up_again_after_a_pause():
    """A proxy that cuts watches off was asked thousands of times in a second."""
    server = Short()
    assert list(follow(server, HOST, "n", time.monotonic() + 1.2, tick_seconds=0.05))
    assert 1 <= server.watched <= 3


class Expired(Server):
    """Says of each watch that its version is too old."""

    def __init__(self):
        super().__init__([], [])
        self.listed = 0

    def list(self, *_arguments):
        self.listed += 1
        return [host("a", 1)], "1"

    def watch(self, *_arguments):
        raise KubeError("too old", 410, "Expired")


def test_versions_that_are_always_too_old_are_asked_for_again_after_a_pause():
    server = Expired()
    assert list(follow(server, HOST, "n", time.monotonic() + 1.2, tick_seconds=0.05))
    assert 2 <= server.listed <= 4


class Unwatchable(Expired):
    """Answers each LIST, and refuses the credentials of each watch, as a proxy before it may."""

    def watch(self, *_arguments):
        raise KubeError("Unauthorized", 401, "Unauthorized")


def test_a_watch_that_is_refused_for_a_while_ends_it_although_lists_are_answered(monkeypatch):
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.01,))
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 0.2)
    with pytest.raises(KubeError, match="Unauthorized"):
        steps(Unwatchable(), lambda step: False)


class Relenting(Expired):
    """Refuses the credentials of every other watch; the others end at once."""

    def __init__(self):
        super().__init__()
        self.watched = 0

    def watch(self, *_arguments):
        self.watched += 1
        if self.watched % 2:
            raise KubeError("Unauthorized", 401, "Unauthorized")
        return iter(())


def test_a_watch_that_ends_regularly_begins_the_patience_again(monkeypatch):
    monkeypatch.setattr(follow_module, "BACKOFF_SECONDS", (0.15,))
    monkeypatch.setattr(patience, "UNAUTHORIZED_SECONDS", 0.25)
    server = Relenting()
    assert list(follow(server, HOST, "n", time.monotonic() + 1.5, tick_seconds=0.05))
    assert server.watched >= 4


def test_a_401_long_after_another_one_does_not_end_a_wait():
    """Between the two, watches were silent and cut off, so that no answer was noted."""
    now = [0]
    waiting = patience.Patience(lambda: now[0])
    refused = KubeError("Unauthorized", 401, "Unauthorized")
    assert not waiting.is_final(refused)
    now[0] = 3600
    assert not waiting.is_final(refused)
    now[0] = 3630
    assert not waiting.is_final(refused)
    now[0] = 3660
    assert waiting.is_final(refused)

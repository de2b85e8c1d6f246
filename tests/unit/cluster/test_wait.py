# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a wait for a cluster ends: failures of this run at once, those of before only when they outlast their time."""
from __future__ import annotations

import time

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import service as cluster_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.failures import (
    OLD_FAILURE_SECONDS,
    Failure,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import (
    ClusterWait,
    WaitFailedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step


class Silent:
    """A Progress that prints nothing."""

    def event(self, text):
        pass

    def status(self, state, detail=""):
        pass


class Client:
    server = "https://198.18.0.1:6443"


def host_failure(name, cause="no disk"):
    return Failure("BareMetalHost " + name, cause, "look at it")


@pytest.fixture
def wait(monkeypatch):
    """Return a callable that waits through looks, each (seconds since the start, failures); the goal never comes."""
    now = [0]
    seen = []

    def run(*looks):
        def steps(*dummy, **dummy2):
            for now[0], seen[:], *lost in looks:
                yield Step({}, {("Machine", "m")}, 1.0 if lost else None, None, True)

        monkeypatch.setattr(cluster_wait, "follow_kinds", steps)
        ClusterWait(Client(), "metal3", "c1", 1000, Silent(), clock=lambda: now[0], wall_clock=lambda: 0).until(
            "available", 900)

    monkeypatch.setattr(cluster_wait.workflow_failures, "failures", lambda *dummy: list(seen))
    return run


def ended_by(wait, *looks):
    with pytest.raises(WaitFailedError) as caught:
        wait(*looks)
    return str(caught.value)


def test_a_failure_of_this_run_ends_it_at_once(wait):
    message = ended_by(wait, (1, []), (2, [host_failure("h1")]))
    assert message == "cluster metal3/c1 can't become ready:\n- BareMetalHost h1: no disk; look at it"


def test_what_the_first_look_shows_is_old_however_late_it_comes(wait):
    old = [host_failure("h1")]
    assert "is not available within 16 min 40 s" in ended_by(wait, (20, old), (20 + OLD_FAILURE_SECONDS - 1, old))
    assert "h1: no disk" in ended_by(wait, (20, old), (20 + OLD_FAILURE_SECONDS, old))


def test_an_old_failure_in_other_words_is_still_old(wait):
    assert "is not available within" in ended_by(
        wait, (1, [host_failure("h1")]), (9, [host_failure("h1", "a disk too small")]))


def test_a_new_failure_beside_an_old_one_is_reported_alone(wait):
    message = ended_by(wait, (1, [host_failure("h1")]), (9, [host_failure("h1"), host_failure("h2")]))
    assert "h2" in message and "h1" not in message


def test_an_old_failure_that_was_over_is_new_when_it_comes_back(wait):
    assert "h1: no disk" in ended_by(wait, (1, [host_failure("h1")]), (5, []), (9, [host_failure("h1")]))


def test_a_failure_by_what_is_not_read_any_more_ends_nothing(wait):
    """An API server that is away for a minute: what the time ran out for may have come meanwhile."""
    assert "is not available within" in ended_by(wait, (1, []), (2, [host_failure("h1")], "lost"), (3, []))
    assert "h1: no disk" in ended_by(wait, (1, []), (2, [host_failure("h1")], "lost"), (3, [host_failure("h1")]))


def cluster(uid="1", **metadata):
    return {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "spec": {},
            "metadata": dict({"name": "c1", "namespace": "metal3", "uid": uid}, **metadata)}


@pytest.fixture
def looks(monkeypatch):
    """Return a callable that waits through looks, each a Cluster or None."""
    def run(*found):
        def steps(*dummy, **dummy2):
            for number, item in enumerate(found):
                yield Step({"Cluster": {"c1": item} if item else {}}, {("Cluster", "c1")}, None, None, True)
                now[0] = number + 1

        now = [0]
        monkeypatch.setattr(cluster_wait, "follow_kinds", steps)
        ClusterWait(Client(), "metal3", "c1", 1000, Silent(), clock=lambda: now[0], wall_clock=lambda: 0).until(
            "available", 900)

    return run


@pytest.mark.parametrize("then, cause", [
    (None, "Cluster c1: it was deleted by somebody else; run again, which makes another one"),
    (cluster(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["cluster.cluster.x-k8s.io"]),
     "Cluster c1: it is being deleted since 2026-01-01T00:00:00Z, held by cluster.cluster.x-k8s.io; wait until it is "
     "gone, then run again"),
    (cluster("2"), "Cluster c1: it is another one than the one that was waited for; look at it, then run again"),
])
def test_a_cluster_that_somebody_deletes_ends_the_wait(looks, then, cause):
    """Not when the time is up: that is hours, and a deletion can't be taken back."""
    assert cause in ended_by(looks, cluster(), then, cluster())


def test_a_cluster_that_is_yet_to_be_made_is_waited_for(looks):
    assert "is not available within" in ended_by(looks, None, cluster(), cluster())


def test_what_the_cluster_says_is_timed_by_its_own_clock(monkeypatch):
    """A machine whose clock is ahead would take each deployed server for one that has not become a node in time."""
    class Ahead(Client):
        ahead_seconds = -1000.0

    def steps(*dummy, **dummy2):
        yield Step({"Cluster": {"c1": cluster()}}, {("Cluster", "c1")}, None, None, True)

    found = []
    monkeypatch.setattr(cluster_wait.workflow_failures, "failures",
                        lambda _snapshot, now, *dummy: found.append(now) or [])
    monkeypatch.setattr(cluster_wait, "follow_kinds", steps)
    with pytest.raises(WaitFailedError):
        ClusterWait(Ahead(), "metal3", "c1", 1000, Silent()).until("available", 900)
    assert abs(found[0] - (time.time() - 1000)) < 60

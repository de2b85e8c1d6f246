# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run over a cluster that is killed between any two of its writes is taken up by the next one."""
from __future__ import annotations

import contextlib
import re
import threading

import pytest
from fakes.cluster_wait import Waits
from fakes.clusters import OTHER_IMAGE, Plane, run, service_of
from fakes.killed import Killed, Life, each_kill
from fakes.rollouts import BAD, GOOD, PAUSED, PLANE, POOL, SET, WORKERS, hold, made, marks, name_templates, new_machine
from fakes.topology import ready_by_class, run_class

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle import run as cluster_run
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """Waits end at once; the cluster's own API server is not asked."""
    found = Waits()
    monkeypatch.setattr(cluster_run, "ClusterWait", found)
    monkeypatch.setattr(cluster_run, "workload_client", lambda *dummy: None)
    return found


def new():
    """Return a plane with a cluster whose machines are ready, of which nothing is changed yet."""
    plane = made(Plane())
    name_templates(plane)
    hold(plane, ("Cluster", "c1"), PLANE, POOL)
    return (plane,)


def answered(make, *planes, **options):
    """Make a run, and repeat the number that it asks for: of what a killed run has written it is the rest."""
    try:
        return make(*planes, **options)
    except RefusedError as exc:
        asked = re.search(r"expected (\d+), the number of machines", str(exc))
        if asked is None:
            raise
        return make(*planes, **dict(options, confirm=asked[1]))


def going(**options):
    return lambda plane: answered(run, plane, wait_for="available", **options)


def rolling(waits, **options):
    """Return the run whose new machine does not come, so that it stops the rollout."""
    def act(plane):
        waits.fails, waits.meanwhile = "available", lambda: new_machine(plane)
        try:
            going(**dict({"workers": BAD}, **options))(plane)
            raise AssertionError("the wait did not fail")
        except WaitFailedError:
            pass
        finally:
            waits.fails, waits.meanwhile = None, lambda: None

    return act


def stopped(waits):
    """Return a callable that returns a plane with a stopped rollout."""
    def make():
        planes = new()
        rolling(waits)(*planes)
        hold(planes[0], SET)
        return planes

    return make


def removal(plane):
    service_of(plane, confirm="c1").absent()


def test_a_stop_is_of_all_or_of_nothing_for_the_next_run(waits):
    """An owner that was stopped without the MachineSets of its new machines was refused, and these stayed at work."""
    assert each_kill(new, rolling(waits)) >= 4


def test_a_stop_of_several_owners_is_taken_up(waits):
    """What is not stopped beside one that is has no MachineSet that would make machines."""
    both = {"workers": BAD, "control_plane": {"replicas": 1, "image": OTHER_IMAGE}}

    def begun():
        plane, = new()
        going(**both)(plane)
        new_machine(plane, "c1-control-plane", 1)
        return (plane,)

    life = Life()
    rolling(waits, **both)(life.of(*begun()))
    assert life.written == 3
    for number in range(life.written):
        plane, = begun()
        with pytest.raises(Killed):
            rolling(waits, **both)(Life(number).of(plane))
        stopped_alone = PAUSED in marks(plane, PLANE) or PAUSED in marks(plane, POOL)
        assert not stopped_alone or (PAUSED in marks(plane, SET) and PAUSED in marks(plane, PLANE))
        if stopped_alone:
            with pytest.raises(RefusedError, match="whose rollout a run has stopped"):
                going(**both)(plane)
        else:
            rolling(waits, **both)(plane)
            assert all(PAUSED in marks(plane, key) for key in (PLANE, POOL, SET))
        going(rollout="resume", **both)(plane)
        assert not any(PAUSED in marks(plane, key) for key in plane.objects), number


def test_a_control_plane_is_stopped_before_the_pools(waits):
    """A pool that was stopped alone had the next run refused, and the control plane replaced all its machines."""
    both, pool_is_written, planes_then = {"workers": BAD, "control_plane": {"replicas": 1, "image": OTHER_IMAGE}}, \
        threading.Event(), []

    def note():
        planes_then.append(PAUSED in marks(plane, PLANE))
        pool_is_written.set()

    def meanwhile():
        new_machine(plane)
        # The control plane's write is the slow one.
        plane.meanwhile = {PLANE: lambda: pool_is_written.wait(0.5), POOL: note}

    plane, = new()
    going(**both)(plane)
    new_machine(plane, "c1-control-plane", 1)
    waits.fails, waits.meanwhile = "available", meanwhile
    with pytest.raises(WaitFailedError):
        going(**both)(plane)
    assert planes_then == [True]
    assert all(PAUSED in marks(plane, key) for key in (PLANE, POOL, SET))


@pytest.mark.parametrize("act", [
    going(workers=BAD, rollout="resume"), going(workers=GOOD), going(workers=BAD, rollout="rollback"),
    going(workers={"two": {"replicas": 1}}), removal,
], ids=["resumed", "corrected", "taken back", "not described", "deleted"])
def test_what_becomes_of_a_stopped_rollout_is_taken_up(waits, act):
    assert each_kill(stopped(waits), act) >= 2


@pytest.mark.parametrize("after", [
    removal, going(workers=GOOD), going(workers=BAD, rollout="resume"),
    going(workers=BAD, rollout="rollback"),
    going(workers=dict(BAD, one=dict(BAD["one"], replicas=4)), rollout="resume")],
    ids=["teardown", "corrected", "resumed", "taken back", "scaled"])
def test_whatever_run_comes_after_a_killed_stop_leaves_nothing_stopped(waits, after):
    life, whole = Life(), new()
    rolling(waits)(life.of(*whole))
    for number in range(life.written + 1):
        plane, = new()
        with contextlib.suppress(Killed):
            rolling(waits)(Life(number).of(plane))
        hold(plane, *(key for key in [SET] if key in plane.objects))
        after(plane)
        left = [key for key in plane.objects if PAUSED in marks(plane, key)]
        assert left == [], f"killed after {number} of {life.written} writes"


@pytest.mark.parametrize("act", [
    going(workers=WORKERS, image=OTHER_IMAGE), going(workers={"one": {"replicas": 1}}),
    going(workers=dict(WORKERS, one={"replicas": 5})), removal],
    ids=["rolled", "fewer", "more", "deleted"])
def test_a_run_over_a_cluster_is_taken_up(act):
    assert each_kill(new, act) >= 1


def by_class():
    plane = ready_by_class()
    hold(plane, ("Cluster", "c1"), PLANE, POOL, ("MachineDeployment", "c1-two"))
    return (plane,)


@pytest.mark.parametrize("options", [
    {"image": OTHER_IMAGE}, {"workers": BAD}, {"workers": {"two": {"replicas": 1}}}],
    ids=["all", "one pool", "one pool less"])
def test_a_run_over_a_topology_is_taken_up(options):
    assert each_kill(by_class, lambda plane: answered(run_class, plane, **options)) >= 2

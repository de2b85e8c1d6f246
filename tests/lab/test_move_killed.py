# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A move by the real clusterctl, killed at 25 points and run again: the same end each time.

Between two API servers with the real definitions and without controllers, so that a point takes seconds. The move with
controllers, Ironics and servers is in ``test_pivot.py``.
"""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fakes import move_planes
from processes import descendants, kill_tree
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import copies, record

pytestmark = pytest.mark.pivot

HOSTS = 2
# Of two hosts and a cluster.
OBJECTS = 14
SECONDS = 300
# What is killed: all that the run has started, as by a lost machine; only clusterctl, as by the kernel for want of
# memory; only Ansible and its module, so that clusterctl goes on beside the next run; the API server of one of the
# planes, which is started again.
VICTIMS = ("all", "clusterctl", "ansible", "api-here", "api-there")
# At the record's appearance over there, at the n-th object over there, and when n objects are left here.
POINTS = [("record", 0), *(("copied", number) for number in range(1, OBJECTS + 1)),
          *(("left", number) for number in range(OBJECTS - 1, OBJECTS - 11, -1))]
KILLED = Counter()
# Before the first deletion, and after it.
TAKEN_BACK = ((("record", 0), "all"), (("copied", 1), "clusterctl"), (("copied", 4), "all"),
              (("copied", 8), "clusterctl"))
TOO_LATE = ((("left", OBJECTS - 1), "all"), (("left", OBJECTS - 4), "clusterctl"))
# Of the namespaces: what has moved stays over there, and no server may have two hosts.
NUMBERS = itertools.count(0, HOSTS)


@pytest.fixture(scope="module")
def servers():
    with move_planes.planes() as found:
        yield found
        for what, count in sorted(KILLED.items()):
            print(f"{what}: {count} of {len(POINTS)}")


class Killer:
    """A run of the module ``plane_move`` that is killed at a point."""

    def __init__(self, servers, namespace, log, state="moved"):
        arguments = {"state": state, "kubeconfig": servers.kubeconfig("here"),
                     "to_kubeconfig": servers.kubeconfig("there"), "namespace": namespace,
                     "clusterctl": move_planes.clusterctl(), "confirm": str(HOSTS),
                     "work_dir": str(log.parent / "work")}
        self._servers = servers
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [str(Path(sys.executable).parent / "ansible"), "localhost", "-m", "metal3.baremetal.plane_move", "-a",
             json.dumps(arguments)], stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT,
            start_new_session=True, env=dict(os.environ, ANSIBLE_LOCALHOST_WARNING="False"))

    def finish(self):
        self._process.wait(SECONDS)
        self._log.close()
        return self._process.returncode

    def _clusterctl(self):
        for pid in descendants(self._process.pid):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(b"/clusterctl"):
                    return pid
        return None

    def kill(self, victim):
        """Kill; return whether the run was on its way, which has ended then, well or not."""
        program = self._clusterctl()
        was_running = self._process.poll() is None
        if victim.startswith("api-"):
            move_planes.restart(self._servers, victim.removeprefix("api-"))
        elif victim == "clusterctl" and program:
            with contextlib.suppress(ProcessLookupError):
                os.kill(program, signal.SIGKILL)
        elif victim == "ansible" and program:
            # Its own process ends the wait of the next run for the lock.
            os.kill(program, signal.SIGSTOP)
            for pid in [*descendants(self._process.pid), self._process.pid]:
                if pid != program:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            os.kill(program, signal.SIGCONT)
        else:
            kill_tree(self._process.pid)
        self.finish()
        return was_running


def wait_for(point, here, there, namespace, running):
    kind, number = point

    def reached():
        if running.poll() is not None:
            return True
        if kind == "record":
            return there.get(KNOWN["ConfigMap"], namespace, record.NAME) is not None
        if kind == "copied":
            return len(move_planes.objects(there, namespace)) >= number
        return len(move_planes.objects(here, namespace)) <= number

    eventually(reached, SECONDS, f"{kind} {number}", interval_seconds=0.02)


def victim_at(number):
    return VICTIMS[number % len(VICTIMS)]


def is_moved(here, there, namespace, before, log):
    """Check that all is over there what it was here, held."""
    after = move_planes.objects(there, namespace)
    assert move_planes.objects(here, namespace) == {} and set(after) == set(before), log.read_text()
    for key, item in before.items():
        assert copies.differences(item, after[key]) == ([], []), log.read_text()
    assert not any(item["spec"].get("paused") for (_group, kind, _name), item in after.items() if kind == "Cluster")
    for (_group, kind, _name), item in after.items():
        if kind == "BareMetalHost":
            # Held until somebody releases them, and with the status that the operator takes up.
            found = host_annotations.of(item)
            assert found[host_annotations.PAUSED] == checks.HELD and found[host_annotations.STATUS]
    assert record.read(there.get(KNOWN["ConfigMap"], namespace, record.NAME)).state == record.MOVED


@pytest.mark.parametrize("number", range(len(POINTS)),
                         ids=lambda number: "-".join(map(str, (*POINTS[number], victim_at(number)))))
def test_a_move_that_is_killed_comes_to_the_same_end(servers, tmp_path, number):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    namespace = f"killed-{number}"
    assert move_planes.populate(here, namespace, HOSTS, first=next(NUMBERS)) == OBJECTS
    before = move_planes.objects(here, namespace)
    log = tmp_path / "run.log"
    began = time.monotonic()
    run = Killer(servers, namespace, log)
    wait_for(POINTS[number], here, there, namespace, run._process)
    KILLED["killed"] += run.kill(victim_at(number))
    assert Killer(servers, namespace, log).finish() == 0, log.read_text()
    is_moved(here, there, namespace, before, log)
    KILLED["same end"] += 1
    print(f"{POINTS[number]}: {time.monotonic() - began:.1f} s")


def versions(*planes, namespace):
    return [dict((key, item["metadata"]["resourceVersion"]) for key, item in move_planes.objects(of, namespace).items())
            for of in planes]


@pytest.mark.parametrize("point, victim", TAKEN_BACK, ids=lambda value: "-".join(map(str, value))
                         if isinstance(value, tuple) else value)
def test_a_move_that_has_deleted_nothing_is_taken_back_and_begins_again(servers, tmp_path, point, victim):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    namespace = "back-" + "-".join(map(str, point))
    assert move_planes.populate(here, namespace, HOSTS, first=next(NUMBERS)) == OBJECTS
    before, log = move_planes.objects(here, namespace), tmp_path / "run.log"
    run = Killer(servers, namespace, log)
    wait_for(point, here, there, namespace, run._process)
    run.kill(victim)
    code = Killer(servers, namespace, log, "undone").finish()
    after = move_planes.objects(here, namespace)
    if code:
        # It was faster than the kill.
        assert "run with state moved, which finishes it" in log.read_text(), log.read_text()
    else:
        KILLED["taken back"] += 1
        assert move_planes.objects(there, namespace) == {} and set(after) == set(before), log.read_text()
        for key, item in before.items():
            assert item["metadata"]["uid"] == after[key]["metadata"]["uid"]
            assert copies.differences(item, after[key]) == ([], []), log.read_text()
        assert not any(item["spec"].get("paused") for key, item in after.items() if key[1] == "Cluster")
        assert [of.get(KNOWN["ConfigMap"], namespace, record.NAME) for of in (here, there)] == [None, None]
    assert Killer(servers, namespace, log).finish() == 0, log.read_text()
    is_moved(here, there, namespace, before, log)


@pytest.mark.parametrize("point, victim", TOO_LATE, ids=lambda value: "-".join(map(str, value))
                         if isinstance(value, tuple) else value)
def test_a_move_that_has_deleted_something_is_not_taken_back(servers, tmp_path, point, victim):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    namespace = "late-" + "-".join(map(str, point))
    assert move_planes.populate(here, namespace, HOSTS, first=next(NUMBERS)) == OBJECTS
    before, log = move_planes.objects(here, namespace), tmp_path / "run.log"
    run = Killer(servers, namespace, log)
    wait_for(point, here, there, namespace, run._process)
    run.kill(victim)
    left = versions(here, there, namespace=namespace)
    if left[0]:
        KILLED["too late"] += 1
        assert Killer(servers, namespace, log, "undone").finish() != 0
        assert f"of {OBJECTS} objects moved for good" in log.read_text(), log.read_text()
        assert "run with state moved, which finishes it" in log.read_text()
        assert versions(here, there, namespace=namespace) == left
    assert Killer(servers, namespace, log).finish() == 0, log.read_text()
    is_moved(here, there, namespace, before, log)


def test_what_was_made_over_there_by_hand_meanwhile_is_not_overwritten(servers, tmp_path):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    namespace, secret = "by-hand", KNOWN["Secret"]
    assert move_planes.populate(here, namespace, HOSTS, first=next(NUMBERS)) == OBJECTS
    log = tmp_path / "run.log"
    run = Killer(servers, namespace, log)
    wait_for(("copied", 3), here, there, namespace, run._process)
    run.kill("all")
    copied = move_planes.objects(there, namespace)
    # Changed here since: what clusterctl has made is brought up to date, and known by who has written it and when.
    for key in copied:
        if key[1] == "BareMetalHost":
            here.patch(KNOWN["BareMetalHost"], namespace, key[2], {"spec": {"description": "changed since"}})
    assert any(key[1] == "BareMetalHost" for key in copied)
    name = sorted(key[2] for key in move_planes.objects(here, namespace) if key[1] == "Secret")[-1]
    # clusterctl may have come so far.
    there.delete(secret, namespace, name)
    mine = there.create(secret, namespace, {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace},
        "data": {"of": "bWluZQ=="}})
    assert Killer(servers, namespace, log).finish() != 0
    assert f"Secret {name}: found an object that was made over there since the move began" in log.read_text()
    assert there.get(secret, namespace, name)["metadata"]["resourceVersion"] == mine["metadata"]["resourceVersion"]
    there.delete(secret, namespace, name)
    assert Killer(servers, namespace, log).finish() == 0, log.read_text()
    found = move_planes.objects(there, namespace)
    assert move_planes.objects(here, namespace) == {} and len(found) == OBJECTS
    assert all(found[key]["spec"]["description"] == "changed since" for key in copied if key[1] == "BareMetalHost")


def test_enough_points_were_in_the_middle():
    """What ends before it is killed proves nothing."""
    assert KILLED["same end"] == len(POINTS) and KILLED["killed"] >= len(POINTS) - 3, KILLED
    assert KILLED["taken back"] >= len(TAKEN_BACK) - 1 and KILLED["too late"] >= 1, KILLED

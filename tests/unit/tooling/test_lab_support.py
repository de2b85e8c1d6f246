# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's tests stand on: they look only at what was listed, end what they start, and see what others left."""
from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import operator_log
import processes
import pytest
import starting_state
from consoles import Console
from machine_room import bounded_log
from machine_room import console as machine_room_console
from support import Lab, Run


class SlowServer:
    """An API server whose LIST takes longer than one step of a watch."""

    def __init__(self, *hosts):
        self.hosts = hosts
        self.end = threading.Event()

    def list(self, *_arguments):
        self.end.wait(1.5)
        return self.hosts, "1"

    def watch(self, *_arguments):
        self.end.wait(20)
        return ()


def wait_for_gone(server, name, seconds):
    lab = object.__new__(Lab)
    lab.kube = server
    try:
        return lab.wait_for_host(name, lambda host: host is None, "gone", seconds)
    finally:
        server.end.set()


def test_a_host_is_not_gone_before_the_first_list_has_arrived():
    host = {"metadata": {"name": "h1", "resourceVersion": "1"}, "status": {}}
    with pytest.raises(AssertionError, match="h1: not gone within 2 s"):
        wait_for_gone(SlowServer(host), "h1", seconds=2)
    assert wait_for_gone(SlowServer(host), "h2", seconds=20) is None


def test_what_a_server_prints_is_read_once_also_when_its_file_starts_again(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded_log, "LIMIT_BYTES", 100)
    writer, absent = machine_room_console.Console(str(tmp_path / "console.log")), Console(tmp_path / "none")
    writer.print("before")
    console = Console(writer.path)
    assert console.lines() == []
    writer.print("first %s", "x" * 100)
    writer.print("second")
    assert (tmp_path / "console.log.1").exists()
    assert [line.split()[1] for line in console.lines()] == ["first", "second"]
    with open(writer.path, "a", encoding="utf-8") as stream:
        stream.write("half")
        stream.flush()
        assert console.lines() == []
        stream.write(" a line\n")
    assert console.lines() == ["half a line"]
    assert console.lines() == absent.lines() == []


# Each starts another in a session of its own, as Ansible does, and prints both pids.
FAMILY = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(600)
"""


def family():
    """Start a process that has a child; return it and the child's pid."""
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True)
    with parent.stdout:
        return parent, int(parent.stdout.readline())


def test_a_killed_process_takes_what_it_has_started_along():
    parent, child = family()
    assert processes.descendants(parent.pid) == [child] and not processes.has_ended(child)
    assert processes.workers_of(parent.pid) == []
    processes.kill_tree(parent.pid)
    assert parent.wait(20) == -9
    pause = threading.Event()
    for dummy in range(200):
        if processes.has_ended(child):
            break
        pause.wait(0.1)
    assert processes.has_ended(child)


def test_a_run_that_nobody_has_waited_for_is_killed():
    with Run.none_unfinished():
        parent, dummy = family()
        Run(parent, Path("/dev/null"))
    assert parent.returncode == -9
    assert not Run.unfinished


def host(state="available", consumer=None, **status):
    return {"metadata": {"name": "h"}, "spec": {"consumerRef": consumer} if consumer else {},
            "status": dict({"provisioning": {"state": state}, "operationalStatus": "OK"}, **status)}


def test_the_starting_state_is_that_of_make_lab():
    direct = next(iter(starting_state.DIRECT))
    good = {"a": host(), direct: host("provisioned")}
    assert starting_state.hosts_that_differ(good, list(good), False) == {}
    broken = host("inspecting", operationalStatus="error", errorMessage="no\n answer")
    used = host("provisioned", {"kind": "Metal3Machine", "name": "m"})
    hosts = {"a": broken, "b": used, "strange": host(), direct: host()}
    assert starting_state.hosts_that_differ(hosts, ["a", "b", "missing", direct], False) == {
        "a": "a: inspecting, error, no answer; expected available",
        "b": "b: provisioned, in use by Metal3Machine m; expected available",
        "missing": "missing is no host", "strange": "strange is a host, but no server",
        direct: direct + ": available; expected provisioned"}
    assert starting_state.hosts_that_differ({"b": used}, ["b"], True) == {}
    free, busy = {direct: host()}, {direct: host("deprovisioning")}
    assert starting_state.hosts_that_differ(free, [direct], False, direct_may_be_free=True) == {}
    assert set(starting_state.hosts_that_differ(busy, [direct], False, direct_may_be_free=True)) == {direct}


def test_what_make_lab_mends_by_waiting_is_left_to_it():
    lost = (host("inspecting", operationalStatus="error"), host("provisioned"), host("externally provisioned"),
            host("available", operationalStatus="detached"))
    assert all(map(starting_state.is_lost, lost))
    assert not any(starting_state.is_lost(host(state)) for state in ("deprovisioning", "preparing", "available"))


def test_a_dead_part_of_the_lab_is_a_difference_too():
    class Dead:
        def __getattr__(self, name):
            raise OSError(f"{name} does not answer")

    assert starting_state.differences(Dead(), Dead()) == [
        "machine room: OSError('servers does not answer')", "API server: OSError('hosts does not answer')",
        "Ironic: OSError('ironic does not answer')"]


def test_the_operators_log_says_when_a_host_waited_and_leaves_out_the_routine(tmp_path):
    host = {"name": "h1", "namespace": "metal3"}
    controller = "controllers.BareMetalHost"
    entries = [
        {"level": "info", "ts": 0.5, "logger": controller, "msg": "start", "baremetalhost": host},
        {"level": "info", "ts": 1.25, "logger": "provisioner.ironic", "msg": "power change OK", "host": "metal3~h1"},
        {"level": "info", "ts": 2, "logger": controller, "msg": "done", "baremetalhost": host, "requeue": True,
         "after": 10},
        {"level": "error", "ts": 3, "msg": "Reconciler error", "name": "h1", "error": "refused", "stacktrace": "s"},
        {"level": "info", "ts": 4, "logger": "webhooks.BareMetalHost", "msg": "validate update", "name": "h1"}]
    log = tmp_path / "bmo.log"
    assert operator_log.recent(log, 9) == []
    log.write_text("\n".join(["no JSON", "[1]", *map(json.dumps, entries)]) + "\n{cut")
    lines = ["BMO 00:00:01.250 metal3~h1: power change OK", "BMO 00:00:02.000 h1: done requeue=True after=10",
             "BMO 00:00:03.000 h1: Reconciler error error=refused"]
    assert operator_log.recent(log, 9) == lines
    assert operator_log.recent(log, 2) == lines[1:]

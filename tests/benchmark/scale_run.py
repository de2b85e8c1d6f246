# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how fast the running lab LAB takes its servers in: from enrolment until all are available, then at rest.

Prints hosts per minute, the time in each provisioning state, processor seconds and memory by groups of programs, so
that the lab's own share has a name. Exit code 1 when a server does not become available, or the goal is missed.
"""
from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import program_usage
from host_phases import Phases

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.follow import follow
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import labs_dir
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor import Supervisor
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import Layout

REPOSITORY = Path(__file__).resolve().parents[2]
HOST = KNOWN["BareMetalHost"]
NAMESPACE = "metal3"
GOAL_PER_MINUTE = 25
# With fewer servers, what takes its time whatever the machine computes would decide.
GOAL_FROM_SERVERS = 100
TIMEOUT_SECONDS = 1800
# How long it is measured when all are available: as often as Ironic asks each BMC for its power state.
REST_SECONDS = 60


class Bench:
    """The running lab.

    :param lab: its name
    """

    def __init__(self, lab):
        self.dir = Path(labs_dir()) / lab
        self.servers = len(json.loads((self.dir / "servers.json").read_text()))
        self.kube = KubeClient({"kubeconfig": str(self.dir / "kubeconfig")})
        self._supervisor = Supervisor(Layout(str(self.dir / "supervisor")))

    def pids(self):
        """Return ``{program: pid}`` of the supervised programs that run."""
        return dict((name, info["pid"]) for name, info in self._supervisor.processes().items() if info.get("pid"))

    def enrol(self, log):
        """Start the playbook that enrols all servers and waits until they are available."""
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "ansible-playbook"), "metal3.baremetal.enroll", "-i",
             str(REPOSITORY / "inventory" / "lab")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def follow(self, process, began, timeout_seconds=TIMEOUT_SECONDS):
        """Return the Phases of all hosts, once all are available, the playbook has failed, or the time is up."""
        phases = Phases()
        for step in follow(self.kube, HOST, NAMESPACE, began + timeout_seconds):
            now = time.monotonic() - began
            for name in step.changed:
                if name in step.objects:
                    phases.note(name, step.objects[name], now)
            if len(phases.reached()) >= self.servers or process.poll() not in (None, 0):
                break
        return phases


def used(before, after):
    """Return ``[(group, processor seconds)]`` between two readings, most first.

    A program that was started again in between counts from its new start.
    """
    seconds = dict((group, value - before.get(group, 0.0) if value >= before.get(group, 0.0) else value)
                   for group, value in after.items())
    return sorted(seconds.items(), key=lambda pair: -pair[1])


def print_usage(title, seconds_by_group, elapsed):
    """Print processor seconds by group, and how much of one core each is."""
    print(title)
    for group, seconds in seconds_by_group:
        print(f"  {seconds:8.1f} s  {100 * seconds / elapsed:5.1f} % of a core  {group}")


def print_memory(before, after, servers):
    """Print memory by group, and what each server has added."""
    print("memory, and what one server has added to it:")
    for group in sorted(after, key=lambda name: -after[name]):
        grown = (after[group] - before.get(group, 0.0)) / servers
        print(f"  {after[group]:8.0f} MiB  {grown:6.2f} MiB per server  {group}")
    total = sum(after.values())
    print(f"  {total:8.0f} MiB  {(total - sum(before.values())) / servers:6.2f} MiB per server  all")


def main():
    """Measure and print."""
    bench = Bench(os.environ["LAB"])
    pids = bench.pids()
    memory = program_usage.memory_by_group(pids)
    print(f"{bench.servers} servers, {os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryFile() as log:
        began, seconds = time.monotonic(), program_usage.seconds_by_group(pids)
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = bench.enrol(log)
        phases = bench.follow(process, began)
        elapsed = time.monotonic() - began
        enrolling = used(seconds, program_usage.seconds_by_group(bench.pids()))
        code = process.wait(TIMEOUT_SECONDS)
        own_after = resource.getrusage(resource.RUSAGE_CHILDREN)
        log.seek(0)
        output = log.read().decode("utf-8", "replace")
    reached = sorted(phases.reached().values())
    own_seconds = own_after.ru_utime + own_after.ru_stime - own.ru_utime - own.ru_stime
    enrolling.append(("this playbook, to its end", own_seconds))
    print_usage(f"processor time until {len(reached)} servers were available, {elapsed:.0f} s:", enrolling, elapsed)
    print("time in each provisioning state (median, ninth decile, maximum):")
    for state, hosts, median, decile, longest in phases.table():
        print(f"  {median:6.1f} s {decile:6.1f} s {longest:6.1f} s  {state} ({hosts} hosts)")
    for name, message in sorted(phases.errors.items()):
        print(f"  error on the way: {name}: {message[:200]}")
    print_memory(memory, program_usage.memory_by_group(bench.pids()), bench.servers)
    if len(reached) < bench.servers or code:
        print(output[-4000:])
        print(f"failed: {len(reached)} of {bench.servers} servers became available; playbook enroll ended with {code}")
        return 1
    measure_rest(bench)
    return verdict(reached)


def measure_rest(bench):
    """Print what the plane uses when nothing is asked of it."""
    before, began = program_usage.seconds_by_group(bench.pids()), time.monotonic()
    time.sleep(REST_SECONDS)
    elapsed = time.monotonic() - began
    print_usage(f"processor time at rest, {elapsed:.0f} s:",
                used(before, program_usage.seconds_by_group(bench.pids())), elapsed)


def verdict(reached):
    """Print hosts per minute and return the exit code.

    :param reached: seconds after which each server was available, in order
    """
    rate = 60 * len(reached) / reached[-1]
    print(f"half of them available after {reached[(len(reached) - 1) // 2]:.0f} s, the last after {reached[-1]:.0f} s")
    if len(reached) < GOAL_FROM_SERVERS:
        print(f"{rate:.1f} hosts per minute (goal {GOAL_PER_MINUTE}, for {GOAL_FROM_SERVERS} servers and more)")
        return 0
    met = rate >= GOAL_PER_MINUTE
    print(f"{rate:.1f} hosts per minute (goal {GOAL_PER_MINUTE}: {'met' if met else 'missed'})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

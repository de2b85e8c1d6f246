# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Power actions on many hosts: the module against the same patches by bare HTTP and by looped kubernetes.core.

There is no operator on the API server of the benchmark, so nothing is waited for; measured is what the module adds to
the requests themselves.
"""
from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from measures import BMH, ROUNDS, THREADS, Figure, Playbooks, entries, objects, raw_sender, remove_hosts

NAMESPACE = "power"
STATUS = {"status": {"operationalStatus": "OK", "errorMessage": "", "errorCount": 0, "poweredOn": True,
                     "lastUpdated": "2026-01-01T00:00:00Z", "provisioning": {"state": "available", "ID": "n"}}}


def prepare(control_plane, count):
    """Make hosts that are available and powered on; return their names."""
    client = control_plane.client()
    control_plane.make_namespace(NAMESPACE)

    def make(host):
        client.apply(BMH, NAMESPACE, objects(host, NAMESPACE)[1])
        client.patch(BMH, NAMESPACE, host["name"], STATUS, subresource="status")
        return host["name"]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(make, entries(count)))


def by_raw_http(control_plane, names, online):
    """Patch ``online`` by bare HTTP on threads; return the seconds it took."""
    send = raw_sender(control_plane)
    began = time.monotonic()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda name: send("PATCH", BMH.path(NAMESPACE, name), "application/merge-patch+json",
                                        {"spec": {"online": online}}), names))
    return time.monotonic() - began


def by_module(playbooks, names, action):
    """Take an action by the module; return ``(seconds in the module, seconds of the whole program)``."""
    result, program = playbooks.run(
        {"metal3.baremetal.baremetal_host_action": {
            "namespace": NAMESPACE, "names": "{{ fleet }}", "action": action, "wait": False}}, {"fleet": names})
    if result["counts"] != {"total": len(names), "changed": len(names), "failed": 0}:
        raise RuntimeError(f"expected {len(names)} hosts changed, seen {result['counts']}")
    return result["seconds"], program


def by_loop(playbooks, names, online):
    """Patch by kubernetes.core.k8s_json_patch in a loop; return seconds, less those of a run without hosts."""
    task = {"kubernetes.core.k8s_json_patch": {
        "api_version": BMH.api_version, "kind": BMH.kind, "namespace": NAMESPACE, "name": "{{ item }}",
        "patch": [{"op": "replace", "path": "/spec/online", "value": online}]}, "loop": "{{ fleet }}"}
    dummy, overhead = playbooks.run(task, {"fleet": []})
    dummy, seconds = playbooks.run(task, {"fleet": names})
    return seconds - overhead


def measure_power(control_plane, work_dir, count, sample):
    """Measure all and yield each Figure as it is known.

    :param count: how many hosts
    :param sample: how many hosts the loop of kubernetes.core is measured with
    """
    playbooks = Playbooks(control_plane, work_dir)
    names = prepare(control_plane, count)
    raw, seconds, program = [], [], []
    for _number in range(ROUNDS):
        # By turns, and each of them a real change.
        raw.append(by_raw_http(control_plane, names, False))
        ours, whole = by_module(playbooks, names, "power_on")
        seconds.append(ours)
        program.append(whole)
    raw, seconds, program = min(raw), min(seconds), min(program)
    yield Figure(f"power action on {count} hosts, module", seconds, "s", "", None,
                 f"the same patches by raw HTTP, {THREADS} threads: {raw:.2f} s")
    yield Figure("power action: module / raw HTTP", seconds / raw, "x", "<= 1.5", seconds <= 1.5 * raw,
                 "the module reads all hosts first, and checks them")
    yield Figure(f"power action on {count} hosts, ansible-playbook as a whole", program, "s", "", None, "")
    looped = by_loop(playbooks, names[:sample], False) / sample * count
    yield Figure("power action: looped kubernetes.core.k8s_json_patch / module", looped / seconds, "x", ">= 50",
                 looped >= 50 * seconds, f"{looped:.0f} s for {count} hosts, extrapolated from {sample}")
    remove_hosts(control_plane, NAMESPACE)

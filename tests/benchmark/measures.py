# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured, each against a peer in the same run on the same API server."""
from __future__ import annotations

import base64
import json
import os
import ssl
import statistics
import subprocess
import sys
import threading
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.follow import follow
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.transport import FIELD_MANAGER
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

BMH = KNOWN["BareMetalHost"]
SECRET = KNOWN["Secret"]
THREADS = 8
ROUNDS = 3

# goal: text, or empty; met: True, False or None without a goal; peer: what it is compared with.
Figure = namedtuple("Figure", ["name", "value", "unit", "goal", "met", "peer"])


def entries(count):
    """Return hosts as baremetal_host takes them."""
    return [{
        "name": f"host-{number:04d}",
        "labels": {"rack": f"r{number // 40}"},
        "boot_mac_address": "00:5c:52:%02x:%02x:01" % divmod(number, 256),
        "bmc": {"address": "redfish-virtualmedia://198.18.%d.%d/redfish/v1/Systems/1" % divmod(number, 250),
                "username": "admin", "password": f"password-{number}"},
    } for number in range(count)]


def objects(host, namespace):
    """Return the Secret and the BareMetalHost of an entry, as a person would write them."""
    labels = {"environment.metal3.io": "baremetal", "app.kubernetes.io/managed-by": "metal3.baremetal"}
    data = dict((key, base64.b64encode(host["bmc"][key].encode()).decode()) for key in ("username", "password"))
    secret_name = host["name"] + "-bmc-secret"
    return (
        {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data,
         "metadata": {"name": secret_name, "namespace": namespace, "labels": labels}},
        {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
         "metadata": {"name": host["name"], "namespace": namespace, "labels": host["labels"]},
         "spec": {"online": True, "bootMACAddress": host["boot_mac_address"],
                  "bmc": {"address": host["bmc"]["address"], "credentialsName": secret_name}}})


class Playbooks:
    """Runs tasks as a user does, by ansible-playbook."""

    def __init__(self, control_plane, work_dir):
        self._control_plane = control_plane
        self._dir = Path(work_dir)

    def run(self, task, variables):
        """Run a playbook of one task; return ``(result, seconds of the whole program)``."""
        result = self._dir / "result.json"
        play = [{
            "hosts": "localhost", "connection": "local", "gather_facts": False,
            "vars": {"ansible_python_interpreter": sys.executable},
            "tasks": [dict(task, register="outcome"), {
                "ansible.builtin.copy": {"content": "{{ outcome | to_json }}", "dest": str(result), "mode": "0600"}}]}]
        (self._dir / "play.yml").write_text(yaml.safe_dump(play))
        (self._dir / "variables.json").write_text(json.dumps(variables))
        environment = dict(os.environ, K8S_AUTH_KUBECONFIG=str(self._control_plane.kubeconfig),
                           KUBECONFIG=str(self._control_plane.kubeconfig))
        began = time.monotonic()
        done = subprocess.run(
            [str(Path(sys.executable).parent / "ansible-playbook"), "play.yml", "-i", "localhost,",
             "-e", "@variables.json"],
            cwd=self._dir, env=environment, capture_output=True, text=True, timeout=1800, check=False)
        seconds = time.monotonic() - began
        if done.returncode:
            raise RuntimeError(f"playbook failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return json.loads(result.read_text()), seconds

    def enrol(self, namespace, hosts):
        """Enrol hosts by baremetal_host; return ``(result, seconds of the whole program)``."""
        return self.run({"metal3.baremetal.baremetal_host": {"namespace": namespace, "hosts": "{{ fleet }}"}},
                        {"fleet": hosts})

    def enrol_by_loop(self, namespace, hosts):
        """Enrol hosts by kubernetes.core.k8s in a loop; return seconds, less those of a run without hosts."""
        task = {"kubernetes.core.k8s": {"state": "present", "definition": "{{ item }}"}, "loop": "{{ documents }}"}
        dummy, overhead = self.run(task, {"documents": []})
        items = [item for host in hosts for item in objects(host, namespace)]
        dummy, seconds = self.run(task, {"documents": items})
        return seconds - overhead


def raw_sender(control_plane):
    """Return a callable ``(method, path, content type, body)`` that sends bare HTTP, a connection for each thread."""
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    server = urlsplit(config["clusters"][0]["cluster"]["server"])
    context = ssl.create_default_context(cafile=config["clusters"][0]["cluster"]["certificate-authority"])
    token = config["users"][0]["user"]["token"]
    local = threading.local()

    def send(method, path, kind, body):
        if not hasattr(local, "connection"):
            local.connection = HTTPSConnection(server.hostname, server.port, context=context)
        local.connection.request(method, path, json.dumps(body), {
            "Authorization": "Bearer " + token, "Content-Type": kind, "Accept": "application/json"})
        answer = local.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        json.loads(text)

    return send


def raw_writes(control_plane, namespace, hosts, method):
    """Write the same objects by bare HTTP on threads, and return the seconds it took.

    :param method: POST (create) or PATCH (server-side apply, which is what re-runs need)
    """
    raw = raw_sender(control_plane)

    def send(resource, body):
        if method == "POST":
            raw(method, resource.path(namespace), "application/json", body)
        else:
            path = resource.path(namespace, body["metadata"]["name"])
            raw(method, path + "?fieldManager=" + FIELD_MANAGER, "application/apply-patch+yaml", body)

    pairs = [objects(host, namespace) for host in hosts]
    began = time.monotonic()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda pair: send(SECRET, pair[0]), pairs))
        list(pool.map(lambda pair: send(BMH, pair[1]), pairs))
    return time.monotonic() - began


def remove_hosts(control_plane, namespace):
    """Delete all hosts of a namespace: the module refuses MAC addresses that hosts of other namespaces have."""
    control_plane.client().request("DELETE", BMH.path(namespace), timeout_seconds=120)


def watch_latencies(control_plane, namespace, names):
    """Change hosts' status one by one; return the seconds from each request to its sight on the watch."""
    client = control_plane.client()
    written, seen, ready = {}, {}, threading.Event()

    def look():
        for step in follow(control_plane.client(), BMH, namespace, time.monotonic() + 120):
            now = time.monotonic()
            if step.listed:
                ready.set()
            for name in step.changed:
                if (step.objects[name].get("status") or {}).get("operationalStatus") == "OK":
                    seen.setdefault(name, now)
            if len(seen) == len(names):
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    if not ready.wait(60):
        raise RuntimeError("the watch did not begin within 60 s")
    for name in names:
        written[name] = time.monotonic()
        status = {"status": {"operationalStatus": "OK", "errorMessage": "", "errorCount": 0, "poweredOn": False,
                             "provisioning": {"state": "available", "ID": ""}}}
        client.patch(BMH, namespace, name, status, subresource="status")
    watcher.join(130)
    if len(seen) != len(names):
        raise RuntimeError(f"{len(names) - len(seen)} of {len(names)} changes were not seen")
    return [seen[name] - written[name] for name in names]


def measure(control_plane, work_dir, count, sample):
    """Measure all and yield each Figure as it is known.

    :param count: how many hosts
    :param sample: how many hosts the loop of kubernetes.core.k8s is measured with
    """
    playbooks = Playbooks(control_plane, work_dir)
    hosts = entries(count)

    # The best of several rounds, taken by turns: what else the machine does at a time must not decide.
    applied, posted, seconds, program, ours = [], [], [], [], None
    for number in range(ROUNDS):
        for times, method in ((applied, "PATCH"), (posted, "POST")):
            theirs = control_plane.make_namespace(f"{method.lower()}-{number}")
            times.append(raw_writes(control_plane, theirs, hosts, method))
            remove_hosts(control_plane, theirs)
        if ours:
            remove_hosts(control_plane, ours)
        ours = control_plane.make_namespace(f"ours-{number}")
        result, whole = playbooks.enrol(ours, hosts)
        if result["counts"]["created"] != count:
            raise RuntimeError(f"expected {count} hosts created, seen {result['counts']}")
        seconds.append(result["seconds"])
        program.append(whole)
    applied, posted, seconds, program = min(applied), min(posted), min(seconds), min(program)
    yield Figure(f"enrol {count} hosts, module", seconds, "s", "", None,
                 f"raw HTTP, {THREADS} threads: server-side apply {applied:.2f} s, create {posted:.2f} s")
    yield Figure("enrol: module / raw server-side apply", seconds / applied, "x", "<= 1.5", seconds <= 1.5 * applied,
                 "same objects, same writes")
    yield Figure("enrol: module / raw create", seconds / posted, "x", "<= 1.5", seconds <= 1.5 * posted,
                 "same objects by POST, which can't be run again")
    yield Figure(f"enrol {count} hosts, ansible-playbook as a whole", program, "s", "", None, "")

    again, program = playbooks.enrol(ours, hosts)
    if again["changed"]:
        raise RuntimeError(f"the second run changed {again['counts']}")
    yield Figure("run again, nothing changed, module", again["seconds"], "s", "<= 1", again["seconds"] <= 1,
                 f"first run {seconds:.2f} s")
    yield Figure("run again, nothing changed, ansible-playbook as a whole", program, "s", "", None, "")

    looped = playbooks.enrol_by_loop(control_plane.make_namespace("loop"), hosts[:sample]) / sample * count
    yield Figure("enrol: looped kubernetes.core.k8s / module", looped / seconds, "x", ">= 50", looped >= 50 * seconds,
                 f"{looped:.0f} s for {count} hosts, extrapolated from {sample}")

    latencies = watch_latencies(control_plane, ours, [host["name"] for host in hosts[:200]])
    yield Figure(f"status change sent to seen on the watch, median of {len(latencies)}",
                 statistics.median(latencies) * 1000, "ms", "", None, f"slowest {max(latencies) * 1000:.1f} ms")

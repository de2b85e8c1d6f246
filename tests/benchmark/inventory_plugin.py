# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the inventory plugin against kubectl and kubernetes.core.k8s_info, which only print what there is."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import yaml
from measures import BMH, ROUNDS, Figure, Playbooks, entries, objects

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api import bulk

GOAL_SECONDS = 2
PLUGIN = "metal3.baremetal.baremetal_hosts"
GROUPS = [{"key": "metal3.state", "prefix": "state"}, {"key": "metal3.labels.rack", "prefix": "rack"}]
# In a process of its own, as a playbook's: what is imported once counts.
PARSE = f"""
import json, sys, time
from ansible.plugins.loader import init_plugin_loader
init_plugin_loader([])
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader
loader, inventory = DataLoader(), InventoryData()
began = time.monotonic()
inventory_loader.get("{PLUGIN}").parse(inventory, loader, sys.argv[1])
print(json.dumps([time.monotonic() - began, len(inventory.hosts)]))
"""


def hardware(number):
    """Return what the operator writes of an inspected server of two CPUs, four disks and four NICs."""
    return {
        "cpu": {"arch": "x86_64", "count": 64, "clockMegahertz": 2400, "model": "A CPU @ 2.40GHz",
                "flags": [f"flag-{flag}" for flag in range(100)]},
        "ramMebibytes": 262144,
        "hostname": f"host-{number:04d}",
        "systemVendor": {"manufacturer": "A vendor", "productName": "A server", "serialNumber": f"S{number:06d}"},
        "firmware": {"bios": {"date": "01/01/2026", "vendor": "A vendor", "version": "1.0"}},
        "nics": [{"name": f"eno{port}", "mac": "00:5c:52:%02x:%02x:%02x" % (*divmod(number, 256), port),
                  "ip": "198.18.%d.%d" % divmod(number, 250) if port == 1 else "", "model": "0x8086 0x1572",
                  "speedGbps": 25, "pxe": port == 1} for port in range(1, 5)],
        "storage": [{"name": f"/dev/disk/by-path/pci-0000:00:17.0-scsi-{disk}:0:0:0",
                     "alternateNames": ["/dev/sd" + "abcd"[disk]], "sizeBytes": 480103981056, "model": "A disk",
                     "serialNumber": f"D{number:06d}{disk}", "type": "SSD"} for disk in range(4)],
    }


def make(control_plane, namespace, count):
    """Make inspected hosts without anything else."""
    client = control_plane.client()

    def call(number, host):
        dummy, bmh = objects(host, namespace)
        client.create(BMH, namespace, bmh)
        client.patch(BMH, namespace, host["name"], {"status": {
            "operationalStatus": "OK", "errorMessage": "", "errorCount": 0, "poweredOn": True,
            "hardware": hardware(number), "provisioning": {"state": "available", "ID": f"{number:032d}"},
        }}, subresource="status")

    for outcome in bulk.run([lambda number=number, host=host: call(number, host)
                             for number, host in enumerate(entries(count))]):
        if outcome.error is not None:
            raise outcome.error


def timed(command, environment):
    """Run a program; return ``(what it printed, seconds)``."""
    began = time.monotonic()
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, check=False, env=environment)
    if done.returncode or "Failed to parse" in done.stderr:
        raise RuntimeError(f"{command}: {done.stderr[-3000:]}")
    return done.stdout, time.monotonic() - began


def measure_inventory(control_plane, work_dir, engine_dir, count):
    """Measure the inventory of ``count`` hosts and yield each Figure as it is known."""
    namespace = control_plane.make_namespace("inventory")
    make(control_plane, namespace, count)
    source = Path(work_dir) / "benchmark.metal3.yml"
    source.write_text(yaml.safe_dump({
        "plugin": PLUGIN, "kubeconfig": str(control_plane.kubeconfig), "namespaces": [namespace],
        "keyed_groups": GROUPS}))
    paths = os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(":")
    environment = dict(os.environ, KUBECONFIG=str(control_plane.kubeconfig),
                       PYTHONPATH=":".join([*paths, os.environ.get("PYTHONPATH", "")]))
    kubectl = [Path(engine_dir) / "bin" / "kubectl", "get", "bmh", "--namespace", namespace, "--output", "json"]
    programs = Path(sys.executable).parent
    plugin, listed, printed, looked_up = [], [], [], []
    task = {"kubernetes.core.k8s_info": {"api_version": BMH.api_version, "kind": BMH.kind, "namespace": namespace},
            "no_log": False}
    for _round in range(ROUNDS):
        output, seconds = timed(kubectl, environment)
        seen = len(json.loads(output)["items"])
        printed.append(seconds)
        output, dummy = timed([sys.executable, "-c", PARSE, source], environment)
        seconds, hosts = json.loads(output)
        plugin.append(seconds)
        if (hosts, seen) != (count, count):
            raise RuntimeError(f"expected {count} hosts, seen {hosts} by the plugin, {seen} by kubectl")
    output, seconds = timed([programs / "ansible-inventory", "-i", source, "--list"], environment)
    listed.append(seconds)
    result, seconds = Playbooks(control_plane, work_dir).run(task, {})
    if len(result["resources"]) != count:
        raise RuntimeError(f"k8s_info returned {len(result['resources'])} hosts")
    looked_up.append(seconds)
    plugin, listed, printed, looked_up = min(plugin), min(listed), min(printed), min(looked_up)
    yield Figure(f"inventory of {count} hosts with two keyed groups, plugin", plugin, "s",
                 f"<= {GOAL_SECONDS}", plugin <= GOAL_SECONDS, "loading it and its packages included")
    yield Figure("inventory: plugin / kubectl get -o json", plugin / printed, "x", "", None,
                 f"kubectl {printed:.2f} s")
    yield Figure("inventory: ansible-inventory --list as a whole", listed, "s", "", None, "")
    yield Figure("inventory: a play with kubernetes.core.k8s_info / ansible-inventory --list", looked_up / listed, "x",
                 "", None, f"k8s_info {looked_up:.2f} s")

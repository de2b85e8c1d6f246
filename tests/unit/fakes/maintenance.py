# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose hosts are maintained: its own API server, the management plane, and the service over both."""
from __future__ import annotations

import copy

from fakes.clusters import Plane, run
from fakes.kubernetes import Server
from fakes.merge_patch import merged
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance.service import MaintenanceService
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

HOST = "host-of-c1-one-0"
NODE = "c1-one-0"
BEGAN_AT = 1767225600.0


class Workload(Server):
    """The cluster's own API server: a node, pods, budgets as refusals, and a kubelet's lease."""

    def __init__(self):
        super().__init__()
        self.refusals, self.evicted, self.beats = {}, [], 0
        for name in ("c1-one-0", "c1-one-1", "c1-control-plane-0", "c1-control-plane-1"):
            self.objects["Node", name] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name},
                                          "spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}

    def add_pod(self, name, owner="ReplicaSet", **parts):
        owners = [{"kind": owner, "name": "o", "controller": True}] if owner else []
        self.objects["Pod", name] = dict({
            "apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": NODE}, "status": {"phase": "Running"},
            "metadata": {"name": name, "namespace": "default", "uid": "uid-" + name, "ownerReferences": owners}},
            **parts)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        items, version = super().list(resource, namespace, label_selector)
        name = (field_selector or "").partition("spec.nodeName=")[2]
        return [item for item in items if not name or item["spec"].get("nodeName") == name], version

    def get(self, resource, namespace, name):
        if resource.kind == "Lease":
            self.beats += 1
            return {"spec": {"renewTime": f"beat {self.beats}"}}
        return super().get(resource, namespace, name)

    def patch(self, resource, namespace, name, body, content_type=None, subresource=None, dry_run=False, checked=None):
        stored = self.objects[resource.kind, name]
        changed = merged(stored, body)
        if not dry_run:
            self.objects[resource.kind, name] = changed
        return copy.deepcopy(changed)

    def request(self, method, path, query=None, body=None, **dummy):
        name = body["metadata"]["name"]
        assert method == "POST" and path == f"/api/v1/namespaces/default/pods/{name}/eviction"
        assert body["deleteOptions"]["preconditions"]["uid"] == "uid-" + name
        if self.refusals.get(name):
            raise KubeError(self.refusals[name].pop(), 429)
        self.evicted.append(name)
        del self.objects["Pod", name]


def plane_of(workers=3, control_plane=1):
    """Return the plane of a cluster with machines that are Ready on hosts that are on."""
    found = Plane()
    run(found)
    for owner, number in (("c1-control-plane", control_plane), ("c1-one", workers)):
        found.add_members(owner, number)
        for position in range(number):
            name = f"{owner}-{position}"
            found.make_ready(name)
            found.objects["Metal3Machine", name]["metadata"]["ownerReferences"] = [{"kind": "Machine", "name": name}]
            found.objects["BareMetalHost", "host-of-" + name]["status"] = {"poweredOn": True}
    return found


def go(plane, workload, state="drained", hosts=(HOST,), check_mode=False, then=lambda: None,
       reports=None, **more):
    """Run the service; ``then`` is called at each pause."""
    params = dict({"namespace": "metal3", "hosts": list(hosts), "state": state, "reason": "fan", "confirm": "1",
                   "confirm_among": [], "allow_bare_pods": False, "allow_local_data": False,
                   "max_unavailable_per_pool": None, "later": [], "stays_out": False, "checked": [],
                   "wait_timeout_seconds": 60}, **more)
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds
        then()

    return MaintenanceService(plane, params, check_mode, reports or Reports(), lambda: now[0], sleep,
                              lambda *dummy: workload, lambda: BEGAN_AT + now[0]).run()

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of ready machines in memory, and a rollout of it whose new machine does not come."""
from __future__ import annotations

from fakes.clusters import OTHER_IMAGE, run

NOTE, PAUSED = "metal3.baremetal/rollout-stopped", "cluster.x-k8s.io/paused"
WORKERS = {"one": {"replicas": 3}, "two": {"replicas": 1}}
BAD = dict(WORKERS, one={"replicas": 3, "image": OTHER_IMAGE})
GOOD = dict(WORKERS, one={"replicas": 3, "image": dict(OTHER_IMAGE, url="https://x/c.raw")})
POOL, PLANE = ("MachineDeployment", "c1-one"), ("KubeadmControlPlane", "c1-control-plane")
SET = ("MachineSet", "c1-one-abcde")
_CLONED = "cluster.x-k8s.io/cloned-from-name"


def made(found, **options):
    """Make the cluster on a plane that has none."""
    run(found, **options)
    for owner, number in (("c1-control-plane", 1), ("c1-one", 3), ("c1-two", 1)):
        found.add_members(owner, number)
        for position in range(number):
            found.make_ready(f"{owner}-{position}")
    found.objects["Cluster", "c1"]["status"]["initialization"]["controlPlaneInitialized"] = True
    return found


def name_templates(plane):
    """Let the machines of the pool say of which templates they are made."""
    was = plane.spec(*POOL)["template"]["spec"]
    for position in range(3):
        name = f"c1-one-{position}"
        config = plane.add("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", name, spec={})
        machine = plane.objects["Machine", name]
        machine["spec"].update(version="v1.35.4", bootstrap={"configRef": {"kind": "KubeadmConfig", "name": name}})
        for obj, reference in ((plane.objects["Metal3Machine", name], was["infrastructureRef"]),
                               (config, was["bootstrap"]["configRef"])):
            obj["metadata"]["annotations"] = {_CLONED: reference["name"]}
    return was


def new_machine(plane, owner="c1-one", old=3):
    """Do what Cluster API does first: those of before are out of date, and there is one that does not come."""
    for position in range(old):
        conditions = plane.objects["Machine", f"{owner}-{position}"]["status"].setdefault("conditions", [])
        if not any(entry["type"] == "UpToDate" for entry in conditions):
            conditions.append({"type": "UpToDate", "status": "False"})
    pool = owner != "c1-control-plane"
    labels = {"cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/deployment-name" if pool
              else "cluster.x-k8s.io/control-plane": owner if pool else ""}
    if ("Machine", f"{owner}-new") not in plane.objects:
        machine = plane.add("cluster.x-k8s.io/v1beta2", "Machine", f"{owner}-new", spec={
            "bootstrap": {}, "infrastructureRef": {"kind": "Metal3Machine", "name": f"{owner}-new"}})
        machine["metadata"]["labels"] = dict(
            labels, **({"cluster.x-k8s.io/set-name": "c1-one-abcde"} if pool else {}))
    for name in ("c1-one-abcde", "c1-one-before") if pool else ():
        if ("MachineSet", name) not in plane.objects:
            found = plane.add("cluster.x-k8s.io/v1beta2", "MachineSet", name, spec={
                "replicas": 1, "template": plane.spec(*POOL)["template"]})
            found["metadata"]["labels"] = dict(labels)


def marks(plane, key):
    """Return the annotations of an object."""
    return plane.objects[key]["metadata"].get("annotations") or {}


def hold(plane, *keys):
    """Give objects Cluster API's finalizers, so that they stay when they are deleted."""
    for key in keys:
        plane.objects[key]["metadata"]["finalizers"] = ["cluster.x-k8s.io"]

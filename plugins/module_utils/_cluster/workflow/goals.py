# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster is where the user wants it; pure."""
from __future__ import annotations

from ..._common.texts.formats import duration, moment
from ..._common.texts.plain_text import cut, few
from ..._kube.objects.conditions import condition, is_true
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from .snapshot import is_of, node_name
from .steps import LAST_STEP, machine_steps, phase_text
from .topology import missing as topology_missing

# initialized: the API answers and there is a kubeconfig; nodes: every machine is a Node; available: all of them ready.
GOALS = ("initialized", "nodes", "available")
# Of machines that go, how many the line of progress has, and how much of what each waits for.
_GOING, _GOING_CHARACTERS = 2, 120


def missing(snapshot, goal, now=0):
    """Return what is missing to a goal, in words, or None when it is reached.

    :param snapshot: a Snapshot
    :param goal: one of :data:`GOALS`
    :param now: seconds since 1970; a time for a rollout that is later does not count
    """
    cluster = snapshot.cluster
    if cluster is None:
        return f"there is no Cluster {snapshot.cluster_name}"
    if not ((cluster.get("status") or {}).get("initialization") or {}).get("controlPlaneInitialized"):
        # Whether there is going to be one.
        behind = topology_missing(cluster, []) if snapshot.control_plane is None else None
        return behind or "the control plane is not initialized"
    if goal == "initialized":
        return None
    behind = topology_missing(cluster, snapshot.owners())
    if behind:
        return behind
    for owner in snapshot.owners():
        text = _owner(snapshot, owner, goal, now)
        if text:
            return text
    if goal == "available" and not is_true(cluster, "Available"):
        return "the Cluster is not Available: %s" % " ".join(
            (condition(cluster, "Available").get("message") or "no reason given").split())
    return None


def missing_of(snapshot, kind, name, goal, now=0):
    """Return what one owner's machines lack to a goal, in words, or None when it is reached.

    :param kind: ``KubeadmControlPlane`` or ``MachineDeployment``
    :param name: the owner's name
    :param goal: ``nodes`` or ``available``
    :param now: as for :func:`missing`
    """
    owner = snapshot.get(kind, name)
    return f"there is no {kind} {name}" if owner is None else _owner(snapshot, owner, goal, now)


def _owner(snapshot, owner, goal, now):
    if owner["kind"] == "Machine":
        return _standalone(owner, goal)
    name = title_of(owner)
    status = owner.get("status") or {}
    if (status.get("observedGeneration") or 0) < (owner["metadata"].get("generation") or 0):
        return f"{name} is not observed yet"
    wanted = (owner.get("spec") or {}).get("replicas")
    wanted = 1 if wanted is None else wanted
    machines = snapshot.machines_of(owner)
    nodes = sum(1 for machine in machines if node_name(machine)
                and not is_going(machine))
    if nodes != wanted or len(machines) != wanted:
        return f"{name} has {len(machines)} machines, {nodes} of them nodes, of {wanted}"
    fields = ("upToDateReplicas",) if goal == "nodes" else ("upToDateReplicas", "readyReplicas", "availableReplicas")
    for field in fields:
        if (status.get(field) or 0) != wanted:
            return f"{name}: {field} is {status.get(field) or 0} of {wanted}"
    former = [machine["metadata"]["name"] for machine in machines if _is_former(snapshot, machine, owner, now)]
    return f"{name}: Machine {former[0]} is to be replaced yet" if former else None


def _standalone(machine, goal):
    """Return what a Machine that nothing owns lacks to a goal, None when it is reached or the Machine goes."""
    name = f"Machine {machine['metadata']['name']}"
    if is_going(machine):
        return f"{name} is being deleted"
    if not node_name(machine):
        return f"{name} is no node"
    return f"{name} is not Available" if goal == "available" and not is_true(machine, "Available") else None


def _is_former(snapshot, machine, owner, now):
    """Say whether a MachineDeployment is about to replace a Machine.

    Its controller notes the generation that it has read before another one marks the Machines that are not up to date
    (Cluster API 1.13): until then ``upToDateReplicas`` is that of before. A KubeadmControlPlane's does both at once.
    """
    if owner["kind"] != "MachineDeployment":
        return False
    spec = owner.get("spec") or {}
    after = moment((spec.get("rollout") or {}).get("after") or spec.get("rolloutAfter")) or 0
    if (moment(machine["metadata"].get("creationTimestamp")) or after) < after <= now:
        return True
    return not is_of(machine, (spec.get("template") or {}).get("spec") or {}, snapshot, when_unknown=True)


def progress(snapshot, now, phase=lambda bmh, seconds: ""):
    """Return how far a cluster is: machines complete, how many are at which step, and the slowest.

    :param now: seconds since 1970
    :param phase: says where a host's server is, see :func:`steps.phase_text`
    :returns: state and detail, as ``Progress.status`` takes them
    """
    steps = machine_steps(snapshot)
    done = sum(1 for step in steps if step["complete"])
    counts, titles = {}, dict((step["step"], step["title"]) for step in steps)
    for step in steps:
        if not step["complete"]:
            key = "deleting" if step["deleting"] else step["step"]
            counts[key] = counts.get(key, 0) + 1
    parts = [f"{done}/{len(steps)} machines complete"]
    for number in range(1, LAST_STEP + 1):
        if counts.get(number):
            parts.append(f"{counts[number]} at step {number} of {LAST_STEP} ({titles[number]})")
    if counts.get("deleting"):
        # Not in the order of time: each is as far as its pods and its server let it be.
        going = [f"{step['machine']} waits for {cut(step['waits_for'], _GOING_CHARACTERS)}"
                 for step in steps if step["deleting"]]
        parts.append(f"{counts['deleting']} being deleted ({few(going, _GOING, '; ')})")
    slow = [step for step in steps if step["since"] and step["machine"] and not step["complete"]]
    longest = ""
    if slow:
        step = min(slow, key=lambda step: (step["since"], step["machine"]))
        # What the deletion of a machine waits for is in the state.
        what = "being deleted" if step["deleting"] else f"waits for {step['waits_for']}"
        longest = (f"longest: {step['machine']}, for {duration(now - (moment(step['since']) or now))}, {what}"
                   f"{phase_text(snapshot, step, now, phase)}")
    return f"cluster {snapshot.cluster_name}: {', '.join(parts)}", longest


def changes(before, after):
    """Return a line for each machine that came to another step, for each new error, and for what a deletion waits for.

    :param before: result of ``machine_steps`` at an earlier time, or None
    :param after: result of ``machine_steps`` now
    """
    known = dict((step["machine"], step) for step in before or [] if step["machine"])
    lines = []
    for step in after:
        if not step["machine"]:
            continue
        old = known.get(step["machine"])
        where = step["machine"] + (f" (host {step['host']})" if step["host"] else "")
        if step["error"] and step["error"] != (old or {}).get("error"):
            lines.append(f"{where}: error: {step['error']}")
        if old and (old["step"], old["complete"], _departure(old)) == (
                step["step"], step["complete"], _departure(step)):
            continue
        if step["deleting"]:
            lines.append(f"{where}: being deleted; waits for {step['waits_for']}")
        elif step["complete"]:
            lines.append(f"{where}: ready as node {step['node']}")
        else:
            lines.append(f"{where}: step {step['step']} of {LAST_STEP}, {step['title']}; waits for {step['waits_for']}")
    return lines


def _departure(step):
    """Return what the deletion of a machine waits for, None when it stays."""
    return step["waits_for"] if step["deleting"] else None

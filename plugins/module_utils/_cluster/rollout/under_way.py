# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which owners are replacing their machines, and what is said of one that is stopped at it; pure."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._kube.objects.conditions import condition
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..workflow.rollout_stop import OWNERS, is_held, is_paused_by_others, note_of, sets_of
from ..workflow.snapshot import PAUSED_ANNOTATION, SET_LABEL, cloned_from, is_of, is_paused
from ..workflow.steps import machine_steps
from .rollout import references

Object = dict[str, Any]

# Values of the option ``rollout``.
DESCRIBED, RESUME, ROLLBACK = "described", "resume", "rollback"
_LIMIT = 6


class UnderWay(NamedTuple):
    """An owner that is replacing its machines.

    :ivar owner: the KubeadmControlPlane or MachineDeployment
    :ivar old: its Machines of before, which are still to be replaced
    :ivar sets: the MachineSets of the new machines, of a MachineDeployment
    """

    owner: Object
    old: list[Object]
    sets: list[Object]

    @property
    def title(self) -> str:
        """Return how messages name it."""
        return title_of(self.owner)


def is_former(machine: Object, owner: Object, snapshot: Any) -> bool:
    """Say whether a Machine is not as its owner describes machines now."""
    if condition(machine, "UpToDate").get("status") == "False":
        return True
    wanted = ((owner.get("spec") or {}).get("template") or {}).get("spec") or {}
    return owner["kind"] == "MachineDeployment" and not is_of(machine, wanted, snapshot, when_unknown=True)


def is_made_of(machine: Object, wanted: Object | None, snapshot: Any) -> bool:
    """Say whether a Machine is as an owner of a plain cluster is to describe machines, as far as that is known.

    :param wanted: the KubeadmControlPlane or MachineDeployment; None says nothing
    :param snapshot: a workflow Snapshot
    """
    if wanted is None:
        return True
    spec = wanted["spec"]
    if wanted["kind"] == "MachineDeployment":
        return is_of(machine, spec["template"]["spec"], snapshot, when_unknown=True)
    # Of its kubeadm configuration a Machine does not say which it has.
    (_kind, template), = references(wanted)
    return machine["spec"].get("version") in (None, spec.get("version")) and cloned_from(
        snapshot.infrastructure_machine(machine)) in (None, template)


def under_way(snapshot: Any, rolled: Collection[str]) -> list[UnderWay]:
    """Return the owners whose machines are being replaced and are not all complete.

    :param snapshot: a workflow Snapshot
    :param rolled: names of the owners whose rollout this run has begun; of these the last old machine may be gone
    """
    found = []
    incomplete = set(step["owner"] for step in machine_steps(snapshot) if not step["complete"])
    for owner in snapshot.owners():
        name = owner["metadata"]["name"]
        if owner["kind"] not in OWNERS or is_going(owner):
            continue
        machines = [machine for machine in snapshot.machines_of(owner) if not is_going(machine)]
        old = [machine for machine in machines if is_former(machine, owner, snapshot)]
        if old or (name in rolled and name in incomplete):
            new = set((machine["metadata"].get("labels") or {}).get(SET_LABEL)
                      for machine in machines if machine not in old)
            sets = [item for item in sets_of(snapshot, name) if item["metadata"]["name"] in new]
            found.append(UnderWay(owner, old, sets if owner["kind"] == "MachineDeployment" else []))
    return found


def stop_lines(stopped: Iterable[UnderWay], left: Iterable[UnderWay], no_way_back: str, option: str) -> list[str]:
    """Return what a failure says of rollouts: which are stopped, and the next steps.

    :param stopped: those that are paused now
    :param left: those that somebody else has paused
    :param no_way_back: why none leads to what the machines were made of before, and what else does; empty when one does
    :param option: the name of the option ``rollout``, as the reader knows it
    """
    stopped = list(stopped)
    lines = [f"- not paused: {entry.title}, because somebody else has paused it already" for entry in left]
    if not stopped:
        return lines
    for entry in stopped:
        names = [machine["metadata"]["name"] for machine in entry.old]
        parts = [f"- stopped: {entry.title} is paused (annotation {PAUSED_ANNOTATION})"]
        if entry.sets:
            parts.append(f", and so is {', '.join(title_of(item) for item in entry.sets)}")
        lines.append("%s: %s" % ("".join(parts), _effect(entry, names)))
    back = no_way_back or f"to go back to the former templates, run again with {option}={ROLLBACK}"
    return [*lines, "- next, one of these:",
            "    1. correct the description and run again: the rollout goes on with it",
            f"    2. when the cause lay elsewhere and is gone, run again with {option}={RESUME}", f"    3. {back}"]


def _effect(entry: UnderWay, names: list[str]) -> str:
    stays = f"{few(names, _LIMIT)} stay{'s' if len(names) == 1 else ''}, whatever becomes of the new machine" \
        if names else "none of its machines is replaced"
    if entry.owner["kind"] == "MachineDeployment":
        return f"{stays}, and no health check has the new one made again"
    return f"{stays}, and no control plane machine is replaced by a health check meanwhile"


def refusals(subject: str, stopped: Iterable[Object], going_on: Collection[str]) -> list[Problem]:
    """Return a problem for each stopped rollout that the run's description says nothing new of.

    What only waits for its turn comes with them.

    :param subject: what messages call the cluster
    :param stopped: the owners that are stopped
    :param going_on: names of those that this run lets go on
    """
    return [Problem(
        "rollout-stopped", subject, "rollout", f"{title_of(owner)}, whose rollout a run has stopped at "
        f"{note_of(owner).at}, and the same description of its machines", "another description, or what is to become "
        "of the rollout", f"correct the description, or set rollout to {RESUME} (it goes on as described) or to "
        f"{ROLLBACK} (back to the former templates)") for owner in stopped
        if owner["metadata"]["name"] not in going_on and not is_held(owner)]


def resumed_lines(stopped: Iterable[Object], going_on: Collection[str], snapshot: Any) -> list[str]:
    """Return a line for each stopped rollout that goes on, with the machines that it has not replaced yet."""
    lines = []
    for owner in stopped:
        if owner["metadata"]["name"] in going_on:
            old = [machine["metadata"]["name"] for machine in snapshot.machines_of(owner)
                   if is_former(machine, owner, snapshot)]
            rest = f"; to be replaced are {few(old, _LIMIT)}" if old else ""
            note = note_of(owner)
            since = "waiting for its turn since" if note.held else "stopped at"
            lines.append(f"{title_of(owner)}: its rollout, {since} {note.at}, goes on{rest}")
    return lines


def pause_warnings(snapshot: Any, owners: Collection[str]) -> list[str]:
    """Return a warning for each owner that is to lose machines and that somebody else has paused, or for the Cluster.

    :param owners: names of the owners whose machines would be replaced or deleted
    """
    found = [f"Cluster {snapshot.cluster_name} is paused (spec.paused): Cluster API replaces and deletes none of its "
             "machines before it is resumed, and then does without a question"] \
        if owners and is_paused(snapshot.cluster) else []
    return found + [
        f"{title_of(owner)} is paused (annotation {PAUSED_ANNOTATION}) by somebody else: Cluster API replaces and "
        "deletes none of its machines before that is taken away" for owner in snapshot.owners()
        if owner["metadata"]["name"] in owners and is_paused_by_others(owner)]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be asked of a cluster's Machines, and when it is refused; pure.

Source: Cluster API, ``api/core/v1beta2/common_types.go``; KubeadmControlPlane's ``scale.go`` and ``remediation.go``.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._host.state.leaving import leaving
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.precondition import uid_of
from ..._kube.objects.titles import title_of
from ..waiting.failures import paused
from ..workflow.rollout_stop import is_paused_by_others, sets_of
from ..workflow.snapshot import PAUSED_ANNOTATION, is_control_plane
from ..workflow.steps import machine_steps

# With it a Machine is the first to go when its owner is to have fewer.
PREFERRED = "cluster.x-k8s.io/delete-machine"
NOT_REMEDIATED = "cluster.x-k8s.io/skip-remediation"
REPLACE = "replace"


class Annotation(NamedTuple):
    """An action that sets or removes an annotation.

    :param name: the annotation's name
    :param value: what it becomes, None when it is removed
    """

    name: str
    value: str | None


ANNOTATIONS = {
    "mark_for_scale_in": Annotation(PREFERRED, "true"),
    "unmark_for_scale_in": Annotation(PREFERRED, None),
    "skip_remediation": Annotation(NOT_REMEDIATED, "true"),
    "allow_remediation": Annotation(NOT_REMEDIATED, None),
}
ACTIONS = (*sorted(ANNOTATIONS), REPLACE)


def is_preferred(machine: Mapping[str, Any]) -> bool:
    """Say whether a Machine is marked to go first."""
    return PREFERRED in (machine["metadata"].get("annotations") or {})


def change(action: str, machine: Mapping[str, Any]) -> dict[str, str | None]:
    """Return which annotations an action changes on a Machine, None for one that is removed; empty when it has it."""
    annotation = ANNOTATIONS[action]
    current = (machine["metadata"].get("annotations") or {}).get(annotation.name)
    # Cluster API looks whether it is there, not at its value.
    has = current is not None
    return {} if has == (annotation.value is not None) else {annotation.name: annotation.value}


def problems(action: str, names: Iterable[str], snapshot: Any, subject: str) -> list[Problem]:
    """Return why an action on Machines is refused.

    :param names: names of the Machines
    :param snapshot: a workflow Snapshot of their cluster
    :param subject: what messages call the cluster
    """
    mine = dict((item["metadata"]["name"], item) for item in snapshot.mine("Machine"))
    names, found = list(names), []
    if snapshot.cluster is None:
        return [Problem("machine-action", subject, "", "no such Cluster", "a cluster of this namespace",
                        "correct name or namespace")]
    for name in names:
        if name not in mine:
            found.append(Problem("machine-action", subject, "machines", name,
                                 f"one of {', '.join(sorted(mine)) or 'no Machine, for it has none'}",
                                 "one that an earlier run has replaced is gone; the playbook cluster waits for the "
                                 "machines that take its place" if action == REPLACE else None))
        elif is_going(mine[name]) and action != REPLACE:
            found.append(Problem("machine-action", subject, "machines", f"{name}, which is being deleted",
                                 "a Machine that stays"))
        elif action == REPLACE and snapshot.owner_of(mine[name]) is None:
            found.append(Problem("machine-action", subject, "machines", f"{name}, which no KubeadmControlPlane or "
                                 "MachineDeployment owns", "one whose owner makes another",
                                 "a standalone Machine goes by state: absent in standalone_machines (playbook "
                                 "cluster); with present afterwards another is made"))
    for name in sorted(set(name for name in names if names.count(name) > 1)):
        found.append(Problem("machine-action", subject, "machines", f"{name} twice", "each Machine once"))
    if found or action != REPLACE:
        return found
    going = [mine[name] for name in to_delete(names, snapshot)]
    return _paused(going, snapshot, subject) + quorum_problems(going, snapshot, subject, "machines")


def _paused(machines: Iterable[Any], snapshot: Any, subject: str) -> list[Problem]:
    """Return why Cluster API would not replace Machines now.

    What is paused it deletes at the moment when it is released, whoever has paused it for whatever reason.
    """
    machines, parts = list(machines), []
    for machine in machines:
        owner = snapshot.owner_of(machine)
        parts += [machine, snapshot.infrastructure_machine(machine), owner,
                  *sets_of(snapshot, owner["metadata"]["name"])]
    titles = set(title_of(item) for item in parts if item is not None and is_paused_by_others(item))
    found = [Problem("cluster-paused", subject, "spec.paused", "true", "a cluster that is not paused",
                     f"{failure.cause}; {failure.next_step}") for failure in paused(snapshot) if machines]
    return found + [Problem("cluster-paused", subject, "machines", f"{title}, which is paused (annotation "
                            f"{PAUSED_ANNOTATION})", "objects that Cluster API works on",
                            "find out who has paused it, and take the annotation away") for title in sorted(titles)]


def to_delete(names: Iterable[str], snapshot: Any) -> list[str]:
    """Return which Machines a replacement has yet to delete: not those that an earlier run, or somebody, has.

    :param names: names of Machines of the cluster
    """
    return [name for name in names if not is_going(snapshot.get("Machine", name))]


def identity_problems(names: Iterable[str], checked: Mapping[str, str | None], snapshot: Any,
                      subject: str) -> list[Problem]:
    """Return a Problem for each Machine that is not the one that was checked under its name.

    :param checked: ``{name: uid}``; Machines that it does not name may be any
    """
    return [Problem("machine-action", subject, "machines", f"another Machine of the name {name}",
                    "the one that was checked", "look at it, then run again")
            for name in names for machine in [snapshot.get("Machine", name)]
            if machine and name in checked and uid_of(machine) != checked[name]]


def owners(names: Iterable[str], snapshot: Any) -> list[tuple[str, str]]:
    """Return kind and name of the owners of Machines, the control plane first."""
    found = set()
    for name in names:
        owner = snapshot.owner_of(snapshot.get("Machine", name))
        found.add((owner["kind"], owner["metadata"]["name"]))
    return sorted(found)


def one_at_a_time(names: Sequence[str], subject: str, field: str) -> Problem:
    """Return the Problem of several machines of a control plane that would stop together.

    :param names: of the Machines
    :param field: option that names them
    """
    return Problem("etcd-quorum", subject, field, f"{len(names)} machines of the control plane ({', '.join(names)})",
                   "one at a time, for etcd must keep its quorum", "name one, and the next when that is done")


def quorum_problems(machines: Iterable[Mapping[str, Any]], snapshot: Any, subject: str, field: str,
                    own: Iterable[str] = ()) -> list[Problem]:
    """Return the Problem when etcd would lose its quorum, or its last member, without these machines.

    :param machines: Machines of the cluster that are to go or to stop
    :param field: option that names them
    :param own: names of the hosts of the run, whose marks are its own, or of a run before that it takes up
    """
    going = sorted(machine["metadata"]["name"] for machine in machines if is_control_plane(machine))
    if not going:
        return []
    if len(going) > 1:
        return [one_at_a_time(going, subject, field)]
    steps = [step for step in machine_steps(snapshot) if step["role"] == "control-plane" and step["machine"]]
    healthy = [step for step in steps if step["complete"] and step["machine"] not in going]
    # Their Nodes stay Ready until somebody switches the servers off, or BMO does.
    leave = [f"{step['host']} {why}" for step in healthy if step["host"] not in set(own)
             for why in [leaving(snapshot.get("BareMetalHost", step["host"]))] if why]
    stay = len(healthy) - len(leave)
    if stay > len(steps) // 2:
        return []
    beside = f"; {'; '.join(leave)}" if leave else ""
    return [Problem(
        "etcd-quorum", subject, field, f"{going[0]} of a control plane with {stay} other healthy "
        f"machines of {len(steps)}{beside}", f"more than {len(steps) // 2} others, for etcd must keep its quorum",
        "enlarge the control plane to 3 first, or bring the others back")]

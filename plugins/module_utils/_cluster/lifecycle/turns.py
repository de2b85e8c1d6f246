# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of workers whose machines are replaced one pool after another, each when what was before it is done.

kubeadm and the kubelets of workers must not be newer than the control plane. A pool that does not come keeps the others
as they are. Of a plain cluster each pool is written when it is its turn. Of a topology all are written by Cluster API
at once, so those whose turn is later are paused before, and released when it has come.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..._kube.objects.titles import title_of
from ..rollout.under_way import under_way
from ..waiting.service import ClusterWait, WaitFailedError
from ..workflow import topology as cluster_topology
from ..workflow.rollout_stop import is_held
from ..workflow.snapshot import Snapshot, is_paused_alone
from ..writing.entries import entry_title
from . import stopping
from .checking import CheckedCluster
from .planning import PlannedCluster
from .run import ClusterRun

# How long a run waits for machines in between, for each goal of its end: without a network add-on no node is Ready.
_ROLLED = {"initialized": "nodes", "nodes": "nodes", "available": "available"}


class Turn(NamedTuple):
    """A pool whose rollout begins when what was before it is done.

    :ivar name: of the MachineDeployment
    :ivar title: how messages name it
    :ivar owner: the MachineDeployment as it is stored, of a topology; None of a plain cluster
    :ivar begin: callable that lets its rollout begin
    """

    name: str
    title: str
    owner: dict[str, Any] | None
    begin: Callable[[], None]

    @property
    def is_held(self) -> bool:
        """Say whether it is paused until then."""
        return self.owner is not None


def entries(run: ClusterRun, later: Iterable[Any], going_on: Iterable[str]) -> list[Turn]:
    """Return the turns of a plain cluster.

    :param later: the entries of its pools that are to be written, in their order
    :param going_on: names of owners whose rollout was stopped and goes on
    """
    def turn(entry: Any) -> Turn:
        def begin() -> None:
            run.write([entry])
            if entry.name in going_on:
                stopping.release(run, [entry.name])

        return Turn(entry.name, entry_title(entry), None, begin)

    return [turn(entry) for entry in later]


def pools(run: ClusterRun, checked: CheckedCluster, planned: PlannedCluster) -> list[Turn]:
    """Return the turns of a cluster by ClusterClass; none where nothing is before a pool.

    Another version Cluster API puts in an order by itself, and would wait for a pool that is held here.
    """
    description, snapshot = checked.description, checked.snapshot
    cluster = next((entry.desired for entry in planned.entries if entry.resource.kind == "Cluster"), None)
    leaving = [owner["metadata"]["name"] for owner in planned.leaving]
    owners = [owner for owner in snapshot.owners() if owner["metadata"]["name"] not in leaving]
    if not description.by_topology or cluster_topology.is_upgrading(cluster, owners):
        return []
    rolling = set(change["owner"] for change in planned.changes if change["rolls"]) | set(planned.going_on)
    due = [owner for owner in owners if cluster_topology.names_of(owner, description) & rolling]
    begun = _begun(snapshot, [owner["metadata"]["name"] for owner in due])
    # One that is held alone waits for what a run before has let begin, or for nothing.
    if len(due) + len(begun) < 2 and not any(is_held(owner) for owner in due):
        return []

    def turn(owner: dict[str, Any]) -> Turn:
        name = owner["metadata"]["name"]

        def begin() -> None:
            run.held.discard(name)
            stopping.release(run, [name])

        return Turn(name, title_of(owner), owner, begin)

    return [turn(owner) for owner in sorted(due, key=lambda owner: owner["metadata"]["name"])
            if owner["kind"] == "MachineDeployment"]


def _begun(snapshot: Snapshot, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return kind and name of the owners whose rollout a run before has begun and that still have machines of before.

    :param names: of those that are left out
    """
    owners = [entry.owner for entry in under_way(snapshot, ()) if not is_paused_alone(entry.owner)]
    return sorted((owner["kind"], owner["metadata"]["name"]) for owner in owners
                  if owner["metadata"]["name"] not in names)


def take(run: ClusterRun, turns: list[Turn], wait: ClusterWait, snapshot: Snapshot) -> None:
    """Let each pool begin when what was before it is done.

    :param snapshot: the cluster's Snapshot before this run
    :raises WaitFailedError: when the machines of one do not come; it names the pools that were not begun
    """
    goal = _ROLLED[run.options["wait_for"]]
    plane = snapshot.control_plane
    first = ("KubeadmControlPlane", plane["metadata"]["name"] if plane else run.read().description.groups[0].owner)
    before = [first, *(owner for owner in _begun(snapshot, [turn.name for turn in turns]) if owner != first)]
    for position, turn in enumerate(turns):
        for owner in before:
            naming(turns[position:], functools.partial(
                wait.until_rolled, *owner, goal, run.options["node_startup_timeout_seconds"]))
        turn.begin()
        before = [("MachineDeployment", turn.name)]


def naming(turns: list[Turn], wait: Callable[[], Any]) -> Any:
    """Wait, and return what that returns; a failure names the pools that were not begun.

    :raises WaitFailedError: of the wait
    """
    try:
        return wait()
    except WaitFailedError as exc:
        if not turns:
            raise
        until = " (paused until it is their turn)" if any(turn.is_held for turn in turns) else ""
        raise WaitFailedError(f"{exc}\n- not begun: {', '.join(turn.title for turn in turns)}{until}; when the "
                              "description is corrected, or is that of before again, run again", exc.steps) from exc

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what was planned for a cluster, waits for it, and collects what nothing needs any more."""
from __future__ import annotations

from typing import Any

from ..._kube.objects.titles import title_of
from ..._kube.responses.errors import KubeError
from ..rollout import losses as cluster_losses
from ..rollout import rollout as cluster_rollout
from ..waiting.service import ClusterWait, staying
from ..workflow import goals as workflow_goals
from ..workflow import topology as cluster_topology
from ..workflow import tree as workflow_tree
from ..workflow.reading import read_all
from ..workflow.snapshot import Snapshot
from ..workflow.steps import machine_steps
from ..writing import prune as cluster_prune
from ..writing import stored as cluster_stored
from ..writing.entries import entry_result, removal_difference
from . import stopping
from . import turns as turns_of
from .checking import CheckedCluster
from .planning import PlannedCluster
from .run import ClusterRun

_FOLLOWED_SECONDS = 30


def apply(run: ClusterRun, checked: CheckedCluster, planned: PlannedCluster,
          wait: ClusterWait | None) -> dict[str, Any]:
    """Write and delete what was planned; return the result so far."""
    # Before that, a control plane waits for the manifests, which come later, and no worker joins without it.
    runs = wait is not None and workflow_goals.missing(checked.snapshot, "initialized") is None
    later = cluster_rollout.workers_that_roll(planned.entries, planned.changes, planned.going_on) if runs else []
    turns = turns_of.entries(run, later, planned.going_on) if later else \
        turns_of.pools(run, checked, planned) if runs else []
    fresh = stopping.hold(run, planned, checked.snapshot, [turn for turn in turns if turn.is_held])
    _write(run, [entry for entry in planned.entries if entry not in later], fresh)
    gone = set(item["metadata"]["name"] for item in planned.removed + planned.leaving) & set(planned.going_on)
    if planned.going_on or run.held:
        turns_of.naming(turns, lambda: follow(run, wait))
        stopping.release(run, set(planned.going_on) - set(turn.name for turn in turns) - gone)
    run.delete(planned.removed, run.writes.still_undescribed)
    stopping.release_deleted(run, gone)
    if wait is not None:
        turns_of.take(run, turns, wait, checked.snapshot)
    changing = [entry for entry in planned.entries if entry.changes]
    # Of a topology what goes on is released without another change.
    is_changed = bool(planned.removed or planned.leaving or planned.going_on or changing)
    return {"changed": is_changed, "changes": planned.changes,
            "losses": cluster_losses.as_result(planned.losses), "warnings": planned.warnings,
            "objects": [entry_result(entry) for entry in changing],
            "removed": [title_of(item) for item in planned.removed + planned.leaving],
            "diff": [run.difference(entry) for entry in changing]
            + [removal_difference(item) for item in planned.removed + planned.leaving]}


def _write(run: ClusterRun, entries: list[Any], held: list[str]) -> None:
    """Write entries; pools that wait for their turn do so no more when the Cluster was not written.

    :param held: names of the pools that wait for their turn since this run
    :raises KubeError: with all that the server refused
    """
    try:
        run.write(entries)
    except KubeError as exc:
        if ("Cluster", run.name) not in run.begun:
            stopping.release(run, held)
            raise
        if not held:
            raise
        raise KubeError(f"{exc.message}\n- paused until the next run: MachineDeployment {', '.join(held)}",
                        exc.status, exc.reason) from exc


def follow(run: ClusterRun, wait: ClusterWait | None) -> bool:
    """Wait until owners that are paused have what a Cluster's topology says now, and return whether they have.

    Released before, they would go on with what it said. Of a version that waits for other machines they have it later,
    so that this is given up after some seconds.

    :raises WaitFailedError: when Cluster API does not write it in time
    """
    if run.check_mode or not run.read().description.by_topology:
        return True
    for _number in range(_FOLLOWED_SECONDS):
        snapshot = run.snapshot()
        owners = staying(snapshot.owners())
        if cluster_topology.missing(snapshot.cluster, owners) is None:
            return True
        run.sleep(1)
    if wait is None or cluster_topology.is_upgrading(snapshot.cluster, owners):
        return False
    wait.until_followed(run.options["node_startup_timeout_seconds"])
    return True


def until_goal(run: ClusterRun, checked: CheckedCluster, result: dict[str, Any], wait: ClusterWait | None) -> None:
    """Wait for the goal; give the cluster its manifests as soon as it takes them, unless Cluster API does."""
    if checked.manifests and not checked.resource_sets.is_wanted:
        _add_manifests(run, result, checked.snapshot, wait)
    if wait is None:
        return
    wait.until(run.options["wait_for"], run.options["node_startup_timeout_seconds"])
    if checked.manifests and run.options["wait_for"] == "available":
        if checked.resource_sets.is_wanted:
            checked.resource_sets.wait(wait)
        run.manifests(run.workload()).wait(wait.remaining_seconds())
    result.update(timeline=wait.timeline, seconds=round(wait.clock() - wait.began_at, 1))


def _add_manifests(run: ClusterRun, result: dict[str, Any], snapshot: Snapshot, wait: ClusterWait | None) -> None:
    """Write the manifests into the workload cluster as soon as it takes them: nodes may need them to be ready.

    :param snapshot: the cluster's Snapshot before this run
    :param wait: a ClusterWait, None when nothing is to be waited for
    """
    if wait:
        wait.until("initialized", run.options["node_startup_timeout_seconds"])
    # A kubeconfig is there long before an API server that it leads to.
    answers = wait is not None or workflow_goals.missing(snapshot, "initialized") is None
    workload = run.workload() if answers else None
    if workload is None and not run.check_mode:
        result["warnings"].append(
            f"{run.subject}: its manifests are not applied, because it has no initialized control plane yet and "
            "wait_for is none; run again when it has")
        return
    try:
        manifests = run.manifests(workload)
        manifests.seconds_left = wait.remaining_seconds() if wait else 0
        written = manifests.write()
    except KubeError as exc:
        if not (run.check_mode and exc.retriable):
            raise
        result["warnings"].append(f"{run.subject}: its manifests are not compared, because its own API server "
                                  f"does not answer: {exc.message}")
        return
    result["manifests"] = written["objects"]
    result["changed"] = result["changed"] or written["changed"]
    result["diff"] += written["diff"]
    if not run.check_mode:
        run.done["changed"] = run.done["changed"] or written["changed"]
        run.done["diff"] += written["diff"]


def collect(run: ClusterRun, checked: CheckedCluster, result: dict[str, Any]) -> None:
    """Delete templates and pools that nothing needs any more; after the wait, when old machines are gone."""
    objects, addresses = read_all(run.client, run.namespace, run.provider)
    desired = checked.desired + cluster_stored.kept_pools(checked.description, objects)
    unused = cluster_prune.unused_templates(objects, desired, run.name)
    pools = cluster_prune.undescribed_pools(objects, addresses, desired, run.name)
    unused += [pool for pool, users in pools if not users]
    result.update(unused=[title_of(item) for item in unused], collected=[])
    if not run.options["prune"] or not _is_followed(run, checked, objects):
        return
    gone = run.delete(unused)
    result.update(unused=[title_of(item) for item in unused if item not in gone],
                  collected=[title_of(item) for item in gone])
    result["warnings"] += [
        f"cluster {run.namespace}/{run.name}: {title_of(pool)} is not described any more and stays, for it is "
        f"still needed: {', '.join(users)}; run again when that is gone" for pool, users in pools if users]


def _is_followed(run: ClusterRun, checked: CheckedCluster, objects: dict[str, list[dict[str, Any]]]) -> bool:
    """Say whether Cluster API works by the described class, and needs the one of before no more."""
    wanted = next(item for item in checked.desired if item["kind"] == "Cluster")
    return not checked.description.by_topology or cluster_topology.is_observed(
        Snapshot(objects, run.name).cluster, wanted)


def with_state(run: ClusterRun, result: dict[str, Any]) -> dict[str, Any]:
    """Add to a result how the cluster's machines are now."""
    result["changed"] = result["changed"] or bool(result["collected"])
    snapshot = run.snapshot()
    result["machines"] = machine_steps(snapshot) if snapshot.cluster else []
    result["tree"] = workflow_tree.lines(workflow_tree.tree(snapshot)) if snapshot.cluster else []
    return result

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes a cluster with all that belongs to it."""
from __future__ import annotations

from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._host.state import lock as host_lock
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..._metal3.kinds import KNOWN
from ..description.providers import CLASS_KINDS, provider_of_cluster, with_classes, without_classes
from ..waiting.failures import paused, paused_parts
from ..waiting.service import belongs
from ..workflow import topology as cluster_topology
from ..workflow.metalstack import server_of
from ..workflow.reading import read_all
from ..workflow.rollout_stop import is_stopped, sets_of
from ..workflow.snapshot import Snapshot
from ..writing import ownership as cluster_ownership
from ..writing import prune as cluster_prune
from ..writing.entries import removal_difference
from . import stopping
from .resource_set_service import ResourceSets
from .run import ClusterRun


def remove(run: ClusterRun) -> dict[str, Any]:
    """Delete the cluster with all that belongs to it and return the module's result.

    :raises RefusedError: when its name is not repeated, it is paused, or a host of it is locked
    :raises WaitFailedError: when something stays
    :raises KubeError: when the API server can't be asked or refuses
    """
    unconfirmed = confirmation.required_by(_unconfirmed(run), run.check_mode)
    stored = run.client.get(KNOWN["Cluster"], run.namespace, run.name)
    if stored is not None:
        run.writes.provider = provider_of_cluster(stored)
    if stored is None or cluster_topology.is_by_topology(stored):
        run.writes.provider = with_classes(run.provider)
    objects = read_all(run.client, run.namespace, run.provider)[0]
    snapshot = Snapshot(objects, run.name)
    foreign = cluster_ownership.deletion_problem(run.subject, run.name, snapshot.cluster,
                                                 run.options.get("adopt"))
    if foreign:
        raise RefusedError([foreign], run.names)
    used = [host for host in [snapshot.host(machine) for machine in snapshot.mine("Metal3Machine")] if host]
    locked = host_lock.problems(run.subject, "", used, run.now())
    found = locked + [Problem("cluster-paused", run.subject, "spec.paused", "true", "a cluster that is not paused",
                              f"{failure.cause}, its deletion included; {failure.next_step}")
                      for failure in paused(snapshot)]
    found += [Problem("cluster-paused", run.subject, "parts", failure.subject, "parts that are not paused",
                      f"{failure.cause}; {failure.next_step}") for failure in paused_parts(snapshot)]
    rest = [item for kind in run.provider.template_kinds for item in objects[kind] if belongs(item, run.name)]
    found += _shared(run, [item for item in rest if item["kind"] == "IPPool" and not is_going(item)], objects)
    if found:
        raise RefusedError(found, run.names)
    hosts = sorted(host["metadata"]["name"] for host in used)
    if stored is None and not any(item["kind"] in CLASS_KINDS for item in rest):
        run.writes.provider = without_classes(run.provider)
    of_others = [item for item in rest if _is_others(run, item)]
    rest = [item for item in rest if item not in of_others]
    run.done["warnings"] = _left(run, of_others) + (
        unconfirmed if snapshot.cluster is not None or rest else [])
    # While the cluster is there: a run that is killed finds it again.
    sets = ResourceSets(run, [], objects).remove()
    result = {"changed": snapshot.cluster is not None or bool(rest or sets), "hosts": hosts,
              "warnings": run.done["warnings"],
              "diff": [removal_difference(item) for item in ([snapshot.cluster] if snapshot.cluster else rest) + sets]}
    if not result["changed"]:
        return result
    taken = hosts or [f"machine {server}" for server in map(
        server_of, snapshot.mine("MetalStackMachine")) if server]
    if snapshot.cluster is not None:
        # The Cluster's controllers take machines, control plane and infrastructure away in the right order; what
        # is deleted beside it could be missed by them.
        run.progress.event(f"cluster {run.name}: deleting it, with {', '.join(taken) or 'no host'}")
        run.delete([snapshot.cluster], run.writes.still_deleted)
        # Cluster API deletes nothing that is paused; released before, a rollout would go on if the deletion is refused.
        stopping.release_deleted(run, [item["metadata"]["name"] for item in snapshot.owners() if any(
            map(is_stopped, [item, *sets_of(snapshot, item["metadata"]["name"])]))])
    else:
        run.delete(rest, run.writes.still_deleted)
    if not run.check_mode and run.options["wait_for"] != "none":
        wait = run.new_wait(for_machines=False)
        wait.until_gone(hosts, lambda found: _sweep(run, found), lambda item: _is_others(run, item))
        result["seconds"] = round(wait.clock() - wait.began_at, 1)
    return result


def _unconfirmed(run: ClusterRun) -> list[Problem]:
    """Return the problem of a name that was not repeated."""
    given, by_name = run.options["confirm"], run.options.get("confirm_by_name")
    named = f"{run.namespace}/{run.name}"
    texts = [part.strip() for part in str(given or "").split(",")]
    if named in texts or (not by_name and texts == [run.name]):
        return []
    wanted, what, why = run.name, "the cluster's name", ""
    if by_name:
        wanted, what = named, "the cluster's namespace and name"
        why = " (several with commas between): the run is for clusters that may share a name"
    return [Problem(
        "confirmation-missing", run.subject, "confirm", given or None, what,
        f"deleting a cluster wipes the disks of its machines; to continue set {confirmation.VARIABLE}={wanted} in "
        f"a playbook (module option confirm){why}")]


def _shared(run: ClusterRun, pools: list[dict[str, Any]], objects: dict[str, list[dict[str, Any]]]) -> list[Problem]:
    """Return the pools of the cluster that others need.

    A pool that is being deleted gives nobody an address any more that lasts, and goes with the last claim.
    """
    shared = [(pool, cluster_prune.used_by_others(objects, pool, run.name))
              for pool in pools if not _is_others(run, pool)]
    return [Problem("ip-pool-in-use", run.subject, "", f"{title_of(pool)}, which is needed by {few(users, 5)} too",
                    "pools that this cluster alone needs", "delete claims of no cluster; give another cluster a pool "
                    "of its own, or tear it down first") for pool, users in shared if users]


def _sweep(run: ClusterRun, objects: dict[str, list[dict[str, Any]]]) -> None:
    """Delete templates and pools that no owner deletes; those with finalizers wait for their users."""
    run.delete([item for kind in run.provider.template_kinds for item in objects.get(kind) or []
                if belongs(item, run.name) and not _is_others(run, item) and not is_going(item)],
               run.writes.still_deleted, is_patient=True)


def _is_others(run: ClusterRun, item: dict[str, Any]) -> bool:
    """Say whether an object that refers to the cluster is left to those who made it."""
    return cluster_ownership.deletion_problem(run.subject, run.name, item, run.options.get("adopt")) is not None


def _left(run: ClusterRun, items: list[dict[str, Any]]) -> list[str]:
    """Return the warning of what others have made, which stays."""
    return [f"{run.subject}: not deleted, because others have made it: {', '.join(map(title_of, items))}; delete it "
            f"yourself, or repeat the cluster's name {run.name} (option adopt, variable teardown_adopt) to have "
            "it deleted"] if items else []

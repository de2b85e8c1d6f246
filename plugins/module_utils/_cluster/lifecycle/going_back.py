# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes stopped rollouts back to the former templates, whatever the description says of the machines by now.

Nothing else is written: what of the description was not begun is not begun by this.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem, renamed_field
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..._kube.reconcile.diff import goes_away
from ..._metal3.kinds import KNOWN
from ..description.providers import with_classes
from ..rollout import former
from ..rollout import losses as cluster_losses
from ..rollout import rollout as cluster_rollout
from ..rollout.former_copies import Copies, has_copies
from ..rollout.topology_back import copies_of, planned_back
from ..rollout.topology_owners import OwnerEntry, OwnerPlan
from ..rollout.under_way import ROLLBACK, is_former, is_made_of
from ..waiting.service import ClusterWait, WaitFailedError
from ..workflow.reading import read_all
from ..workflow.rollout_stop import left_behind, note_of, stopped_owners
from ..workflow.snapshot import Snapshot
from ..workflow.topology import topology_of
from ..writing import stored as cluster_stored
from ..writing.entries import entry_result
from ..writing.prune import ours
from . import applying, stopping
from .planning import PlannedCluster, listed, tried
from .run import ClusterRun

Object = dict[str, Any]
Objects = dict[str, list[Object]]


def go_back(run: ClusterRun) -> dict[str, Any]:
    """Write the former templates into the owners whose rollout was stopped, wait for their machines, return the result.

    :raises RefusedError: when something can't go back, or the number of machines is not repeated
    :raises WaitFailedError: when the machines of before do not come
    :raises KubeError: when the API server can't be asked or refuses
    """
    described = run.read()
    if described.description.by_topology:
        run.writes.provider = with_classes(run.provider)
    objects = read_all(run.client, run.namespace, run.provider)[0]
    snapshot = Snapshot(objects, run.name)
    stopped = stopped_owners(snapshot)
    planned, copies = _plan(run, described.description, objects, snapshot, stopped)
    # What a run that was killed has taken back without its MachineSets.
    left = left_behind(snapshot)
    changing = [entry for entry in planned.entries if entry.changes]
    result: dict[str, Any] = {
        "changed": bool(stopped or left), "changes": planned.changes, "warnings": planned.warnings,
        "losses": cluster_losses.as_result(planned.losses), "objects": [entry_result(entry) for entry in changing],
        "removed": [], "diff": [run.difference(entry) for entry in changing], "unused": [], "collected": []}
    wait = None if run.check_mode or run.options["wait_for"] == "none" else run.new_wait()
    try:
        stopping.release(run, left)
        _write(run, planned, copies, wait)
        if wait is not None:
            wait.until(run.options["wait_for"], run.options["node_startup_timeout_seconds"])
            result.update(timeline=wait.timeline, seconds=round(wait.clock() - wait.began_at, 1))
    except WaitFailedError as exc:
        raise stopping.stop(run, planned, snapshot, exc) from exc
    return applying.with_state(run, result)


def _plan(run: ClusterRun, description: Any, objects: Objects, snapshot: Snapshot,
          stopped: list[Object]) -> tuple[PlannedCluster, dict[str, Copies]]:
    """Say what is written and which machines go, with the API server's own verdict, before anything is.

    :returns: this, and the copies of templates that pools of a topology name again, by the pools' names
    """
    wanted, problems = _wanted(run, objects, snapshot, stopped)
    if problems:
        raise RefusedError(problems, run.names)
    # Also of a pool that is described without a number: without it an apply would take that of the last one away.
    wanted = cluster_stored.with_stored_replicas(description, wanted, objects, goes_away)
    run.writes.description, run.writes.planned = description, planned_back
    run.writes.rendered = dict(((item["kind"], item["metadata"]["name"]), item) for item in wanted)
    entries, _answers = tried(run, run.writes.plan(wanted, listed(run, objects)))
    before = _as_before(run, entries, snapshot, objects)
    changes = [_change(owner, snapshot, before) for owner in stopped] + _others(before, stopped)
    losses = cluster_losses.losses(description, changes, [], snapshot)
    # A KubeadmControlPlane has no template by whose name a machine of before is known, see ``rollout.preview``.
    run.writes.allowed = dict((owner, cluster_losses.count(going))
                              for owner, going in cluster_losses.by_owner(losses).items())
    run.writes.allowed.update(((owner["kind"], owner["metadata"]["name"]), len(snapshot.machines_of(owner)))
                              for owner in stopped)
    unconfirmed = cluster_losses.confirmation_problem(
        f"{run.namespace}/{run.name}", losses, run.options["confirm"], run.options.get("confirm_by_name"))
    found = cluster_losses.lock_problems(run.subject, losses, changes, snapshot, run.now())
    found += [unconfirmed] if unconfirmed and run.is_asking else []
    if found:
        raise RefusedError(found, run.names)
    warnings = confirmation.asked_later([unconfirmed]) if unconfirmed else []
    if not stopped:
        warnings.append(f"{run.subject}: no rollout is stopped, so nothing goes back and nothing is written; leave "
                        f"{ROLLBACK} out to bring the cluster to its description")
    else:
        warnings.append(f"{run.subject}: the description still asks for what is taken back: correct it, for the next "
                        "run without this would begin the same rollout once more, and ask for its number of machines")
    run.done["warnings"] = warnings
    for owner in stopped:
        run.progress.event(f"{title_of(owner)}: goes back to what it was before the rollout that was stopped at "
                           f"{note_of(owner).at}")
    for line in cluster_rollout.lines(changes) + cluster_losses.lines(losses):
        run.progress.event(line)
    copies = dict((item.name, item.copies) for item in before.entries
                  if isinstance(item, OwnerEntry) and item.copies is not None)
    return PlannedCluster(entries, changes, [], [], losses, warnings,
                          [item["metadata"]["name"] for item in stopped]), copies


def _wanted(run: ClusterRun, objects: Objects, snapshot: Snapshot,
            stopped: list[Object]) -> tuple[list[Object], list[Problem]]:
    """Return the objects as they were before, and what keeps them from it."""
    rendered = dict(((item["kind"], item["metadata"]["name"]), item) for item in run.read().objects)
    templates = dict(((kind, item["metadata"]["name"]), item) for kind in run.provider.template_kinds
                     for item in objects.get(kind) or [] if ours(item, run.name) and not is_going(item))
    by_topology = run.read().description.by_topology
    wanted, problems = {}, []
    for owner in stopped:
        noted, title = note_of(owner).former, title_of(owner)
        key = ("Cluster", run.name) if by_topology else (owner["kind"], owner["metadata"]["name"])
        lack = former.lacks(key[0], noted, templates, topology_of(snapshot.cluster).get("version"),
                            rendered[key]["apiVersion"].rpartition("/")[2]) \
            if key in rendered else "it is not described any more"
        if lack or noted is None:
            problems.append(Problem(
                "rollback-impossible", run.subject, "rollout", f"{title}: {lack}", "templates to go back to",
                "describe an image and a configuration that work with that version, and run without it"
                if by_topology and noted and former.has_another_version(noted, snapshot.cluster)
                else "describe what was there before, and run without it"))
        elif by_topology:
            wanted[key] = former.cluster_as_before(_as_stored(rendered[key], snapshot.cluster), noted)
        else:
            wanted[key] = former.owner_as_before(rendered[key], noted, owner["spec"].get("replicas"))
    return list(wanted.values()), problems


def _as_stored(cluster: Object, stored: Object) -> Object:
    """Return the rendered Cluster with the stored topology: what was described since is not begun by this."""
    return dict(cluster, spec=dict(cluster["spec"], topology=topology_of(stored)))


def _as_before(run: ClusterRun, entries: list[Any], snapshot: Snapshot, objects: Objects) -> OwnerPlan:
    """Return the owners of machines as they are to be; of a plain cluster those that were stopped."""
    cluster = next((entry for entry in entries if entry.resource == KNOWN["Cluster"]), None)
    return OwnerPlan(entries, {}, [], snapshot) if cluster is None else planned_back(
        run.read().description, cluster, [], objects)


def _others(before: OwnerPlan, stopped: list[Object]) -> list[dict[str, Any]]:
    """Return what becomes of the machines of owners that were done before another one was stopped."""
    names = set(owner["metadata"]["name"] for owner in stopped)
    others = [entry for entry in before.entries if entry.name not in names]
    return [dict(change, reasons=[ROLLBACK])
            for change in cluster_rollout.preview(others, before.snapshot, before.answers) if change["rolls"]]


def _change(owner: Object, snapshot: Snapshot, before: OwnerPlan) -> dict[str, Any]:
    """Return what becomes of an owner's machines: those that were made since go, the others are as before.

    Of a topology all go unless the copies of templates that they are of are named again. After two stops some may have
    been made between them: they are as neither the last description nor the first.
    """
    replicas, key = owner["spec"].get("replicas"), (owner["kind"], owner["metadata"]["name"])
    entry = next((item for item in before.entries if (item.desired["kind"], item.name) == key), None)
    goes_as_a_whole = isinstance(entry, OwnerEntry) and entry.takes_other_copies
    wanted, of = _as_machines_are_to_be(entry, owner, snapshot, before)

    def stays(machine: Object) -> bool:
        return not goes_as_a_whole and is_former(machine, owner, snapshot) and is_made_of(machine, wanted, of)

    return {"owner": key[1], "kind": key[0], "replicas_before": replicas,
            "replicas_after": replicas, "rolls": True, "reasons": [ROLLBACK],
            "machines": [machine["metadata"]["name"] for machine in snapshot.machines_of(owner)
                         if not is_going(machine) and not stays(machine)]}


def _as_machines_are_to_be(entry: Any, owner: Object, snapshot: Snapshot,
                           before: OwnerPlan) -> tuple[Object | None, Snapshot]:
    """Return the owner with whose templates machines that stay are compared, None for none, and the Snapshot for it.

    :param entry: what becomes of the owner, None when that is not known
    """
    if isinstance(entry, OwnerEntry):
        if entry.copies is not None:
            return entry.desired, before.snapshot
        # As it is stored: with the class of before already, it may have other copies than its machines.
        return (owner, snapshot) if owner["kind"] == "MachineDeployment" else (None, snapshot)
    return (entry.desired if entry is not None else None), before.snapshot


def _name_copies(run: ClusterRun, cluster: Any, counted: Mapping[str, Copies]) -> None:
    """Have stopped pools name the copies of templates that their machines of before are of.

    :param cluster: the entry of the Cluster
    :param counted: the copies by which machines were not counted among those that go, by the pools' names
    :raises WaitFailedError: when one of these is not there any more
    """
    objects = read_all(run.client, run.namespace, run.provider)[0]
    copies = copies_of(run.read().description, cluster.desired, objects)
    pools = dict((item["metadata"]["name"], item) for item in objects.get("MachineDeployment") or [])
    lost = [name for name, names in counted.items() if copies.get(name) != names and not (
        name in pools and has_copies(pools[name], names))]
    if lost:
        raise WaitFailedError(
            f"{run.subject}: the copies of templates are gone of which machines of {', '.join(sorted(lost))} are, so "
            "that these would be replaced, which nobody has confirmed; run again, which asks for their number", [])
    stopping.name_copies(run, [pools[name] for name in sorted(copies)], copies)


def _write(run: ClusterRun, planned: PlannedCluster, copies: Mapping[str, Copies], wait: ClusterWait | None) -> None:
    """Write the owners one after another, the control plane first, each when what was before it is back.

    :param copies: as for :func:`_name_copies`
    """
    if run.check_mode:
        return
    goal = {"initialized": "nodes"}.get(run.options["wait_for"], run.options["wait_for"])
    for entry in planned.entries:
        run.write([entry])
        if entry.resource == KNOWN["Cluster"]:
            if applying.follow(run, wait):
                _name_copies(run, entry, copies)
                stopping.release(run, planned.going_on)
            else:
                option = renamed_field("rollout", run.names)
                run.done["warnings"].append(
                    f"{run.subject}: {', '.join(planned.going_on)} stay paused, because Cluster API has not yet "
                    f"written the former templates into them; run again with {option}={ROLLBACK}")
            continue
        stopping.release(run, [entry.name])
        if wait is not None:
            wait.until_rolled(entry.resource.kind, entry.name, goal, run.options["node_startup_timeout_seconds"])

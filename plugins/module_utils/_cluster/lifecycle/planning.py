# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a run over a cluster writes and deletes, with the API server's own verdict, before anything is."""
from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import renamed_field, text
from ..._kube.reconcile.diff import goes_away
from ..._kube.reconcile.plan import UNCHANGED, Entry, by_name
from ..._kube.reconcile.reconcile import raise_refused
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..checks.addon import addon_warnings
from ..checks.failure_domains import domain_warnings
from ..checks.hosts import mark_warnings
from ..checks.metalstack import firewall_warnings
from ..checks.preflight import rollout_warnings
from ..checks.rollout_hosts import rollout_problems
from ..checks.topology import gate_problem
from ..checks.user_data import ignition_problem
from ..checks.validation import description_warnings
from ..description.spec import METAL3
from ..render import standalone as cluster_standalone
from ..rollout import losses as cluster_losses
from ..rollout import rollout as cluster_rollout
from ..rollout import topology_owners as cluster_topology_owners
from ..rollout.address_changes import address_warnings
from ..rollout.drain_questions import drain_warnings
from ..rollout.reasons import reasons
from ..rollout.rollout_figures import figure_lines
from ..rollout.rollout_gates import at_once_warnings, gate_warnings, image_warnings
from ..rollout.under_way import RESUME, pause_warnings, refusals, resumed_lines
from ..workflow import topology as cluster_topology
from ..workflow.rollout_stop import OWNERS, as_stopped, is_held, left_behind, stopped_owners
from ..workflow.topology import names_of
from ..writing import prune as cluster_prune
from ..writing import stored as cluster_stored
from ..writing.entries import entry_title
from . import verifying
from .checking import CheckedCluster
from .run import ClusterRun


class PlannedCluster(NamedTuple):
    """What a run is going to do.

    :param entries: of the objects that are to be stored
    :param changes: what becomes of the machines, see ``rollout.preview``
    :param removed: stored objects that are to be deleted
    :param leaving: stored objects that Cluster API deletes, because the Cluster's topology has them no more
    :param losses: machines that are deleted, see ``losses.losses``
    :param warnings: what the user should know
    :param going_on: names of the owners whose rollout was stopped and goes on, or that a run which was killed has let
        go on in part
    """

    entries: list[Any]
    changes: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    leaving: list[dict[str, Any]]
    losses: list[Any]
    warnings: list[str]
    going_on: list[str]


def plan(run: ClusterRun, checked: CheckedCluster) -> PlannedCluster:
    """Say what is to be written and deleted, with the API server's own verdict, before anything is.

    :raises RefusedError: with what the network says, when no host is left that new machines could have, and when a loss
        of machines is not confirmed
    :raises KubeError: with all that the API server refuses
    """
    description, desired, objects = checked.description, checked.desired, checked.objects
    run.writes.description = description
    run.writes.rendered = dict(((item["kind"], item["metadata"]["name"]), item) for item in desired)
    kept = cluster_stored.kept_pools(description, objects)
    new, made_before = cluster_standalone.without_stored(description, desired, objects)
    if description.by_topology:
        wanted = cluster_topology_owners.with_stored_numbers(description, new, objects)
        run.writes.rendered.update(((item["kind"], item["metadata"]["name"]), item) for item in wanted)
    else:
        wanted = cluster_stored.with_stored_replicas(description, new, objects, goes_away)
        wanted += cluster_stored.templates_in_use(description, objects, desired + kept)
    entries, answers = tried(run, run.writes.plan(wanted, listed(run, objects)))
    checked.resource_sets.plan()
    stopped = stopped_owners(checked.snapshot)
    same = [] if description.by_topology else _of_same_description(run, stopped, wanted)
    changes, leaving, otherwise = _changes(run, checked, entries, answers, same)
    removed = cluster_prune.removed(objects, desired + kept, description, run.options["prune"])
    losses = cluster_losses.losses(description, changes, removed + leaving, checked.snapshot)
    going_on = _going_on(run, stopped, otherwise, removed + leaving) + left_behind(checked.snapshot)
    gates = _gates(run, checked, changes, losses)
    figures = figure_lines(description, checked.facts, cluster_losses.going(losses),
                           cluster_losses.owners_of_replaced(losses))
    unconfirmed = cluster_losses.confirmation_problem(
        f"{run.namespace}/{run.name}", losses, run.options["confirm"], run.options.get("confirm_by_name"),
        gates, figures)
    found = checked.network_problems() + cluster_losses.lock_problems(
        run.subject, losses, changes, checked.snapshot, run.now())
    found += rollout_problems(description, checked.facts, changes) if run.options["check_hosts"] else []
    found += [unconfirmed] if unconfirmed and run.is_asking else []
    held = refusals(run.subject, stopped, going_on)
    found += held if run.is_asking else []
    if found:
        raise RefusedError(found, run.names)
    run.writes.allowed = dict(
        (owner, cluster_losses.count(going)) for owner, going in cluster_losses.by_owner(losses).items())
    warnings = checked.unread + description_warnings(description) + gates
    warnings += cluster_rollout.cleaning_warnings(entries) + _of_kept(run, kept) + made_before
    warnings += address_warnings(entries, checked.facts, changes)
    warnings += firewall_warnings(description, entries)
    if description.provider == METAL3 and not description.cluster_class:
        warnings += mark_warnings(description, checked.facts.hosts)
        warnings += domain_warnings(description, checked.facts.hosts, checked.snapshot)
    if description.by_topology:
        warnings += cluster_topology_owners.size_warnings(description, _cluster_entry(entries), objects)
    if run.options["wait_for"] == "available":
        warnings += addon_warnings(description, checked.manifests)
    if unconfirmed:
        warnings += confirmation.asked_later([unconfirmed])
    if held:
        # Only in check mode: nothing is written to what stays stopped.
        warnings += confirmation.asked_later([text(problem, run.names) for problem in held])
        staying = set(item["metadata"]["name"] for item in stopped) - set(going_on)
        entries = [entry._replace(action=UNCHANGED) if entry.name in staying and entry.resource.kind in OWNERS
                   else entry for entry in entries]
    run.done["warnings"] = warnings
    # Before a wait that they may be the cause of.
    early = [f"warning: {line}" for line in warnings] if checked.snapshot.cluster is None else []
    resumed = resumed_lines(stopped, going_on, checked.snapshot)
    for line in early + resumed + cluster_rollout.lines(changes) + cluster_losses.lines(losses) + figures:
        run.progress.event(line)
    return PlannedCluster(entries, changes, removed, leaving, losses, warnings, going_on)


def _of_same_description(run: ClusterRun, stopped: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> list[str]:
    """Return the names of the stopped owners of a plain cluster that the description says nothing new of.

    Another number of machines is nothing new: it is no reason why they should come now.
    """
    described = dict(((item["kind"], item["metadata"]["name"]), item) for item in wanted)
    same = []
    for owner in stopped:
        item = described.get((owner["kind"], owner["metadata"]["name"]))
        if item is None or not run.writes.plan([as_stopped(item, owner)], {
                (KNOWN[owner["kind"]], run.namespace): by_name([owner])})[0].changes:
            same.append(owner["metadata"]["name"])
    return same


def _going_on(run: ClusterRun, stopped: list[dict[str, Any]], otherwise: Collection[str],
              going: list[dict[str, Any]]) -> list[str]:
    """Return the names of the owners whose rollout was stopped and that this run lets go on, or delete.

    :param otherwise: names of those that are described otherwise by now
    :param going: stored objects that are to be deleted
    """
    if run.options.get("rollout") == RESUME:
        return [item["metadata"]["name"] for item in stopped]
    description = run.read().description
    gone = [item["metadata"]["name"] for item in going if item["kind"] in OWNERS]
    decided = [item["metadata"]["name"] for item in stopped if item["metadata"]["name"] in gone
               or names_of(item, description) & set(otherwise)]
    # What only waits for its turn comes with those before it.
    waits = all(is_held(item) or item["metadata"]["name"] in decided for item in stopped)
    return [item["metadata"]["name"] for item in stopped
            if item["metadata"]["name"] in decided or (waits and is_held(item))]


def _changes(run: ClusterRun, checked: CheckedCluster, entries: list[Any], answers: Any,
             same: list[str]) -> tuple[list[Any], list[Any], Collection[str]]:
    """Return what becomes of the machines, pools that Cluster API deletes by itself, and who is described otherwise.

    :param same: names of the stopped owners of which only the stop may go
    """
    description, desired, objects = checked.description, checked.desired, checked.objects
    owners = [entry for entry in entries if entry.resource.kind not in OWNERS or entry.name not in same]
    snapshot, leaving = checked.snapshot, []
    otherwise = set(entry.name for entry in owners if entry.resource.kind in OWNERS)
    if run.options.get("rollout") == RESUME:
        # Nothing new, and yet fewer machines may be left.
        owners += [entry for entry in entries if entry not in owners and _has_another_number(entry)]
    if description.by_topology:
        planned = cluster_topology_owners.planned(description, _cluster_entry(entries), desired, objects)
        owners, answers, leaving, snapshot = planned.entries, planned.answers, planned.leaving, planned.snapshot
        otherwise = cluster_topology_owners.described_otherwise(description, _cluster_entry(entries), planned)
        objects = cluster_topology.as_plain(objects)
    described = desired + [entry.desired for entry in owners if entry.desired not in desired]
    run.replaced = cluster_rollout.predecessors([item for items in objects.values() for item in items], described)

    def because(entry: Any) -> list[str]:
        found = ["cluster_class"] if description.cluster_class else reasons(
            description, entry, run.replaced, desired)
        return [renamed_field(option, run.names) for option in found]

    return cluster_rollout.preview(owners, snapshot, answers, because), leaving, otherwise


def _has_another_number(entry: Any) -> bool:
    wanted = entry.desired["spec"].get("replicas")
    return wanted is not None and entry.current is not None and wanted != entry.current["spec"].get("replicas")


def _cluster_entry(entries: list[Any]) -> Any:
    return next(entry for entry in entries if entry.resource.kind == "Cluster")


def _gates(run: ClusterRun, checked: CheckedCluster, changes: list[dict[str, Any]], losses: list[Any]) -> list[str]:
    """Return what stands in the way of the machines' replacement, what the workload cluster says included."""
    rolling = [change["owner"] for change in changes if change["machines"]]
    nodes = dict((owner, [node for loss in going for name, _host in loss.machines
                          for node in [checked.snapshot.node_of(name)] if node])
                 for (_kind, owner), going in cluster_losses.by_owner(losses).items())
    several = [change for change in changes if change["rolls"] and change["machines"]]
    going = set(rolling) | set(loss.owner for loss in losses)
    version = renamed_field("kubernetes_version", run.names)
    return rollout_warnings(checked.description, checked.facts, rolling) + pause_warnings(
        checked.snapshot, going) + gate_warnings(checked.description, checked.snapshot, rolling) + image_warnings(
        checked.description, several, checked.snapshot, version) + at_once_warnings(
        checked.description, several, checked.snapshot, run.options["wait_for"] != "none"
        and not cluster_topology.is_upgrading(checked.snapshot.cluster, checked.snapshot.owners())) + drain_warnings(
        run.workload, checked.description, nodes, checked.snapshot.owners()) + (
        verifying.before(run) if rolling and run.options.get("verify") else [])


def listed(run: ClusterRun, objects: dict[str, list[dict[str, Any]]]) -> dict[Any, Any]:
    """Return what was read as ``Reconcile.plan`` takes it: what is checked and compared is then the same."""
    return dict(((KNOWN[kind], run.namespace), by_name(items)) for kind, items in objects.items())


def _of_kept(run: ClusterRun, kept: list[dict[str, Any]]) -> list[str]:
    """Return the warning of pools that stay because none are described."""
    pools = sorted(f"{item['metadata']['name']} ({item['spec'].get('replicas') or 0} machines)"
                   for item in kept if item["kind"] == "MachineDeployment")
    return [f"{run.subject}: {renamed_field('workers', run.names)}: not set, so the stored pools stay unchanged: "
            f"{', '.join(pools)}; describe them, or set it to {{}} to delete them"] if pools else []


def tried(run: ClusterRun, entries: list[Entry]) -> tuple[list[Entry], dict[tuple[str, str], Any]]:
    """Let the API server and its webhooks try all that is due before anything is written.

    :returns: the entries, and the server's answers for those that change, ``{(kind, name): object}``
    """
    tried = run.writes.dry_run(entries)
    try:
        raise_refused(run.client, [item for item, entry in zip(tried, entries) if entry.changes], True,
                      entry_title)
    except KubeError as exc:
        switched_off = gate_problem(run.subject, exc.message) or ignition_problem(run.subject, exc.message)
        if switched_off:
            raise RefusedError([switched_off], run.names) from exc
        raise
    return [item.entry for item in tried], dict(
        ((entry.resource.kind, entry.name), item.value) for item, entry in zip(tried, entries) if entry.changes)

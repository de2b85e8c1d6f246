# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stops rollouts whose new machines do not come, and takes these stops away."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Callable

from ..._common.problems.problem import renamed_field
from ..._common.texts.formats import timestamp
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import title_of
from ..._kube.reconcile.diff import goes_away
from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile, raise_refused
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import resource_for
from ..rollout import former
from ..rollout.former_copies import Copies, given_back, has_copies
from ..rollout.under_way import UnderWay, stop_lines, under_way
from ..waiting.service import WaitFailedError
from ..workflow import goals as workflow_goals
from ..workflow.rollout_stop import (
    CONTROL_PLANE,
    OWNERS,
    Note,
    as_stopped,
    is_paused_by_others,
    is_stopped,
    marks,
    note_of,
    released,
    sets_of,
    stopped_owners,
)
from ..workflow.snapshot import PAUSED_ANNOTATION, Snapshot, is_paused_alone
from ..workflow.topology import is_by_topology, names_of
from ..writing.entries import entry_title
from ..writing.stored import with_stored_replicas
from .run import ClusterRun

Object = dict[str, Any]
# Of an object as it is by now: the whole object for an apply, or a merge patch, or None for nothing to do.
Make = Callable[[Object], Any]

_APPLY, _PATCH = "apply", "patch"


class _Marks(Reconcile):
    """Writes of stops, each decided again for the object as it is by then.

    :param make: callable that takes an object and returns ``(_APPLY, complete object)``, ``(_PATCH, merge patch)`` or
        None
    """

    def __init__(self, run: ClusterRun, make: Make) -> None:
        super().__init__(run.client, False, run.progress, run.sleep, resource_for)
        self._make = make

    def mark(self, items: list[Object]) -> list[Entry]:
        """Write what is due for objects, a control plane's before that of pools; return the entries that changed.

        It has no part beside it that keeps new machines from coming, as MachineSets of pools have: of a run that is
        killed in between it is not what goes on beside owners whose stop keeps the next run from all writes.

        :raises KubeError: with all that the API server refuses
        """
        first = [self._entry(item) for item in items if item["kind"] == CONTROL_PLANE]
        others = [self._entry(item) for item in items if item["kind"] != CONTROL_PLANE]
        written = [*self.write(first), *self.write(others)]
        raise_refused(self.client, written, title=entry_title)
        return [item.entry for item in written if item.changed]

    def _entry(self, item: Object) -> Entry:
        metadata, due = item["metadata"], self._make(item)
        way, content = due or (None, None)
        applied = content if way == _APPLY else None
        # What is applied may be of another version than what is read.
        resource = self.resource_of((applied or item)["apiVersion"], item["kind"])
        return Entry(resource, metadata.get("namespace"), metadata["name"], UPDATE if due else UNCHANGED,
                     applied, item, _pause_of(item), _pause_of(content), content if way == _PATCH else None)

    def plan_again(self, entry: Entry, stored: Object | None) -> Entry:
        """Return the entry for the object as it is by now."""
        return self._entry(stored) if stored else entry._replace(action=UNCHANGED)


def _pause_of(item: Object | None) -> Object:
    """Return what of an object a difference shows: not the note, which has the machines' configuration."""
    value = (((item or {}).get("metadata") or {}).get("annotations") or {}).get(PAUSED_ANNOTATION)
    return {} if value is None else {"metadata": {"annotations": {PAUSED_ANNOTATION: value}}}


def hold(run: ClusterRun, planned: Any, before: Snapshot, pools: Iterable[Any]) -> list[str]:
    """Pause pools of a topology until it is their turn; those that are paused already stay so.

    :param planned: a PlannedCluster, whose Cluster is not written yet
    :param before: Snapshot of the cluster before the run
    :param pools: their ``turns.Turn``
    :returns: names of those that were not paused before
    :raises KubeError: when the API server refuses; nothing is held then
    """
    pools = [pool for pool in pools if not is_paused_by_others(pool.owner)]
    if not pools:
        return []
    fresh = [pool.name for pool in pools if not is_stopped(pool.owner)]
    cluster = next(entry for entry in planned.entries if entry.resource.kind == "Cluster")
    mark = marks(Note(timestamp(run.now()), _former_topology(cluster, before), True))
    run.progress.event(f"cluster {run.name}: {', '.join(pool.title for pool in pools)} wait for their turn")
    run.held |= set(pool.name for pool in pools)
    try:
        _note(run, _Marks(run, lambda item: None if _stays_unmarked(item) else (
            _PATCH, {"metadata": {"annotations": mark}})).mark([pool.owner for pool in pools]))
    except KubeError:
        release(run, fresh)
        raise
    return fresh


def stop(run: ClusterRun, planned: Any, before: Snapshot, failed: WaitFailedError) -> WaitFailedError:
    """Pause the owners that are replacing machines, and return the failure with what was paused and what to do.

    A cluster whose control plane was never initialized has no machines that could be lost.

    :param planned: a PlannedCluster: what this run has written
    :param before: Snapshot of the cluster before that
    :param failed: the end of the wait
    """
    if workflow_goals.missing(before, "initialized") is not None:
        return failed
    try:
        lines = _stop(run, planned, before)
    except KubeError as exc:
        lines = ["- the rollout may go on, because the run could not stop it: run again, or pause what replaces "
                 f"machines (annotation {PAUSED_ANNOTATION}): {exc.message}"]
    return WaitFailedError("\n".join([f"{failed}", *lines]), failed.steps) if lines else failed


def _stop(run: ClusterRun, planned: Any, before: Snapshot) -> list[str]:
    snapshot = run.snapshot()
    if snapshot.cluster is None or is_going(snapshot.cluster):
        # It replaces nothing any more, and what is paused of it would stay.
        return []
    described = set(change["owner"] for change in planned.changes if change["rolls"])
    rolled = set(item["metadata"]["name"] for item in snapshot.owners()
                 if names_of(item, run.read().description) & described)
    # Those that wait for their turn are paused already.
    found = [entry for entry in under_way(snapshot, rolled | set(planned.going_on))
             if entry.owner["metadata"]["name"] not in run.held]
    left = [entry for entry in found if is_paused_by_others(entry.owner)]
    due = [entry for entry in found if entry not in left]
    if not due:
        return stop_lines([], left, "", "")
    at = timestamp(run.now())
    # What was not begun is not what its machines are being replaced by.
    entries = dict((key, entry) for entry in planned.entries for key in [(entry.resource.kind, entry.name)]
                   if key in run.begun or not entry.changes)
    notes = dict((_key(entry.owner), Note(at, _former(entry, entries, snapshot, before, rolled))) for entry in due)
    run.progress.event(f"cluster {run.name}: stopping {', '.join(entry.title for entry in due)}")

    def made(item: Object) -> Any:
        mark = marks(notes[_key(item)])
        if _stays_unmarked(item):
            return None
        if _key(item) not in entries:
            return _PATCH, {"metadata": {"annotations": mark}}
        # By an apply: that of the run that goes on, which has no such annotations, takes them away in the same write.
        wanted, = with_stored_replicas(run.writes.description, [run.writes.rendered[_key(item)]],
                                       {item["kind"]: [item]}, goes_away)
        # With the number of machines that it has by now: another one is to be asked for.
        return _APPLY, as_stopped(wanted, dict(item, metadata={"annotations": mark}))

    # The MachineSets of a MachineDeployment that is paused go on: a health check would have the new machine deleted and
    # made again for ever. They are first: a run that is killed in between has stopped nothing for the next one, which
    # releases them, waits, and stops all when it has to. An owner that is stopped without them would be refused.
    mark = marks(Note(at, None))
    sets = [item for entry in due for item in entry.sets]
    refused = _refusal(run, lambda item: None if _stays_unmarked(item) else (
        _PATCH, {"metadata": {"annotations": mark}}), sets)
    of_owners = _refusal(run, made, [entry.owner for entry in due])
    if of_owners is not None and sets and refused is None:
        of_owners = KubeError(f"{of_owners.message}\n- paused until the next run: {', '.join(map(title_of, sets))}",
                              of_owners.status, of_owners.reason)
    for error in (of_owners, refused):
        if error is not None:
            raise error
    option = renamed_field("rollout", run.names)
    return stop_lines(due, left, former.no_way_back([note.former for note in notes.values()], snapshot.cluster), option)


def _refusal(run: ClusterRun, make: Make, items: list[Object]) -> KubeError | None:
    """Mark objects; return the error of what the API server refuses, so that the rest is marked all the same."""
    try:
        _note(run, _Marks(run, make).mark(items))
    except KubeError as exc:
        return exc
    return None


def _stays_unmarked(item: Object) -> bool:
    # Cluster API would not delete it any more.
    return is_paused_alone(item) or is_going(item)


def _key(item: Object) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _former(entry: UnderWay, entries: Mapping[tuple[str, str], Entry], snapshot: Snapshot,
            before: Snapshot, rolled: Collection[str]) -> Object | None:
    """Return what to go back to: of a rollout that was stopped already, what was noted then.

    :param entries: what this run has written
    :param before: Snapshot from before that
    :param rolled: names of the owners whose rollout this run has begun
    """
    stored = before.get(*_key(entry.owner))
    if stored is not None and is_stopped(stored):
        return note_of(stored).former
    cluster = entries.get(("Cluster", snapshot.cluster_name))
    if cluster is not None and is_by_topology(cluster.desired):
        return _former_topology(cluster, before)
    mine = entries.get(_key(entry.owner)) if entry.owner["metadata"]["name"] in rolled else None
    known = former.of_entry(mine) if mine is not None else None
    if known is None and entry.owner["kind"] == "MachineDeployment" and entry.old:
        # An earlier run, which was killed, has begun it.
        return former.of_machine(entry.old[0], snapshot)
    return known


def _former_topology(cluster: Entry, before: Snapshot) -> Object | None:
    """Return the topology to go back to, one for all owners: that of before the first of them was stopped.

    :param cluster: the entry of the Cluster
    :param before: Snapshot from before this run
    """
    noted = [note_of(owner).former for owner in stopped_owners(before)]
    return next(filter(None, noted), None) or (former.of_class(cluster.current) if cluster.changes else None)


def release(run: ClusterRun, names: Collection[str]) -> None:
    """Take the stops away from owners, and from their MachineSets afterwards; from those that are being deleted, too.

    :param names: of the owners
    :raises KubeError: when the API server can't be asked, or refuses
    """
    if run.check_mode or not names:
        return
    snapshot = run.snapshot()

    def made(item: Object) -> Any:
        patch = released(item)
        return (_PATCH, patch) if patch else None

    owners = [item for item in snapshot.owners() if item["kind"] in OWNERS and item["metadata"]["name"] in names]
    for items in (owners, [item for owner in owners for item in sets_of(snapshot, owner["metadata"]["name"])]):
        _note(run, _Marks(run, made).mark(items))


def name_copies(run: ClusterRun, pools: list[Object], copies: Mapping[str, Copies]) -> None:
    """Have stopped pools of a topology name other copies of templates; what is not stopped by then stays as it is.

    :param pools: stored MachineDeployments
    :param copies: by their names
    :raises KubeError: when the API server refuses
    """
    def made(item: Object) -> Any:
        names = copies[item["metadata"]["name"]]
        return None if not is_stopped(item) or has_copies(item, names) else (_PATCH, given_back(names))

    _note(run, _Marks(run, made).mark(pools))


def release_deleted(run: ClusterRun, names: Collection[str]) -> None:
    """Delete owners with the MachineSets that are stopped with them, and take the stops away from them afterwards.

    Cluster API looks at the pause, then at the deletion, and only then at the machines that it would create or replace
    (``KubeadmControlPlaneReconciler.Reconcile``, and those of MachineDeployments and MachineSets): what is released
    before it is being deleted goes on with its rollout. A control plane waits by itself for the workers' machines
    (its ``reconcileDelete``).

    :param names: of the owners, which are to be gone; those that others have paused meanwhile stay so
    :raises KubeError: when the API server can't be asked, or refuses
    """
    if run.check_mode or not names:
        return
    snapshot = run.snapshot()
    owners = [item for item in snapshot.owners() if item["kind"] in OWNERS and item["metadata"]["name"] in names]
    parts = owners + [item for owner in owners for item in sets_of(snapshot, owner["metadata"]["name"])]
    run.delete([item for item in parts if is_stopped(item)], lambda _entry, _stored: [])
    release(run, names)


def _note(run: ClusterRun, entries: list[Entry]) -> None:
    """Note what was written: a run that fails later on has changed something all the same."""
    for entry in entries:
        run.done["changed"] = True
        run.done["objects"].append({"kind": entry.resource.kind, "name": entry.name, "action": "updated"})
        run.done["diff"].append(run.difference(entry))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writes of a cluster's run: what is checked again about an object that others changed meanwhile."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from ..._kube.reconcile.diff import goes_away
from ..._kube.reconcile.plan import DELETE, UNCHANGED, Entry, deletion, planned_for
from ..._kube.reconcile.reconcile import Reconcile, Written
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import resource_for
from ..description.providers import Provider
from ..rollout import losses as cluster_losses
from ..rollout import rollout as cluster_rollout
from ..rollout import topology_owners as cluster_topology_owners
from ..workflow import topology as cluster_topology
from ..workflow.reading import read_all, snapshot_of
from ..workflow.snapshot import is_paused
from . import ownership as cluster_ownership
from . import prune as cluster_prune
from . import stored as cluster_stored

Check = Callable[[Entry, dict[str, Any]], list[str]]

OWNER_KINDS = ("KubeadmControlPlane", "MachineDeployment")


class ClusterWrites(Reconcile):
    """Writes and deletions of one cluster's objects.

    :param namespace: of the cluster
    :param name: of the cluster
    :param adopt: option ``adopt``
    :param provider: who gives the cluster its machines
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any], namespace: str,
                 name: str, adopt: str | None, provider: Provider):
        super().__init__(client, check_mode, progress, sleep, resource_for)
        self.namespace = namespace
        self.name = name
        self.adopt = adopt
        self.provider = provider
        self.subject = f"cluster {namespace}/{name}"
        self.description: Any = None
        # What the description asks for, before it is merged with what is stored: {(kind, name): object}.
        self.rendered: dict[tuple[str, str], dict[str, Any]] = {}
        # How many machines each owner may lose, as it was checked: {(kind, name): number}.
        self.allowed: dict[tuple[str, str], int] = {}
        # What a Cluster's topology does to the owners of machines, see ``topology_owners.planned``.
        self.planned: Callable[..., cluster_topology_owners.OwnerPlan] = cluster_topology_owners.planned
        self._may_delete: Check | None = None

    def delete_while(self, items: Sequence[dict[str, Any]], may_delete: Check | None = None) -> list[Written]:
        """Delete objects as they were read.

        :param may_delete: callable that takes an entry and its object, which others changed meanwhile, and returns the
            problems that keep it from being deleted; without it such an object is left as it is
        """
        self._may_delete = may_delete
        return self.write([deletion(self.resource_of(item["apiVersion"], item["kind"]), item) for item in items])

    def still_undescribed(self, _entry: Entry, stored: dict[str, Any]) -> list[str]:
        """Return why an object that is not described any more must not be deleted now."""
        if not cluster_prune.ours(stored, self.name):
            return ["it is not this collection's any more, and stays; run again"]
        snapshot = snapshot_of(self.client, self.namespace, self.name, self.provider)
        self._check_allowed(cluster_losses.losses(self.description, [], [stored], snapshot))
        return []

    def still_deleted(self, _entry: Entry, stored: dict[str, Any]) -> list[str]:
        """Return why an object of a cluster that is to be gone must not be deleted now."""
        foreign = cluster_ownership.deletion_problem(self.subject, self.name, stored, self.adopt)
        if foreign:
            return [foreign]
        # It would be deleted at the moment when it is resumed, whoever has paused it for whatever reason.
        return ["it is paused; find out who has paused it, and release it"] if is_paused(stored) else []

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Send an entry; a trial stores nothing, so it rests on nothing.

        The machines that a plan deletes are counted after the trial and by what was read before it, so an object
        that controllers write meanwhile must not be planned again in between.
        """
        if dry_run and entry.action != DELETE:
            return self._try(entry)
        return super().send(entry, dry_run)

    def _try(self, entry: Entry) -> Any:
        desired = entry.desired or {}
        tried = cluster_topology.with_stored_class(desired, entry.current)
        answer = self.client.apply(entry.resource, entry.namespace, tried, dry_run=True)
        return cluster_topology.with_class_of(answer, desired) if tried is not desired else answer

    def problems_again(self, entry: Entry, stored: dict[str, Any] | None) -> list[str]:
        """Return why the object must not be written, or deleted, now."""
        key = (entry.resource.kind, entry.name)
        if entry.action == DELETE:
            return self._may_delete(entry, stored) if self._may_delete and stored is not None else []
        if key not in self.rendered:
            return []
        return cluster_ownership.problems(self.subject, self.description, [self.rendered[key]],
                                          {key[0]: [stored] if stored else []}, self.adopt)[:1]

    def plan_again(self, entry: Entry, stored: dict[str, Any] | None) -> Entry:
        """Return the entry for what is stored by now, when it takes no more machines away than was checked."""
        if entry.action == DELETE:
            fresh = super().plan_again(entry, stored)
            return fresh if self._may_delete else fresh._replace(action=UNCHANGED)
        kind = entry.resource.kind
        desired = self.rendered.get((kind, entry.name), entry.desired)
        (wanted,) = cluster_stored.with_stored_replicas(
            self.description, [desired], {kind: [stored] if stored else []}, goes_away)
        again = planned_for(self.client, entry, wanted, stored)
        if again.changes and kind == "Cluster" and self.description.by_topology:
            self._check_topology(again)
        if again.changes and kind in OWNER_KINDS:
            answer = self.send(again, dry_run=True)
            snapshot = snapshot_of(self.client, self.namespace, self.name, self.provider)
            changes = cluster_rollout.preview([again], snapshot, {(kind, entry.name): answer})
            self._check_allowed(cluster_losses.losses(self.description, changes, [], snapshot))
        return again

    def _check_topology(self, entry: Entry) -> None:
        """Refuse a Cluster whose topology would now take more machines away than was checked."""
        objects = read_all(self.client, self.namespace, self.provider)[0]
        planned = self.planned(self.description, entry, list(self.rendered.values()), objects)
        changes = cluster_rollout.preview(planned.entries, planned.snapshot, planned.answers)
        self._check_allowed(cluster_losses.losses(self.description, changes, planned.leaving, planned.snapshot))

    def _check_allowed(self, losses):
        """Refuse Losses that are larger than those that were checked."""
        for owner, found in cluster_losses.by_owner(losses).items():
            if cluster_losses.count(found) > self.allowed.get(owner, 0):
                raise KubeError("changed by others since it was read, and would now take more machines away: "
                                f"{'; '.join(cluster_losses.lines(found))}; run again", 409, "Conflict")

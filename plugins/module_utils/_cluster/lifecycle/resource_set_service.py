# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads, tries, writes, waits for and deletes a cluster's ClusterResourceSet with the manifests that it brings."""
from __future__ import annotations

from typing import Any

from ..._common.problems.errors import ReportedError
from ..._common.problems.problem import Problem
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import few, plain
from ..._kube.objects.titles import title_of
from ..._kube.reconcile.plan import Entry, by_name
from ..._kube.reconcile.reconcile import raise_refused
from ..._kube.responses.errors import KubeError
from ..._kube.responses.patient_poll import poll
from ..._metal3.kinds import KNOWN
from ..manifests import resource_set
from ..waiting.service import ClusterWait
from ..writing import ownership
from ..writing.entries import entry_result, entry_title, removal_difference
from ..writing.writes import Check
from .run import ClusterRun

Object = dict[str, Any]

_INTERVAL_SECONDS = 2
_SHOWN = 4


class ResourceSetError(ReportedError):
    """Cluster API has not brought a cluster's manifests into it."""


class ResourceSets:
    """What one run does with the ClusterResourceSet of its cluster.

    :param run: the run
    :param manifests: objects for the workload cluster, none for a cluster that is to be gone
    :param objects: stored objects of the namespace by kind, the ClusterResourceSets among them
    """

    def __init__(self, run: ClusterRun, manifests: list[Object], objects: dict[str, list[Object]]) -> None:
        self._run = run
        self._sets = objects.get(resource_set.KIND) or []
        self._manifests = manifests
        self._strategy = run.options.get("resource_set") or resource_set.NONE
        self._desired: list[Object] = []
        self._entries: list[Entry] = []
        self._removed: list[Object] = []

    @property
    def is_wanted(self) -> bool:
        """Return whether Cluster API brings the manifests into the cluster, and not this run."""
        return self._strategy != resource_set.NONE

    def problems(self, description: Any) -> list[Problem]:
        """Return what stands against it.

        :raises KubeError: when the management plane does not let its ClusterResourceSets be read
        """
        if not self.is_wanted:
            return []
        found = resource_set.problems(self._run.subject, self._manifests)
        if found:
            return found
        self._desired = resource_set.objects(self._run.namespace, self._run.name, self._strategy, self._manifests)
        try:
            # Where it is read as one of many kinds, an unknown kind and a missing right count as none.
            self._run.client.list(KNOWN[resource_set.KIND], self._run.namespace)
        except KubeError as exc:
            if exc.status != 404:
                raise
            return [Problem("resource-set-unknown", self._run.subject, "resource_set", self._strategy,
                            f"{resource_set.NONE}, since the API server {self._run.client.server} does not know "
                            f"{resource_set.KIND}s of {resource_set.GROUP}/{resource_set.VERSION}",
                            "leave it out, or upgrade Cluster API")]
        return ownership.problems(self._run.subject, description, self._desired, {
            resource_set.KIND: self._sets}, self._run.options.get("adopt"))

    def plan(self) -> None:
        """Read the ConfigMaps and Secrets of before, and let the API server try what is due; nothing is stored.

        :raises KubeError: with all that the API server refuses
        """
        stored = self._stored()
        self._removed = resource_set.undescribed(stored, self._desired)
        if not self._desired:
            return
        writes = self._run.writes
        # What a conflict asks for: that it is not somebody else's by then.
        writes.rendered.update(((item["kind"], item["metadata"]["name"]), item) for item in self._desired)
        listed = dict(((KNOWN[kind], self._run.namespace), by_name([item for item in stored if item["kind"] == kind]))
                      for kind in (resource_set.KIND, *resource_set.BUNDLES))
        tried = writes.dry_run(writes.plan(self._desired, listed))
        raise_refused(self._run.client, [item for item in tried if item.error or item.entry.changes], True, entry_title)
        self._entries = [item.entry for item in tried]

    def write(self, result: Object) -> None:
        """Write what was planned and delete what is not described any more; add to a result what that is.

        :raises KubeError: with all that the API server refuses
        """
        changing = [entry for entry in self._entries if entry.changes]
        if not self._run.check_mode:
            # What a ClusterResourceSet names is there before it.
            for kinds in (resource_set.BUNDLES, (resource_set.KIND,)):
                due = [entry for entry in changing if entry.resource.kind in kinds]
                if due:
                    self._run.progress.event(f"cluster {self._run.name}: writing {', '.join(map(entry_title, due))}")
                    self._run.put(due)
        self._delete(self._removed, self._run.writes.still_undescribed)
        result["changed"] = result["changed"] or bool(changing or self._removed)
        result["objects"] += [entry_result(entry) for entry in changing]
        result["removed"] += map(title_of, self._removed)
        result["diff"] += [self._run.difference(entry) for entry in changing] + [
            removal_difference(item) for item in self._removed]

    def wait(self, wait: ClusterWait) -> None:
        """Wait until Cluster API has applied all of it, once the cluster has a control plane that takes it.

        :raises ResourceSetError: when it does not in time, with what Cluster API says
        """
        began_at = wait.clock()
        seconds = wait.remaining_seconds()
        left: list[str] = []
        for step in poll(self._binding, began_at + seconds, _INTERVAL_SECONDS, wait.clock, self._run.sleep):
            if step.error is not None:
                continue
            left = resource_set.unapplied(step.objects, self._desired)
            if not left:
                return
            self._run.progress.status(f"cluster {self._run.name}: Cluster API brings its manifests: "
                                      f"{few(left, _SHOWN)}", duration(wait.clock() - began_at))
        said = plain(resource_set.complaint(self._run.client.get(
            KNOWN[resource_set.KIND], self._run.namespace, self._desired[-1]["metadata"]["name"])))
        raise ResourceSetError(
            f"{self._run.subject}: Cluster API has not applied {few(left, _SHOWN) or 'its manifests'} within "
            f"{duration(seconds)}{': ' + said if said else ''}; look at the {resource_set.KIND} "
            f"{self._desired[-1]['metadata']['name']} and at the log of Cluster API's controller, then run again")

    def remove(self) -> list[Object]:
        """Delete all of it with its cluster, and return what that is; in check mode, what it would be."""
        found = resource_set.undescribed(self._stored(), [])
        self._delete(found, self._run.writes.still_deleted)
        return found

    def _delete(self, items: list[Object], may_delete: Check) -> None:
        # By the set a run that was killed in between finds the others.
        for is_set in (False, True):
            self._run.delete([item for item in items if (item["kind"] == resource_set.KIND) == is_set], may_delete)

    def _binding(self) -> Object | None:
        found: Object | None = self._run.client.get(KNOWN[resource_set.BINDING], self._run.namespace, self._run.name)
        return found

    def _stored(self) -> list[Object]:
        """Return what this collection has made before; without a set nobody is asked for its ConfigMaps and Secrets."""
        label, name = resource_set.LABEL, self._run.name
        sets = [item for item in self._sets if (item["metadata"].get("labels") or {}).get(label) == name]
        if not sets and not self._desired:
            return []
        return sets + [item for kind in resource_set.BUNDLES for item in self._run.client.list(
            KNOWN[kind], self._run.namespace, resource_set.selector(name))[0]]

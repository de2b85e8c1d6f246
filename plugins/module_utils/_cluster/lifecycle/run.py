# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run over one cluster works with: its description, what it has done so far, and its writes."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.waiting import parallel
from ..._kube.api.cluster_clock import clock_of
from ..._kube.api.workload_client import workload_client
from ..._kube.objects.titles import title_of
from ..._kube.reconcile.plan import Entry
from ..._kube.reconcile.reconcile import raise_refused
from ..._kube.reconcile.report import difference
from ..._manifests.service import ManifestsService
from ..checks.validation import Checked, check_description
from ..description.inventory import field_names
from ..description.providers import Provider, provider_of
from ..render.addon import addon_objects
from ..waiting.service import ClusterWait
from ..workflow.reading import snapshot_of
from ..workflow.rollout_stop import without_contents
from ..workflow.snapshot import Snapshot
from ..writing.entries import entry_result, entry_title, goes, is_in_use, removal_difference, waves
from ..writing.writes import Check, ClusterWrites

Object = dict[str, Any]


def read_description(params: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Checked:
    """Return the checked description that a module's parameters give.

    :param names: how messages name options, see ``problem.renamed``
    :raises RefusedError: when it has mistakes
    """
    checked = check_description(params)
    if checked.mistakes or checked.problems:
        raise RefusedError(checked.mistakes + checked.problems, names)
    return checked


class ClusterRun:
    """What one run of ``cluster`` works with.

    :param client: a KubeClient
    :param params: the description, see ``spec.description_options``
    :param options: what is not part of the description: ``check_hosts``, ``check_network``, ``image_ca_file``,
        ``ironic_pod``, ``neighbours``, ``virtual_routers`` (none when left out), ``dhcp`` (nothing when left out),
        ``wait_for``, ``wait_timeout_seconds``, ``node_startup_timeout_seconds``, ``prune``, ``confirm``,
        ``confirm_by_name``, ``adopt`` (nothing when left out), ``manifests``, ``resource_set`` (none when left out),
        ``rollout`` (as described when left out), ``verify`` and ``plan_only`` (false when left out)
    :param check_mode: let the API server check writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    :param phase: says where a server is, for the wait's progress, as ClusterWait takes it
    """

    def __init__(self, client: Any, params: Object, options: Object, check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep, now: Callable[[], float] | None = None,
                 phase: Any = None) -> None:
        self.client = client
        self.phase = phase
        self.now = now or clock_of(client)
        self.params = params
        self.options = options
        self.check_mode = check_mode
        # Whether machines go only by the confirmation; check mode says that it will be asked for.
        self.is_asking = not check_mode or bool(options.get("plan_only"))
        self.progress = progress
        self.sleep = sleep
        self.namespace = params["namespace"]
        self.name = params["name"]
        self.subject = f"cluster {self.namespace}/{self.name}"
        # How messages name options, see ``problem.renamed``.
        self.names = field_names(options.get("options")) if options.get("field_names") == "variables" else None
        # What has been done so far, for a run that fails later on: it has changed something all the same.
        self.done: dict[str, Any] = {"changed": False, "objects": [], "removed": [], "diff": []}
        # Templates in whose place others come: {(kind, name): the stored one}, see ``rollout.predecessors``.
        self.replaced: dict[tuple[str, str], Object] = {}
        # Kind and name of the objects whose changes were sent.
        self.begun: set[tuple[str, str]] = set()
        # Names of the pools of a topology whose rollout waits for its turn.
        self.held: set[str] = set()
        self._described: Checked | None = None
        self.writes = ClusterWrites(client, check_mode, progress, sleep, self.namespace, self.name,
                                    options.get("adopt"), provider_of(params.get("provider")))

    @property
    def provider(self) -> Provider:
        """Return who gives the cluster its machines; of one that is to be gone, the stored Cluster says it."""
        return self.writes.provider

    def read(self) -> Checked:
        """Return the checked description, which is read and rendered once.

        :raises RefusedError: when it has mistakes
        """
        if self._described is None:
            self._described = read_description(self.params, self.names)
        return self._described

    def new_wait(self, for_machines: bool = True) -> ClusterWait:
        """Return a wait for the cluster, whose time begins now.

        :param for_machines: whether it waits for the described machines
        """
        reusing = [group.owner for group in self.read().description.groups if group.get("node_reuse")] \
            if for_machines else []
        return ClusterWait(self.client, self.namespace, self.name, self.options["wait_timeout_seconds"], self.progress,
                           provider=self.provider, phase=self.phase, reusing=reusing)

    def snapshot(self) -> Snapshot:
        """Return the cluster as it is now; of a server that does not answer it is asked again for half a minute.

        :raises KubeError: when the API server can't be asked
        """
        found: list[Snapshot] = parallel.values(self.writes.persist([lambda: snapshot_of(
            self.client, self.namespace, self.name, self.provider)]))
        return found[0]

    def workload(self) -> Any:
        """Return a KubeClient of the workload cluster, None when there is no kubeconfig of it yet."""
        return workload_client(self.client, self.namespace, self.name)

    def manifests(self, client: Any) -> ManifestsService:
        """Return a run over what the workload cluster is given.

        :param client: a KubeClient of it, None when there is none yet
        """
        sources = addon_objects(self.read().description) + self.options["manifests"]
        return ManifestsService(client, sources, "default", self.check_mode, self.progress, self.sleep)

    def difference(self, entry: Entry) -> Object:
        """Return an entry's difference; of a template, to the one in whose place it comes.

        Of the note of a stopped rollout only that there is one: it is text, with all that a configuration may hold.
        """
        entry = entry._replace(before=without_contents(entry.before), after=without_contents(entry.after))
        return difference(entry, self.replaced.get((entry.resource.kind, entry.name)))

    def write(self, entries: list[Entry]) -> None:
        """Write entries in their order, unless in check mode."""
        if self.check_mode:
            return
        for due in waves([entry for entry in entries if entry.changes], self.read().description.by_topology):
            if due:
                self.progress.event(f"cluster {self.name}: writing {', '.join(map(entry_title, due))}")
                self.put(due)
        self.writes.renew(entries)

    def put(self, entries: list[Entry]) -> None:
        """Write entries and note what was written.

        :raises KubeError: with all that the server refused, and what may not be written any more
        """
        self.begun |= set((entry.resource.kind, entry.name) for entry in entries)
        written = self.writes.write(entries)
        for item in written:
            if item.changed:
                self.done["changed"] = True
                self.done["objects"].append(entry_result(item.entry))
                self.done["diff"].append(self.difference(item.entry))
        raise_refused(self.client, written, title=entry_title)

    def delete(self, items: list[Object], may_delete: Check | None = None, is_patient: bool = False) -> list[Object]:
        """Delete objects that are as they were read.

        :param may_delete: see ``ClusterWrites.delete_while``
        :param is_patient: whether a class stays for now that Cluster API still takes for used
        :returns: those that were deleted, by others too; what stays is not among them
        """
        written = self.writes.delete_while(items, may_delete)
        gone = [item for item, outcome in zip(items, written) if outcome.error is None and goes(outcome.value)]
        for item in gone:
            if not self.check_mode:
                self.done["changed"] = True
                self.done["removed"].append(title_of(item))
                self.done["diff"].append(removal_difference(item))
        raise_refused(self.client, [outcome for outcome in written if not (is_patient and is_in_use(outcome))],
                      title=entry_title)
        return gone

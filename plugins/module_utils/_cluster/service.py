# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a description to a running cluster: read once, check all, write what differs, wait; and the way back."""
from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._common import confirmation
from .._common.errors import RefusedError
from .._common.problem import Problem, renamed_field
from .._common.redaction import hidden
from .._host import lock as host_lock
from .._kube import plan
from .._kube.advice import reading_failed
from .._kube.diff import goes_away
from .._kube.errors import KubeError
from .._kube.finalizers import is_going, staying_problems
from .._kube.reconcile import raise_refused
from .._kube.report import difference
from .._kube.workload_client import workload_client, workload_kubeconfig
from .._manifests.service import ManifestsService
from .._metal3.kinds import KNOWN
from . import (
    certificates as cluster_certificates,
)
from . import (
    losses as cluster_losses,
)
from . import (
    ownership as cluster_ownership,
)
from . import (
    prune as cluster_prune,
)
from . import (
    rollout as cluster_rollout,
)
from . import (
    stored as cluster_stored,
)
from . import (
    topology as cluster_topology,
)
from . import (
    topology_owners as cluster_topology_owners,
)
from .addon import addon_objects
from .checks.addon import addon_problems, addon_warnings
from .checks.metalstack import firewall_warnings, provider_problems
from .checks.preflight import Facts, preflight_problems, rollout_warnings
from .checks.rollout_gates import gate_warnings
from .checks.topology import change_problems, class_problems, gate_problem
from .checks.validation import Checked, check_description, description_warnings
from .drain_questions import drain_warnings
from .facts import facts_of_namespace, with_the_rest
from .inventory import field_names
from .model import ClusterDescription
from .network_questions import NetworkQuestions
from .providers import CLASS_KINDS, provider_of, provider_of_cluster, with_classes, without_classes
from .reading import read_all, snapshot_of
from .reasons import reasons
from .render import standalone as cluster_standalone
from .spec import description_options
from .wait import ClusterWait, WaitFailedError, belongs
from .workflow import goals as workflow_goals
from .workflow import tree as workflow_tree
from .workflow.failures import paused
from .workflow.metalstack import server_of
from .workflow.snapshot import Snapshot
from .workflow.steps import machine_steps
from .writes import ClusterWrites

# The Cluster first: IPAM and CAPM3 look for it when they see what names it. Owners of machines after their templates.
_LAST_KINDS = ("KubeadmControlPlane", "MachineDeployment", "Machine", "MachineHealthCheck")
_TEMPLATES_OF_CLASS = ("Metal3ClusterTemplate", "KubeadmControlPlaneTemplate", "Metal3MachineTemplate",
                       "KubeadmConfigTemplate")
# How long a run waits for machines in between, for each goal of its end: without a network add-on no node is Ready.
_ROLLED = {"initialized": "nodes", "nodes": "nodes", "available": "available"}


def read_description(params: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Checked:
    """Return the checked description that a module's parameters give.

    :param names: how messages name options, see ``problem.renamed``
    :raises RefusedError: when it has mistakes
    """
    checked = check_description(params)
    if checked.mistakes or checked.problems:
        raise RefusedError(checked.mistakes + checked.problems, names)
    return checked


class CheckedCluster(NamedTuple):
    """What was read for a run, which nothing was found wrong with.

    :param description: the cluster's description
    :param desired: the objects that it asks for
    :param manifests: objects for the new cluster
    :param objects: stored objects of the namespace by kind
    :param snapshot: of the cluster, from the same objects
    :param facts: what the description was compared with
    :param network: what is still being asked of the network, None when nothing is
    :param unread: warnings about what could not be read
    """

    description: ClusterDescription
    desired: list[dict[str, Any]]
    manifests: list[dict[str, Any]]
    objects: dict[str, list[dict[str, Any]]]
    snapshot: Snapshot
    facts: Facts
    network: NetworkQuestions | None
    unread: list[str]

    def network_problems(self) -> list:
        """Wait for what the network answers and return its problems."""
        return self.network.problems(is_new=self.snapshot.cluster is None) if self.network else []


class PlannedCluster(NamedTuple):
    """What a run is going to do.

    :param entries: of the objects that are to be stored
    :param changes: what becomes of the machines, see ``rollout.preview``
    :param removed: stored objects that are to be deleted
    :param leaving: stored objects that Cluster API deletes, because the Cluster's topology has them no more
    :param losses: machines that are deleted, see ``losses.losses``
    :param warnings: what the user should know
    """

    entries: list[Any]
    changes: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    leaving: list[dict[str, Any]]
    losses: list[Any]
    warnings: list[str]


class ClusterService:
    """One run of ``cluster``.

    :param client: a KubeClient
    :param params: the description, see ``cluster_spec``
    :param options: what is not part of the description: ``check_hosts``, ``check_network``, ``image_ca_file``,
        ``neighbours`` (none when left out), ``wait_for``, ``wait_timeout_seconds``, ``node_startup_timeout_seconds``,
        ``prune``, ``confirm``, ``confirm_by_name``, ``adopt`` (nothing when left out), ``manifests``
    :param check_mode: let the API server check writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns the time in seconds since 1970
    :param phase: says where a server is, for the wait's progress, as ClusterWait takes it
    """

    def __init__(self, client, params, options, check_mode, progress, sleep=time.sleep, now=time.time, phase=None):
        self.client = client
        self.phase = phase
        self.now = now
        self.params = params
        self.options = options
        self.check_mode = check_mode
        self.progress = progress
        self.sleep = sleep
        self.namespace = params["namespace"]
        self.name = params["name"]
        self.subject = f"cluster {self.namespace}/{self.name}"
        # How messages name options, see ``problem.renamed``.
        self.names = field_names(options.get("options")) if options.get("field_names") == "variables" else None
        # What has been done so far, for a run that fails later on: it has changed something all the same.
        self.done: dict[str, Any] = {"changed": False, "objects": [], "removed": [], "diff": []}
        self._replaced = {}
        self._described: Checked | None = None
        # Who gives the cluster its machines; of one that is to be gone, the stored Cluster says it while it is there.
        self.provider = provider_of(params.get("provider"))
        self.writes = ClusterWrites(client, check_mode, progress, sleep, self.namespace, self.name,
                                    options.get("adopt"), self.provider)

    # The cluster is to be there

    def present(self) -> dict[str, Any]:
        """Create or change the cluster and return the module's result.

        :raises RefusedError: when the description has mistakes or does not fit what there is
        :raises WaitFailedError: when the goal is not reached
        :raises RolloutError: when what the manifests hold does not run
        :raises KubeError: when the API server can't be asked or refuses
        """
        checked = self._check()
        planned = self._plan(checked)
        wait = None if self.check_mode or self.options["wait_for"] == "none" else self._new_wait()
        result = self._apply(checked, planned, wait)
        self._wait(checked, result, wait)
        self._collect(checked, result)
        return self._with_state(result)

    def _new_wait(self) -> ClusterWait:
        return ClusterWait(self.client, self.namespace, self.name, self.options["wait_timeout_seconds"], self.progress,
                           provider=self.provider, phase=self.phase)

    def read(self) -> Checked:
        """Return the checked description, which is read and rendered once.

        :raises RefusedError: when it has mistakes
        """
        if self._described is None:
            self._described = read_description(self.params, self.names)
        return self._described

    def _check(self) -> CheckedCluster:
        """Read what there is, once, and compare the description with it.

        :raises RefusedError: with all that is wrong, what the network says included
        """
        described = self.read()
        description, desired = described.description, described.objects
        manifests = self._manifests(None).objects()
        network = NetworkQuestions(self.subject, description, self.options["image_ca_file"]) \
            if self.options["check_network"] else None
        if description.by_topology:
            self.provider = self.writes.provider = with_classes(self.provider)
        objects, addresses = read_all(self.client, self.namespace, self.provider)
        snapshot = Snapshot(objects, self.name)
        facts, unread = facts_of_namespace(objects, addresses, snapshot, self.options.get("neighbours", ()),
                                           self.provider), []
        if self.options["check_hosts"]:
            facts, unread = with_the_rest(self.client, facts, self.subject, self.provider)
        found = provider_problems(description, snapshot.cluster) + addon_problems(description, manifests)
        found += change_problems(description, snapshot.cluster, self.options["prune"])
        if description.cluster_class:
            found += self._of_class(description, unread)
        found += preflight_problems(description, facts) if self.options["check_hosts"] else []
        found += cluster_ownership.problems(self.subject, description, desired, objects, self.options.get("adopt"))
        # With the rest, since hosts and addresses that are missing may be those that are about to be given back.
        found += staying_problems(cluster_standalone.without_stored(description, desired, objects)[0], objects)
        checked = CheckedCluster(description, desired, manifests, objects, snapshot, facts, network, unread)
        if found:
            raise RefusedError(found + checked.network_problems(), self.names)
        return checked

    def _of_class(self, description: ClusterDescription, unread: list[str]) -> list[Problem]:
        """Return what a description asks of a class of the user's that the class has not."""
        about = description.cluster_class or {}
        kind, namespace = KNOWN["ClusterClass"], about.get("namespace") or self.namespace
        try:
            return class_problems(description, self.client.get(kind, namespace, about["name"]))
        except KubeError as exc:
            if exc.status != 403:
                raise
            unread.append(f"{self.subject}: whether the ClusterClass has what is asked of it is not checked: "
                          f"{reading_failed(exc, kind, namespace, self.client.server, 'get')}")
            return []

    def _plan(self, checked: CheckedCluster) -> PlannedCluster:
        """Say what is to be written and deleted, with the API server's own verdict, before anything is.

        :raises RefusedError: with what the network says, and when a loss of machines is not confirmed
        :raises KubeError: with all that the API server refuses
        """
        description, desired, objects = checked.description, checked.desired, checked.objects
        self.writes.description = description
        self.writes.rendered = dict(((item["kind"], item["metadata"]["name"]), item) for item in desired)
        kept = cluster_stored.kept_pools(description, objects)
        new, made_before = cluster_standalone.without_stored(description, desired, objects)
        if description.by_topology:
            wanted = cluster_topology_owners.with_stored_numbers(description, new, objects)
            self.writes.rendered.update(((item["kind"], item["metadata"]["name"]), item) for item in wanted)
        else:
            wanted = cluster_stored.with_stored_replicas(description, new, objects, goes_away)
            wanted += cluster_stored.templates_in_use(description, objects, desired + kept)
        entries, answers = self._tried(self.writes.plan(wanted, self._listed(objects)))
        changes, leaving = self._changes(checked, entries, answers)
        removed = cluster_prune.removed(objects, desired + kept, description, self.options["prune"])
        losses = cluster_losses.losses(description, changes, removed + leaving, checked.snapshot)
        gates = self._gates(checked, changes, losses)
        unconfirmed = cluster_losses.confirmation_problem(
            f"{self.namespace}/{self.name}", losses, self.options["confirm"], self.options.get("confirm_by_name"),
            gates)
        found = checked.network_problems() + cluster_losses.lock_problems(
            self.subject, losses, changes, checked.snapshot, self.now())
        found += [unconfirmed] if unconfirmed and not self.check_mode else []
        if found:
            raise RefusedError(found, self.names)
        self.writes.allowed = dict(((loss.kind, loss.owner), loss.count) for loss in losses)
        warnings = checked.unread + description_warnings(description) + gates
        warnings += cluster_rollout.cleaning_warnings(entries) + self._of_kept(kept) + made_before
        warnings += firewall_warnings(description, entries)
        if self.options["wait_for"] == "available":
            warnings += addon_warnings(description, checked.manifests)
        if unconfirmed:
            warnings += confirmation.asked_later([unconfirmed])
        self.done["warnings"] = warnings
        # Before a wait that they may be the cause of.
        early = [f"warning: {line}" for line in warnings] if checked.snapshot.cluster is None else []
        for line in early + cluster_rollout.lines(changes) + cluster_losses.lines(losses):
            self.progress.event(line)
        return PlannedCluster(entries, changes, removed, leaving, losses, warnings)

    def _changes(self, checked: CheckedCluster, entries: list[Any], answers: Any) -> tuple[list[Any], list[Any]]:
        """Return what becomes of the machines, and the pools that Cluster API deletes by itself."""
        description, desired, objects = checked.description, checked.desired, checked.objects
        owners, snapshot, leaving = entries, checked.snapshot, []
        if description.by_topology:
            cluster = next(entry for entry in entries if entry.resource.kind == "Cluster")
            planned = cluster_topology_owners.planned(description, cluster, desired, objects)
            owners, answers, leaving, snapshot = planned.entries, planned.answers, planned.leaving, planned.snapshot
            objects = cluster_topology.as_plain(objects)
        described = desired + [entry.desired for entry in owners if entry.desired not in desired]
        self._replaced = cluster_rollout.predecessors([item for items in objects.values() for item in items], described)

        def because(entry: Any) -> list[str]:
            found = ["cluster_class"] if description.cluster_class else reasons(
                description, entry, self._replaced, desired)
            return [renamed_field(option, self.names) for option in found]

        return cluster_rollout.preview(owners, snapshot, answers, because), leaving

    def _apply(self, checked: CheckedCluster, planned: PlannedCluster, wait: ClusterWait | None) -> dict[str, Any]:
        """Write and delete what was planned; return the result so far."""
        # Before that, a control plane waits for the manifests, which come later, and no worker joins without it.
        runs = wait is not None and workflow_goals.missing(checked.snapshot, "initialized") is None
        later = cluster_rollout.workers_that_roll(planned.entries, planned.changes) if runs else []
        self._write([entry for entry in planned.entries if entry not in later])
        self._delete(planned.removed, self.writes.still_undescribed)
        self._roll(later, wait)
        changing = [entry for entry in planned.entries if entry.changes]
        return {"changed": bool(planned.removed or planned.leaving or changing), "changes": planned.changes,
                "losses": cluster_losses.as_result(planned.losses), "warnings": planned.warnings,
                "objects": [_named(entry) for entry in changing],
                "removed": [_title(item) for item in planned.removed + planned.leaving],
                "diff": [self._difference(entry) for entry in changing]
                + [_removal(item) for item in planned.removed + planned.leaving]}

    def _roll(self, later: list[Any], wait: ClusterWait | None) -> None:
        """Write pools of workers whose machines are replaced, one after another, each when what was before it is done.

        kubeadm and the kubelets of workers must not be newer than the control plane. A pool that does not come keeps
        the others as they are.

        :raises WaitFailedError: when the machines of one do not come; it names the pools that were not begun
        """
        before = [("KubeadmControlPlane", self.read().description.groups[0].owner)]
        for position, entry in enumerate(later):
            try:
                self._until_rolled(before[-1], wait)
            except WaitFailedError as exc:
                raise WaitFailedError(f"{exc}\n- not begun: {', '.join(map(_entry_title, later[position:]))}; when the "
                                      "description is corrected, or is that of before again, run again",
                                      exc.steps) from exc
            self._write([entry])
            before.append((entry.resource.kind, entry.name))

    def _until_rolled(self, owner, wait):
        wait.until_rolled(*owner, _ROLLED[self.options["wait_for"]], self.options["node_startup_timeout_seconds"])

    def _wait(self, checked: CheckedCluster, result: dict[str, Any], wait: ClusterWait | None) -> None:
        """Wait for the goal; give the cluster its manifests as soon as it takes them."""
        if checked.manifests:
            self._add_manifests(result, checked.snapshot, wait)
        if wait is None:
            return
        wait.until(self.options["wait_for"], self.options["node_startup_timeout_seconds"])
        if checked.manifests and self.options["wait_for"] == "available":
            self._manifests(self._workload()).wait(wait.remaining_seconds())
        result.update(timeline=wait.timeline, seconds=round(wait.clock() - wait.began_at, 1))

    def _gates(self, checked: CheckedCluster, changes: list[dict[str, Any]], losses: list[Any]) -> list[str]:
        """Return what stands in the way of the machines' replacement, what the workload cluster says included."""
        rolling = [change["owner"] for change in changes if change["machines"]]
        nodes = dict((loss.owner, [node for name, _host in loss.machines
                                   for node in [checked.snapshot.node_of(name)] if node]) for loss in losses)
        return rollout_warnings(checked.description, checked.facts, rolling) + gate_warnings(
            checked.description, checked.snapshot, rolling) + drain_warnings(
            self._workload, checked.description, nodes)

    def _listed(self, objects):
        """Return what was read as ``Reconcile.plan`` takes it: what is checked and compared is then the same."""
        return dict(((KNOWN[kind], self.namespace), plan.by_name(items)) for kind, items in objects.items())

    def _of_kept(self, kept):
        pools = sorted(f"{item['metadata']['name']} ({item['spec'].get('replicas') or 0} machines)"
                       for item in kept if item["kind"] == "MachineDeployment")
        return [f"{self.subject}: {renamed_field('workers', self.names)}: not set, so the stored pools stay unchanged: "
                f"{', '.join(pools)}; describe them, or set it to {{}} to delete them"] if pools else []

    def _difference(self, entry):
        return difference(entry, self._replaced.get((entry.resource.kind, entry.name)))

    def _tried(self, entries):
        """Let the API server and its webhooks try all that is due before anything is written.

        :returns: the entries, and the server's answers for those that change, ``{(kind, name): object}``
        """
        tried = self.writes.dry_run(entries)
        try:
            raise_refused(self.client, [item for item, entry in zip(tried, entries) if entry.changes], True,
                          _entry_title)
        except KubeError as exc:
            switched_off = gate_problem(self.subject, exc.message)
            if switched_off:
                raise RefusedError([switched_off], self.names) from exc
            raise
        return [item.entry for item in tried], dict(
            ((entry.resource.kind, entry.name), item.value) for item, entry in zip(tried, entries) if entry.changes)

    def _write(self, entries):
        if self.check_mode:
            return
        for due in _waves([entry for entry in entries if entry.changes], self.read().description.by_topology):
            if due:
                self.progress.event(f"cluster {self.name}: writing {', '.join(map(_entry_title, due))}")
                self._put(due)

    def _put(self, entries):
        """Write entries and note what was written.

        :raises KubeError: with all that the server refused, and what may not be written any more
        """
        written = self.writes.write(entries)
        for item in written:
            if item.changed:
                self.done["changed"] = True
                self.done["objects"].append(_named(item.entry))
                self.done["diff"].append(self._difference(item.entry))
        raise_refused(self.client, written, title=_entry_title)

    def _delete(self, items, may_delete=None, is_patient=False):
        """Delete objects that are as they were read.

        :param may_delete: see ``ClusterWrites.delete_while``
        :param is_patient: whether a class stays for now that Cluster API still takes for used
        :returns: those that were deleted, by others too; what stays is not among them
        """
        written = self.writes.delete_while(items, may_delete)
        gone = [item for item, outcome in zip(items, written) if outcome.error is None and _goes(outcome.value)]
        for item in gone:
            if not self.check_mode:
                self.done["changed"] = True
                self.done["removed"].append(_title(item))
                self.done["diff"].append(_removal(item))
        raise_refused(self.client, [outcome for outcome in written if not (is_patient and _is_in_use(outcome))],
                      title=_entry_title)
        return gone

    def _workload(self):
        return workload_client(self.client, self.namespace, self.name)

    def _manifests(self, client):
        sources = addon_objects(self.read().description) + self.options["manifests"]
        return ManifestsService(client, sources, "default", self.check_mode, self.progress, self.sleep)

    def _add_manifests(self, result, snapshot, wait):
        """Write the manifests into the workload cluster as soon as it takes them: nodes may need them to be ready.

        :param snapshot: the cluster's Snapshot before this run
        :param wait: a ClusterWait, None when nothing is to be waited for
        """
        if wait:
            wait.until("initialized", self.options["node_startup_timeout_seconds"])
        # A kubeconfig is there long before an API server that it leads to.
        answers = wait is not None or workflow_goals.missing(snapshot, "initialized") is None
        workload = self._workload() if answers else None
        if workload is None and not self.check_mode:
            result["warnings"].append(
                f"{self.subject}: its manifests are not applied, because it has no initialized control plane yet and "
                "wait_for is none; run again when it has")
            return
        try:
            manifests = self._manifests(workload)
            manifests.seconds_left = wait.remaining_seconds() if wait else 0
            written = manifests.write()
        except KubeError as exc:
            if not (self.check_mode and exc.retriable):
                raise
            result["warnings"].append(f"{self.subject}: its manifests are not compared, because its own API server "
                                      f"does not answer: {exc.message}")
            return
        result["manifests"] = written["objects"]
        result["changed"] = result["changed"] or written["changed"]
        result["diff"] += written["diff"]
        if not self.check_mode:
            self.done["changed"] = self.done["changed"] or written["changed"]
            self.done["diff"] += written["diff"]

    def _collect(self, checked: CheckedCluster, result: dict[str, Any]) -> None:
        """Delete templates and pools that nothing needs any more; after the wait, when old machines are gone."""
        objects, addresses = read_all(self.client, self.namespace, self.provider)
        desired = checked.desired + cluster_stored.kept_pools(checked.description, objects)
        unused = cluster_prune.unused_templates(objects, desired, self.name)
        pools = cluster_prune.undescribed_pools(objects, addresses, desired, self.name)
        unused += [pool for pool, users in pools if not users]
        result.update(unused=[_title(item) for item in unused], collected=[])
        if not self.options["prune"] or not self._is_followed(checked, objects):
            return
        gone = self._delete(unused)
        result.update(unused=[_title(item) for item in unused if item not in gone],
                      collected=[_title(item) for item in gone])
        result["warnings"] += [
            f"cluster {self.namespace}/{self.name}: {_title(pool)} is not described any more and stays, for it is "
            f"still needed: {', '.join(users)}; run again when that is gone" for pool, users in pools if users]

    def _is_followed(self, checked: CheckedCluster, objects: dict[str, list[dict[str, Any]]]) -> bool:
        """Say whether Cluster API works by the described class, and needs the one of before no more."""
        wanted = next(item for item in checked.desired if item["kind"] == "Cluster")
        return not checked.description.by_topology or cluster_topology.is_observed(
            Snapshot(objects, self.name).cluster, wanted)

    def _with_state(self, result: dict[str, Any]) -> dict[str, Any]:
        result["changed"] = result["changed"] or bool(result["collected"])
        snapshot = snapshot_of(self.client, self.namespace, self.name, self.provider)
        result["machines"] = machine_steps(snapshot) if snapshot.cluster else []
        result["tree"] = workflow_tree.lines(workflow_tree.tree(snapshot)) if snapshot.cluster else []
        return result

    # The cluster is to be gone

    def absent(self) -> dict[str, Any]:
        """Delete the cluster with all that belongs to it and return the module's result.

        :raises RefusedError: when its name is not repeated, it is paused, or a host of it is locked
        :raises WaitFailedError: when something stays
        :raises KubeError: when the API server can't be asked or refuses
        """
        unconfirmed = self._unconfirmed_deletion()
        if unconfirmed and not self.check_mode:
            raise RefusedError(unconfirmed)
        stored = self.client.get(KNOWN["Cluster"], self.namespace, self.name)
        if stored is not None:
            self.provider = self.writes.provider = provider_of_cluster(stored)
        if stored is None or cluster_topology.is_by_topology(stored):
            self.provider = self.writes.provider = with_classes(self.provider)
        objects = read_all(self.client, self.namespace, self.provider)[0]
        snapshot = Snapshot(objects, self.name)
        foreign = cluster_ownership.deletion_problem(self.subject, self.name, snapshot.cluster,
                                                     self.options.get("adopt"))
        if foreign:
            raise RefusedError([foreign], self.names)
        used = [host for host in [snapshot.host(machine) for machine in snapshot.mine("Metal3Machine")] if host]
        locked = host_lock.problems(self.subject, "", used, self.now())
        found = locked + [Problem("cluster-paused", self.subject, "spec.paused", "true", "a cluster that is not paused",
                                  f"{failure.cause}, its deletion included; {failure.next_step}")
                          for failure in paused(snapshot)]
        if found:
            raise RefusedError(found, self.names)
        hosts = sorted(host["metadata"]["name"] for host in used)
        rest = [item for kind in self.provider.template_kinds for item in objects[kind] if belongs(item, self.name)]
        if stored is None and not any(item["kind"] in CLASS_KINDS for item in rest):
            self.provider = self.writes.provider = without_classes(self.provider)
        foreign = [item for item in rest if self._is_others(item)]
        rest = [item for item in rest if item not in foreign]
        self.done["warnings"] = self._of_others(foreign) + (
            confirmation.asked_later(unconfirmed) if snapshot.cluster is not None or rest else [])
        result = {"changed": snapshot.cluster is not None or bool(rest), "hosts": hosts,
                  "warnings": self.done["warnings"],
                  "diff": [_removal(snapshot.cluster)] if snapshot.cluster else [_removal(item) for item in rest]}
        if not result["changed"]:
            return result
        taken = hosts or [f"machine {server}" for server in map(
            server_of, snapshot.mine("MetalStackMachine")) if server]
        if snapshot.cluster is not None:
            # The Cluster's controllers take machines, control plane and infrastructure away in the right order; what
            # is deleted beside it could be missed by them.
            self.progress.event(f"cluster {self.name}: deleting it, with {', '.join(taken) or 'no host'}")
            self._delete([snapshot.cluster], self.writes.still_deleted)
        else:
            self._delete(rest, self.writes.still_deleted)
        if not self.check_mode and self.options["wait_for"] != "none":
            wait = self._new_wait()
            wait.until_gone(hosts, self._sweep, self._is_others)
            result["seconds"] = round(wait.clock() - wait.began_at, 1)
        return result

    def _unconfirmed_deletion(self) -> list[Problem]:
        given, by_name = self.options["confirm"], self.options.get("confirm_by_name")
        named = f"{self.namespace}/{self.name}"
        texts = [part.strip() for part in str(given or "").split(",")]
        if named in texts or (not by_name and texts == [self.name]):
            return []
        wanted, what, why = self.name, "the cluster's name", ""
        if by_name:
            wanted, what = named, "the cluster's namespace and name"
            why = " (several with commas between): the run is for clusters that may share a name"
        return [Problem(
            "confirmation-missing", self.subject, "confirm", given or None, what,
            f"deleting a cluster wipes the disks of its machines; to continue set {confirmation.VARIABLE}={wanted} in "
            f"a playbook (module option confirm){why}")]

    def _sweep(self, objects):
        """Delete templates and pools that no owner deletes; those with finalizers wait for their users."""
        self._delete([item for kind in self.provider.template_kinds for item in objects.get(kind) or []
                      if belongs(item, self.name) and not self._is_others(item) and not is_going(item)],
                     self.writes.still_deleted, is_patient=True)

    def _is_others(self, item):
        """Say whether an object that refers to the cluster is left to those who made it."""
        return cluster_ownership.deletion_problem(self.subject, self.name, item, self.options.get("adopt")) is not None

    def _of_others(self, items):
        return [f"{self.subject}: not deleted, because others have made it: {', '.join(map(_title, items))}; delete it "
                f"yourself, or repeat the cluster's name {self.name} (option adopt, variable teardown_adopt) to have "
                "it deleted"] if items else []

    # The workload cluster's kubeconfig

    def kubeconfig(self):
        """Return the workload cluster's kubeconfig as a dict, or None when there is none yet."""
        return workload_kubeconfig(self.client, self.namespace, self.name)

    def endpoint(self):
        """Return the URL of the cluster's API server, by its description or else by the stored Cluster.

        :returns: None when neither names it
        :raises KubeError: when the API server can't be asked
        """
        endpoint = self.params.get("endpoint") or {}
        if not endpoint.get("host"):
            cluster = self.client.get(KNOWN["Cluster"], self.namespace, self.name)
            endpoint = ((cluster or {}).get("spec") or {}).get("controlPlaneEndpoint") or {}
        if not endpoint.get("host"):
            return None
        host = f"[{endpoint['host']}]" if ":" in endpoint["host"] else endpoint["host"]
        port = endpoint.get("port") or description_options()["endpoint"]["options"]["port"]["default"]
        return f"https://{host}:{port}"


def read_cluster(client, namespace, name, now=time.time):
    """Return the result of ``cluster_info`` for one cluster.

    :param now: callable that returns the time in seconds since 1970
    """
    snapshot = snapshot_of(client, namespace, name)
    if snapshot.cluster is None:
        return None
    tree = workflow_tree.tree(snapshot)
    return {"name": name, "namespace": namespace, "phase": (snapshot.cluster.get("status") or {}).get("phase"),
            "machines": machine_steps(snapshot), "certificates": cluster_certificates.of_control_plane(snapshot, now()),
            "tree": tree, "lines": workflow_tree.lines(tree)}


def _waves(entries, by_topology):
    """Return entries in the groups that are written one after another.

    With a topology a class comes after its templates and before the Cluster, which begins to follow it at once. A new
    Cluster comes before what looks for it; one that is there after all that its new class needs.
    """
    if not by_topology:
        order = [("Cluster",), None, _LAST_KINDS]
    elif any(entry.resource.kind == "Cluster" and entry.current is None for entry in entries):
        order = [_TEMPLATES_OF_CLASS, ("ClusterClass",), ("Cluster",), None]
    else:
        order = [None, ("ClusterClass",), ("Cluster",)]
    named = [kind for kinds in order if kinds for kind in kinds]
    return [[entry for entry in entries if (kinds and entry.resource.kind in kinds)
             or (not kinds and entry.resource.kind not in named)] for kinds in order]


def _entry_title(entry):
    return f"{entry.resource.kind} {entry.name}"


def _title(item):
    return f"{item['kind']} {item['metadata']['name']}"


def _named(entry):
    return {"kind": entry.resource.kind, "name": entry.name, "action": plan.DONE[entry.action]}


def _is_in_use(outcome):
    """Say whether a class was not deleted because Cluster API's webhook has not learned that its Cluster is gone."""
    return outcome.entry.resource.kind == "ClusterClass" and outcome.error is not None and outcome.error.status == 403 \
        and "is used by Cluster" in outcome.error.message


def _goes(answer):
    """Say whether an object is gone or going, by the answer to its DELETE or the object that a decision left as is."""
    return not isinstance(answer, dict) or is_going(answer)


def _removal(item):
    return {"before_header": _title(item), "after_header": "",
            "before": {"spec": hidden(item.get("spec") or {})}, "after": {}}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a description to a running cluster: read once, check all, write what differs, wait; and the way back."""
from __future__ import annotations

import time
from typing import Any

from .._common.problem import problem
from .._common.secret_fields import hidden, hidden_difference, secret_texts, without_secrets
from .._ipam.service import RefusedError
from .._kube import apply, bulk, checked
from .._kube.diff import goes_away
from .._kube.errors import KubeError
from .._kube.resources import KNOWN, resource_for
from .._kube.workload_client import workload_client, workload_kubeconfig
from .._manifests.service import ManifestsService
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
from .checks.addon import addon_problems, addon_warnings
from .checks.preflight import preflight_problems, rollout_warnings
from .checks.validation import checked as checked_description
from .checks.validation import description_warnings
from .facts import facts_of_namespace, with_the_rest
from .network_questions import NetworkQuestions
from .reading import TEMPLATE_KINDS, read_all, snapshot_of
from .render.objects import render
from .spec import description_options
from .wait import ClusterWait, belongs
from .workflow import goals as workflow_goals
from .workflow import tree as workflow_tree
from .workflow.snapshot import Snapshot
from .workflow.steps import machine_steps

# The Cluster first: IPAM and CAPM3 look for it when they see what names it. Owners of machines after their templates.
_LAST_KINDS = ("KubeadmControlPlane", "MachineDeployment", "MachineHealthCheck")
OWNER_KINDS = ("KubeadmControlPlane", "MachineDeployment")


def read_description(params):
    """Return the description that a module's parameters give.

    :raises RefusedError: when it has mistakes
    """
    description, mistakes, found = checked_description(params)
    subject = f"cluster {description.get('namespace')}/{description.get('name')}"
    found = [f"{subject}: {line}" for line in mistakes] + found
    if found:
        raise RefusedError(found)
    return description


def _told_by(network, snapshot):
    return network.problems(is_new=snapshot.cluster is None) if network else []


class ClusterService:
    """One run of ``cluster``.

    :param client: a KubeClient
    :param params: the description, see ``cluster_spec``
    :param options: what is not part of the description: ``check_hosts``, ``check_network``, ``image_ca_file``,
        ``neighbours`` (none when left out), ``wait_for``, ``wait_timeout_seconds``, ``node_startup_timeout_seconds``,
        ``prune``, ``confirm``, ``adopt`` (nothing when left out), ``manifests``
    :param check_mode: let the API server judge writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, params, options, check_mode, progress, sleep=time.sleep):
        self.client = client
        self.params = params
        self.options = options
        self.check_mode = check_mode
        self.progress = progress
        self.sleep = sleep
        self.namespace = params["namespace"]
        self.name = params["name"]
        self.subject = f"cluster {self.namespace}/{self.name}"
        # What has been done so far, for a run that fails later on: it has changed something all the same.
        self.done: dict[str, Any] = {"changed": False, "objects": [], "removed": [], "diff": []}
        self._rendered = {}
        self._replaced = {}
        # How many machines each owner may lose, as it was checked: {(kind, name): number}.
        self._allowed = {}

    # The cluster is to be there

    def present(self):
        """Make or change the cluster and return the module's result.

        :raises RefusedError: when the description has mistakes or does not fit what there is
        :raises WaitFailedError: when the goal is not reached
        :raises RolloutError: when what the manifests hold does not run
        :raises KubeError: when the API server can't be asked or refuses
        """
        description = read_description(self.params)
        manifests = self._manifests(None).objects()
        network = NetworkQuestions(self.subject, description, self.options["image_ca_file"]) \
            if self.options["check_network"] else None
        objects, addresses = read_all(self.client, self.namespace)
        snapshot = Snapshot(objects, self.name)
        facts, unseen = facts_of_namespace(objects, addresses, snapshot, self.options.get("neighbours", ())), []
        if self.options["check_hosts"]:
            facts, unseen = with_the_rest(self.client, facts, self.subject)
        found = addon_problems(description, manifests)
        found += preflight_problems(description, facts) if self.options["check_hosts"] else []
        desired = render(description)
        found += cluster_ownership.problems(self.subject, description, desired, objects, self.options.get("adopt"))
        if found:
            raise RefusedError(found + _told_by(network, snapshot))
        self._rendered = dict(((item["kind"], item["metadata"]["name"]), item) for item in desired)
        kept = cluster_stored.kept_pools(description, objects)
        wanted = cluster_stored.with_stored_replicas(description, desired, objects, goes_away)
        wanted += cluster_stored.templates_in_use(description, objects, desired + kept)
        entries, answers = self._judged(apply.plan(self.client, wanted, self._listed(objects)))
        changes = cluster_rollout.preview(entries, snapshot, answers)
        removed = cluster_prune.removed(objects, desired + kept, description, self.options["prune"])
        losses = cluster_losses.losses(description, changes, removed, snapshot)
        unconfirmed = cluster_losses.confirmation_problem(self.subject, losses, self.options["confirm"])
        found = _told_by(network, snapshot) + ([unconfirmed] if unconfirmed and not self.check_mode else [])
        if found:
            raise RefusedError(found)
        self._allowed = dict(((loss.kind, loss.owner), loss.count) for loss in losses)
        warnings = unseen + description_warnings(description) + rollout_warnings(
            description, facts, [change["owner"] for change in changes if change["rolls"]])
        warnings += cluster_rollout.cleaning_warnings(entries) + self._of_kept(kept)
        if self.options["wait_for"] == "available":
            warnings += addon_warnings(description, manifests)
        if unconfirmed:
            warnings.append(f"without check mode this would be refused: {unconfirmed}")
        self.done["warnings"] = warnings
        self._replaced = cluster_rollout.predecessors([item for items in objects.values() for item in items], desired)
        # Before a wait that they may be the cause of.
        early = [f"warning: {line}" for line in warnings] if snapshot.cluster is None else []
        for line in early + cluster_rollout.lines(changes) + cluster_losses.lines(losses):
            self.progress.event(line)
        self._write(description, entries)
        self._take_away(description, removed)
        result = {"changed": bool(removed) or any(entry.action != "none" for entry in entries),
                  "changes": changes, "losses": cluster_losses.as_result(losses), "warnings": warnings,
                  "objects": [_named(entry) for entry in entries if entry.action != "none"],
                  "removed": [_title(item) for item in removed],
                  "diff": [self._difference(entry) for entry in entries if entry.action != "none"]
                  + [_removal(item) for item in removed]}
        waits = not self.check_mode and self.options["wait_for"] != "none"
        wait = ClusterWait(self.client, self.namespace, self.name, self.options["wait_timeout_seconds"], self.progress)
        if self.options["manifests"]:
            self._add_manifests(result, snapshot, wait if waits else None)
        if waits:
            wait.until(self.options["wait_for"], self.options["node_startup_timeout_seconds"])
            if self.options["manifests"] and self.options["wait_for"] == "available":
                self._manifests(self._workload()).wait(wait.remaining_seconds())
            result.update(timeline=wait.timeline, seconds=round(wait.clock() - wait.began_at, 1))
        self._collect(description, desired, result)
        return self._with_state(result)

    def _listed(self, objects):
        """Return what was read as ``apply.plan`` takes it: what is checked and what is compared are then the same."""
        return dict(((KNOWN[kind], self.namespace), apply.by_name(items)) for kind, items in objects.items())

    def _of_kept(self, kept):
        pools = sorted("%s (%d machines)" % (item["metadata"]["name"], item["spec"].get("replicas") or 0)
                       for item in kept if item["kind"] == "MachineDeployment")
        return ["%s: workers: not given, so that the stored pools stay as they are: %s; describe them, or give an "
                "empty dictionary to delete them" % (self.subject, ", ".join(pools))] if pools else []

    def _difference(self, entry):
        return _diff(entry, self._replaced.get((entry.resource.kind, entry.name)))

    def _judged(self, entries):
        """Let the API server and its webhooks judge all that is due before anything is written.

        An update that would store what is stored already is none: the server's own spelling of a value differs, as
        with the version in references of v1beta1.

        :returns: the entries, and the server's answers for those that change, ``{(kind, name): object}``
        """
        due = [position for position, entry in enumerate(entries) if entry.action != "none"]
        outcomes = self._sent([entries[position] for position in due], dry_run=True)
        answers = {}
        for position, outcome in zip(due, outcomes):
            entry = entries[position]
            answers[entry.resource.kind, entry.name] = outcome.value
            if apply.stores_nothing_new(entry, outcome.value):
                entries[position] = entry._replace(action="none")
        return entries, answers

    def _write(self, description, entries):
        if self.check_mode:
            return
        for wave in (("Cluster",), None, _LAST_KINDS):
            due = [entry for entry in entries if entry.action != "none" and _in_wave(entry, wave)]
            if due:
                self.progress.event(f"cluster {self.name}: writing {', '.join(map(_entry_title, due))}")
                self._put(description, due)

    def _put(self, description, entries):
        """Write entries, each only while what it was planned on is stored; note what was written.

        :raises KubeError: with all that the server refused, and what may not be written any more
        """
        written = apply.execute(self.client, entries, decide=lambda entry: self._decided(description, entry),
                                tell=self.progress.event, sleep=self.sleep)
        for item in written:
            if item.error is None and item.task.action != "none":
                self.done["changed"] = True
                self.done["objects"].append(_named(item.task))
                self.done["diff"].append(self._difference(item.task))
        self._raise_refused([(entry, item.error) for entry, item in zip(entries, written)])

    def _decided(self, description, entry):
        """Return an entry for what is stored by now, when what was checked still holds.

        :raises KubeError: when it does not
        """
        kind = entry.desired["kind"]
        fresh = self.client.get(entry.resource, entry.namespace, entry.name)
        stored = {kind: [fresh] if fresh else []}
        desired = self._rendered.get((kind, entry.name), entry.desired)
        if (kind, entry.name) in self._rendered:
            found = cluster_ownership.problems(self.subject, description, [desired], stored, self.options.get("adopt"))
            if found:
                raise KubeError(found[0])
        (wanted,) = cluster_stored.with_stored_replicas(description, [desired], stored, goes_away)
        (again,) = apply.plan(self.client, [wanted], {(entry.resource, entry.namespace): {
            entry.name: fresh} if fresh else {}})
        if again.action != "none" and kind in OWNER_KINDS:
            answer = apply.send(self.client, again, dry_run=True)
            snapshot = snapshot_of(self.client, self.namespace, self.name)
            changes = cluster_rollout.preview([again], snapshot, {(kind, entry.name): answer})
            self._check_allowed(cluster_losses.losses(description, changes, [], snapshot))
        return again

    def _check_allowed(self, losses):
        """Refuse Losses that are larger than those that were checked."""
        for loss in losses:
            if loss.count > self._allowed.get((loss.kind, loss.owner), 0):
                raise KubeError("changed by others since it was read, and would now take more machines away: %s; "
                                "run again" % cluster_losses.lines([loss])[0], 409, "Conflict")

    def _sent(self, entries, dry_run):
        """Apply entries and return their outcomes.

        :raises KubeError: with all that the server refused
        """
        outcomes = self._persist([
            lambda entry=entry: self.client.apply(entry.resource, entry.namespace, entry.desired, dry_run=dry_run)
            for entry in entries])
        self._raise_refused([(entry, outcome.error) for entry, outcome in zip(entries, outcomes)], dry_run)
        return outcomes

    @staticmethod
    def _raise_refused(answers, dry_run=False):
        """Raise a KubeError with all refusals among ``(entry, error or None)``."""
        # Webhooks quote what they refuse.
        refused = [f"{_entry_title(entry)}: {without_secrets(error.message, secret_texts(entry.desired))}"
                   for entry, error in answers if error is not None]
        if refused:
            raise KubeError("the API server refused %d of %d objects%s:\n%s" % (
                len(refused), len(answers), ", nothing was written" if dry_run else "",
                "\n".join("- " + line for line in refused)))

    def _persist(self, calls):
        return bulk.persist(calls, self.progress.event, self.sleep)

    def _take_away(self, description, items):
        """Delete what is not described any more, each only while it is as it was checked; note what was deleted."""
        def decide(item):
            fresh = self.client.get(resource_for(item["apiVersion"], item["kind"]), self.namespace,
                                    item["metadata"]["name"])
            if fresh is None or fresh["metadata"].get("deletionTimestamp"):
                return checked.Settled(fresh)
            if not cluster_prune.ours(fresh, self.name):
                raise KubeError("it is not this collection's any more, and stays; run again", 409, "Conflict")
            snapshot = snapshot_of(self.client, self.namespace, self.name)
            self._check_allowed(cluster_losses.losses(description, [], [fresh], snapshot))
            return fresh

        self._delete(items, decide)

    def _delete(self, items, decide=None):
        """Delete objects that are as they were read.

        :param decide: what to do about one that has changed, see ``checked.write``; without it, it stays
        :returns: those that were deleted, by others too; what stays is not among them
        """
        written = checked.write(
            items, self._delete_one, decide or checked.Settled, self.progress.event, self.sleep)
        gone = [item for item, outcome in zip(items, written) if outcome.error is None and _goes(outcome.value)]
        for item in gone:
            if not self.check_mode:
                self.done["changed"] = True
                self.done["removed"].append(_title(item))
                self.done["diff"].append(_removal(item))
        refused = [f"{_title(item)}: {outcome.error.message}"
                   for item, outcome in zip(items, written) if outcome.error is not None]
        if refused:
            raise KubeError("the API server refused to delete:\n%s" % "\n".join("- " + line for line in refused))
        return gone

    def _delete_one(self, item):
        return self.client.delete(resource_for(item["apiVersion"], item["kind"]), self.namespace,
                                  item["metadata"]["name"], checked=item, dry_run=self.check_mode)

    def _workload(self):
        return workload_client(self.client, self.namespace, self.name)

    def _manifests(self, client):
        return ManifestsService(
            client, self.options["manifests"], "default", self.check_mode, self.progress, self.sleep)

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
                "%s: its manifests are not applied, because it has no initialized control plane yet and wait_for is "
                "none; run again when it has" % self.subject)
            return
        try:
            written = self._manifests(workload).write()
        except KubeError as exc:
            if not (self.check_mode and exc.retriable):
                raise
            result["warnings"].append("%s: its manifests are not compared, because its own API server does not "
                                      "answer: %s" % (self.subject, exc.message))
            return
        result["manifests"] = written["objects"]
        result["changed"] = result["changed"] or written["changed"]
        result["diff"] += written["diff"]
        if not self.check_mode:
            self.done["changed"] = self.done["changed"] or written["changed"]
            self.done["diff"] += written["diff"]

    def _collect(self, description, desired, result):
        """Delete templates and pools that nothing needs any more; after the wait, when old machines are gone."""
        objects, addresses = read_all(self.client, self.namespace)
        desired = desired + cluster_stored.kept_pools(description, objects)
        unused = cluster_prune.unused_templates(objects, desired, self.name)
        pools = cluster_prune.undescribed_pools(objects, addresses, desired, self.name)
        unused += [pool for pool, users in pools if not users]
        result.update(unused=[_title(item) for item in unused], collected=[])
        if not self.options["prune"]:
            return
        gone = self._delete(unused)
        result.update(unused=[_title(item) for item in unused if item not in gone],
                      collected=[_title(item) for item in gone])
        result["warnings"] += [
            "cluster %s/%s: %s is not described any more and stays, for it is still needed: %s; run again when that is "
            "gone" % (self.namespace, self.name, _title(pool), ", ".join(users)) for pool, users in pools if users]

    def _with_state(self, result):
        result["changed"] = result["changed"] or bool(result["collected"])
        snapshot = snapshot_of(self.client, self.namespace, self.name)
        result["machines"] = machine_steps(snapshot) if snapshot.cluster else []
        result["tree"] = workflow_tree.lines(workflow_tree.tree(snapshot)) if snapshot.cluster else []
        return result

    # The cluster is to be gone

    def absent(self):
        """Delete the cluster with all that belongs to it and return the module's result.

        :raises RefusedError: when its name is not repeated
        :raises WaitFailedError: when something stays
        :raises KubeError: when the API server can't be asked or refuses
        """
        if self.options["confirm"] != self.name:
            raise RefusedError([problem(
                self.subject, "confirm", self.options["confirm"] or None,
                "the cluster's name", "deleting a cluster wipes its machines' disks: repeat the name to go on")])
        objects = read_all(self.client, self.namespace)[0]
        snapshot = Snapshot(objects, self.name)
        foreign = cluster_ownership.deletion_problem(self.subject, self.name, snapshot.cluster,
                                                     self.options.get("adopt"))
        if foreign:
            raise RefusedError([foreign])
        hosts = sorted(host["metadata"]["name"] for host in [
            snapshot.host(machine) for machine in snapshot.mine("Metal3Machine")] if host)
        rest = [item for kind in TEMPLATE_KINDS for item in objects[kind] if belongs(item, self.name)]
        foreign = [item for item in rest if self._is_others(item)]
        rest = [item for item in rest if item not in foreign]
        self.done["warnings"] = self._of_others(foreign)
        result = {"changed": snapshot.cluster is not None or bool(rest), "hosts": hosts,
                  "warnings": self.done["warnings"],
                  "diff": [_removal(snapshot.cluster)] if snapshot.cluster else [_removal(item) for item in rest]}
        if not result["changed"]:
            return result
        if snapshot.cluster is not None:
            # The Cluster's controllers take machines, control plane and infrastructure away in the right order; what
            # is deleted beside it could be missed by them.
            self.progress.event(f"cluster {self.name}: deleting it, with {', '.join(hosts) or 'no host'}")
            self._delete([snapshot.cluster], self._still_deleted)
        else:
            self._delete(rest, self._still_deleted)
        if not self.check_mode and self.options["wait_for"] != "none":
            wait = ClusterWait(
                self.client, self.namespace, self.name, self.options["wait_timeout_seconds"], self.progress)
            wait.until_gone(hosts, self._sweep, self._is_others)
            result["seconds"] = round(wait.clock() - wait.began_at, 1)
        return result

    def _sweep(self, objects):
        """Delete templates and pools that no owner takes away; those with finalizers wait for their users."""
        self._delete([item for kind in TEMPLATE_KINDS for item in objects.get(kind) or []
                      if belongs(item, self.name) and not self._is_others(item)
                      and not item["metadata"].get("deletionTimestamp")], self._still_deleted)

    def _is_others(self, item):
        """Say whether an object that refers to the cluster is left to those who made it."""
        return cluster_ownership.deletion_problem(self.subject, self.name, item, self.options.get("adopt")) is not None

    def _of_others(self, items):
        return ["%s: not deleted, because others have made it: %s; delete it yourself, or repeat the cluster's name %s "
                "(option adopt, variable teardown_adopt) to have it deleted" % (
                    self.subject, ", ".join(map(_title, items)), self.name)] if items else []

    def _still_deleted(self, item):
        """Decide again about an object of a cluster that is to be gone, and that has changed since it was read.

        :raises KubeError: when it may not be deleted any more
        """
        fresh = self.client.get(resource_for(item["apiVersion"], item["kind"]), self.namespace,
                                item["metadata"]["name"])
        if fresh is None or fresh["metadata"].get("deletionTimestamp"):
            return checked.Settled(fresh)
        if fresh["metadata"].get("uid") != item["metadata"].get("uid"):
            raise KubeError("others deleted it and made a new one since it was read; run again", 409, "Conflict")
        foreign = cluster_ownership.deletion_problem(self.subject, self.name, fresh, self.options.get("adopt"))
        if foreign:
            raise KubeError(foreign, 409, "Conflict")
        return fresh

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


def read_cluster(client, namespace, name):
    """Return the result of ``cluster_info`` for one cluster."""
    snapshot = snapshot_of(client, namespace, name)
    if snapshot.cluster is None:
        return None
    tree = workflow_tree.tree(snapshot)
    return {"name": name, "namespace": namespace, "phase": (snapshot.cluster.get("status") or {}).get("phase"),
            "machines": machine_steps(snapshot), "tree": tree, "lines": workflow_tree.lines(tree)}


def _in_wave(entry, kinds):
    kind = entry.desired["kind"]
    return kind in kinds if kinds else kind != "Cluster" and kind not in _LAST_KINDS


def _entry_title(entry):
    return f"{entry.resource.kind} {entry.name}"


def _title(item):
    return f"{item['kind']} {item['metadata']['name']}"


def _named(entry):
    return {"kind": entry.resource.kind, "name": entry.name, "action": entry.action + "d"}


def _diff(entry, replaced):
    """Return an entry's difference.

    :param replaced: the object that a new template takes the place of, or None
    """
    header = f"{entry.resource.kind} {entry.namespace}/{entry.name}"
    before, after = hidden_difference(entry.before, entry.after, reference=replaced)
    return {"before_header": header if before else "", "after_header": header, "before": before, "after": after}


def _goes(answer):
    """Say whether an object is gone or going, by the answer to its DELETE or the object that a decision left as is."""
    return not isinstance(answer, dict) or bool(answer["metadata"].get("deletionTimestamp"))


def _removal(item):
    return {"before_header": _title(item), "after_header": "",
            "before": {"spec": hidden(item.get("spec") or {})}, "after": {}}

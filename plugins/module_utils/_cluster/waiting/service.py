# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a cluster: until a goal is reached, until it can't be, or until it is gone."""
from __future__ import annotations

import time

from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import few
from ..._common.waiting.wait_loop import WaitLoop
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from ..._host.state.host_errors import HostErrors
from ..._ipam.claim import pool_of
from ..._ipam.reading import readable
from ..._kube.api.cluster_clock import clock_of
from ..._kube.api.follow import follow_kinds
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.precondition import uid_of
from ..._metal3.kinds import KNOWN
from ..description.providers import provider_of
from ..description.spec import METAL3
from ..workflow import goals as workflow_goals
from ..workflow.snapshot import CLUSTER_LABEL, Snapshot
from ..workflow.steps import machine_steps, phase_text, step_text
from ..workflow.topology import missing as topology_missing
from . import failures as workflow_failures
from .endpoint_watch import EndpointWatch


class WaitFailedError(ReportedError):
    """A wait ended without its goal.

    :param message: what is missing, and why
    :param steps: where each machine is
    """

    def __init__(self, message, steps):
        super().__init__(message)
        self.steps = steps

    def result(self):
        """Return what the failed module returns besides the text."""
        return {"machines": self.steps}


class ClusterWait:
    """Waits for one cluster.

    :param client: a KubeClient
    :param namespace: namespace of the cluster
    :param cluster: its name
    :param timeout_seconds: how long to wait in all
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param wall_clock: seconds since 1970, by default by the clock of the API server
    :param endpoint_watch: an EndpointWatch
    :param provider: the Provider of the cluster, by default that of Metal³
    :param phase: callable that takes a BareMetalHost and for how many seconds it has been deployed, and says where its
        server is, empty when that is not known
    :param reusing: names of the owners whose machines get the hosts of those before them
    """

    def __init__(self, client, namespace, cluster, timeout_seconds, progress, clock=time.monotonic,
                 wall_clock=None, endpoint_watch=None, provider=None, phase=None, reusing=()):
        self._reusing = frozenset(reusing)
        self._phase = phase or (lambda bmh, seconds: "")
        self.provider = provider or provider_of(METAL3)
        self.client = client
        self.namespace = namespace
        self.cluster = cluster
        self.timeout_seconds = timeout_seconds
        self.progress = progress
        self.clock = clock
        self.wall_clock = wall_clock or clock_of(client)
        self.began_at = clock()
        self.endpoint_watch = endpoint_watch or EndpointWatch(clock)
        self.timeline = []
        self._loop = self._new_loop()
        self._snapshot = None
        self._steps = None
        # Subjects of the failures that the first look showed, and when that was; None before it.
        self._inherited = None
        self._errors = HostErrors()
        # As it was read first, None before.
        self._cluster = None

    def remaining_seconds(self):
        """Return how much of the time for waiting is left, at least one second: enough to look once."""
        return max(1, self.timeout_seconds - int(self.clock() - self.began_at))

    def until(self, goal, node_startup_timeout_seconds):
        """Wait until the cluster is at a goal and return its last Snapshot.

        :param goal: one of ``workflow_goals.GOALS``
        :param node_startup_timeout_seconds: how long a deployed machine may take to become a Node
        :raises WaitFailedError: when it can't get there, or not in time
        """
        return self._until(goal, node_startup_timeout_seconds,
                           lambda snapshot: workflow_goals.missing(snapshot, goal, self.wall_clock()))

    def until_followed(self, node_startup_timeout_seconds):
        """Wait until Cluster API has written a Cluster's topology to all that it makes of it.

        :raises WaitFailedError: as :meth:`until`
        """
        self._until("as its topology says", node_startup_timeout_seconds,
                    lambda snapshot: topology_missing(snapshot.cluster, staying(snapshot.owners())))

    def until_rolled(self, kind, name, goal, node_startup_timeout_seconds, uid=None):
        """Wait until the machines of one owner are all as it describes them now.

        :param kind: ``KubeadmControlPlane`` or ``MachineDeployment``
        :param name: the owner's name
        :param goal: ``nodes`` or ``available``
        :param uid: of the owner that is meant, None for whichever has its name
        :raises WaitFailedError: as :meth:`until`, and when another owner has its name
        """
        def missing_in(snapshot):
            owner = snapshot.get(kind, name)
            if owner is not None and uid is not None and uid_of(owner) != uid:
                raise WaitFailedError(
                    f"cluster {self.namespace}/{self.cluster}: found another {kind} {name}, expected the one whose "
                    "machines are waited for; look at it, then run again", machine_steps(snapshot))
            return workflow_goals.missing_of(snapshot, kind, name, goal, self.wall_clock())

        self._until(goal, node_startup_timeout_seconds, missing_in)

    def _until(self, goal, node_startup_timeout_seconds, missing_in):
        def decide(objects):
            snapshot = self._snapshot = Snapshot(objects, self.cluster)
            lost = workflow_failures.deleted(self._cluster, snapshot.cluster)
            self._cluster = self._cluster or snapshot.cluster
            if lost:
                return Verdict(FAILED, _lines(lost), "")
            missing = missing_in(snapshot)
            self._report(snapshot)
            due = self._due_failures(snapshot, node_startup_timeout_seconds)
            if missing is None:
                return Verdict(REACHED, "", "")
            # What is over by now may not be known yet, as long as some kinds are not read.
            return Verdict(FAILED, _lines(due), "") if due and self._loop.is_answered else Verdict(WAITING, missing, "")

        item, silence = self._run(
            goal, decide, self.provider.workflow_kinds,
            lambda: self._snapshot and workflow_goals.progress(self._snapshot, self.wall_clock(), self._phase))
        if item.verdict.outcome == REACHED:
            return self._snapshot
        if item.verdict.outcome == FAILED:
            raise WaitFailedError(f"cluster {self.namespace}/{self.cluster} can't become "
                                  f"ready:\n{item.verdict.cause}{self._endpoint()}", self._steps or [])
        raise WaitFailedError(
            f"cluster {self.namespace}/{self.cluster} is not {goal} within {duration(self.timeout_seconds)}: "
            f"{item.verdict.cause or 'it was not read yet'}{self._where()}{self._endpoint()}{silence}",
            self._steps or [])

    def _run(self, goal, decide, kinds, status):
        """Wait for the cluster, the one thing of this wait.

        :param decide: callable that takes ``{kind: list of objects}`` and returns the Verdict
        :param kinds: names of the kinds to follow
        :param status: callable that returns what ``Progress.status`` takes, None for nothing yet
        :returns: its Awaited, and a line on an API server that does not answer, empty when it does
        """
        item = Awaited(goal, self.clock(), decide)
        loop = self._loop = self._new_loop()
        steps = follow_kinds(self.client, [KNOWN[kind] for kind in kinds], self.namespace,
                             self.began_at + self.timeout_seconds, clock=self.clock)
        loop.run({f"cluster {self.cluster}": item}, steps, lambda objects, dummy: dict(
            (kind, list(found.values())) for kind, found in objects.items()), lambda *dummy: status(),
            ends_at_failure=True)
        return item, f"\n- {loop.silence()}" if loop.silence() else ""

    def _new_loop(self):
        return WaitLoop(f"API server {self.client.server}", self.progress, self.clock)

    def _endpoint(self):
        line = self.endpoint_watch.silence()
        return f"\n- {line}" if line else ""

    def _report(self, snapshot):
        steps = machine_steps(snapshot)
        seconds = round(self.clock() - self.began_at, 1)
        for line in workflow_goals.changes(self._steps, steps):
            self.progress.event(f"{self.cluster}/{line}")
        known = dict((step["machine"], (step["step"], step["complete"])) for step in self._steps or [])
        for step in steps:
            if step["machine"] and known.get(step["machine"]) != (step["step"], step["complete"]):
                self.timeline.append({"machine": step["machine"], "step": step["step"],
                                      "complete": step["complete"], "seconds": seconds})
        self._steps = steps
        self.endpoint_watch.look(snapshot)
        line = self.endpoint_watch.news()
        if line:
            self.progress.event(f"cluster {self.cluster}: {line}")

    def _due_failures(self, snapshot, node_startup_timeout_seconds):
        """Return the failures that end the wait: new ones, and those of before that outlast their time."""
        now = self.clock()
        self._errors.look(snapshot.all("BareMetalHost"))
        found = workflow_failures.failures(
            snapshot, self.wall_clock(), node_startup_timeout_seconds, self._reusing, self._errors.counted)
        # By subject: an old failure's words change while other hosts and machines do. One that is over is forgotten,
        # because when it comes back it is new.
        before = dict.fromkeys((failure.subject for failure in found), now) if self._inherited is None \
            else self._inherited
        self._inherited = dict((failure.subject, before[failure.subject]) for failure in found
                               if failure.subject in before)
        return [failure for failure in found if failure.subject not in self._inherited
                or now - self._inherited[failure.subject] >= workflow_failures.OLD_FAILURE_SECONDS]

    def _where(self):
        now = self.wall_clock()
        lines = ["- %s: %s; waits for %s%s" % (
            step["machine"] or f"a machine of {step['owner']}", step_text(step, now), step["waits_for"],
            phase_text(self._snapshot, step, now, self._phase))
            for step in self._steps or [] if not step["complete"]]
        return ":\n" + "\n".join(lines) if lines else ""

    def until_gone(self, hosts, sweep, is_others):
        """Wait until nothing is left of a cluster and its hosts are free.

        :param hosts: names of the BareMetalHosts that it has
        :param sweep: callable that takes the objects as they are now and deletes what nothing else deletes
        :param is_others: see :func:`leftovers`
        :raises WaitFailedError: when something does not go, or not in time
        """
        found, errors = {"rest": []}, HostErrors()

        def decide(objects):
            rest = found["rest"] = leftovers(objects, self.cluster, hosts, is_others, self.provider)
            if not rest:
                return Verdict(REACHED, "", "")
            snapshot = Snapshot(objects, self.cluster)
            if snapshot.cluster is None:
                sweep(objects)
            for failure in workflow_failures.paused(snapshot):
                return Verdict(FAILED, f"{failure.subject}: {failure.cause}", failure.next_step)
            return self._given_up(objects, hosts, errors) or Verdict(WAITING, few(rest, 4, "; "), "")

        kinds = self.provider.workflow_kinds + self.provider.template_kinds
        if self.provider.name == METAL3:
            kinds += ("IPAddress",)
        item, silence = self._run("gone", decide, kinds, lambda: (found["rest"] and (
            f"cluster {self.cluster}: {few(found['rest'], 4, '; ')}", "")) or None)
        if item.verdict.outcome == FAILED:
            raise WaitFailedError(item.verdict.text, [])
        if item.verdict.outcome == WAITING:
            raise WaitFailedError("cluster %s/%s is not gone within %s:\n%s%s" % (
                self.namespace, self.cluster, duration(self.timeout_seconds),
                "\n".join("- " + line for line in found["rest"] or ["it was not read yet"]), silence), [])

    def _given_up(self, objects, hosts, errors):
        """Return the Verdict on a host that can't be deprovisioned, None while there is none."""
        found = workflow_failures.not_deprovisioned(
            objects.get("BareMetalHost") or [], hosts, errors, self.clock() - self.began_at)
        if found is None:
            return None
        name, explanation, message = found
        return Verdict(FAILED, f"BareMetalHost {self.namespace}/{name} can't be deprovisioned: {explanation.cause}",
                       explanation.next_step, message)


def _lines(failures):
    return "\n".join("- %s: %s; %s" % failure for failure in failures)


def staying(owners):
    """Return the owners of machines that are not being deleted: a pool that is paused goes when it is released."""
    return [owner for owner in owners if not is_going(owner)]


def leftovers(objects, cluster, hosts, is_others=lambda item: False, provider=None):
    """Return what is still there of a cluster, in words; pure.

    :param objects: dict of kind to list of objects
    :param hosts: names of the BareMetalHosts that it had
    :param is_others: callable that says whether a template or an IPPool of the cluster is left to others
    :param provider: the Provider of the cluster, by default that of Metal³
    """
    provider = provider or provider_of(METAL3)
    templates = provider.template_kinds
    rest = []
    snapshot = Snapshot(objects, cluster)
    if snapshot.cluster is not None:
        rest.append(f"Cluster {cluster}")
    for kind in ("Machine", provider.machine_kind, "KubeadmControlPlane", "MachineDeployment", provider.cluster_kind,
                 "Metal3Data", *templates):
        names = sorted(item["metadata"]["name"] for item in objects.get(kind) or []
                       if belongs(item, cluster) and not (kind in templates and is_others(item)))
        if names:
            rest.append(f"{kind} {', '.join(names)}")
    pools = set(item["metadata"]["name"] for item in objects.get("IPPool") or []
                if belongs(item, cluster) and not is_others(item))
    used = sorted(item["spec"]["address"] for item in readable(objects.get("IPAddress") or [])
                  if pool_of(item) in pools)
    if used:
        rest.append(f"addresses {', '.join(used)}")
    for host in objects.get("BareMetalHost") or []:
        name = host["metadata"]["name"]
        state = ((host.get("status") or {}).get("provisioning") or {}).get("state")
        if name in hosts and (host["spec"].get("consumerRef") or state not in ("available", "ready")):
            rest.append(f"host {name} in state {state}")
    return rest


def belongs(item, cluster):
    """Say whether an object is a cluster's, by its label, its owner or its ``clusterName``."""
    metadata = item["metadata"]
    owned = any(owner.get("kind") == "Cluster" and owner.get("name") == cluster
                for owner in metadata.get("ownerReferences") or [])
    return owned or (metadata.get("labels") or {}).get(CLUSTER_LABEL) == cluster \
        or (item.get("spec") or {}).get("clusterName") == cluster

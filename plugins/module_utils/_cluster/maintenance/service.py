# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take hosts out of their clusters for a while, and back: cordon, drain, wait until they are Ready, uncordon."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from ..._common.documents.object_shape import of_kind
from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._host.actions.action_rules import identities, identity_of, identity_problems
from ..._host.description.annotations import maintained_since
from ..._host.state import power_coming
from ..._host.state.reading import hosts_of
from ..._kube.api import bulk
from ..._kube.api.cluster_clock import clock_of
from ..._kube.api.workload_client import workload_client
from ..._kube.objects.finalizers import is_going
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..interruption.outlook import Outlook, say
from ..interruption.questions import budgets_of, not_asked, pods_on
from ..workflow.reading import objects_of
from ..workflow.snapshot import Snapshot, is_control_plane
from . import drain, health, node
from .outlook import outlook
from .patches import Patches
from .places import Place, changes, places
from .waiting import STAY, DrainError, changed_text, until
from .waves import limit_problem, rounds, taken_up, together_problems

_REQUEST_SECONDS = 10
_LEASES = "kube-node-lease"


class MaintenanceService:
    """One run on a list of hosts.

    :param client: a KubeClient of the management cluster
    :param params: the module's parameters
    :param check_mode: let the API servers try writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param workload: callable that takes the client, a namespace and a cluster and returns a client of the cluster
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 workload: Callable[[Any, str, str], Any] = workload_client, now: Callable[[], float] | None = None):
        self.client = client
        self.params = params
        self.namespace = params["namespace"]
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.began_at = clock()
        self._workload = workload
        self._now = now or clock_of(client)
        self._workloads: dict[str, Any] = {}
        self._objects: dict[str, list[Any]] = {}
        self.diff: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        # Of each host that was marked: since when, by which what is done to it is done while it is drained.
        self._maintained: dict[str, str] = {}
        # What has been done so far, for a run that fails later on.
        self.done: dict[str, Any] = {"changed": False}

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: with all that is wrong; nothing was written then
        :raises DrainError: when nodes are not drained, or not Ready, in time
        :raises KubeError: when an API server can't be asked, or refuses
        """
        state = self.params["state"]
        self._objects = objects_of(self.client, self.namespace)
        limit = limit_problem(f"namespace {self.namespace}", self.params["max_unavailable_per_pool"])
        found, problems = places(self.params["hosts"], self._objects, self.namespace, state != "returned", self._now(),
                                 together=state != "planned" or self.params["stays_out"],
                                 later=self.params["later"] if state == "planned" else ())
        problems += self._other_ones(found)
        if limit or problems:
            raise RefusedError([limit] if limit else problems)
        if state == "planned":
            return self._preview(found)
        try:
            if state == "drained":
                self._take_out(found)
            else:
                self._bring_back(found)
        except DrainError as exc:
            exc.facts = self._checked(found)
            raise
        return dict(self._result(), **self._checked(found))

    def _other_ones(self, found: list[Place]) -> list[Problem]:
        """Return a Problem for each host that is not what it was when its maintenance was confirmed.

        By its name alone, what a host has got meanwhile would be drained without having been counted.
        """
        checked = identities(self.params["checked"])
        return [problem for place in found if place.name in checked for problem in identity_problems(
            "host-maintenance", f"BareMetalHost {self.namespace}/{place.name}", "hosts", place.host,
            checked[place.name])]

    def _checked(self, found: list[Place]) -> dict[str, Any]:
        return {"hosts": self._facts(found), "checked": [dict(
            identity_of(place.host)._asdict(), name=place.name, maintained=self._maintained.get(place.name))
            for place in found]}

    def _result(self) -> dict[str, Any]:
        return {"changed": bool(self.diff), "diff": self.diff, "warnings": self.warnings,
                "seconds": round(self.clock() - self.began_at, 1)}

    @staticmethod
    def _facts(found: list[Place]) -> list[dict[str, Any]]:
        return [{"name": place.name, "cluster": place.cluster, "node": place.node,
                 "machine": place.machine["metadata"]["name"] if place.machine else None} for place in found]

    # Beforehand

    def _preview(self, found: list[Place]) -> dict[str, Any]:
        """Say what state drained would do, and which hosts may leave together; nothing is written.

        :raises RefusedError: with all that is wrong
        """
        later, _problems = places(self.params["later"], self._objects, self.namespace, leaves=False)
        found = [*found, *taken_up(found, later)]
        groups, problems = rounds(found, self._objects, self.namespace, self.params["max_unavailable_per_pool"],
                                  self.params["stays_out"])
        members = [place for place in found if place.node]
        due, lost = self._due(members)
        if problems or lost:
            raise RefusedError([*problems, *lost])
        said = self._outlook(found, due)
        for number, group in enumerate(groups if len(groups) > 1 else [], 1):
            said.figures.append(f"round {number} of {len(groups)}: {', '.join(place.name for place in group)}")
        self.warnings = say(said, None, self.check_mode, self.progress)
        return dict(self._result(), **self._checked(found), outlook=said.figures, attention=said.notes,
                    rounds=[[place.name for place in group] for group in groups])

    def _outlook(self, found: list[Place], due: dict[str, list[Any]]) -> Outlook:
        budgets: dict[str, list[Any]] = {}
        unasked: list[str] = []
        for cluster, place in sorted(dict((place.cluster or "", place) for place in found if place.node).items()):
            try:
                budgets[cluster] = budgets_of(self._client_of(place))
            except KubeError as exc:
                unasked.append(not_asked(f"cluster {self.namespace}/{cluster}", exc))
        said = outlook(found, due, budgets, self._objects, self.params["wait_timeout_seconds"])
        said.notes.extend(unasked)
        return said

    # Out

    def _take_out(self, found: list[Place]) -> None:
        members = [place for place in found if place.node]
        pods, problems = self._due(members)
        problems += together_problems(found, self._objects, self.namespace, self.params["max_unavailable_per_pool"])
        open_to_pods = [place.name for place in members if node.cordon(self._node(place)) is not None]
        self.warnings = confirmation.required_by(
            self._unconfirmed(found, pods, open_to_pods), self.check_mode, beside=problems)
        now = self._now()
        self._write("BareMetalHost", [place.host for place in found], lambda obj: node.hold(
            obj, self._reason(), obj["metadata"]["name"] in open_to_pods, now))
        if not self.check_mode:
            self._refuse_beside(found, now)
        self._write("Machine", [place.machine for place in members], node.keep)
        for place in members:
            self._write("Node", [self._node(place)], node.leave, self._client_of(place))
        if self.check_mode:
            return
        # Once more: until its node was cordoned, pods could still come.
        due, late = self._due(members)
        if late:
            raise DrainError("pods have come since the hosts were looked at:\n" + "\n".join(
                f"- {problem}" for problem in late) + f"\n{STAY}")
        self._drain(members, due)
        self._check_same(members, "drained")

    def _refuse_beside(self, found: list[Place], now: float) -> None:
        """Look at those beside the hosts once more, now that these are marked: of two runs at once, one sees the other.

        :param now: when they were marked, seconds since 1970
        :raises RefusedError: with what stands against it by now; the marks of this run are taken back then
        """
        objects = objects_of(self.client, self.namespace)
        again, problems = places([place.name for place in found], objects, self.namespace, now=self._now())
        problems = problems or together_problems(again, objects, self.namespace,
                                                 self.params["max_unavailable_per_pool"])
        self._maintained = dict((place.name, maintained_since(place.host) or "") for place in again)
        if not problems:
            return
        unmarked = set(place.name for place in found if node.is_unmarked(place.host))
        self._write("BareMetalHost", [place.host for place in again if place.name in unmarked],
                    lambda obj: node.unmark(obj, self._reason(), now))
        raise RefusedError(problems)

    def _due(self, members: list[Place]) -> tuple[dict[str, list[Any]], list[Problem]]:
        """Return the pods that are to go, by host, and what is lost with them unless it is allowed."""
        pods = self._pods(members)
        due = dict((place.name, drain.evictable(pods[place.name])) for place in members)
        return due, [problem for place in members for problem in drain.loss_problems(
            f"BareMetalHost {self.namespace}/{place.name}", due[place.name], self.params["allow_bare_pods"],
            self.params["allow_local_data"])]

    def _reason(self) -> str:
        return self.params["reason"] or "maintenance"

    def _unconfirmed(self, found: list[Place], pods: dict[str, list[Any]], open_to_pods: list[str]) -> list[Problem]:
        """Return the Problem when the hosts that are drained were not confirmed.

        What a host's mark says does not count: others may have set it. A run that is taken up may repeat its number.

        :param found: the hosts
        :param pods: those that are to go, by host
        :param open_to_pods: names of hosts whose nodes are not cordoned yet
        """
        members = [place for place in found if place.node]
        names = [place.name for place in members if _to_evict(pods[place.name]) or place.name in open_to_pods]
        if not names or any(
                confirmation.confirmed(self.params["confirm"], hosts, self.params["confirm_among"])
                for hosts in (names, [place.name for place in members])):
            return []
        named = ", ".join(f"{place.name} (node {place.node} of cluster {place.cluster})" for place in members
                          if place.name in names)
        asked = confirmation.problem(f"namespace {self.namespace}", self.params["confirm"], names,
                                     f"hosts whose pods are evicted: {named}", self.params["confirm_among"])
        return [confirmation.with_lines(asked, *self._outlook(found, pods))]

    def _drain(self, members: list[Place], due: dict[str, list[Any]]) -> None:
        wanted = dict((place.name, dict((pod["metadata"].get("uid"), pod["metadata"]["name"])
                                        for pod in due[place.name])) for place in members)
        refusals: dict[str, str] = {}

        def read() -> dict[str, list[Any]]:
            pods = self._pods(members)
            remaining = dict((place.name, drain.left(pods[place.name], wanted[place.name])) for place in members)
            for place in members:
                self._evict(place, remaining[place.name], refusals)
            return remaining

        late = self._until("drained", members, read, lambda remaining: drain.waits_for(remaining, refusals))
        self._raise(late)

    def _evict(self, place: Place, pods: list[Any], refusals: dict[str, str]) -> None:
        client = self._client_of(place)
        going = _to_evict(pods)
        for pod, outcome in zip(going, bulk.run([lambda pod=pod: self._eviction(client, pod) for pod in going])):
            error = outcome.error
            if error is None or error.status == 404:
                self.done["changed"] = True
                continue
            # 429 is a budget's answer; 409 of a pod that is another one by now.
            if error.status not in (409, 429) and not error.retriable:
                raise error
            refusals[pod["metadata"].get("uid", "")] = error.cause

    @staticmethod
    def _eviction(client, pod):
        metadata = pod["metadata"]
        return client.request(
            "POST", KNOWN["Pod"].path(metadata.get("namespace"), metadata["name"], "eviction"), None, {
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": metadata["name"], "namespace": metadata.get("namespace")},
                "deleteOptions": {"preconditions": {"uid": metadata.get("uid")}}},
            subject=f"Pod {metadata.get('namespace')}/{metadata['name']}", timeout_seconds=_REQUEST_SECONDS)

    # Back

    def _bring_back(self, found: list[Place]) -> None:
        members = [place for place in found if place.node]
        off = [place.name for place in members if not (place.host.get("status") or {}).get("poweredOn")
               and not power_coming.waits_for(place.host)]
        if off and not self.check_mode:
            raise RefusedError([Problem(
                "host-maintenance", f"BareMetalHost {self.namespace}/{name}", "status.poweredOn",
                "a server that is off", "one that is on",
                "power it on (playbook host_action, power_on or reboot_release)") for name in off])
        late: DrainError | None = None
        if not self.check_mode:
            late = self._wait_ready(members)
            found = [place for place in found if not late or place.name not in late.late]
            members = [place for place in members if place in found]
            self._check_same(members, "Ready")
        # Those that are Ready do not wait for the others.
        for place in members:
            self._write("Node", [self._node(place)], node.come_back, self._client_of(place))
        self._write("Machine", [place.machine for place in members], node.give_back)
        now = self._now()
        self._write("BareMetalHost", [place.host for place in found], lambda obj: node.release(obj, now))
        self._raise(late)
        if not self.check_mode:
            # With a limit, the next one of a pool would be refused beside one that is not healthy yet.
            self._wait_healthy([place for place in members if is_control_plane(place.machine)
                                or self.params["max_unavailable_per_pool"] is not None])

    def _wait_ready(self, members: list[Place]) -> DrainError | None:
        """Wait until each server stays on, its kubelet has renewed its lease since, and its node is Ready.

        The condition alone is that of before for as long as the control plane waits for a silent kubelet, and a server
        that is about to be rebooted has a kubelet until then. A host that is deleted ends the wait for it.
        """
        first: dict[str, Any] = {}

        def read() -> dict[str, health.Coming]:
            hosts = hosts_of(self.client, self.namespace)
            return dict((place.name, self._coming(place, hosts.get(place.name), first)) for place in members)

        return self._until("Ready", members, read, lambda coming: coming.waits_for, lost=lambda coming: coming.lost)

    def _coming(self, place: Place, host: Any, first: dict[str, Any]) -> health.Coming:
        lost = health.lost(place.host, place.machine or {}, host)
        return health.Coming("" if lost else self._comes_on(place, host, first) or self._alive(place, first), lost)

    @staticmethod
    def _comes_on(place: Place, host: Any, first: dict[str, Any]) -> str:
        coming = power_coming.waits_for(host) if host else ""
        if coming:
            # A sign of life from before it counts no more.
            first.pop(place.name, None)
        return coming

    def _alive(self, place: Place, first: dict[str, Any]) -> str:
        client = self._client_of(place)
        lease = of_kind(client.get(KNOWN["Lease"], _LEASES, place.node), "Lease")
        renewed = ((lease or {}).get("spec") or {}).get("renewTime")
        if renewed == first.setdefault(place.name, renewed):
            return plain(f"a sign of life of the kubelet of node {place.node}, after {renewed}")
        found = of_kind(client.get(KNOWN["Node"], None, place.node), "Node")
        return "" if node.is_ready(found) else f"node {place.node} to be Ready"

    def _wait_healthy(self, members: list[Place]) -> None:
        """Wait until machines count again: the next one goes only when enough others are healthy."""
        def read() -> dict[str, str]:
            pods, objects = self._pods(members), objects_of(self.client, self.namespace)
            snapshots = dict((cluster, Snapshot(objects, cluster))
                             for cluster in set(place.cluster for place in members))
            return dict((place.name, health.waits_for(
                place.machine or {}, pods[place.name], snapshots[place.cluster])) for place in members)

        if members:
            self._raise(self._until(
                "healthy", members, read, lambda text: text,
                "The hosts are back in their cluster; look at what they wait for before the next one goes"))

    # What both need

    def _until(self, goal: str, members: list[Place], read: Callable[[], Any], waits_for: Callable[[Any], str],
               ending: str = STAY, lost: Callable[[Any], str] = lambda dummy: "") -> DrainError | None:
        """See :func:`waiting.until`."""
        return until(goal, [place.name for place in members], read, waits_for, self.params["wait_timeout_seconds"],
                     self.progress, self.clock, self.sleep, ending, lost)

    @staticmethod
    def _raise(late: DrainError | None) -> None:
        if late is not None:
            raise late

    def _check_same(self, members: list[Place], goal: str) -> None:
        """Refuse what was reached when another Machine may have reached it: nodes are waited for by their names.

        :raises DrainError: with what is gone or another one by now
        """
        found = changes(members, objects_of(self.client, self.namespace), self.namespace) if members else {}
        if found:
            raise DrainError(changed_text(goal, (f"- {name}: {text}" for name, text in found.items())) + f"\n{STAY}")

    def _pods(self, members: list[Place]) -> dict[str, list[Any]]:
        found = pods_on([(self._client_of(place), place.node) for place in members])
        return dict((place.name, pods) for place, pods in zip(members, found))

    def _node(self, place: Place) -> dict[str, Any]:
        found = of_kind(self._client_of(place).get(KNOWN["Node"], None, place.node), "Node")
        if found is None:
            raise KubeError(f"Node {place.node} of cluster {place.cluster}: found none, expected that of host "
                            f"{place.name}; look at its Machine")
        return found

    def _client_of(self, place: Place) -> Any:
        cluster = place.cluster or ""
        if cluster not in self._workloads:
            found = self._workload(self.client, self.namespace, cluster)
            if found is None:
                raise KubeError(f"cluster {self.namespace}/{cluster}: found no Secret {cluster}-kubeconfig, expected "
                                "that of a running cluster")
            self._workloads[cluster] = found
        return self._workloads[cluster]

    def _write(self, kind: str, objects: Iterable[Any], make: Callable[[Any], Any], client: Any = None) -> None:
        Patches(client or self.client, self.check_mode, self.progress, self.sleep, make).apply(
            KNOWN[kind], objects, self.diff, self.done)


def _to_evict(pods: Iterable[Any]) -> list[Any]:
    """Return those pods that are not being deleted yet."""
    return [pod for pod in pods if not is_going(pod)]

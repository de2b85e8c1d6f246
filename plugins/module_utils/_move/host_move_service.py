# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives single hosts to another plane, each with its status; never are they in both planes' Ironic.

Each step leaves behind by what the next run knows how far a host has come: detached with a mark, there with where it
comes from and held, there and released, gone here.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .._common import confirmation
from .._common.errors import RefusedError
from .._common.problem import Problem
from .._host import annotations as host_annotations
from .._host import handed_over
from .._host.actions import ACTIONS, has_status
from .._host.goals import HostHistory, state_of
from .._host.reading import BMH, hosts_everywhere, hosts_of
from .._host.wait import wait_for_hosts
from .._kube.plan import DELETE, UNCHANGED, deletion
from .._kube.reconcile import Reconcile, raise_refused
from .._metal3.kinds import KNOWN
from . import access, bmc_reach, checks, copies, graph, host_copies, hosts_service
from .host_copies import BOTH, DETACHING, HERE, NOWHERE, THERE
from .reading import Side

Object = dict[str, Any]

_CONFIG_MAP = KNOWN["ConfigMap"]


class HostMove:
    """One run of the module ``host_move``.

    :param source: a KubeClient of the plane that lets go
    :param target: a KubeClient of the plane that takes over
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param now: seconds since 1970
    :raises KubeError: when one of the API servers can't be asked
    """

    def __init__(self, source: Any, target: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 now: Callable[[], float] = time.time) -> None:
        self._params = params
        self._check_mode = check_mode
        self._progress = progress
        self._clock, self._sleep, self._now = clock, sleep, now
        self._here = Side(source, params["namespace"])
        self._there = Side(target, params["namespace"])
        self._names = sorted(set(params["hosts"]))
        self._began = clock()
        self.warnings: list[str] = []

    def moved(self) -> dict[str, Any]:
        """Move the hosts, or finish what an interrupted run has begun.

        :returns: the module's result, with the ``errors`` of hosts that have not come to their end
        :raises RefusedError: when something is in the way; nothing was written then
        :raises KubeError: when an API server refuses
        """
        stages = self._stages()
        states = dict((name, state_of(self._host(self._here, name) or self._host(self._there, name)))
                      for name in self._names)
        due = [name for name in self._names if stages[name] != THERE or self._is_unfinished(name)]
        unconfirmed = self._checked(stages)
        result = {"changed": bool(due), "due": bool(due), "to_server": self._there.client.server, "errors": [],
                  "warnings": self.warnings, "confirmation": "",
                  "hosts": [{"name": name, "changed": name in due, "state": states[name], "was": stages[name]}
                            for name in self._names],
                  "diff": [{"before_header": f"BareMetalHost {name}", "before": {"plane": "here"},
                            "after_header": f"BareMetalHost {name}", "after": {"plane": "there"}} for name in due]}
        if self._check_mode:
            return dict(result, confirmation=str(unconfirmed[0]) if unconfirmed else "")
        if due:
            result["errors"] = self._move(due)
        return result

    # What there is

    @staticmethod
    def _host(side: Side, name: str) -> Object | None:
        return side.by_key.get((BMH.group, BMH.kind, name))

    def _stages(self) -> dict[str, str]:
        return dict((name, host_copies.stage(self._host(self._here, name), self._host(self._there, name)))
                    for name in self._names)

    def _is_unfinished(self, name: str) -> bool:
        host = self._host(self._there, name)
        return host is not None and host_annotations.FROM_PLANE in host_annotations.of(host)

    def _checked(self, stages: dict[str, str]) -> list[Problem]:
        """Return the problem of a confirmation that is missing in check mode.

        :raises RefusedError: when something is in the way
        """
        problems = checks.same_plane(self._here.uid, self._there.uid)
        if problems:
            raise RefusedError(problems)
        problems += [Problem("move-nothing", f"BareMetalHost {name}", "hosts", "no such host in either plane",
                             "one that is here", "correct the name, kubeconfig or namespace")
                     for name in self._names if stages[name] == NOWHERE]
        leaving = [host for name in self._names if stages[name] in (HERE, DETACHING, BOTH)
                   for host in [self._host(self._here, name)] if host is not None]
        fresh = [host for host in leaving if stages[host["metadata"]["name"]] == HERE]
        for host in leaving:
            mark = host_copies.mark_of(host)
            if mark not in (None, self._there.uid):
                problems.append(Problem("move-other", graph.title(graph.key(host)), host_annotations.DETACHED,
                                        "on its way to another plane", "a move to the plane of to_kubeconfig",
                                        "finish that one first with its own to_kubeconfig, or attach the host again"))
        # Others may write the mark, too: it makes up for no check and no confirmation.
        for host in leaving:
            problems += host_copies.problems(host, self._here.objects, self._now())
        problems += self._not_taken(leaving)
        if fresh:
            problems += self._forbidden(fresh)
            problems += self._unreached(fresh)
        names = [host["metadata"]["name"] for host in leaving]
        unconfirmed = [] if not names or confirmation.confirmed(self._params["confirm"], names) else [Problem(
            "confirmation-missing", "host_move", "confirm", self._params["confirm"] or None,
            confirmation.expected(names),
            f"so many hosts would be managed by {self._there.client.server} from then on; repeat how many (playbook: "
            f"set metal3_confirm={len(names)})")]
        if problems or (unconfirmed and not self._check_mode):
            raise RefusedError(problems + unconfirmed)
        return unconfirmed

    def _not_taken(self, leaving: list[Object]) -> list[Problem]:
        own, others, warning = hosts_everywhere(self._there.client, self._there.namespace)
        if warning:
            self.warnings.append(warning)
        found = []
        for host in leaving:
            name = host["metadata"]["name"]
            found += host_copies.taken(host, self._here.uid, own.get(name), [
                *(other for other in own.values() if other["metadata"]["name"] != name), *others])
        secrets = dict((name, obj) for (_group, kind, name), obj in self._there.by_key.items() if kind == "Secret")
        found += host_copies.secret_problems(host_copies.secrets_of(leaving, self._here.objects), secrets)
        going = [obj for host in leaving for obj in host_copies.companions(host, self._here.objects)]
        arrived = set(host["metadata"]["name"] for host in leaving if host["metadata"]["name"] in own)
        return found + checks.target([obj for obj in going if obj["metadata"]["name"] not in arrived],
                                     self._there.by_key, self._there.served, self._here.kinds)

    def _forbidden(self, hosts: list[Object]) -> list[Problem]:
        used = [BMH, KNOWN["Secret"], _CONFIG_MAP]
        kinds = sorted(set(graph.key(obj)[:2] for host in hosts
                           for obj in host_copies.companions(host, self._here.objects)))
        companions = [self._here.resources[of] for of in kinds]
        takes = access.rights(("get", "list", "create", "patch"), used + companions, self._there.namespace)
        if self._there.client.get(KNOWN["Namespace"], None, self._there.namespace) is None:
            takes.append(access.Right("create", "", KNOWN["Namespace"].plural, None))
        lets_go = access.rights(("get", "list", "patch", "delete"), [BMH], self._here.namespace) \
            + access.rights(("get", "create", "patch"), [_CONFIG_MAP], self._here.namespace)
        return [*access.problems(self._here.client, lets_go, "kubeconfig"),
                *access.problems(self._there.client, takes, "to_kubeconfig")]

    def _unreached(self, hosts: list[Object]) -> list[Problem]:
        problems, warnings = bmc_reach.from_where(self._there.client, hosts, self._params)
        self.warnings += warnings
        return problems

    # What is done

    def _move(self, names: list[str]) -> list[str]:
        """Take each host as far as it comes, and return what keeps it, a line each."""
        errors: dict[str, str] = {}
        for step in (self._detach, self._copy, self._release, self._note, self._delete, self._forget):
            left = [name for name in names if name not in errors]
            if left:
                errors.update(step(left))
        return [f"host {name}: {text}" for name, text in sorted(errors.items())]

    def _of(self, side: Side, names: list[str]) -> list[Object]:
        """Return hosts as they are by now."""
        found = hosts_of(side.client, side.namespace)
        return [found[name] for name in names if name in found]

    def _wait(self, side: Side, histories: dict[str, HostHistory]) -> dict[str, str]:
        timeout = self._params["wait_timeout_seconds"]
        wait_for_hosts(side.client, side.namespace, histories, self._clock() + timeout, self._progress, self._clock)
        now = self._clock()
        errors = dict((name, item.error(timeout, now)) for name, item in histories.items())
        return dict((name, text) for name, text in errors.items() if text)

    def _detach(self, names: list[str]) -> dict[str, str]:
        """Take hosts out of the Ironic here: from then on nothing here has power over their servers."""
        def change(host: Object) -> dict[str, Any] | None:
            return host_copies.detaching(host, self._there.uid)

        def again(host: Object) -> list[Any]:
            return host_copies.problems(host, self._here.objects, self._now())

        hosts = self._of(self._here, names)
        hosts_service.annotate(self._here.client, self._here.namespace, hosts, False, self._progress, self._sleep,
                               change, again)
        began = self._clock()
        return self._wait(self._here, dict((host["metadata"]["name"], HostHistory(
            "detached", host, began, tolerated=("detached", "deleting"),
            is_reached=lambda bmh: bmh is None or ACTIONS["detach"].reached(None, bmh, None))) for host in hosts))

    def _copy(self, names: list[str]) -> dict[str, str]:
        """Make over there what is not there yet; the host is held, its Secrets come before it."""
        self._here.read()
        self._there.read()
        hosts = [host for host in self._of(self._here, names) if not host["metadata"].get("deletionTimestamp")]
        if hosts and self._there.client.get(KNOWN["Namespace"], None, self._there.namespace) is None:
            self._there.client.create(KNOWN["Namespace"], None, {
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._there.namespace}})
        errors = {}
        known = dict((name, obj) for (_group, kind, name), obj in self._there.by_key.items() if kind == "Secret")
        for host in hosts:
            name = host["metadata"]["name"]
            secrets = host_copies.secrets_of([host], self._here.objects)
            # Others may have written over there since it was checked.
            late = host_copies.taken(host, self._here.uid, self._host(self._there, name), ())
            late += host_copies.secret_problems(secrets, known)
            if late or not has_status(host):
                errors[name] = "; ".join(map(str, late)) or "no status here, by which the other plane would know it"
                continue
            for secret in secrets:
                if secret["metadata"]["name"] not in known:
                    known[secret["metadata"]["name"]] = self._make(host_copies.secret_copy(secret), KNOWN["Secret"])
            stored = self._make(host_copies.host_copy(host, self._here.uid), BMH)
            uids = {host["metadata"]["uid"]: stored["metadata"]["uid"]}
            for wave in copies.waves(host_copies.companions(host, self._here.objects)):
                for obj in wave:
                    made = self._make(host_copies.companion_copy(obj, uids), self._here.resources[graph.key(obj)[:2]])
                    uids[obj["metadata"]["uid"]] = made["metadata"]["uid"]
        return errors

    def _make(self, obj: Object, resource: Any) -> Object:
        """Create an object over there, unless it is there: then it was checked, or the operator has made it."""
        found = self._there.by_key.get(graph.key(obj))
        if found is not None:
            return found
        stored = self._there.client.create(resource, self._there.namespace, obj)
        self._progress.wrote(graph.title(graph.key(obj)), "created")
        return stored

    def _release(self, names: list[str]) -> dict[str, str]:
        """Let the operator over there work on hosts, and wait until each is what it was."""
        hosts = [host for host in self._of(self._there, names) if host_annotations.FROM_PLANE in
                 host_annotations.of(host)]
        began = self._clock()
        waits = dict((host["metadata"]["name"], hosts_service.history(host, began)) for host in hosts)
        hosts_service.annotate(self._there.client, self._there.namespace, hosts, False, self._progress, self._sleep,
                               hosts_service.resume)
        return self._wait(self._there, waits)

    def _note(self, names: list[str]) -> dict[str, str]:
        """Keep here who manages the hosts, so that nobody enrols them here again; the other plane has none of it."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now()))
        notes = dict((host["metadata"]["name"], handed_over.note(host, self._there.client.server, at))
                     for host in self._of(self._here, names))
        if notes:
            if self._here.client.get(_CONFIG_MAP, self._here.namespace, handed_over.NAME) is None:
                self._here.client.create(_CONFIG_MAP, self._here.namespace, {
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                        "name": handed_over.NAME, "namespace": self._here.namespace}, "data": notes})
            else:
                self._here.client.patch(_CONFIG_MAP, self._here.namespace, handed_over.NAME, {"data": notes})
        known = handed_over.read(self._there.client.get(_CONFIG_MAP, self._there.namespace, handed_over.NAME))
        if set(known) & set(names):
            self._there.client.patch(_CONFIG_MAP, self._there.namespace, handed_over.NAME, {
                "data": dict.fromkeys(set(known) & set(names))})
        return {}

    def _delete(self, names: list[str]) -> dict[str, str]:
        """Delete here what is over there; the operator deprovisions no host that is detached."""
        hosts = self._of(self._here, names)
        there = set(host_annotations.of(host).get(host_annotations.FROM_PLANE) for host in self._of(self._there, names))
        due = [host for host in hosts if host_copies.origin(self._here.uid, host) in there
               and host_copies.mark_of(host) == self._there.uid and not host_copies.in_use(host)
               and (host.get("status") or {}).get("operationalStatus") == "detached"]
        errors = dict((host["metadata"]["name"], "it is not detached here any more, or in use, and is over there, "
                       "too: detach or delete one of the two at once") for host in hosts if host not in due)
        writes = _Deletions(self._here.client, False, self._progress, self._sleep, self._there.uid)
        raise_refused(self._here.client, writes.write([deletion(BMH, host) for host in due]))
        began = self._clock()
        errors.update(self._wait(self._here, dict((host["metadata"]["name"], HostHistory(
            "deleted", host, began, tolerated=("detached", "deleting"))) for host in due)))
        return errors

    def _forget(self, names: list[str]) -> dict[str, str]:
        hosts_service.annotate(
            self._there.client, self._there.namespace, self._of(self._there, names), False, self._progress,
            self._sleep, host_copies.arrived)
        return {}


class _Deletions(Reconcile):
    """Deletions of hosts that are detached for a plane; one that is not so any more stays."""

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 plane_uid: str) -> None:
        super().__init__(client, check_mode, progress, sleep)
        self._plane_uid = plane_uid

    def problems_again(self, entry: Any, stored: Object | None) -> list[Any]:
        """Return why a host is not deleted any more."""
        if stored is None or entry.action != DELETE:
            return []
        return host_copies.in_use(stored) if host_copies.mark_of(stored) == self._plane_uid else [
            "it is not detached for the move any more"]

    def plan_again(self, entry: Any, stored: Object | None) -> Any:
        """Return the deletion of the host as it is by now."""
        return entry._replace(action=UNCHANGED) if stored is None else deletion(BMH, stored)

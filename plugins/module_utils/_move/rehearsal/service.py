# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearses a move or a restore between temporary API servers: nothing real is touched.

The real clusterctl moves copies of all objects between two API servers, one with the definitions of the plane that lets
go, one with those of the plane that takes over, and what has arrived is compared object by object. No controller and no
webhook runs there, but on request the operator, at the end and without Ironic (``operator.py``).
"""
from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..._common.files import whole_file
from ..._common.problems.errors import ReportedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import cut, few
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api import bulk
from ..._kube.api.client import KubeClient
from ..._kube.kinds.resources import Resource
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..._plane.process import provider
from ..._plane.process.throwaway import ThrowawayServers
from ..objects import clusterctl, copies, graph
from ..objects.reading import Contents
from .operator_findings import WORDS_LIMIT, Operated

Object = dict[str, Any]

_SERVED_SECONDS = 180
_LOOK_SECONDS = 0.2
_DEFINITIONS_AT_ONCE = 3
HERE, THERE = "here", "there"
_WEBHOOKS = "none of the plane's webhooks and controllers took part"


class Outcome(NamedTuple):
    """What a rehearsal has shown.

    :ivar problems: what would be refused, lost or changed
    :ivar warnings: what objects would have besides
    :ivar objects: how many have arrived as they were
    :ivar seconds: how long it took, without starting the API servers
    :ivar resident_bytes: memory of the API servers, and of the operator
    :ivar hosts: how many hosts the operator has left as they were; None without it
    :ivar operator: the operator's version; None without it, and when it does not say it
    """

    problems: list[Problem]
    warnings: list[str]
    objects: int
    seconds: float
    resident_bytes: int
    hosts: int | None = None
    operator: str | None = None

    def result(self) -> dict[str, Any]:
        """Return it as modules do."""
        return {"objects": self.objects, "seconds": round(self.seconds, 1),
                "resident_mib": self.resident_bytes // 1024 ** 2, "hosts": self.hosts, "operator": self.operator}


class _Server:
    """One API server of a rehearsal."""

    def __init__(self, kubeconfig: str, namespace: str, contents: Contents) -> None:
        self.kubeconfig = kubeconfig
        self.namespace = namespace
        self.client = KubeClient({"kubeconfig": kubeconfig})
        self._definitions = copies.definitions(contents.definitions)
        self._providers = contents.providers
        self.kinds = graph.kinds(self._definitions)
        self.resources = dict(((item.resource.group, item.resource.kind), item.resource) for item in self.kinds)

    def prepare(self) -> None:
        """Give it the kinds, the namespace and clusterctl's inventory."""
        namespaces = set(item["metadata"]["namespace"] for item in self._providers) | {self.namespace}
        body = {"apiVersion": "v1", "kind": "Namespace"}
        _raised(bulk.run([self._creator(KNOWN["Namespace"], None, dict(body, metadata={"name": name}))
                          for name in namespaces if name != "default"]))
        # Each makes the API server build its schemas again: more at once only wait for each other.
        _raised(bulk.run([self._creator(KNOWN["CustomResourceDefinition"], None, item) for item in self._definitions],
                         _DEFINITIONS_AT_ONCE))
        provider.wait_established(self.client, [item["metadata"]["name"] for item in self._definitions],
                                  _SERVED_SECONDS)
        unserved = until_nothing(self._unserved, _SERVED_SECONDS, _LOOK_SECONDS)
        if unserved:
            raise ReportedError(f"rehearsal: its API server does not serve {few(unserved, 5)}")
        _raised(bulk.run([self._creator(KNOWN["Provider"], item["metadata"]["namespace"], copies.created(item, {}))
                          for item in self._providers]))

    def _unserved(self) -> list[str]:
        outcomes = bulk.run([self._lister(item.resource) for item in self.kinds])
        return [item.resource.kind for item, outcome in zip(self.kinds, outcomes) if outcome.error is not None]

    def load(self, found: list[Object]) -> tuple[list[Object], list[Problem]]:
        """Create copies of objects with their status; return them as they are stored, and what was refused."""
        uids: dict[str, str] = {}
        stored, problems = [], []
        with_status = copies.has_status(self._definitions)
        for wave in copies.waves(found):
            outcomes = bulk.run([self._loader(copies.created(obj, uids), with_status) for obj in wave])
            for obj, outcome in zip(wave, outcomes):
                if outcome.error is not None:
                    problems.append(_refused(graph.title(graph.key(obj)), outcome.error.cause))
                    continue
                uids[obj["metadata"]["uid"]] = outcome.value["metadata"]["uid"]
                stored.append(outcome.value)
        return stored, problems

    def _loader(self, obj: Object, with_status: set[tuple[str, str, str]]) -> Callable[[], Object]:
        resource = self.resources[graph.key(obj)[:2]]
        group, kind = graph.key(obj)[:2]

        def load() -> Object:
            stored = self.client.create(resource, self.namespace, obj)
            if obj.get("status") and (group, resource.version, kind) in with_status:
                stored = self.client.patch(resource, self.namespace, obj["metadata"]["name"],
                                           {"status": obj["status"]}, subresource="status")
            return dict(stored, apiVersion=resource.api_version, kind=kind)
        return load

    def refusals(self, found: list[Object]) -> list[Problem]:
        """Return all that this API server would refuse, without creating it.

        clusterctl tries what is refused again for minutes, and names the first of it.
        """
        problems, tried = [], []
        for obj in found:
            if graph.key(obj)[:2] in self.resources:
                tried.append(obj)
            else:
                problems.append(_refused(graph.title(graph.key(obj)), f"no kind {obj['kind']} over there"))
        outcomes = bulk.run([self._trier(copies.created(obj, {})) for obj in tried])
        return problems + [_refused(graph.title(graph.key(obj)), outcome.error.cause)
                           for obj, outcome in zip(tried, outcomes) if outcome.error is not None]

    def _trier(self, obj: Object) -> Callable[[], Object]:
        resource = self.resources[graph.key(obj)[:2]]
        return lambda: self.client.create(resource, self.namespace, obj, dry_run=True)

    def objects(self) -> list[Object]:
        """Return all objects of the namespace."""
        outcomes = bulk.run([self._lister(item.resource) for item in self.kinds])
        _raised(outcomes)
        return [obj for outcome in outcomes for obj in outcome.value]

    def _lister(self, resource: Resource) -> Callable[[], list[Object]]:
        return lambda: self.client.list(resource, self.namespace)[0]

    def _creator(self, resource: Resource, namespace: str | None, body: Object) -> Callable[[], Object]:
        return lambda: self.client.create(resource, namespace, body)

    def side(self) -> dict[str, Any]:
        """Return the options by which clusterctl finds it."""
        return {"kubeconfig": self.kubeconfig, "context": None}


def move(programs: str, program: str, namespace: str, found: list[Object], moving: Iterable[Object], here: Contents,
         there: Contents, progress: Any, run: clusterctl.Run = clusterctl.move,
         clock: Callable[[], float] = time.monotonic, operate: Callable[..., Operated] | None = None) -> Outcome:
    """Rehearse a move.

    :param programs: folder with the programs ``etcd`` and ``kube-apiserver``
    :param program: path of clusterctl
    :param namespace: name of the namespace
    :param found: all objects of the namespace
    :param moving: those that must arrive
    :param here: of the plane that lets go
    :param there: of the plane that takes over
    :param progress: a Progress
    :param run: callable that runs clusterctl, see :func:`clusterctl.move`
    :param clock: monotonic clock, in seconds
    :param operate: callable that lets the operator work on what has arrived, see ``operator_rehearsal.operated()``
    :raises ReportedError: when the rehearsal itself is not possible
    """
    progress.event("rehearsing the move between two temporary API servers")
    wanted = set(graph.key(obj) for obj in moving)
    with ThrowawayServers(programs, [HERE, THERE]) as servers:
        began = clock()
        source, target = (_Server(servers.kubeconfig(name), namespace, contents)
                          for name, contents in ((HERE, here), (THERE, there)))
        for side in (source, target):
            side.prepare()
        stored, problems = source.load(copies.objects(found, secrets.token_bytes(32)))
        before = dict((graph.key(obj), obj) for obj in stored)
        problems = problems or target.refusals([before[of] for of in sorted(wanted & set(before))])
        if not problems:
            work_dir = os.path.join(servers.folder, "work")
            # A lock of its own: a move of these servers is in nobody's way.
            with clusterctl.alone(work_dir, progress.event) as lock:
                problems = _tried(lambda: run(program, source.side(), target.side(), namespace, work_dir,
                                              progress.event, lock))
        is_refused, arrived = bool(problems), target.objects()
        outcome = _outcome(wanted, before, arrived, problems, clock() - began, servers.resident_bytes())
        if operate is None or is_refused:
            return outcome
        hosts = dict((of[2], before[of]) for of in wanted & set(graph.by_key(arrived)) if of[:2] == graph.HOST)
        operated = operate(servers, THERE, target.client, namespace, hosts, progress)
        return outcome._replace(
            problems=outcome.problems + operated.problems, warnings=outcome.warnings + operated.warnings,
            seconds=clock() - began, resident_bytes=servers.resident_bytes(), hosts=operated.hosts,
            operator=operated.version)


def restore(programs: str, program: str, namespace: str, found: list[Object], here: Contents, progress: Any,
            run: clusterctl.RunFromFolder = clusterctl.restore, clock: Callable[[], float] = time.monotonic) -> Outcome:
    """Rehearse the restore of a backup into an empty plane with the definitions of the one that it was taken of.

    :param found: the backup's objects
    :param here: of the plane that it was taken of; others as for :func:`move`
    """
    progress.event("rehearsing the restore into a temporary API server")
    copied = copies.objects(found, secrets.token_bytes(32))
    with ThrowawayServers(programs, [THERE]) as servers:
        began = clock()
        target = _Server(servers.kubeconfig(THERE), namespace, here)
        target.prepare()
        folder = os.path.join(servers.folder, "objects")
        for obj in copied:
            whole_file.write(os.path.join(folder, graph.file_name(obj)), json.dumps(obj).encode(), 0o600, False)
        problems = _tried(lambda: run(program, target.side(), folder, os.path.join(servers.folder, "work"),
                                      progress.event))
        before = dict((graph.key(obj), obj) for obj in copied)
        return _outcome(set(before), before, target.objects(), problems, clock() - began, servers.resident_bytes())


def _tried(attempt: Callable[[], None]) -> list[Problem]:
    try:
        attempt()
    except clusterctl.MoveError as exc:
        return [_refused("clusterctl", str(exc))]
    return []


def _outcome(wanted: set[tuple[str, str, str]], before: dict[tuple[str, str, str], Object], arrived: list[Object],
             problems: list[Problem], seconds: float, resident_bytes: int) -> Outcome:
    after, warnings, same = graph.by_key(arrived), [], 0
    if problems:
        # What else did not arrive has this cause.
        return Outcome(problems, [], 0, seconds, resident_bytes)
    for of in sorted(wanted):
        if of not in after:
            problems.append(Problem("rehearsal-lost", graph.title(of), "", "not over there after clusterctl has ended",
                                    "the object", "look at its owners and at its definition's labels"))
            continue
        lost, added = copies.differences(before[of], after[of])
        for field in lost:
            problems.append(Problem(
                "rehearsal-changed", graph.title(of), field.partition(" ")[0],
                f"a field that would be {field.partition(' ')[2].strip('()')} over there", "the same on both sides",
                "install the same or newer versions of the plane's parts there"))
        warnings += [f"{graph.title(of)}: would get {field} over there" for field in added]
        same += not lost
    besides = sorted(of for of in before if of in after and of not in wanted)
    problems += [Problem("rehearsal-besides", graph.title(of), "", "an object that clusterctl takes along",
                         "one that stays", "report it: this collection would not have listed it") for of in besides]
    return Outcome(problems, warnings, same, seconds, resident_bytes)


def _refused(subject: str, words: str) -> Problem:
    return Problem("rehearsal-refused", subject, "", cut(" ".join(words.split()), WORDS_LIMIT),
                   "an object that both planes take", f"correct it; nothing real was touched, and {_WEBHOOKS}")


def _raised(outcomes: list[bulk.Outcome]) -> None:
    for outcome in outcomes:
        if isinstance(outcome.error, KubeError):
            raise outcome.error

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the real operator work on the copies of hosts that have arrived in a rehearsal: no server is reached.

They are released as a move releases hosts, and each write is looked at: a state that a host has for a moment counts.
"""
from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import cut
from ..._host.description import annotations as host_annotations
from ..._host.state.reading import BMH
from ..._kube.api import bulk
from ..._kube.responses.errors import KubeError
from ..._plane.process import throwaway_operator
from ..._plane.process.throwaway import ThrowawayServers
from ..checks import rules as checks
from ..pauses import hosts as hosts_service
from .operator_findings import CODE, WORDS_LIMIT, Copy, Operated, last_error

Object = dict[str, Any]

# Half a second would do for a host on an idle machine.
_SECONDS = 120
_SECONDS_PER_HOST = 1
# How soon it is found that the operator has ended.
_WATCH_SECONDS = 5
_NOT_FOUND = 404
_DENIED = 403


def operated(servers: ThrowawayServers, name: str, client: Any, namespace: str, hosts: Mapping[str, Object],
             progress: Any, clock: Callable[[], float] = time.monotonic,
             start: Callable[..., str | None] = throwaway_operator.start) -> Operated:
    """Return what the operator does with the hosts of the temporary API server of a rehearsal.

    :param servers: the API servers
    :param name: of the one that the hosts have arrived in
    :param client: a KubeClient of it
    :param namespace: name of the namespace
    :param hosts: name → host as it is in the plane that lets go
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param start: callable that starts the operator, see :func:`throwaway_operator.start`
    :raises ReportedError: when the operator cannot be started, or ends
    """
    if not hosts:
        return Operated([], [], 0, None)
    progress.event(f"the Bare Metal Operator works on copies of {len(hosts)} hosts, without Ironic and servers")
    version = start(servers, name, client, namespace)
    copies = dict((of, Copy(host)) for of, host in hosts.items())
    found, since = client.list(BMH, namespace)
    refused = _release(client, namespace, [host for host in found if host["metadata"]["name"] in copies])
    waited = dict((of, copy) for of, copy in copies.items() if of not in refused)
    timeout_seconds = _SECONDS + _SECONDS_PER_HOST * len(hosts)
    _wait(servers, client, namespace, since, waited, clock() + timeout_seconds, progress, clock)
    log = servers.log(throwaway_operator.NAME)
    problems, warnings = dict(refused), []
    for of, copy in sorted(waited.items()):
        if not copy.is_decided:
            problems[of] = copy.late(duration(timeout_seconds), last_error(log, of))
        elif copy.problem is not None:
            problems[of] = copy.problem
        warnings += copy.warnings
    return Operated([problems[of] for of in sorted(problems)], warnings, len(hosts) - len(problems), version)


def _release(client: Any, namespace: str, hosts: list[Object]) -> dict[str, Problem]:
    """Release hosts, and return the problem of each that the operator's webhook refuses."""
    def releaser(host: Object) -> Callable[[], Object]:
        patch = {"metadata": {"annotations": hosts_service.resume(host, checks.HELD) or {}}}
        return lambda: client.patch(BMH, namespace, host["metadata"]["name"], patch)

    problems = {}
    for host, outcome in zip(hosts, bulk.run([releaser(host) for host in hosts])):
        if outcome.error is None:
            continue
        if outcome.error.status != _DENIED:
            raise outcome.error
        name, words = host["metadata"]["name"], " ".join(outcome.error.cause.split())
        problems[name] = Problem(CODE, f"BareMetalHost {name}", "", cut(words, WORDS_LIMIT),
                                 "a host that the operator's webhook takes", "correct it here")
    return problems


def _wait(servers: ThrowawayServers, client: Any, namespace: str, since: str, copies: Mapping[str, Copy],
          deadline: float, progress: Any, clock: Callable[[], float]) -> None:
    """Wait until it is decided of each host what the operator does with it."""
    questions = 0
    with contextlib.closing(_writes(servers, client, namespace, since, deadline, clock)) as writes:
        while not all(copy.is_decided for copy in copies.values()):
            event = next(writes, None)
            if event is None:
                return
            of = event["object"]["metadata"]["name"]
            if of in copies and copies[of].take(None if event["type"] == "DELETED" else event["object"]):
                questions += 1
                _ask(client, namespace, of, copies[of], questions)
            decided = sum(copy.is_decided for copy in copies.values())
            progress.status(f"operator: {decided} of {len(copies)} hosts")


def _ask(client: Any, namespace: str, name: str, copy: Copy, number: int) -> None:
    """Have the operator look at a host once more, so that its end is found, see :class:`Copy`."""
    try:
        copy.asked(client.patch(BMH, namespace, name, {"status": {"conditions": None}}, subresource="status"))
        # A write of the status alone is nothing that it looks at.
        client.patch(BMH, namespace, name, {"metadata": {"annotations": {host_annotations.RETRY: f"{number}"}}})
    except KubeError as exc:
        # Of a host that is gone the next event says so.
        if exc.status != _NOT_FOUND:
            raise


def _writes(servers: ThrowawayServers, client: Any, namespace: str, since: str, deadline: float,
            clock: Callable[[], float]) -> Generator[Object, None, None]:
    """Yield an event for each write of a host, none left out, until the deadline."""
    while clock() < deadline:
        for event in client.watch(BMH, namespace, since, _WATCH_SECONDS):
            since = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                yield event
            if clock() >= deadline:
                return
        servers.require(throwaway_operator.NAME)

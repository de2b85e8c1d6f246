# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow all objects of some kinds by one watch each, through lost connections, until a deadline."""
from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

from ..._common.waiting.wait_loop import Step
from ..responses.errors import KubeError
from ..responses.patience import Patience

WATCH_SECONDS = 60
BACKOFF_SECONDS = (0.5, 1, 2, 5)
# A watch that ends sooner is taken up again after a pause only.
QUICK_SECONDS = 1
_GONE = 410


def follow(client: Any, resource: Any, namespace: str | None, deadline: float, label_selector: Any = None,
           tick_seconds: float = 1.0, clock: Callable[[], float] = time.monotonic) -> Generator[Step, None, None]:
    """Yield Steps of one kind, as :func:`follow_kinds` does: ``objects`` is ``{name: object}``, ``changed`` names.

    :param resource: a Resource
    """
    for step in follow_kinds(client, (resource,), namespace, deadline, label_selector, tick_seconds, clock):
        yield step._replace(objects=step.objects[resource.kind], changed=set(name for dummy, name in step.changed))


def follow_kinds(client: Any, resources: Sequence[Any], namespace: str | None, deadline: float,
                 label_selector: Any = None, tick_seconds: float = 1.0,
                 clock: Callable[[], float] = time.monotonic) -> Generator[Step, None, None]:
    """Yield a Step whenever something changed, and at least every ``tick_seconds``, until the deadline.

    ``objects`` is ``{kind: {name: object}}``, the same dict at each step, kept up to date; ``changed`` has pairs of
    kind and name, all of a kind's after its LIST; ``listed`` is false until all kinds have been listed: before it, an
    object's absence says nothing. A watch that ends is taken up again; one that is too old (410), or a lost
    connection, is followed by a new LIST, so that nothing that happened meanwhile is missed.

    :param client: a KubeClient
    :param resources: Resources, each of another kind
    :param namespace: namespace name
    :param deadline: reading of ``clock`` at which to stop; the last step is yielded before it
    :param label_selector: restricts LISTs and watches
    :param tick_seconds: longest silence between two steps
    :param clock: monotonic clock, in seconds
    :raises KubeError: when the server refuses for good (bad request, not logged in for a while, not allowed)
    """
    events: Any = queue.Queue()
    stop = threading.Event()
    for resource in resources:
        threading.Thread(target=_read, daemon=True, args=(
            client, resource, namespace, label_selector, deadline, clock, events, stop)).start()
    objects: dict[str, dict[str, Any]] = dict((resource.kind, {}) for resource in resources)
    listed: set[str] = set()
    # Kinds whose watch is lost: since when, and why.
    lost: dict[str, tuple[float, Any]] = {}
    try:
        while clock() < deadline:
            changed: set[tuple[str, str]] = set()
            for kind, event, value in _drain(events, min(tick_seconds, max(deadline - clock(), 0.01))):
                if event == "fatal":
                    raise value
                if event == "lost":
                    lost[kind] = (lost[kind][0] if kind in lost else clock()), value
                    continue
                lost.pop(kind, None)
                changed.update((kind, name) for name in _take(objects[kind], event, value))
                if event == "listed":
                    listed.add(kind)
            since, error = min(lost.values(), key=lambda pair: pair[0]) if lost else (None, None)
            yield Step(objects, changed, None if since is None else clock() - since, error,
                       len(listed) == len(objects))
    finally:
        stop.set()


def _take(objects: dict[str, Any], event: str, value: Any) -> set[str]:
    """Bring the objects of a kind up to date and return the names of those that changed."""
    if event == "listed":
        changed = set(objects) | set(value)
        objects.clear()
        objects.update(value)
        return changed
    if event not in ("ADDED", "MODIFIED", "DELETED"):
        return set()
    name = value["metadata"]["name"]
    if event == "DELETED":
        objects.pop(name, None)
    else:
        objects[name] = value
    return {name}


def _drain(events: Any, timeout_seconds: float) -> list[Any]:
    """Return what has arrived, waiting only for the first."""
    batch = []
    try:
        batch.append(events.get(timeout=timeout_seconds))
        while True:
            batch.append(events.get_nowait())
    except queue.Empty:
        return batch


def _read(client: Any, resource: Any, namespace: str | None, label_selector: Any, deadline: float,
          clock: Callable[[], float], events: Any, stop: Any) -> None:
    try:
        _read_until(client, resource, namespace, label_selector, deadline, clock, events, stop)
    except Exception as exc:
        # A defect on this thread must end the wait, not leave it without news.
        events.put((resource.kind, "fatal", exc))


def _read_until(client: Any, resource: Any, namespace: str | None, label_selector: Any, deadline: float,
                clock: Callable[[], float], events: Any, stop: Any) -> None:
    quick, version, patience, was_listed = 0, None, Patience(clock), False
    while not stop.is_set() and clock() < deadline:
        began_at = clock()
        try:
            if version is None:
                items, version = client.list(resource, namespace, label_selector)
                was_listed = True
                events.put((resource.kind, "listed", dict((item["metadata"]["name"], item) for item in items)))
            seconds = max(1, min(WATCH_SECONDS, int(deadline - clock()) + 1))
            for event in client.watch(resource, namespace, version, seconds, label_selector):
                patience.answered()
                version = event["object"]["metadata"]["resourceVersion"]
                events.put((resource.kind, event["type"], event["object"]))
                if stop.is_set():
                    return
            # Not after the LIST: a watch that is refused for good would be waited for until the deadline.
            patience.answered()
        except KubeError as exc:
            listed, version = version is not None, None
            # Of a watch that is not allowed the LIST before it says nothing.
            if patience.is_final(exc, was_listed and not listed):
                events.put((resource.kind, "fatal", exc))
                return
            if exc.status != _GONE or not listed:
                events.put((resource.kind, "lost", exc))
        quick = quick + 1 if clock() - began_at < QUICK_SECONDS else 0
        if quick:
            stop.wait(BACKOFF_SECONDS[min(quick, len(BACKOFF_SECONDS)) - 1])

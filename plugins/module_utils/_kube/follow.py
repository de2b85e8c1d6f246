# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow all objects of a kind by one watch, through lost connections, until a deadline."""
from __future__ import annotations

import queue
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from .errors import KubeError
from .patience import Patience

# objects: {name: object}, the same dict at each step, kept up to date.
# changed: names that were added, modified or deleted since the step before; all of them after a LIST.
# unreachable_seconds: how long the API server has been out of reach, None when it answers.
# listed: whether a LIST has arrived yet; before it, an object's absence says nothing.
Step = namedtuple("Step", ["objects", "changed", "unreachable_seconds", "error", "listed"])

WATCH_SECONDS = 60
BACKOFF_SECONDS = (0.5, 1, 2, 5)
# A watch that ends sooner is taken up again after a pause only.
QUICK_SECONDS = 1
_GONE = 410


def follow(client: Any, resource: Any, namespace: str | None, deadline: float, label_selector: Any = None,
           tick_seconds: float = 1.0, clock: Callable[[], float] = time.monotonic) -> Iterator[Step]:
    """Yield a Step whenever something changed, and at least every ``tick_seconds``, until the deadline.

    A watch that ends is taken up again; one that is too old (410), or a lost connection, is followed by a new
    LIST, so that nothing that happened meanwhile is missed.

    :param client: a KubeClient
    :param resource: a Resource
    :param namespace: namespace name
    :param deadline: reading of ``clock`` at which to stop; the last step is yielded before it
    :param label_selector: restricts LIST and watch
    :param tick_seconds: longest silence between two steps
    :param clock: monotonic clock, in seconds
    :raises KubeError: when the server refuses for good (bad request, not logged in for a while, not allowed)
    """
    events = queue.Queue()
    stop = threading.Event()
    reader = threading.Thread(
        target=_read, args=(client, resource, namespace, label_selector, deadline, clock, events, stop), daemon=True)
    reader.start()
    objects = {}
    lost_at, error, listed = None, None, False
    try:
        while clock() < deadline:
            changed = set()
            for kind, value in _drain(events, min(tick_seconds, max(deadline - clock(), 0.01))):
                if kind == "fatal":
                    raise value
                if kind == "lost":
                    lost_at, error = (clock() if lost_at is None else lost_at), value
                    continue
                lost_at, error = None, None
                if kind == "listed":
                    listed = True
                    changed |= set(objects) | set(value)
                    objects.clear()
                    objects.update(value)
                elif kind == "DELETED":
                    objects.pop(value["metadata"]["name"], None)
                    changed.add(value["metadata"]["name"])
                elif kind in ("ADDED", "MODIFIED"):
                    objects[value["metadata"]["name"]] = value
                    changed.add(value["metadata"]["name"])
            yield Step(objects, changed, None if lost_at is None else clock() - lost_at, error, listed)
    finally:
        stop.set()


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
        events.put(("fatal", exc))


def _read_until(client: Any, resource: Any, namespace: str | None, label_selector: Any, deadline: float,
                clock: Callable[[], float], events: Any, stop: Any) -> None:
    quick, version, patience = 0, None, Patience(clock)
    while not stop.is_set() and clock() < deadline:
        began_at = clock()
        try:
            if version is None:
                items, version = client.list(resource, namespace, label_selector)
                events.put(("listed", dict((item["metadata"]["name"], item) for item in items)))
            seconds = max(1, min(WATCH_SECONDS, int(deadline - clock()) + 1))
            for event in client.watch(resource, namespace, version, seconds, label_selector):
                patience.answered()
                version = event["object"]["metadata"]["resourceVersion"]
                events.put((event["type"], event["object"]))
                if stop.is_set():
                    return
            # Not after the LIST: a watch that is refused for good would be waited for until the deadline.
            patience.answered()
        except KubeError as exc:
            listed, version = version is not None, None
            if patience.is_final(exc):
                events.put(("fatal", exc))
                return
            if exc.status != _GONE or not listed:
                events.put(("lost", exc))
        quick = quick + 1 if clock() - began_at < QUICK_SECONDS else 0
        if quick:
            stop.wait(BACKOFF_SECONDS[min(quick, len(BACKOFF_SECONDS)) - 1])

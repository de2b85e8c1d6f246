# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pods that ask one question each, side by side, and removes them again."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ..._common.waiting.wait_loop import until_nothing
from ..api import bulk
from ..kinds.resources import KNOWN
from ..responses.errors import KubeError
from . import short_pod

Object = dict[str, Any]

_INTERVAL_SECONDS = 0.5
_LOG_BYTES = 64 * 1024
_POD = KNOWN["Pod"]


class Ended(NamedTuple):
    """What became of a pod.

    :ivar log: what it has printed
    :ivar words: why it has not run; empty for one that has
    :ivar is_foreign: whether there is one of its name that is somebody else's, before it was made or in its place
    """

    log: bytes
    words: str
    is_foreign: bool = False


def run(client: Any, pods: list[Object], timeout_seconds: float, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Any] = time.sleep) -> list[Ended | KubeError]:
    """Return what became of each pod, or the error of an API server that refused it.

    :param client: a KubeClient
    :param pods: from :func:`short_pod.manifest`; one of the same name and label, of a run that was killed, is replaced
    :param timeout_seconds: how long all of them may take together
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :raises KubeError: when the API server can't be asked any more
    """
    made: dict[int, Object] = {}

    def make(number: int) -> Ended | None:
        foreign = _cleared(client, pods[number], timeout_seconds, clock, sleep)
        if not foreign:
            made[number] = client.create(_POD, _namespace(pods[number]), pods[number])
        return foreign

    try:
        outcomes = bulk.run([lambda number=number: make(number) for number in range(len(pods))])
        found = dict((number, item.error or item.value) for number, item in enumerate(outcomes)
                     if item.error is not None or item.value is not None)
        found.update(_followed(client, dict(made), timeout_seconds, clock, sleep))
    finally:
        bulk.run([lambda item=item: client.delete(_POD, _namespace(item), _name(item), uid=item["metadata"].get("uid"))
                  for item in made.values()])
    return [found[number] for number in range(len(pods))]


def _followed(client: Any, made: dict[int, Object], timeout_seconds: float, clock: Callable[[], float],
              sleep: Callable[[float], Any]) -> dict[int, Ended | KubeError]:
    """Wait for pods and return what became of each."""
    found: dict[int, Ended | KubeError] = {}

    def running() -> dict[int, str]:
        waiting = {}
        for number, item in made.items():
            if number in found:
                continue
            current = client.get(_POD, _namespace(item), _name(item)) or {}
            if current and current["metadata"].get("uid") != item["metadata"].get("uid"):
                found[number] = Ended(b"", f"Pod {_namespace(item)}/{_name(item)} in the place of the one that was "
                                      "made", True)
            elif not short_pod.has_ended(current):
                waiting[number] = short_pod.waits_for(current)
            elif short_pod.refusal(current):
                found[number] = Ended(b"", short_pod.refusal(current))
            else:
                found[number] = _printed(client, item)
        return waiting

    for number, words in (until_nothing(running, timeout_seconds, _INTERVAL_SECONDS, clock, sleep) or {}).items():
        found[number] = Ended(b"", words)
    return found


def _printed(client: Any, item: Object) -> Ended | KubeError:
    try:
        return Ended(client.beginning(_POD.path(_namespace(item), _name(item), "log"), {"limitBytes": _LOG_BYTES},
                                      f"log of Pod {_namespace(item)}/{_name(item)}", _LOG_BYTES), "")
    except KubeError as exc:
        return exc


def _cleared(client: Any, wanted: Object, seconds: float, clock: Callable[[], float],
             sleep: Callable[[float], Any]) -> Ended | None:
    """Remove what a killed run has left; return why there is no place for a pod, None when there is."""
    namespace, name = _namespace(wanted), _name(wanted)
    left = client.get(_POD, namespace, name)
    if left is None:
        return None
    label = wanted["metadata"]["labels"][short_pod.NAME_LABEL]
    if (left["metadata"].get("labels") or {}).get(short_pod.NAME_LABEL) != label:
        return Ended(b"", f"Pod {namespace}/{name} without the label {short_pod.NAME_LABEL}={label}", True)
    uid = left["metadata"].get("uid")
    client.delete(_POD, namespace, name, uid=uid)

    def there() -> bool:
        current = client.get(_POD, namespace, name)
        return bool(current) and current["metadata"].get("uid") == uid

    until_nothing(there, seconds, _INTERVAL_SECONDS, clock, sleep)
    return None


def _namespace(item: Object) -> str:
    return str(item["metadata"]["namespace"])


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])

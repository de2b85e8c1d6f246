# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking from pods of a cluster what they reach: TCP ports, files by HTTP and TFTP; the pods are removed again."""
from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._elsewhere import answered, asking
from .._kube.kinds.resources import KNOWN
from .._kube.pods import short_pod, short_pods
from .._kube.responses.errors import KubeError
from . import reach_answers

KIND = "metal3-baremetal-network-check"
# The kernel's limit for one argument of a program is 128 KiB.
_QUESTION_BYTES = 120 * 1024

Object = dict[str, Any]


class _Place(NamedTuple):
    """A pod, the node that it must run on (None for any), and both in words."""

    pod: str
    node: str | None
    words: str

    @classmethod
    def of(cls, namespace: str, node: str | None) -> _Place:
        pod = KIND if node is None else f"{KIND}-{hashlib.sha256(node.encode()).hexdigest()[:12]}"
        return cls(pod, node, f"Pod {namespace}/{pod}" + (f" on node {node}" if node is not None else ""))


def check(client: Any, wanted: Mapping[str, Any], clock: Callable[[], float] = time.monotonic,
          sleep: Callable[[float], Any] = time.sleep) -> tuple[list[Object], list[Problem]]:
    """Ask from one pod on each node at once, or from one pod, and return ``(checks, problems)``.

    :param client: a KubeClient
    :param wanted: as :func:`reach.check`, without ``dhcp``; ``from_pods`` (``namespace``, ``nodes``, ``host_network``,
        and those of :data:`short_pod.OPTIONS`)
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :return: checks as of :func:`reach.check`, each with ``asked_from``
    :raises RefusedError: when a node does not exist, an authority is none, or the question is too long
    :raises OSError: when the file of an authority cannot be read
    :raises KubeError: when the API server can't be asked or refuses
    """
    given = wanted["from_pods"]
    known = {node["metadata"]["name"] for node in client.list(KNOWN["Node"])[0]} if given.get("nodes") else set()
    missing = [name for name in given.get("nodes") or () if name not in known]
    if missing:
        raise RefusedError([Problem("missing", "from_pods", "nodes", ", ".join(missing),
                                    f"nodes of the cluster, which are {', '.join(sorted(known)) or 'none'}")])
    asked = _asked(wanted)
    places = [_Place.of(given["namespace"], node) for node in given.get("nodes") or [None]]
    pods = [short_pod.of_options(given, (given["namespace"], place.pod), KIND, asking.command(asked), place.node)
            for place in places]
    checks: list[Object] = []
    found: list[Problem] = []
    for place, ended in zip(places, short_pods.run(client, pods, given["timeout_seconds"], clock, sleep)):
        if isinstance(ended, KubeError):
            raise ended
        answers, wrong = _answers(ended, place.words, len(asked))
        found += wrong
        for entry, answer in zip(reach_answers.entries(wanted), answers):
            text, problems = reach_answers.of(*entry, answer)
            checks.append(dict(reach_answers.shown(entry, text, problems), asked_from=place.words))
            found += [problem._replace(actual=f"{problem.actual}, asked from {place.words}") for problem in problems]
    return checks, found


def _asked(wanted: Mapping[str, Any]) -> list[list[Any]]:
    """Return the questions."""
    seconds, found, authorities = wanted["timeout_seconds"], [], {}
    for kind, entry in reach_answers.entries(wanted):
        if kind == "http":
            path = entry.get("ca_file")
            if path and path not in authorities:
                authorities[path] = _authorities(path)
            found.append(["web", entry["url"], authorities.get(path, ""), reach_answers.bytes_to_read(entry), seconds])
        elif kind == "tftp":
            found.append(["tftp", entry["host"], entry["port"], entry["path"], seconds])
        else:
            found.append(["tcp", entry["host"], entry["port"], seconds])
    length = sum(len(str(question)) for question in found)
    if length > _QUESTION_BYTES:
        raise RefusedError([Problem("value", "network_check", "from_pods", f"questions of {length} bytes",
                                    f"at most {_QUESTION_BYTES}",
                                    "name a ca_file with one authority, or ask for less")])
    return found


def _authorities(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return short_pod.certificates(stream.read())
    except ValueError as exc:
        raise RefusedError([Problem("value", "network_check", "ca_file", f"{path}, which has no certificate",
                                    "certificates of authorities, as PEM", "correct the path")]) from exc


def _answers(ended: short_pods.Ended, place: str, count: int) -> tuple[list[Any], list[Problem]]:
    """Return what a pod has answered, or the problem of one that has not."""
    if ended.is_foreign:
        return [], [Problem("exists", "network_check", "from_pods", f"{place} of somebody else", "none of this name",
                            "find out whose it is, and rename it")]
    if ended.words:
        return [], [_not_asked(ended.words, place)]
    answers = answered.read(ended.log, count)
    if answers is None:
        return [], [_not_asked(short_pod.words(ended.log.decode(errors="replace")) or "it printed nothing", place)]
    return answers, []


def _not_asked(words: str, place: str) -> Problem:
    return Problem("not-asked", "network_check", "from_pods", f"no answer from {place}: {words}",
                   "a pod that has asked", short_pod.HINT)

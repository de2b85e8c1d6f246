# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks for Ironic's API out of a pod of the cluster in which the Bare Metal Operator runs; the pod is removed again."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from .._common.problem import Problem
from .._common.wait_loop import until_nothing
from .._kube.resources import KNOWN
from . import fitness, pod_question

_INTERVAL_SECONDS = 0.5
_LOG_BYTES = 64 * 1024
_DEFAULT_NAMESPACE = "default"
_POD = KNOWN["Pod"]


def ask(client: Any, params: Mapping[str, Any], server: str, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Any] = time.sleep) -> list[Problem]:
    """Return what a pod finds to be wrong with Ironic's API.

    :param client: a KubeClient
    :param params: options of the module ``ironic_check``, with ``from_pod``
    :param server: URL of Ironic's API, as it was found from here
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :raises OSError: when the file of the authority cannot be read
    :raises KubeError: when the API server can't be asked or refuses
    """
    given, authority = params["from_pod"], ""
    if params.get("ca_cert"):
        with open(params["ca_cert"], encoding="utf-8") as stream:
            authority = stream.read()
    asked = pod_question.question(params, server, authority)
    # Before the first installation there is none.
    namespace = given["namespace"] if client.get(KNOWN["Namespace"], None, given["namespace"]) else _DEFAULT_NAMESPACE
    place = f"Pod {namespace}/{pod_question.NAME}"
    left = client.get(_POD, namespace, pod_question.NAME)
    if left is not None:
        label, value = pod_question.LABEL
        if (left["metadata"].get("labels") or {}).get(label) != value:
            return [Problem(fitness.CODE, "ironic", "from_pod", f"{place} without the label {label}={value}",
                            "none of this name", "find out whose it is, and rename it")]
        # Of a run that was killed.
        _remove(client, left, given["timeout_seconds"], clock, sleep)
    made = client.create(_POD, namespace, pod_question.pod(given, namespace, asked))
    try:
        def running() -> list[str]:
            current = client.get(_POD, namespace, pod_question.NAME) or {}
            if (current.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
                return []
            return [pod_question.waits_for(current)]

        words = until_nothing(running, given["timeout_seconds"], _INTERVAL_SECONDS, clock, sleep)
        if words:
            return [pod_question.not_asked(words[0], place)]
        log = client.beginning(_POD.path(namespace, pod_question.NAME, "log"), {"limitBytes": _LOG_BYTES},
                               f"log of {place}", _LOG_BYTES)
    finally:
        client.delete(_POD, namespace, pod_question.NAME, uid=made["metadata"].get("uid"))
    return pod_question.problems(log, asked, place)


def _remove(client: Any, left: dict[str, Any], seconds: float, clock: Callable[[], float],
            sleep: Callable[[float], Any]) -> None:
    namespace, uid = left["metadata"].get("namespace"), left["metadata"].get("uid")
    client.delete(_POD, namespace, pod_question.NAME, uid=uid)

    def there() -> bool:
        current = client.get(_POD, namespace, pod_question.NAME)
        return bool(current) and current["metadata"].get("uid") == uid

    until_nothing(there, seconds, _INTERVAL_SECONDS, clock, sleep)

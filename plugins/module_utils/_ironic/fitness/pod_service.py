# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks for Ironic's API out of a pod of the cluster in which the Bare Metal Operator runs; the pod is removed again."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._elsewhere import asking
from ..._kube.kinds.resources import KNOWN
from ..._kube.pods import short_pod, short_pods
from ..._kube.responses.errors import KubeError
from . import checks as fitness
from . import pod_question

_DEFAULT_NAMESPACE = "default"


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
        try:
            with open(params["ca_cert"], encoding="utf-8") as stream:
                authority = short_pod.certificates(stream.read())
        except ValueError:
            return [Problem(fitness.CODE, "ironic", "ca_cert", f"{params['ca_cert']}, which has no certificate",
                            "certificates of authorities, as PEM", "correct the path")]
    asked = pod_question.question(params, server, authority)
    # Before the first installation there is none.
    namespace = given["namespace"] if client.get(KNOWN["Namespace"], None, given["namespace"]) else _DEFAULT_NAMESPACE
    place = f"Pod {namespace}/{pod_question.NAME}"
    made = short_pod.of_options(given, (namespace, pod_question.NAME), pod_question.NAME,
                                asking.command([asked.question]))
    ended, = short_pods.run(client, [made], given["timeout_seconds"], clock, sleep)
    if isinstance(ended, KubeError):
        raise ended
    if ended.is_foreign:
        return [Problem(fitness.CODE, "ironic", "from_pod", ended.words, "none of this name",
                        "find out whose it is, and rename it")]
    if ended.words:
        return [pod_question.not_asked(ended.words, place)]
    return pod_question.problems(ended.log, asked, place)

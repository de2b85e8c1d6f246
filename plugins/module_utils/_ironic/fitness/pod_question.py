# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The question for Ironic's API that a pod asks where the Bare Metal Operator runs, and its answer; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..._common.problems.problem import Problem
from ..._elsewhere import answered
from ..._kube.pods import short_pod
from . import checks as fitness

NAME = "metal3-baremetal-ironic-check"
_SECONDS = 10
# It answers, whoever asks: the login is not given to the pod.
_ANSWERED = (200, 300, 401, 403)


class Asked(NamedTuple):
    """What a pod is to ask, and of whom.

    :ivar question: as of ``_elsewhere/questions.py``
    :ivar target: ``host:port``
    """

    question: list[Any]
    target: str


def question(params: Mapping[str, Any], server: str, authority: str) -> Asked:
    """Return what the pod is to ask.

    :param params: options of the module ``ironic_check``
    :param server: URL of Ironic's API, as it was found from here
    :param authority: certificates that Ironic's is verified by, in PEM; empty for those of the pod's image
    """
    parts = urlsplit(server)
    tls = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if tls else 80)
    # The key of its certificate is not given to the pod.
    asked = ["tcp", host, port, _SECONDS] if params.get("client_cert") else [
        "status", host, port, parts.path or "/", tls, authority, params.get("validate_certs") is not False, _SECONDS]
    return Asked(asked, f"{host}:{port}")


def not_asked(words: str, place: str) -> Problem:
    """Return the problem of a pod that could not ask, which says nothing about Ironic.

    :param words: why
    :param place: where the pod is
    """
    return Problem(fitness.CODE, "ironic", "from_pod", f"no answer from {place}: {words}",
                   "a pod that has asked Ironic", short_pod.HINT)


def problems(log: bytes, asked: Asked, place: str) -> list[Problem]:
    """Return what a pod has found to be wrong.

    :param log: what it has printed
    :param asked: from :func:`question`
    :param place: where the pod is
    """
    answers = answered.read(log, 1)
    if answers is None:
        return [not_asked(short_pod.words(log.decode(errors="replace")) or "it printed nothing", place)]
    answer, = answers
    if answer.get("reached") and answer.get("status", _ANSWERED[0]) in _ANSWERED:
        return []
    return [Problem(fitness.CODE, "ironic", "endpoint",
                    f"{answered.words(answer)} at {asked.target}, asked from {place}",
                    "an Ironic that answers where the Bare Metal Operator runs",
                    "look at the routes, NetworkPolicies and firewalls between the cluster's nodes and Ironic, or "
                    "correct the endpoint")]

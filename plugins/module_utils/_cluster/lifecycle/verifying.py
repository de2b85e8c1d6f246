# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a cluster itself whether all of it runs after its machines were replaced, and before."""
from __future__ import annotations

from typing import Any

from ..._common.documents.object_shape import of_kind
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import few
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.kinds.resources import KNOWN
from ..._kube.responses.errors import KubeError
from ..waiting.service import ClusterWait, WaitFailedError
from ..waiting.verification import NAMESPACE, node_lines, pod_lines
from ..workflow.steps import machine_steps
from .run import ClusterRun

# However late the machines came.
_LEAST_SECONDS = 120
_INTERVAL_SECONDS = 3
_SHOWN = 8


def verify(run: ClusterRun, wait: ClusterWait) -> None:
    """Wait until each node is Ready and of its Machine's version, and until the pods of kube-system are Ready.

    :param wait: the wait for the cluster, which has ended
    :raises WaitFailedError: with all that is not, when the time is up
    :raises KubeError: when the cluster's API server refuses to answer
    """
    seconds = max(_LEAST_SECONDS, wait.remaining_seconds())

    def left() -> list[str]:
        found = _left(run)
        if found:
            run.progress.status(f"{run.subject}: verification", few(found, 2, "; "))
        return found

    lines = until_nothing(left, seconds, _INTERVAL_SECONDS, wait.clock, run.sleep)
    if lines:
        shown = lines[:_SHOWN] + ([f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])
        raise WaitFailedError(
            f"{run.subject} is available, and after {duration(seconds)} not all of it runs:\n"
            + "\n".join(f"- {line}" for line in shown)
            + "\nlook at what is named, and run again when it runs; verify (variable cluster_verify) set to false "
            "leaves this question out", machine_steps(run.snapshot()))
    run.progress.event(f"{run.subject}: nodes are Ready at their version, and the pods of {NAMESPACE} are Ready")


def before(run: ClusterRun) -> list[str]:
    """Return a warning for each pod of kube-system that is not Ready now, before machines are replaced.

    One alone when the cluster can't be asked.
    """
    try:
        client = run.workload()
        found = [] if client is None else pod_lines(_pods(client))
    except KubeError as exc:
        return [f"{run.subject}: whether the pods of {NAMESPACE} are Ready is not checked: {exc.message}"]
    return [f"{line}: unless it is by then, the verification after the change will fail; look at it first"
            for line in found]


def _left(run: ClusterRun) -> list[str]:
    try:
        client = run.workload()
        if client is None:
            return ["it has no kubeconfig"]
        nodes = [of_kind(item, "Node") for item in client.list(KNOWN["Node"])[0]]
        pods = _pods(client)
    except KubeError as exc:
        if not exc.retriable:
            raise
        return [f"its API server does not answer: {exc.message}"]
    return node_lines(run.snapshot(), nodes) + pod_lines(pods)


def _pods(client: Any) -> list[dict[str, Any]]:
    return [of_kind(item, "Pod") for item in client.list(KNOWN["Pod"], NAMESPACE)[0]]

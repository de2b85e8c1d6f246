# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets how many pods a Deployment of the plane has, and waits for them."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._common.waiting.wait_loop import WaitLoop
from ..._common.waiting.wait_report import REACHED, WAITING, Awaited, Verdict
from ..._kube.kinds.resources import KNOWN
from ..._kube.pods import deployment_pod
from ..._kube.reconcile.plan import UNCHANGED, Entry
from ..._kube.responses.patient_poll import poll
from ..._manifests import rollout_wait
from .objects import STARTED_BY_MOVE

Object = dict[str, Any]

_DEPLOYMENT = KNOWN["Deployment"]


def run(client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
        clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep) -> dict[str, Any]:
    """Return the result of the module ``plane_scale``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :raises RefusedError: when there is no such Deployment, and pods are wanted; when it is not the one that was checked
    :raises ReportedError: without the confirmation, and when the pods cannot be there, or are not there or gone in time
    """
    namespace, name, wanted = params["namespace"], params["name"], params["replicas"]
    found = client.get(_DEPLOYMENT, namespace, name)
    if found is None:
        if wanted:
            raise RefusedError([Problem("scale-missing", f"Deployment {namespace}/{name}", "", "none", "one",
                                        "correct namespace or name, or install it by the playbook install")])
        return {"changed": False, "replicas": 0, "diff": []}
    changed = _changed(found, params["checked"] or {})
    if changed:
        raise RefusedError(changed)
    before = found["spec"].get("replicas", 1)
    title = f"Deployment {namespace}/{name}"
    result = {"changed": before != wanted, "replicas": before, "diff": [{
        "before_header": title, "before": {"replicas": before}, "after_header": title,
        "after": {"replicas": wanted}}] if before != wanted else []}
    # Whoever takes the pods of a plane's program away stops what it does for all hosts.
    warnings = confirmation.required(confirmation.missing(
        f"takes {before - wanted} of {before} pods away from %s, and what they work on is interrupted", [name],
        params["confirm"], "Deployment"), check_mode) if wanted < before else []
    if check_mode:
        return dict(result, warnings=warnings)
    if before != wanted:
        client.patch(_DEPLOYMENT, namespace, name, {
            "metadata": {"uid": found["metadata"]["uid"], "resourceVersion": found["metadata"]["resourceVersion"],
                         **_noted(found, before, params)},
            "spec": {"replicas": wanted}})
        progress.wrote(title, "updated")
    _wait(client, found, params, progress, clock, sleep)
    return result


def _changed(found: Object, checked: Mapping[str, Any]) -> list[Problem]:
    """Return how a Deployment differs from the one that was checked; the write has the version that was compared.

    Its resourceVersion is another one with each pod that becomes ready; the generation counts what was checked.
    """
    metadata = found["metadata"]
    for field in ("uid", "generation"):
        if checked.get(field) is not None and metadata.get(field) != checked[field]:
            return [Problem("scale-changed", f"Deployment {metadata['namespace']}/{metadata['name']}",
                            f"metadata.{field}", str(metadata.get(field)), f"{checked[field]}, as it was checked",
                            "somebody has replaced or changed it since: look at it, then run again, which checks it "
                            "again")]
    return []


def _noted(found: Object, before: int, params: dict[str, Any]) -> Object:
    """Return who has started a Deployment that had no pods; of what ran before nobody may say so."""
    if before and params["replicas"]:
        return {}
    note = params["started_for"] if params["replicas"] else None
    is_noted = STARTED_BY_MOVE in (found["metadata"].get("annotations") or {})
    return {"annotations": {STARTED_BY_MOVE: note}} if note or is_noted else {}


def _wait(client: Any, deployment: Object, params: dict[str, Any], progress: Any, clock: Callable[[], float],
          sleep: Callable[[float], Any]) -> None:
    namespace, name, seconds, began = params["namespace"], params["name"], params["wait_timeout_seconds"], clock()
    if params["replicas"]:
        # With its pods: an image that does not come ends the wait, and its name is in the message.
        rollout_wait.RolloutWait(client, [Entry(_DEPLOYMENT, namespace, name, UNCHANGED, None, deployment, {}, {})],
                                 progress, clock, sleep).until(seconds)
        return
    title = f"Deployment {namespace}/{name}"

    def read() -> str:
        # A pod that ends still works: its processes are stopped one after the other.
        return ", ".join(sorted(pod["metadata"]["name"] for pod in deployment_pod.selected(
            client, namespace, deployment)))

    def decide(left: str) -> Verdict:
        return Verdict(WAITING, left, f"look at it by: kubectl -n {namespace} describe pods") if left else \
            Verdict(REACHED, "", "")

    item = Awaited("at 0 pods", began, decide)
    loop = WaitLoop(f"API server {client.server}", progress, clock)
    loop.run({title: item}, poll(read, began + seconds, rollout_wait.INTERVAL_SECONDS, clock, sleep),
             lambda left, _key: left)
    error = item.error(seconds, clock(), loop.silence())
    if error:
        raise ReportedError(f"{title}: {error}")

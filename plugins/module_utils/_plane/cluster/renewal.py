# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Has cert-manager issue a certificate again before its time, as ``cmctl renew`` does."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.documents.tolerant import dict_in
from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import timestamp
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api.cluster_clock import clock_of
from ..._kube.api.discovery import resolve
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects.conditions import condition, conditions, is_true
from ..._kube.responses.errors import KubeError

Object = dict[str, Any]

INTERVAL_SECONDS = 0.5
API_VERSION, KIND = "cert-manager.io/v1", "Certificate"
# Others write the status, too.
ATTEMPTS = 5


class RenewalError(ReportedError):
    """A certificate was not issued again; the message says what cert-manager says."""


def due(certificate: Object, now: str) -> Object:
    """Return a Certificate with the condition by which cert-manager issues it again; pure.

    The condition is that of cmd/ctl/pkg/renew/renew.go.

    :param now: RFC 3339
    """
    status = dict(dict_in(certificate, "status"))
    others = [item for item in conditions(certificate) if item.get("type") != "Issuing"]
    status["conditions"] = [*others, {
        "type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "lastTransitionTime": now,
        "message": "Certificate re-issuance manually triggered",
        "observedGeneration": certificate["metadata"].get("generation")}]
    return dict(certificate, status=status)


def renew(client: Any, run: Callable[..., Any], namespace: str, name: str, seconds: float, progress: Any,
          clock: Callable[[], float], sleep: Callable[[float], Any]) -> None:
    """Have a certificate issued again and wait until its Secret has it.

    :param client: a KubeClient
    :param run: callable that takes a list of calls and returns their ``bulk.Outcome``
    :param namespace: the Certificate's
    :param name: the Certificate's, and its Secret's
    :param seconds: how long to wait
    :raises RenewalError: when there is no such Certificate, or not any more, or none is issued in time
    :raises KubeError: when the API server can't be asked or refuses
    """
    resource = resolve(client, [{"apiVersion": API_VERSION, "kind": KIND}], run)[API_VERSION, KIND]
    stored = resource and client.get(resource, namespace, name)
    if not stored:
        raise RenewalError(f"{KIND} {namespace}/{name}: not found, expected the one that cert-manager issues; install "
                           "Ironic with tls=cert_manager")
    before = _issued(client, namespace, name)
    for attempt in range(ATTEMPTS):
        try:
            client.request("PUT", resource.path(namespace, name) + "/status", None, due(
                stored, timestamp(clock_of(client)())), subject=f"{KIND} {namespace}/{name}")
            break
        except KubeError as exc:
            if exc.status != 409 or attempt == ATTEMPTS - 1:
                raise
            stored = _again(client, resource, stored)
    progress.event(f"{KIND} {namespace}/{name}: asked cert-manager to issue it again")

    def left() -> list[str]:
        current = client.get(resource, namespace, name)
        issuing = condition(current, "Issuing")
        if _issued(client, namespace, name) != before and is_true(current, "Ready") and issuing.get("status") != "True":
            return []
        return [(issuing or condition(current, "Ready")).get("message") or "nothing was said"]

    said = until_nothing(left, seconds, INTERVAL_SECONDS, clock, sleep)
    if said:
        raise RenewalError(f"{KIND} {namespace}/{name}: found the certificate from before ({said[0]}), expected a new "
                           "one in time; look at the log of cert-manager's controller")


def result(namespace: str, name: str) -> Object:
    """Return what a run, or the plan of one, says of a certificate that is issued again; pure."""
    title = f"{KIND} {namespace}/{name}"
    return {"changed": True, "objects": [], "diff": [
        {"before_header": title, "before": {}, "after_header": title, "after": {"issued": "again"}}]}


def _again(client: Any, resource: Any, before: Object) -> Object:
    """Return a Certificate as it is by now, which is the one that was read before."""
    namespace, name = before["metadata"].get("namespace"), before["metadata"]["name"]
    stored: Object | None = client.get(resource, namespace, name)
    if stored and stored["metadata"].get("uid") == before["metadata"].get("uid"):
        return stored
    found = "another one of this name" if stored else "none any more"
    raise RenewalError(f"{KIND} {namespace}/{name}: found {found}, expected the one that was there at the beginning; "
                       "find out who has changed it, then run again")


def _issued(client: Any, namespace: str, name: str) -> str | None:
    """Return the certificate that a Secret has, as it is stored."""
    return ((client.get(KNOWN["Secret"], namespace, name) or {}).get("data") or {}).get("tls.crt")

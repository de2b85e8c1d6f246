# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMCEventSubscription: events that a BMC sends to a URL; pure.

BMO 0.13's webhook (``bmceventsubscription_webhook.go``) refuses every change of a subscription. It compares the
reference to HTTP headers by its address, so it also refuses BMO's own finalizer on a subscription that has one, without
which BMO never asks the BMC. Nothing in Kubernetes names BMO's version, so headers are refused for all.
"""
from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from .._common.options.field_checks import show
from .._common.options.fields import Field
from .._common.problems.problem import Problem
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .base import HOST, Family, Object, ObjectIndex, host_verdict

SECRET = "Secret"


class EventSubscription(Family):
    """Subscriptions at BMCs."""

    kind = "BMCEventSubscription"
    option = "subscriptions"
    goals = ("subscribed",)
    of_host = False
    fields = (
        Field("host_name", "hostName"),
        Field("destination", "destination"),
        Field("context", "context"),
        Field("http_headers_ref", "httpHeadersRef", "dict", fields=(
            Field("name", "name", required=True), Field("namespace", "namespace"))),
    )

    def check(self, label: str, entry: Object) -> list[Problem]:
        """BMO's webhook's rules."""
        problems = []
        if not entry.get("host_name"):
            problems.append(
                Problem("event-subscription", label, "host_name", None, "the name of a BareMetalHost", "set it")
            )
        destination = entry.get("destination") or ""
        parts = urlsplit(destination)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            problems.append(Problem(
                "event-subscription", label, "destination", show(destination) if destination else None,
                "an http or https URL", "set it"))
        elif not parts.path:
            problems.append(Problem(
                "event-subscription", label, "destination", show(destination),
                "a URL with a path, at least a slash (BMO webhook)", "add it"))
        elif parts.username is not None:
            problems.append(Problem(
                "event-subscription", label, "destination", "a URL with credentials", "a URL without: it can be read",
                "put them into HTTP headers"))
        return problems

    def check_against(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        """What the webhook refuses, and a host that is not there."""
        problems = []
        namespace = entry.get("namespace")
        if current is not None and current["spec"] != dict(current["spec"], **self.spec(entry)):
            problems.append(Problem(
                "event-subscription", label, "", f"another {self._differing(current, entry)} than the stored one",
                "no change: BMO's webhook refuses it", "remove it with state absent, then run again"))
        if current is None and entry.get("host_name") and index.get(HOST, namespace, entry["host_name"]) is None:
            problems.append(Problem(
                "event-subscription", label, "host_name", show(entry["host_name"]), "a BareMetalHost of the namespace",
                "correct it, or enrol the host first"))
        return problems + self._check_headers(label, entry, current)

    def _check_headers(self, label: str, entry: Object, current: Object | None) -> list[Problem]:
        headers = entry.get("http_headers_ref")
        if not headers:
            return []
        if not (current or {"metadata": {}})["metadata"].get("finalizers"):
            return [Problem(
                "event-subscription", label, "http_headers_ref", show(headers["name"]),
                "none: BMO 0.13 never begins with such a "
                "subscription, as its webhook refuses the finalizer that BMO adds first",
                "remove it, and let the destination know its senders by context or by a path of their own")]
        namespace = headers.get("namespace") or entry.get("namespace")
        if namespace == entry.get("namespace"):
            return []
        return [Problem(
            "event-subscription", label, "http_headers_ref.namespace", show(namespace),
            f"{entry.get('namespace')}, the subscription's own", "remove it")]

    def _differing(self, current: Object, entry: Object) -> str:
        return " and ".join(key for key, value in sorted(self.spec(entry).items())
                            if current["spec"].get(key) != value)

    def spec(self, entry: Object) -> Object:
        """Return the spec; the headers' Secret is in the same namespace."""
        spec = super().spec(entry)
        if "httpHeadersRef" in spec:
            spec["httpHeadersRef"]["namespace"] = entry.get("namespace") or spec["httpHeadersRef"].get("namespace")
        return spec

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """V(subscribed) when the BMC has given it a number."""
        if obj is None:
            return Verdict(WAITING, "no status yet", "")
        status = obj.get("status") or {}
        if status.get("subscriptionID"):
            return Verdict(REACHED, "", "")
        if status.get("error"):
            return Verdict(FAILED, f"BMO: {status['error']}",
                           "look at BMO's log for the BMC's answer, and whether the BMC has an event service")
        verdict = host_verdict(index.get(HOST, obj["metadata"].get("namespace"), obj["spec"].get("hostName")), before)
        if verdict.outcome == FAILED:
            return verdict
        if obj["spec"].get("httpHeadersRef") and not obj["metadata"].get("finalizers"):
            return Verdict(WAITING, "BMO has not begun; the webhook of BMO 0.13 keeps it from doing so when a "
                           "subscription has HTTP headers", "remove it with state absent, and make it without")
        return Verdict(WAITING, "BMO has not asked the BMC yet", "look at BMO's log")

    def deletion_verdict(self, obj: Any, index: ObjectIndex) -> Verdict:
        """Gone when the BMC has ended it."""
        if obj is None:
            return Verdict(REACHED, "", "")
        error = (obj.get("status") or {}).get("error")
        return Verdict(WAITING, error or "BMO has not ended it at the BMC yet", "look at BMO's log")

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """Who gets what, and under which number."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        return {"host_name": spec.get("hostName") or "", "destination": spec.get("destination") or "",
                "context": spec.get("context") or "", "subscription_id": status.get("subscriptionID") or "",
                "error_message": status.get("error") or ""}

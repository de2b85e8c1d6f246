# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HostClaim: a wish for a host of some kind, answered with a BareMetalHost; pure.

BMO 0.13 has the resource, but its controller does nothing with it yet (``hostclaim_controller.go``).
"""
from __future__ import annotations

from typing import Any

from .._common.options.field_checks import show
from .._common.options.fields import Field
from .._common.problems.problem import Problem
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._host.description.fields import BY_NAME
from .._host.rules import image as host_image_rules
from .._kube.objects.conditions import condition, is_true
from . import network_data
from .base import Family, Object, ObjectIndex

ASSOCIATED = "Associated"
OPERATORS = ("in", "notin", "exists", "!", "=", "==", "!=", "gt", "lt")
# Waiting may help only with the others.
FINAL_REASONS = ("BadBareMetalHostStatus", "HostClaimDeletionFailed")


def _secret(name: str, crd: str) -> Field:
    return Field(name, crd, "dict", fields=(Field("name", "name", required=True), Field("namespace", "namespace")))


class HostClaim(Family):
    """Claims of hosts."""

    kind = "HostClaim"
    option = "claims"
    goals = ("associated",)
    of_host = False
    reads = watches = ()
    fields = (
        Field("powered_on", "poweredOn", "bool"),
        BY_NAME["image"],
        BY_NAME["custom_deploy"],
        _secret("user_data", "userData"),
        _secret("network_data", "networkData"),
        _secret("meta_data", "metaData"),
        Field("host_selector", "hostSelector", "dict", fields=(
            Field("match_labels", "matchLabels", "dict"),
            Field("match_expressions", "matchExpressions", "list", element="dict", fields=(
                Field("key", "key", required=True),
                Field("operator", "operator", required=True, choices=OPERATORS),
                Field("values", "values", "list", element="str"))),
            Field("in_namespace", "inNamespace"))),
        BY_NAME["consumer_ref"],
        Field("failure_domain", "failureDomain"),
    )

    def check(self, label: str, entry: Object) -> list[Problem]:
        """An image is checked as a host's is; conditions on labels need values, or none."""
        problems = host_image_rules.check(label, entry)
        expressions = (entry.get("host_selector") or {}).get("match_expressions") or []
        for position, item in enumerate(expressions):
            path = f"host_selector.match_expressions[{position}].values"
            alone = item.get("operator") in ("exists", "!")
            if alone and item.get("values"):
                problems.append(Problem(
                    "host-claim", label, path, show(item["values"]),
                    f"nothing with the operator {item['operator']}", "remove it"))
            elif not alone and not item.get("values"):
                problems.append(Problem(
                    "host-claim", label, path, None, f"values for the operator {item.get('operator')}", "set them"))
        return problems

    def secrets(self, entry: Object) -> list[tuple[str | None, str]]:
        """The one with network data, perhaps of another namespace."""
        data = entry.get("network_data") or {}
        return [(data.get("namespace"), data["name"])] if data else []

    def check_against(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        """Network data in a Secret that is there is checked as a host's is."""
        return network_data.problems(self, "host-claim", label, "network_data.name", entry, index)

    def spec(self, entry: Object) -> Object:
        """Return the spec; the CRD wants to know of the power, and a list of values with each condition."""
        spec = dict({"poweredOn": True}, **super().spec(entry))
        for item in (spec.get("hostSelector") or {}).get("matchExpressions") or []:
            item.setdefault("values", [])
        return spec

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """V(associated) when a BareMetalHost was found for it."""
        if obj is None:
            return Verdict(WAITING, "no status yet", "")
        if is_true(obj, ASSOCIATED) and (obj.get("status") or {}).get("bareMetalHost"):
            return Verdict(REACHED, "", "")
        found = condition(obj, ASSOCIATED)
        if not found:
            return Verdict(WAITING, "no controller has looked at it; BMO 0.13 has none for HostClaims", "")
        text = f"{found.get('reason')}: {found.get('message')}"
        return Verdict(FAILED if found.get("reason") in FINAL_REASONS else WAITING, text, "")

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """Which host it has."""
        status = obj.get("status") or {}
        host = status.get("bareMetalHost") or {}
        return {"associated": is_true(obj, ASSOCIATED), "host_name": host.get("name") or "",
                "host_namespace": host.get("namespace") or "", "powered_on": bool(status.get("poweredOn")),
                "message": condition(obj, ASSOCIATED).get("message") or "",
                "reason": condition(obj, ASSOCIATED).get("reason") or ""}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HostUpdatePolicy and HostDeployPolicy: what may be done with hosts; pure."""
from __future__ import annotations

import re
from typing import Any

from .._common.options.field_checks import is_name, show
from .._common.options.fields import Field
from .._common.problems.problem import Problem
from .base import Family, Object, ObjectIndex

TIMES = ("onPreparing", "onReboot")


class UpdatePolicy(Family):
    """When firmware is changed on hosts that are in use."""

    kind = "HostUpdatePolicy"
    option = "policies"
    fields = (Field("firmware_settings", "firmwareSettings", choices=TIMES),
              Field("firmware_updates", "firmwareUpdates", choices=TIMES))
    watches = ()

    def check(self, label: str, entry: Object) -> list[Problem]:
        """A policy that says nothing is a mistake."""
        if entry.get("firmware_settings") or entry.get("firmware_updates"):
            return []
        return [Problem("policy", label, "", "neither firmware_settings nor firmware_updates", "at least one of them",
                        "set one, or state absent")]

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """What it says."""
        spec = obj.get("spec") or {}
        return {"firmware_settings": spec.get("firmwareSettings") or "",
                "firmware_updates": spec.get("firmwareUpdates") or ""}


class DeployPolicy(Family):
    """Which namespaces may claim the hosts of a namespace."""

    kind = "HostDeployPolicy"
    option = "policies"
    of_host = False
    reads = watches = ()
    fields = (Field("host_claim_namespaces", "hostClaimNamespaces", "dict", fields=(
        Field("names", "names", "list", element="str"),
        Field("name_matches", "nameMatches"),
        Field("has_labels", "hasLabels", "list", element="dict", fields=(
            Field("name", "name", required=True), Field("value", "value"))),
    )),)

    def check(self, label: str, entry: Object) -> list[Problem]:
        """Names of namespaces and the expression."""
        problems, wanted = [], entry.get("host_claim_namespaces") or {}
        for position, name in enumerate(wanted.get("names") or []):
            if not is_name(name):
                problems.append(Problem("policy", label, f"host_claim_namespaces.names[{position}]", show(name),
                                        "a namespace's name", "correct it"))
        if wanted.get("name_matches"):
            try:
                re.compile(wanted["name_matches"])
            except re.error as exc:
                problems.append(Problem(
                    "policy", label, "host_claim_namespaces.name_matches", show(wanted["name_matches"]),
                    f"a regular expression ({exc})", "correct it"))
        return problems

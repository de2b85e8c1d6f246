# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PreprovisioningImage: the agent's image for one host, with network data in it; pure.

BMO works on them only when it was started with ``-build-preprov-image``, or another controller does.
"""
from __future__ import annotations

from typing import Any

from .._common.options.field_checks import show
from .._common.options.fields import Field
from .._common.problems.problem import Problem
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._kube.objects.conditions import condition, is_observed, is_true
from . import network_data
from .base import Family, Object, ObjectIndex


class PreprovisioningImage(Family):
    """Images that agents boot from."""

    kind = "PreprovisioningImage"
    option = "images"
    goals = ("ready",)
    of_host = False
    reads = watches = ()
    fields = (
        Field("network_data_name", "networkDataName"),
        Field("architecture", "architecture"),
        Field("accept_formats", "acceptFormats", "list", element="str"),
    )

    def check(self, label: str, entry: Object) -> list[Problem]:
        """The formats; without one no image fits."""
        formats = entry.get("accept_formats") or []
        problems = [
            Problem(
                "preprovisioning-image", label, f"accept_formats[{position}]", show(name), "iso or initrd",
                "correct it")
            for position, name in enumerate(formats)
            if name not in ("iso", "initrd")
        ]
        if not formats:
            problems.append(
                Problem("preprovisioning-image", label, "accept_formats", None, "iso, initrd or both", "set it")
            )
        return problems

    def secrets(self, entry: Object) -> list[tuple[str | None, str]]:
        """The one with network data."""
        return [(None, entry["network_data_name"])] if entry.get("network_data_name") else []

    def check_against(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        """Network data in a Secret that is there is checked as a host's is; Ironic does not get it."""
        return network_data.problems(self, "preprovisioning-image", label, "network_data_name", entry, index)

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """V(ready) when there is a URL to download."""
        if obj is None:
            return Verdict(WAITING, "no status yet", "")
        if is_true(obj, "Ready") and is_observed(obj, "Ready"):
            return Verdict(REACHED, "", "")
        if is_true(obj, "Error") and is_observed(obj, "Error"):
            error = condition(obj, "Error")
            outcome = WAITING if error.get("reason") == "MissingNetworkData" else FAILED
            return Verdict(outcome, f"{error.get('reason')}: {error.get('message')}", "correct the image")
        text = condition(obj, "Ready").get("message")
        return Verdict(WAITING, text or "no controller has looked at it", "start BMO with -build-preprov-image")

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """Where the image is."""
        status = obj.get("status") or {}
        return {"ready": is_true(obj, "Ready"), "image_url": status.get("imageUrl") or "",
                "kernel_url": status.get("kernelUrl") or "", "format": status.get("format") or "",
                "architecture": status.get("architecture") or "",
                "extra_kernel_params": status.get("extraKernelParams") or "",
                "error_message": condition(obj, "Error").get("message") or ""}

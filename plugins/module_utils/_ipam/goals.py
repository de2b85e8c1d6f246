# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has become of a claim, by what is stored of it; pure."""
from __future__ import annotations

from typing import Any

from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._kube.objects.conditions import condition
from .._kube.objects.finalizers import deletion_of

_GOING_HINT = ("do not use its address, which is free for others when the claim is gone; wait until then, and run "
               "again; if it stays, look at the controllers that its finalizers name")


def gone(claim: dict[str, Any] | None) -> Verdict:
    """Return the Verdict on a claim that is to be gone."""
    if claim is None:
        return Verdict(REACHED, "", "")
    finalizers = claim["metadata"].get("finalizers") or []
    return Verdict(WAITING, f"it is held by {', '.join(finalizers)}" if finalizers else "it is still there", "")


def answered(claim: dict[str, Any] | None) -> Verdict:
    """Return the Verdict on a claim that IPAM is to answer."""
    if deletion_of(claim):
        return Verdict(FAILED, f"it is {deletion_of(claim)}", _GOING_HINT)
    reason = refused(claim)
    if reason:
        return Verdict(FAILED, reason, "correct the pool or the claim and set renew_refused")
    if answer(claim):
        return Verdict(REACHED, "", "")
    if claim is None:
        return Verdict(WAITING, "it does not exist", "run again to create it")
    return Verdict(WAITING, "IPAM has not answered yet", "")


def answer(claim: dict[str, Any] | None) -> str:
    """Return the name of the IPAddress that a claim has got, empty without one."""
    status = (claim or {}).get("status") or {}
    return (status.get("address") or status.get("addressRef") or {}).get("name") or ""


def refused(claim: dict[str, Any] | None) -> str | None:
    """Return why IPAM refused a claim, or None."""
    status = (claim or {}).get("status") or {}
    if answer(claim):
        return None
    if status.get("errorMessage"):
        return status["errorMessage"]
    ready = condition(claim, "Ready")
    return ready.get("message") or ready.get("reason") if ready.get("status") == "False" else None

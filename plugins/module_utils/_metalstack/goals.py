# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a wait for a machine of metal-stack ends with; pure.

Events: metal-api ``cmd/metal-api/internal/service/proto`` and ``metal/provisioning.go``; the newest is the head of the
log.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict

READY_EVENT = "Phoned Home"
READY, FREED = "ready", "freed"
_LOOK = "look at its console (metalctl machine console), then free it or reinstall it"


def events_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return the events of a machine, empty when the answer has none."""
    events = item.get("events")
    return events if isinstance(events, dict) else {}


def event(item: dict[str, Any]) -> str:
    """Return the newest event of a machine, empty when there is none."""
    log = events_of(item).get("log")
    head = log[0] if isinstance(log, list) and log else None
    return str(head.get("event") or "") if isinstance(head, dict) else ""


def is_ready(item: dict[str, Any]) -> bool:
    """Say whether a machine is allocated, installed and has phoned home."""
    allocation = item.get("allocation")
    return (isinstance(allocation, dict) and allocation.get("succeeded") is not False
            and not allocation.get("reinstall") and event(item) == READY_EVENT
            and not events_of(item).get("crash_loop"))


def _allocated(item: Any, name: str, key: Any) -> dict[str, Any] | None:
    """Return the allocation of a machine when it is the one that is meant; names repeat."""
    allocation = item.get("allocation") if isinstance(item, dict) else None
    if not isinstance(allocation, dict) or allocation.get("name") != name:
        return None
    return allocation if key in (None, allocation.get("allocationuuid")) else None


def decide_ready(name: str, image_fits: Callable[[str], bool], key: Any = None) -> Callable[[Any], Verdict]:
    """Return what decides on a machine that is being installed.

    :param name: the name of its allocation
    :param image_fits: callable that takes the id of the stored image
    :param key: the UUID of its allocation, where that is known
    """
    def decide(item: Any) -> Verdict:
        allocation = _allocated(item, name, key)
        if allocation is None:
            return Verdict(FAILED, "it was freed while it was waited for", "run again")
        if events_of(item).get("crash_loop"):
            return Verdict(FAILED, "its provisioning is in a crash loop", _LOOK, _last_error(item))
        if events_of(item).get("failed_machine_reclaim"):
            return Verdict(FAILED, "an earlier release of it failed", _LOOK, _last_error(item))
        image = allocation.get("image")
        stored = str(image.get("id") or "") if isinstance(image, dict) else ""
        if is_ready(item) and image_fits(stored):
            return Verdict(REACHED, "", "")
        newest = event(item) or "none"
        return Verdict(WAITING, f"event {newest}, liveliness {item.get('liveliness') or 'unknown'}", "",
                       _last_error(item))
    return decide


def decide_freed(name: str, key: Any = None) -> Callable[[Any], Verdict]:
    """Return what decides on a machine that is being freed.

    :param name: the name of its allocation
    :param key: the UUID of its allocation, where that is known
    """
    def decide(item: Any) -> Verdict:
        if _allocated(item, name, key) is None:
            return Verdict(REACHED, "", "")
        return Verdict(WAITING, "it is still allocated", "")
    return decide


def _last_error(item: dict[str, Any]) -> str:
    error = events_of(item).get("last_error_event")
    return " ".join(str(error.get("message") or "").split())[:300] if isinstance(error, dict) else ""

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DataImage: an image attached to a provisioned host as a virtual CD; pure.

BMO 0.13 attaches and detaches it when the host is switched on (``manageHostPower`` in
``baremetalhost_controller.go``), so a host that runs must be rebooted.
"""
from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from .._common.options.field_checks import show
from .._common.options.fields import Field
from .._common.problems.problem import Problem
from .._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from .._host.description import annotations as host_annotations
from .._host.state.goals import RUNNING, state_of
from .base import Family, Object, ObjectIndex, host_verdict
from .firmware_change import host_state

# BMO tries again for ever; Ironic's answer is the same each time.
ERROR_LIMIT = 3


class DataImage(Family):
    """Images for hosts in use."""

    kind = "DataImage"
    option = "images"
    goals = ("attached",)
    fields = (Field("url", "url"),)

    def check(self, label: str, entry: Object) -> list[Problem]:
        """The URL."""
        url = entry.get("url") or ""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "file") or not (parts.netloc or parts.scheme == "file"):
            return [Problem(
                "data-image", label, "url", show(url) if url else None, "the http or https URL of an ISO image",
                "set url")]
        if parts.username is not None:
            return [Problem("data-image", label, "url", "a URL with credentials", "a URL without: it can be read",
                            "serve the image where Ironic may read it")]
        return []

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """V(attached) when the virtual CD holds the image, and the host is on again."""
        if obj is None:
            return Verdict(WAITING, "no status yet", "")
        error = _error(obj)
        if attached(obj) != obj["spec"]["url"] or error.get("count"):
            return self._change_verdict(obj, index, before)
        host = index.host_of(obj) or {}
        if (host.get("spec") or {}).get("online") and not (host.get("status") or {}).get("poweredOn"):
            return Verdict(WAITING, "it is attached; the host is being switched on", "")
        return Verdict(REACHED, "", "")

    def deletion_verdict(self, obj: Any, index: ObjectIndex) -> Verdict:
        """Gone when BMO has ejected the image, or there is none to eject, whatever the host is.

        Of a host that is gone or to be detached BMO lets it go at once (``dataimage_controller.go``).
        """
        if obj is None:
            return Verdict(REACHED, "", "")
        host = index.host_of(obj)
        found = host_annotations.of(host or {})
        is_free = host is None or host_annotations.DETACHED in found or state_of(host) not in RUNNING
        if is_free and host_annotations.PAUSED not in found:
            return _failure(obj) or Verdict(WAITING, "waits for BMO to let it go", "look at the log of BMO")
        return self._change_verdict(obj, index, None)

    def since(self, obj: Any, before: Any) -> Any:
        """Return an object without the errors that it had before its change, of which BMO counts none."""
        now, former = (_error(item or {}) for item in (obj, before))
        count = (now.get("count") or 0) - (former.get("count") or 0)
        if obj is None or not former.get("count") or count < 0:
            return obj
        return dict(obj, status=dict(obj["status"], error=dict(now, count=count) if count else {}))

    def _change_verdict(self, obj: Any, index: ObjectIndex, before: Any) -> Verdict:
        failure = _failure(obj)
        if failure is not None:
            return failure
        error = _error(obj)
        host = index.host_of(obj)
        verdict = host_verdict(host, before)
        if verdict.outcome == FAILED:
            return verdict
        if state_of(host) not in RUNNING:
            return Verdict(FAILED, f"the host is {state_of(host)}, and BMO looks at data images of provisioned hosts "
                                   "only", "provision the host first")
        if (host.get("status") or {}).get("poweredOn") and not error.get("count"):
            return Verdict(WAITING, "waits until the host is switched off and on again", "reboot the host")
        return Verdict(WAITING, error.get("message") or "the host is being switched on", "")

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """What is attached."""
        error = _error(obj)
        return {"host_state": host_state(obj, index), "url": (obj.get("spec") or {}).get("url") or "",
                "attached_url": attached(obj), "error_count": error.get("count") or 0,
                "error_message": error.get("message") or ""}


def _error(obj: Any) -> Object:
    return (obj.get("status") or {}).get("error") or {}


def _failure(obj: Any) -> Verdict | None:
    """Return the Verdict on an image with which Ironic has failed often enough, else None."""
    error = _error(obj)
    if (error.get("count") or 0) < ERROR_LIMIT:
        return None
    return Verdict(FAILED, f"Ironic can't do it: {error.get('message')}",
                   "look whether the image answers, and whether the BMC has virtual media")


def attached(obj: Any) -> str:
    """Return the URL of the image that a DataImage has attached, empty when there is none."""
    return ((obj.get("status") or {}).get("attachedImage") or {}).get("url") or ""

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""States of a BareMetalHost, goals to wait for, and what ends a wait early.

Pure functions of (object, goal, history): no clock and no network of their own.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.texts.formats import duration
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from ..._kube.objects.finalizers import HINT, deletion_of, is_going
from ..._kube.objects.precondition import uid_of
from ..description import annotations as host_annotations
from . import preparation
from .error_count import ErrorCount
from .errors import explain

GOALS = ("registered", "inspected", "available", "provisioned", "deleted")
# "ready" and "match profile" are older names that a status may still carry.
UNREGISTERED = ("", "unmanaged", "registering")
UNINSPECTED = UNREGISTERED + ("match profile", "inspecting")
AVAILABLE = ("available", "ready")
# States in which something runs on the server.
RUNNING = ("provisioned", "externally provisioned")
ERROR = "error"
# Deprovision in BMO 0.13's ironic.go: "unhandled ironic state service failed", for ever and in its log only.
_SERVICED = Verdict(
    WAITING, "BMO waits for the end of Ironic's service of the host, and for ever when that has failed",
    "when the node is \"service failed\" in Ironic: actions maintenance_off and abort of ironic_node_action, with the "
    "node in force_nodes; BMO goes on by itself then")


def state_of(bmh):
    """Return the provisioning state, ``deleted`` for None, ``new`` before BMO has written a status."""
    if bmh is None:
        return "deleted"
    return ((bmh.get("status") or {}).get("provisioning") or {}).get("state") or "new"


def stays_detached(bmh):
    """Say whether BMO leaves a host alone for as long as it has the annotation of a detached one.

    So it does in states in which nothing is done with the server, and in others when it is forced (checkDetachedHost).
    """
    found = host_annotations.of(bmh)
    return host_annotations.DETACHED in found and (state_of(bmh) in AVAILABLE + RUNNING or host_annotations.arguments(
        found[host_annotations.DETACHED]).get("force") is True)


def error_of(bmh):
    """Return ``(type, message, count)`` of a host's present error; empty texts when it has none.

    ``errorCount`` outlives recovery, so only ``operationalStatus`` says whether the error is present.
    """
    status = (bmh or {}).get("status") or {}
    if status.get("operationalStatus") != ERROR:
        return "", "", 0
    return status.get("errorType") or "", status.get("errorMessage") or "", status.get("errorCount") or 0


def in_service(bmh: Mapping[str, Any]) -> bool:
    """Say whether Ironic changes the firmware of a host in use, or has failed to (``doServiceIfNeeded``).

    The server is switched off and on meanwhile, and what runs on it is the agent; BMO reports its power all the same,
    and does what else it is asked for when the service is over.
    """
    return (bmh.get("status") or {}).get("operationalStatus") == "servicing" or error_of(bmh)[0] == "servicing error"


def reached(bmh, goal):
    """True when a host is where the goal wants it.

    V(available) wants the RAID volumes of the spec. It also counts a host that has been through it and stays beyond:
    provisioning or provisioned with the image it is to have, or externally provisioned. V(provisioned) wants the image
    of the spec on the disk.

    :param bmh: the BareMetalHost, or None when there is none
    :param goal: one of :data:`GOALS`
    """
    if bmh is None:
        return goal == "deleted"
    if goal == "deleted" or is_going(bmh):
        return False
    spec, status = bmh.get("spec") or {}, bmh.get("status") or {}
    provisioning = status.get("provisioning") or {}
    state = provisioning.get("state") or ""
    healthy = status.get("operationalStatus") != ERROR
    if goal == "registered":
        return state not in UNREGISTERED and healthy
    if goal == "inspected":
        return state not in UNINSPECTED and healthy
    if goal == "available":
        return healthy and ((state in AVAILABLE and not preparation.outstanding(bmh))
                            or state == "externally provisioned"
                            or (state in ("provisioning", "provisioned") and has_deployment(spec)))
    if state == "externally provisioned":
        return healthy
    return state == "provisioned" and healthy and _is_deployed(spec, provisioning)


def has_deployment(spec: Mapping[str, Any]) -> bool:
    """Say whether a BareMetalHost's specification asks for an image or a deploy method of its own."""
    return bool((spec.get("image") or {}).get("url") or (spec.get("customDeploy") or {}).get("method"))


def _is_deployed(spec, provisioning):
    # BMO's status of a host without an image has one with an empty URL.
    return all(((spec.get(part) or {}).get(key) or "") == ((provisioning.get(part) or {}).get(key) or "")
               for part, key in (("image", "url"), ("customDeploy", "method")))


class HostHistory(Awaited):
    """What one host went through during a wait.

    An error that was there before the wait began is distinguished from a new one by BMO's error count: BMO tries
    again by itself (1 to 2 minutes after the first error), and what was just written may have cured it.

    :param goal: one of :data:`GOALS`; with ``is_reached``, any words for it
    :param baseline: the BareMetalHost as read before anything was written, or None
    :param now: reading of the caller's clock, in seconds
    :param error_limit: how many fresh errors end the wait, where BMO's next attempt may succeed
    :param patience_seconds: how long an error from before the wait may stand before it counts
    :param is_reached: callable that takes the BareMetalHost (or None) and says whether it is where it is to be
    :param tolerated: conditions that do not end the wait: ``paused``, ``detached``, ``deleting``
    :param lacking: callable that takes the BareMetalHost and says what is to come beside the goal, empty for nothing
    :param phase: callable that takes the BareMetalHost and for how many seconds it has been in its state, and says
        where its server is, empty when nothing is known
    :param uid: of the host that is waited for, None for whichever has its name
    """

    def __init__(self, goal, baseline, now, error_limit=3, patience_seconds=180, is_reached=None, tolerated=(),
                 lacking=None, phase=None, uid=None):
        super().__init__(goal, now, advice="raise wait_timeout_seconds or look at the server's console")
        self._lacking = lacking
        self._uid = uid
        self._phase = phase or (lambda bmh, seconds: "")
        self._is_reached = is_reached or (lambda bmh: reached(bmh, goal))
        self.tolerated = frozenset(("deleting",) if goal == "deleted" else ()) | frozenset(tolerated)
        self.error_limit = error_limit
        self.patience_seconds = patience_seconds
        self.state = state_of(baseline) if baseline else "new"
        self.is_known = baseline is not None
        self.bmh = baseline
        self._reported = error_of(baseline)
        self._count = ErrorCount(baseline)
        self._old_message = self._reported[1]

    def update(self, observed, now):
        """Decide by the host's newest state.

        :param observed: the BareMetalHost, or None when it is gone (or not there yet)
        :param now: reading of the caller's clock, in seconds
        :returns: texts of what happened since the last update, for live progress
        """
        events = []
        # Before the host is known, None only means that the watch has not delivered the new host yet.
        state = state_of(observed) if observed is not None or self.is_known else self.state
        self.is_known = self.is_known or observed is not None
        self.bmh = observed
        if state != self.state:
            self.state, self.state_since = state, now
        error = error_of(observed)
        self._count.look(observed)
        if not error[2]:
            # Whatever comes after an attempt is of that attempt.
            self._old_message = ""
        if error != self._reported and error[2]:
            events.append(f"{error[0] or 'error'}: {error[1] or 'no message'}")
        self._reported = error
        return events + self.settle(self._host_verdict(observed, error, now), now)

    @property
    def is_read(self):
        """Whether the host was there, before the wait or during it."""
        return self.is_known

    def timeout_cause(self, now):
        """Return the last state and error of a host that did not get to its goal in time."""
        text = f"still {self.state} after {duration(self.seconds_in_state(now))}"
        error_type, message, dummy = error_of(self.bmh)
        if message:
            return f"{text}; last error: {error_type}: {message}"
        return f"{text}; {self.verdict.cause}" if self.verdict.cause else text

    def _host_verdict(self, bmh, error, now):
        if bmh is None and not self.is_known:
            return Verdict(WAITING, "no status yet", "")
        if bmh is not None and self._uid is not None and uid_of(bmh) != self._uid:
            return Verdict(FAILED, "found another BareMetalHost of this name than the one that was waited for",
                           "look at it, then run again")
        lacking = self._lacking(bmh) if self._lacking and bmh is not None else ""
        if self._is_reached(bmh) and not lacking:
            return Verdict(REACHED, "", "")
        if bmh is None:
            return Verdict(FAILED, "the host was deleted by somebody else", "run again to enrol it")
        obstacle = self._obstacle(bmh)
        if obstacle is not None:
            return obstacle
        status = (bmh.get("status") or {}).get("operationalStatus")
        if self.state == "deprovisioning" and in_service(bmh):
            return _SERVICED
        if error[2]:
            return self._error_verdict(error, now, self._phase(bmh, self.seconds_in_state(now)))
        if status == "delayed":
            return Verdict(WAITING, "delayed: BMO works on as many hosts as PROVISIONING_LIMIT allows", "")
        if self.goal == "provisioned" and (bmh.get("spec") or {}).get("online") is False:
            return Verdict(FAILED, "online is false, so BMO does not provision the host", "set online to true")
        outstanding = preparation.outstanding(bmh) if self.state in AVAILABLE else ""
        served = "Ironic changes its firmware" if in_service(bmh) else ""
        return Verdict(WAITING, lacking or outstanding or self._phase(bmh, self.seconds_in_state(now)) or served, "")

    def _obstacle(self, bmh):
        """Return what keeps BMO from working on the host at all, as a Verdict, or None."""
        annotations = host_annotations.of(bmh)
        if host_annotations.PAUSED in annotations and "paused" not in self.tolerated:
            by_whom = " by " + annotations[host_annotations.PAUSED] if annotations[host_annotations.PAUSED] else ""
            return Verdict(FAILED, f"the host is paused{by_whom}, so BMO does nothing with it",
                           f"remove the annotation {host_annotations.PAUSED} (a paused Cluster sets it again)")
        if is_going(bmh) and "deleting" not in self.tolerated:
            return Verdict(FAILED, f"the host is {deletion_of(bmh)}", HINT)
        detached = (bmh.get("status") or {}).get("operationalStatus") == "detached" and "detached" not in self.tolerated
        if detached and self.goal != "deleted":
            return Verdict(FAILED, "the host is detached, so BMO does not manage it",
                           f"remove the annotation {host_annotations.DETACHED}")
        if detached and host_annotations.delays_deletion(bmh):
            return Verdict(FAILED, "the host is detached in a way that delays its deletion",
                           "attach it, or detach it with delete_action delete")
        if self.state == "unmanaged" and not ((bmh.get("spec") or {}).get("bmc") or {}).get("address"):
            return Verdict(FAILED, "the host has no BMC address, so BMO can't manage it", "set bmc.address")
        return None

    def _error_verdict(self, error, now, phase):
        error_type, text, count = error
        explanation = explain(error_type, text, phase)
        cause, detail = explanation.cause, f"{error_type or 'error'}: {text or 'no message'}"
        if count <= self._count.old:
            if now - self.began_at < self.patience_seconds:
                return Verdict(WAITING, "an error from before this run: " + cause, explanation.next_step, detail)
            # The pause between BMO's attempts doubles with each.
            return Verdict(FAILED, cause, explanation.next_step + "; when that is done, let BMO try again at once with "
                           "the action retry of baremetal_host_action", detail)
        fresh = count - self._count.old
        # After a change BMO may repeat Ironic's last error once, before it tries again.
        definitive = explanation.definitive and (text != self._old_message or fresh > 1)
        if definitive or fresh >= self.error_limit:
            return Verdict(FAILED, cause, explanation.next_step, detail)
        return Verdict(WAITING, cause, explanation.next_step, detail)

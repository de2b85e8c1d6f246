# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operator does with the copies of hosts that arrive in a rehearsal, write by write; pure.

Sources: ``host_state_machine.go`` and ``baremetalhost_controller.go`` of BMO 0.13, and its ``fixture.go``, which
answers in place of Ironic.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.documents.document_text import from_json
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import cut
from ..._host.actions.actions import has_status
from ..._host.description import annotations as host_annotations
from ..._host.state.goals import error_of
from ..._kube.objects.conditions import conditions

Object = dict[str, Any]

CODE = "rehearsal-operator"
# Of what a program says, in a problem of a rehearsal.
WORDS_LIMIT = 600
# What the provisioner in Ironic's place answers otherwise than a server, and what each write changes.
_NOT_COMPARED = ("conditions", "lastUpdated", "poweredOn")
_ELSE = ("the operator decides so by its spec and status", "compare spec and status of the host here")
# State that it would go to → why, and what to do.
_CAUSES = {
    "unmanaged": ("its spec has no BMC", "set spec.bmc here"),
    "registering": ("the operator finds no status of it and begins from the start",
                    "have the plane here bring it to a steady state first, or restore its status from a backup"),
    "inspecting": ("an inspection of it is due",
                   "remove its annotation inspect.metal3.io here, or wait until the plane here has inspected it"),
    "preparing": ("RAID, firmware or the root device is to be other than its status says",
                  "set spec.raid, spec.firmware and spec.rootDeviceHints here to what status.provisioning has, or wait "
                  "until the plane here has prepared it"),
    "provisioning": ("an image is wanted, and none is deployed",
                     "remove spec.image here, or wait until the plane here has deployed it"),
    "deprovisioning": ("another image is wanted than is deployed, or none",
                       "set spec.image and spec.customDeploy here to what status.provisioning has, or wait until the "
                       "plane here has deployed what is wanted"),
    "externally provisioned": ("spec.externallyProvisioned is set", "wait until the plane here has taken it over"),
}
_NO_LONGER_EXTERNAL = ("spec.externallyProvisioned is not set any more", "set it again here")


class Operated(NamedTuple):
    """What the operator has done with the copies.

    :ivar problems: hosts that it refuses, would do something to, or did not come to an end with
    :ivar warnings: what else of hosts would be other than here
    :ivar hosts: how many it has left as they were
    :ivar version: its version, or None
    """

    problems: list[Problem]
    warnings: list[str]
    hosts: int
    version: str | None


class Copy:
    """The copy of a host that the operator works on, until it is decided what it does with it.

    Whoever waits gives each write to :meth:`take`. The operator says nothing when it leaves a host alone; but it looks
    at the host's conditions at the end of each of its rounds (``computeConditions``), whatever came of it, and writes
    those that are missing. So the conditions are removed, and a round that has changed nothing but these has been
    through: host data, registration, and the handler of the host's state.

    :param before: the host as it is in the plane that lets go
    :ivar problem: what it would do; None as long as that is nothing
    :ivar warnings: what else would be other than here
    """

    def __init__(self, before: Object) -> None:
        self._before = before
        self.problem: Problem | None = None
        self.warnings: list[str] = []
        self._is_settled = False
        # What the question has left of the host, its version, and whether that has come back.
        self._asked: Object | None = None
        self._asked_version = ""
        self._is_asked = False

    @property
    def is_decided(self) -> bool:
        """Whether nothing has to be waited for any more."""
        return self.problem is not None or self._is_settled

    def take(self, host: Object | None) -> bool:
        """Take the host as somebody has just written it, and return whether its conditions have to be removed.

        :param host: None when it is gone
        """
        if self.is_decided:
            return False
        self.problem = self._refusal(host)
        if self.problem is not None or host is None or not _is_taken_over(host):
            return False
        if self._asked is not None and not self._is_asked:
            # What was written before the question may arrive after it.
            self._is_asked = host["metadata"]["resourceVersion"] == self._asked_version
            return False
        if not conditions(host):
            return False
        if self._asked != _facts(host):
            return True
        self._is_settled = True
        self.problem = self._difference(host)
        return False

    def asked(self, host: Object) -> None:
        """Take the host as it is stored without its conditions."""
        self._asked, self._asked_version, self._is_asked = _facts(host), host["metadata"]["resourceVersion"], False

    def late(self, timeout: str, words: str) -> Problem:
        """Return the problem of a host with which the operator did not come to an end.

        :param timeout: how long was waited
        :param words: the operator's last error about it; empty when there is none
        """
        return Problem(CODE, self._subject, "", f"no end of the operator's work on it after {timeout}"
                       + (f"; its last error: {cut(words, WORDS_LIMIT)}" if words else ""), "a host that it leaves as "
                       "it is", "correct the cause here; without a cause, run again on a machine that has less to do")

    @property
    def _subject(self) -> str:
        return f"BareMetalHost {self._before['metadata']['name']}"

    def _refusal(self, host: Object | None) -> Problem | None:
        """Return what the operator does to a host, as soon as it begins with it."""
        if host is None:
            return Problem(CODE, self._subject, "", "a host that is deleted over there", "one that stays",
                           "look at its finalizers and owners here")
        before, now = _state(self._before), _state(host)
        # Without a state it has a status only for the details of its HardwareData.
        if has_status(host) and now and before != now:
            cause, step = _CAUSES.get(now, _ELSE)
            if before == "externally provisioned" and not host["spec"].get("externallyProvisioned"):
                cause, step = _NO_LONGER_EXTERNAL
            return Problem(CODE, self._subject, "status.provisioning.state",
                           f"{before or 'none'} → {now} over there: {cause}",
                           f"{before}, and the same over there" if before else "a host with a state", step)
        kind, message, _count = error_of(host)
        if kind and kind != error_of(self._before)[0]:
            return Problem(CODE, self._subject, "status.errorMessage",
                           f"{kind} over there: {cut(message, WORDS_LIMIT)}", "no error, as here",
                           "correct it here; neither Ironic nor a BMC was asked")
        return None

    def _difference(self, host: Object) -> Problem | None:
        """Return what of a host is other than here although the operator leaves it alone."""
        for path, expected in (("status.provisioning.image", "the image that is deployed"),
                               ("status.provisioning.customDeploy", "what is deployed"),
                               ("spec.consumerRef", "the consumer that it has here")):
            if _at(self._before, path) != _at(host, path):
                return Problem(CODE, self._subject, path, "another one over there", expected,
                               "compare spec and status of the host here")
        before, now = (_at(item, "status.hardware") for item in (self._before, host))
        if before and not now:
            return Problem(CODE, self._subject, "status.hardware", "none over there", "what its inspection has found",
                           "let the plane here inspect it again: its HardwareData has no details")
        if before and before != now:
            self.warnings.append(f"{self._subject}: status.hardware would be what its HardwareData has, which is other "
                                 "than its status here")
        return None


def last_error(log: str, name: str) -> str:
    """Return the operator's last error about a host, empty when there is none.

    :param log: what it has printed, a JSON object a line
    :param name: of the host
    """
    for line in reversed(log.splitlines()):
        try:
            entry = from_json(line)
        except ValueError:
            continue
        if not isinstance(entry, dict) or entry.get("level") != "error" or name not in (
                entry.get("name"), *(value.get("name") for value in entry.values() if isinstance(value, dict))):
            continue
        return " ".join(f"{entry.get('error') or entry.get('msg') or ''}".split())
    return ""


def _is_taken_over(host: Object) -> bool:
    found = host_annotations.of(host)
    return has_status(host) and not (host_annotations.PAUSED in found or host_annotations.STATUS in found)


def _facts(host: Object) -> Object:
    return dict((key, value) for key, value in (host.get("status") or {}).items() if key not in _NOT_COMPARED)


def _state(host: Object) -> str:
    return str(((host.get("status") or {}).get("provisioning") or {}).get("state") or "")


def _at(host: Object, path: str) -> Any:
    value: Any = host
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return _filled(value)


def _filled(value: Any) -> Any:
    """Return a value without what is empty, which is the same to the operator as what is not there."""
    if isinstance(value, Mapping):
        found = dict((key, _filled(item)) for key, item in value.items())
        return dict((key, item) for key, item in found.items() if item not in (None, "", {}, [], 0, False)) or None
    if isinstance(value, list):
        return [_filled(item) for item in value]
    return value

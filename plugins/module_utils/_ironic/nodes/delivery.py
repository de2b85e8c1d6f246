# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that Ironic must not carry out twice: what became of one is looked up when its answer is lost."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..api import answers
from ..api.client import path_of
from ..api.errors import IronicError
from . import diff as node_diff
from .request import GUARDED, SAFE

# Pauses before each look at a node: Ironic may still be taking the request.
LOOKS_AFTER_SECONDS = (1, 2, 4)
_LOOK_FIELDS = ("uuid", "provision_state", "target_provision_state", "provision_updated_at", "power_state",
                "target_power_state")
# What a plan for a node rests on, and nobody changes but its owner.
NODE_BASIS = ("uuid", "name", "provision_state", "target_provision_state", "instance_uuid", "protected")
PORT_BASIS = ("uuid", "address", "node_uuid")
_PROVISION_SIGNS = ("provision_state", "target_provision_state", "provision_updated_at")


class Delivery:
    """One request for one node.

    :param client: an IronicClient
    :param before: the node as it was when the request was planned, with ``goals.POLL_FIELDS``
    :param request: a ``request.Request``
    :param subject: what errors name
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, before: dict[str, Any], request: Any, subject: str,
                 sleep: Callable[[float], Any]) -> None:
        self._client = client
        self._before = before
        self._request = request
        self._subject = subject
        self._sleep = sleep
        self._was_lost = False

    def send(self) -> None:
        """Send it; may be called again after a retriable error.

        :raises IronicError: retriable only when the request was certainly not carried out, or may be repeated
        """
        request = self._request
        if not self._was_lost:
            basis = [field for field in NODE_BASIS if field in self._before]
            if unchanged(self._client, "nodes", self._before, basis, self._subject) is None:
                raise IronicError(f"{self._subject}: the node was deleted by somebody else; run again")
        if request.method == "PATCH":
            patch(self._client, "nodes", self._before["uuid"], request.body, self._subject)
            return
        try:
            self._client.request(request.method, path_of("nodes", self._before["uuid"], request.path),
                                 body=request.body, subject=self._subject, repeatable=request.resend == SAFE)
        except IronicError as exc:
            if exc.lost:
                self._was_lost = True
                self._settle(exc)
            elif not (self._was_lost and exc.status in (400, 409) and self._taken() is True):
                raise

    def _settle(self, lost: IronicError) -> None:
        """Return when the node shows that Ironic acts on the request; else say whether it may be sent again."""
        taken = None
        for pause_seconds in LOOKS_AFTER_SECONDS:
            self._sleep(pause_seconds)
            taken = self._taken()
            if taken:
                return
        if taken is False and self._request.resend == GUARDED:
            raise IronicError(lost.message, lost.status, "Unreachable") from lost
        state = "could not be read" if taken is None else "shows no sign of it"
        raise IronicError(f"{lost.message}: the node {state}; it is not sent a second time, because that could do it "
                          "twice; look at the server, then run again", lost.status, "Lost") from lost

    def _taken(self) -> bool | None:
        """Return whether the node shows that Ironic has taken the request, None when it can't be read."""
        try:
            now = self._client.node(self._before["uuid"], _LOOK_FIELDS)
        except IronicError:
            return None
        if now is None:
            # Whoever waits for it learns that it is gone.
            return True
        if self._request.path == "/states/power":
            return bool(now["target_power_state"]) or now["power_state"] != self._before.get("power_state")
        return any(now[sign] != self._before.get(sign) for sign in _PROVISION_SIGNS)


def unchanged(client: Any, kind: str, known: dict[str, Any], fields: Sequence[str], subject: str) -> Any:
    """Return a node or port as it is just before a change of it, None when it is gone: Ironic has no preconditions.

    :param client: an IronicClient
    :param kind: ``nodes`` or ``ports``
    :param known: it as it was when the change was decided
    :param fields: names of the fields that the decision rests on
    :param subject: what errors name
    :raises IronicError: when one of them has another value by now
    """
    now = (client.node if kind == "nodes" else client.port)(known["uuid"], tuple(fields))
    for field in fields if now is not None else ():
        # Ironic leaves out or says null.
        if (now.get(field) or None) != (known.get(field) or None):
            raise changed(subject, field, known.get(field), now.get(field))
    return now


def changed(subject: str, field: str, before: Any, now: Any) -> IronicError:
    """Return the error of what is no longer as it was when something was decided about it."""
    return IronicError(f"{subject}: it has changed since it was looked at ({field} was {before or 'not set'}, is "
                       f"{now or 'not set'}), so nothing was done with it; run again")


def patch(client: Any, kind: str, uuid: str, operations: list[dict[str, Any]], subject: str,
          query: dict[str, str] | None = None) -> dict[str, Any]:
    """Change a node or port by a JSON patch and return it as it is then.

    :param client: an IronicClient
    :param kind: ``nodes`` or ``ports``
    :param uuid: its UUID
    :param operations: list of operations, which are carried out all or none
    :param subject: what errors name
    :param query: dict of query parameters
    :raises IronicError: as of :meth:`Delivery.send`
    """
    try:
        changed = client.request("PATCH", path_of(kind, uuid), query, operations, subject, repeatable=False)
    except IronicError as exc:
        if not exc.lost:
            raise
        # Ironic refuses to remove what is not there: a patch that took effect must not be sent again.
        now = _read(client, kind, uuid)
        if now is not None and node_diff.in_effect(operations, now):
            return now
        raise IronicError(exc.message, exc.status, "Unreachable") from exc
    return answers.item(changed, kind, subject=subject)


def create(client: Any, kind: str, body: dict[str, Any], subject: str) -> dict[str, Any]:
    """Make a node or port and return it.

    :param client: an IronicClient
    :param kind: ``nodes`` or ``ports``
    :param body: what it is to have, with a ``uuid``: by that it is found when the answer is lost
    :param subject: what errors name
    :raises IronicError: as of :meth:`Delivery.send`
    """
    try:
        made = client.request("POST", "/" + kind, body=body, subject=subject, repeatable=False)
    except IronicError as exc:
        if not exc.lost and exc.status != 409:
            raise
        there = _read(client, kind, body["uuid"])
        if there is not None:
            return there
        if exc.status == 409:
            raise
        raise IronicError(exc.message, exc.status, "Unreachable") from exc
    return answers.item(made, kind, subject=subject)


def _read(client: Any, kind: str, uuid: str) -> dict[str, Any] | None:
    return client.node(uuid, None) if kind == "nodes" else client.port(uuid)

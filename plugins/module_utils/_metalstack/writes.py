# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allocates, changes and frees in metal-stack, each so that an answer that was lost costs nothing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._common.options.field_checks import show
from .._common.texts.formats import duration
from .._common.waiting import parallel
from . import goals
from .errors import MetalError
from .kinds import IP, MACHINE, Kind, part

# What interrupts, or begins an installation, each time that it is asked for.
_ONCE = ("machine_cycle", "machine_reset", "reinstall_machine")
# What stays the same as long as something is allocated: an address and a server may be allocated again.
_IDENTITY = (("allocation", "allocationuuid"), ("allocation", "created"), ("allocationuuid",), ("projectid",))
_POWERED = {"on": "powered_on", "off": "powered_off", "cycle": "power_cycled", "reset": "reset"}


class Item:
    """An entry, what is stored of it, and what became of it.

    :param entry: the entry
    :param stored: the stored object, None when there is none
    """

    def __init__(self, entry: dict[str, Any], stored: dict[str, Any] | None) -> None:
        self.entry = entry
        self.stored = stored
        self.action = "unchanged"
        self.error = ""
        self.goal = ""
        # Id of the image that it is reinstalled with.
        self.image = ""


class Writes:
    """What one run does to the objects of a kind.

    :param kind: what the entries are
    :param client: a MetalClient
    :param check_mode: only note what would be done
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, kind: Kind, client: Any, check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any]) -> None:
        self.kind, self.client, self.check_mode = kind, client, check_mode
        self.progress, self.sleep = progress, sleep

    def bring(self, item: Item, power: str) -> None:
        """Do what one entry needs.

        :param power: one of "on", "off", "cycle" and "reset" when its machine is due for it, else empty
        :raises MetalError: when metal-api refuses, or does not answer
        """
        label, stored = self.kind.label(item.entry), item.stored
        if item.entry["state"] == "absent":
            if stored is not None:
                self._do(item, "freed", lambda: self._free(item, stored, label))
                item.goal = goals.FREED if self.kind.role_of() else ""
            return
        if stored is None:
            if not self.check_mode:
                item.stored = self._allocate(item, label)
            item.action = "allocated"
        else:
            self._change(item, stored, label, power)
        if self.kind.role_of() and item.entry.get("power") != "off":
            item.goal = goals.READY

    def _do(self, item: Item, action: str, call: Callable[[], Any]) -> None:
        if not self.check_mode:
            self._persisting(call)
        item.action = action

    def _ours(self, item: Item, label: str) -> dict[str, Any] | None:
        """Return what an entry meant as it is now, None when it is gone: metal-api takes no condition with a request.

        Asked before each attempt: the answer to the one before may have got lost, and somebody else may have been given
        the machine, network or address since.

        :raises MetalError: when it is somebody else's by now
        """
        stored, key = item.stored or {}, self.kind.key
        found = self.client.stored(self.kind, {key: stored[key]})
        now = next((other for other in found if other[key] == stored[key]), None)
        if now is None or (self.kind.role_of() and not now.get("allocation")):
            return None
        facts = self.kind.facts(now)
        # An update before that got its name through may have lost its answer.
        names = (self.kind.facts(stored)["name"], item.entry["name"])
        if not self.kind.matches(item.entry, now) or facts["name"] not in names or any(
                part(now, *path) != part(stored, *path) for path in _IDENTITY):
            raise MetalError(f"{label}: {stored[key]}: found {show(facts['name'])} of project {show(facts['project'])} "
                             "at this moment, expected the one that was read before; run again to read what there is")
        return now

    def _free(self, item: Item, stored: dict[str, Any], label: str) -> None:
        if self._ours(item, label) is None:
            return
        operation = f"free_{'machine' if self.kind.role_of() else self.kind.word}"
        try:
            self.client.call(operation, stored[self.kind.key], subject=label, became="freed")
        except MetalError as exc:
            # The answer to an earlier attempt may have got lost.
            if exc.status == 404:
                return
            if self._is_released_soon(stored, exc):
                raise MetalError(f"{exc.message}; no machine has it any more, and what a freed machine had is released "
                                 "after it was freed: run again, or free what else is in it", exc.status,
                                 "Early") from exc
            raise

    def _is_released_soon(self, stored: dict[str, Any], refusal: MetalError) -> bool:
        """Say whether a network or address may be in use only until metal-api has released what freed machines had.

        It says that a machine is free at once, and takes addresses back by a queue: ``asyncActor.freeMachine``.
        """
        if self.kind.role_of() or refusal.status not in (400, 422):
            return False
        try:
            return not any(self.kind.is_in(stored[self.kind.key], machine) for machine in self.client.stored(MACHINE))
        except MetalError:
            return False

    def _change(self, item: Item, stored: dict[str, Any], label: str, power: str) -> None:
        changes = self.kind.changes(item.entry, stored)
        if set(changes) - {"image"}:
            operation = f"update_{'machine' if self.kind.role_of() else self.kind.word}"
            self._do(item, "updated", lambda: self._update(item, operation, label))
        if "image" in changes:
            body = {"id": stored["id"], "imageid": item.image or item.entry["image"]}
            self._do(item, "reinstalled", lambda: self._on(
                item, "reinstall_machine", stored["id"], body, label, "reinstalled"))
        if power:
            self._do(item, _POWERED[power], lambda: self._on(
                item, "machine_" + power, stored["id"], {}, label, _POWERED[power]))

    def _require_ours(self, item: Item, label: str) -> dict[str, Any]:
        """Return what an entry meant as it is now.

        :raises MetalError: when it was freed, or is somebody else's by now
        """
        found = self._ours(item, label)
        if found is None:
            raise MetalError(f"{label}: found that it was freed at this moment; run again to allocate another one")
        return found

    def _on(self, item: Item, operation: str, key: str, body: dict[str, Any], label: str, became: str) -> None:
        """Do to a machine what costs whoever has it something."""
        self._require_ours(item, label)
        try:
            self.client.call(operation, key, body, subject=label, became=became)
        except MetalError as exc:
            if operation not in _ONCE or not exc.is_undecided:
                raise
            raise MetalError(f"{exc.message}; it is not asked for a second time, because that could do it twice: look "
                             "at the machine first", exc.status, "Once") from exc

    def _update(self, item: Item, operation: str, label: str) -> None:
        # metal-api takes some fields as a whole: what others have added since must be among them.
        body = self.kind.update(item.entry, self._require_ours(item, label))
        answer = self.client.call(operation, body, subject=label, became="updated")
        if isinstance(answer, dict) and isinstance(answer.get(self.kind.key), str):
            item.stored = answer

    def _allocate(self, item: Item, label: str) -> dict[str, Any]:
        """Allocate once: after each failure that may have been carried out by half, look before another attempt.

        At once, since it may be all that there is to do, and again before that attempt: where the answer got lost,
        metal-api may have been at it still.
        """
        body = self.kind.body(item.entry)
        operation, arguments = f"allocate_{self.kind.word}", [body]
        if self.kind is IP and item.entry.get("address"):
            operation, arguments = "allocate_specific_ip", [item.entry["address"], body]
        for delay_seconds in (*parallel.RETRY_DELAYS_SECONDS, None):
            try:
                answer = self.client.call(operation, *arguments, subject=label, became="allocated")
                if isinstance(answer, dict) and isinstance(answer.get(self.kind.key), str):
                    return answer
                failure = MetalError(f"{label}: metal-api answers without {self.kind.key}; run again", reason="Lost")
            except MetalError as exc:
                failure = exc
            found = self._look_for(item, failure)
            if found is None and (not failure.retriable or delay_seconds is None):
                raise failure
            if found is None and delay_seconds is not None:
                self.progress.event(f"{failure.message}; trying again in {duration(delay_seconds)}")
                self.sleep(delay_seconds)
                found = self._look_for(item, failure) if failure.is_undecided else None
            if found is not None:
                self.progress.event(f"{label}: metal-api reported \"{failure.message}\", and has allocated it")
                return found
        raise AssertionError("the last attempt returns or raises")

    def _look_for(self, item: Item, failure: MetalError) -> dict[str, Any] | None:
        if failure.reason == "Unreachable" or (failure.status or 0) in (400, 401, 403, 422):
            return None
        try:
            found = [stored for stored in self.client.stored(self.kind) if self.kind.matches(item.entry, stored)
                     and not self.kind.identity(item.entry, stored)]
        except MetalError as exc:
            raise MetalError(f"{failure.message}; whether it is allocated could not be read: {exc.message}",
                             failure.status) from exc
        return found[0] if found else None

    def _persisting(self, call: Callable[[], Any]) -> None:
        parallel.values(parallel.persist([call], 1, MetalError, self.progress.event, self.sleep))

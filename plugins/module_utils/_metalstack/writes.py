# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allocates, changes and frees in metal-stack, each so that an answer that was lost costs nothing."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .._common.options.field_checks import show
from .._common.texts.formats import duration
from .._common.waiting import parallel
from . import goals
from .client import WORKERS
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
        # What is yet to be done, in order: what it is called when it is done, and how.
        self.left: list[tuple[str, Callable[[], Any]]] = []
        # Why nobody knows whether what has failed was carried out; it is not asked for again before that is known.
        self.unread = ""


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

    def bring(self, items: list[Item], powers: list[str]) -> None:
        """Do what entries need, and note what has gone wrong with each.

        All are tried side by side. Those whose request may succeed later are tried again together, so that what there
        is by then is read once for all of them: a metal-api that is busy has no long lists to spare.

        :param powers: of each one of "on", "off", "cycle" and "reset" when its machine is due for it, else empty
        """
        for item, power in zip(items, powers):
            item.left = self._steps(item, power)
        due, unread = items, list[tuple[Item, MetalError]]()
        for delay_seconds in (*parallel.RETRY_DELAYS_SECONDS, None):
            failed = unread + self._sort_out(self._failures(due))
            again = [(item, failure) for item, failure in failed if failure.retriable and delay_seconds is not None]
            for item, failure in failed:
                item.error = "" if (item, failure) in again else item.unread or failure.message
            if not again or delay_seconds is None:
                return
            others = f", and {len(again) - 1} others" if len(again) > 1 else ""
            self.progress.event(f"{again[0][1].message}{others}; trying again in {duration(delay_seconds)}")
            self.sleep(delay_seconds)
            # Where an answer got lost, metal-api may have been at it still.
            self._look_for([(item, failure) for item, failure in again if failure.is_undecided or item.unread])
            unread = [(item, failure) for item, failure in again if item.unread]
            due = [item for item, _failure in again if item.left and not item.error and not item.unread]

    def _failures(self, items: list[Item]) -> list[tuple[Item, MetalError]]:
        outcomes = parallel.run([partial(self._go_on, item) for item in items], WORKERS, MetalError)
        return [(item, outcome.error) for item, outcome in zip(items, outcomes) if outcome.error is not None]

    def _go_on(self, item: Item) -> None:
        while item.left:
            action, call = item.left[0]
            if not self.check_mode:
                call()
            self._done(item, action)

    def _done(self, item: Item, action: str) -> None:
        item.action = action
        item.left.pop(0)

    def _steps(self, item: Item, power: str) -> list[tuple[str, Callable[[], Any]]]:
        label, stored = self.kind.label(item.entry), item.stored
        if item.entry["state"] == "absent":
            if stored is None:
                return []
            item.goal = goals.FREED if self.kind.role_of() else ""
            return [("freed", partial(self._free, item, stored, label))]
        if self.kind.role_of() and item.entry.get("power") != "off":
            item.goal = goals.READY
        if stored is None:
            return [("allocated", partial(self._allocate, item, label))]
        return self._changes(item, stored, label, power)

    def _sort_out(self, failed: list[tuple[Item, MetalError]]) -> list[tuple[Item, MetalError]]:
        """Return those that have failed, without what was allocated all the same, and each with what is known of it."""
        failed = self._released_soon(failed)
        self._look_for(failed)
        return [(item, failure) for item, failure in failed if item.left and not item.error]

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
            if exc.status != 404:
                raise

    def _released_soon(self, failed: list[tuple[Item, MetalError]]) -> list[tuple[Item, MetalError]]:
        """Return failures, where those count as early that are in use until metal-api has released what machines had.

        It says that a machine is free at once, and takes addresses back by a queue: ``asyncActor.freeMachine``.
        """
        refused = [item for item, failure in failed if item.left[0][0] == "freed" and failure.status in (400, 422)]
        if self.kind.role_of() or not refused:
            return failed
        try:
            machines = self.client.stored(MACHINE)
        except MetalError:
            return failed
        soon = [item for item in refused if item.stored is not None and not any(
            self.kind.is_in(item.stored[self.kind.key], machine) for machine in machines)]
        return [(item, MetalError(f"{failure.message}; no machine has it any more, and what a freed machine had is "
                                  "released after it was freed: run again, or free what else is in it", failure.status,
                                  "Early") if item in soon else failure) for item, failure in failed]

    def _changes(self, item: Item, stored: dict[str, Any], label: str,
                 power: str) -> list[tuple[str, Callable[[], Any]]]:
        changes = self.kind.changes(item.entry, stored)
        steps: list[tuple[str, Callable[[], Any]]] = []
        if set(changes) - {"image"}:
            operation = f"update_{'machine' if self.kind.role_of() else self.kind.word}"
            steps.append(("updated", partial(self._update, item, operation, label)))
        if "image" in changes:
            body = {"id": stored["id"], "imageid": item.image or item.entry["image"]}
            steps.append(("reinstalled", partial(
                self._on, item, "reinstall_machine", stored["id"], body, label, "reinstalled")))
        if power:
            steps.append((_POWERED[power], partial(
                self._on, item, "machine_" + power, stored["id"], {}, label, _POWERED[power])))
        return steps

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

    def _allocate(self, item: Item, label: str) -> None:
        """Ask for an allocation once: after each failure is looked before another attempt, see :meth:`_look_for`."""
        body = self.kind.body(item.entry)
        operation, arguments = f"allocate_{self.kind.word}", [body]
        if self.kind is IP and item.entry.get("address"):
            operation, arguments = "allocate_specific_ip", [item.entry["address"], body]
        answer = self.client.call(operation, *arguments, subject=label, became="allocated")
        if not (isinstance(answer, dict) and isinstance(answer.get(self.kind.key), str)):
            raise MetalError(f"{label}: metal-api answers without {self.kind.key}; run again", reason="Lost")
        item.stored = answer

    def _look_for(self, failed: list[tuple[Item, MetalError]]) -> None:
        """Take what was allocated although metal-api has reported a failure, by one list for all.

        It may have been carried out by half. At once, since it may be all that there is to do, and again before another
        attempt.

        :param failed: of which those count whose allocation may have been carried out
        """
        due = [(item, failure) for item, failure in failed if item.left[0][0] == "allocated"
               and failure.reason != "Unreachable" and (failure.status or 0) not in (400, 401, 403, 422)]
        if not due:
            return
        try:
            found = self.client.stored(self.kind)
        except MetalError as exc:
            for item, failure in due:
                text = f"{failure.message}; whether it is allocated could not be read: {exc.message}"
                # One that starts again answers neither.
                is_read_later = failure.retriable and exc.retriable
                item.unread, item.error = (text, "") if is_read_later else ("", text)
            return
        for item, failure in due:
            item.unread = ""
            mine = [stored for stored in found if self.kind.matches(item.entry, stored)
                    and not self.kind.identity(item.entry, stored)]
            if mine:
                self.progress.event(f"{self.kind.label(item.entry)}: metal-api reported \"{failure.message}\", and has "
                                    "allocated it")
                item.stored = mine[0]
                self._done(item, "allocated")

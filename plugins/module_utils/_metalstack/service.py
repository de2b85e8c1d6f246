# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of entries to metal-stack: read once, check all, allocate, change or free side by side, wait."""
from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from .._common.options.confirmation import required_by
from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from .._common.waiting import parallel
from .._common.waiting.wait_loop import WaitLoop, poll
from .._common.waiting.wait_report import Awaited
from . import goals, validation
from .client import WORKERS
from .errors import MetalError
from .fields import INTERRUPTING
from .kinds import IP, NETWORK, Kind, image_fits, part
from .writes import Item, Writes

_KINDS = {"networks": NETWORK, "ips": IP}
# What an allocation of each kind rests on.
_NEEDS = {"network": ("projects", "partitions"), "ip": ("projects", "networks"),
          "machine": ("projects", "networks", "ips", "images", "sizes", "partitions"),
          "firewall": ("projects", "networks", "ips", "images", "sizes", "partitions")}


class Service:
    """One run over a list of entries of one kind.

    :param kind: what the entries are
    :param client: a MetalClient
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, kind: Kind, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep) -> None:
        self.kind = kind
        self.client = client
        self.params = params
        self.entries = params[kind.option]
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.warnings = []
        self._powers: dict[str, str] = {}

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has faults
        :raises MetalError: when metal-api cannot be asked
        """
        problems = validation.check_entries(self.kind, self.entries)
        if self.kind.role_of():
            problems += validation.check_interval(self.params["poll_interval_seconds"])
        stored = self.client.stored(self.kind)
        items, ambiguous = self._matched(stored)
        problems += ambiguous + self._stored_problems(items, stored)
        unconfirmed = validation.check_confirmation(self.kind, self._losing(items), self.entries,
                                                    self.params.get("confirm"))
        self.warnings += required_by(unconfirmed, self.check_mode, beside=problems)
        diffs = [diff for diff in (self._diff(item) for item in items) if diff]
        self._write(items)
        self._wait(items)
        results = [self._result(item) for item in items]
        actions = [result["action"] for result in results]
        return {"changed": any(result["changed"] for result in results), self.kind.option: results, "diff": diffs,
                "counts": {"total": len(results), "failed": sum(result["failed"] for result in results),
                           "changed": sum(action != "unchanged" for action in actions)}, "warnings": self.warnings}

    def _matched(self, stored: list[dict[str, Any]]) -> tuple[list[Item], list[Problem]]:
        items, problems = [], []
        for entry in self.entries:
            found = [item for item in stored if self.kind.matches(entry, item)]
            if len(found) > 1:
                keys = ", ".join(item[self.kind.key] for item in found[:10])
                problems.append(Problem("metalstack-ambiguous", self.kind.label(entry), "name",
                                        f"{len(found)} of this name ({keys})", "one",
                                        "set " + ("address" if self.kind is IP else "id")))
            items.append(Item(entry, found[0] if found else None))
        meant = Counter(item.stored[self.kind.key] for item in items if item.stored)
        problems += [Problem(validation.CODE, self.kind.option, self.kind.key, f"{count} entries that mean {show(key)}",
                             "one", "remove the others") for key, count in meant.items() if count > 1]
        return items, problems

    def _stored_problems(self, items: list[Item], stored: list[dict[str, Any]]) -> list[Problem]:
        problems = []
        stock = self._stock(items, stored)
        for item in items:
            if item.entry["state"] == "absent":
                problems += self.kind.identity_problems(item.entry, item.stored) if item.stored else []
                continue
            if item.stored is not None:
                problems += self.kind.fixed_problems(item.entry, item.stored)
                if "image" in self.kind.changes(item.entry, item.stored):
                    # metal-api looks neither for the newest of a series nor at what the image is for.
                    problems += stock.image_problems(self.kind, item.entry)
                    item.image = stock.newest_image(self.kind, item.entry)
                continue
            if item.entry.get("id") and self.kind is NETWORK:
                problems.append(Problem(validation.CODE, self.kind.label(item.entry), "id", show(item.entry["id"]),
                                        "a network that metal-api knows", "remove id to allocate a new one"))
                continue
            problems += stock.problems(self.kind, item.entry)
        if any(item.entry.get("power") in ("on", "off") and item.stored for item in items):
            found = self.client.items("find_ipmi_machines", {}, subject="power of machines")
            for machine in found:
                ipmi = machine.get("ipmi")
                self._powers[machine["id"]] = str(ipmi.get("powerstate") if isinstance(ipmi, dict) else "").lower()
        return problems

    def _stock(self, items: list[Item], stored: list[dict[str, Any]]) -> validation.Stock:
        """Read what the entries rest on: nothing for those that are there already, unless they are reinstalled."""
        present = [item for item in items if item.entry["state"] != "absent"]
        names: tuple[str, ...] = ()
        if any(item.stored is None and not (item.entry.get("id") and self.kind is NETWORK) for item in present):
            names = _NEEDS[self.kind.word]
        elif any("image" in self.kind.changes(item.entry, item.stored) for item in present if item.stored is not None):
            names = ("images",)
        calls = [self._reader(name) for name in names]
        objects = dict(zip(names, parallel.values(parallel.run(calls, WORKERS, MetalError))))
        if self.kind.role_of():
            objects["machines"] = stored
        return validation.Stock(objects)

    def _reader(self, name: str) -> Callable[[], Any]:
        if name == "projects":
            return self.client.projects
        if name in _KINDS:
            return lambda: self.client.stored(_KINDS[name])
        return lambda: self.client.items(f"list_{name}", subject=f"list of {name}")

    def _losing(self, items: list[Item]) -> dict[str, tuple[dict[str, Any], str]]:
        losing = {}
        for item in items:
            if item.stored is None:
                continue
            key = item.stored[self.kind.key]
            if item.entry["state"] == "absent":
                losing[key] = (item.entry, "is freed")
            elif "image" in self.kind.changes(item.entry, item.stored):
                losing[key] = (item.entry, "is reinstalled and loses what is on its disks")
            elif self._power_due(item) in INTERRUPTING:
                losing[key] = (item.entry, "is interrupted by power " + item.entry["power"])
        return losing

    def _power_due(self, item: Item) -> str:
        wanted = item.entry.get("power") or ""
        if item.stored is None or item.entry["state"] == "absent" or not wanted:
            return ""
        return "" if self._powers.get(item.stored["id"]) == wanted else wanted

    def _diff(self, item: Item) -> dict[str, Any] | None:
        label, facts = self.kind.label(item.entry), self.kind.facts(item.stored) if item.stored else {}
        if item.entry["state"] == "absent":
            return {"before_header": label, "after_header": "", "before": facts, "after": {}} if item.stored else None
        if item.stored is None:
            body = dict((name, value) for name, value in self.kind.body(item.entry).items() if name != "user_data")
            return {"before_header": "", "after_header": label, "before": {}, "after": body}
        changes = self.kind.changes(item.entry, item.stored)
        if item.image:
            changes = dict(changes, image=(changes["image"][0], item.image))
        power = self._power_due(item)
        if power:
            changes = dict(changes, power=(self._powers.get(item.stored["id"], "unknown"), power))
        return {"before_header": label, "after_header": label,
                "before": dict((name, pair[0]) for name, pair in changes.items()),
                "after": dict((name, pair[1]) for name, pair in changes.items())} if changes else None

    def _write(self, items: list[Item]) -> None:
        writes = Writes(self.kind, self.client, self.check_mode, self.progress, self.sleep)
        writes.bring(items, [self._power_due(item) for item in items])

    def _wait(self, items: list[Item]) -> None:
        due = [item for item in items if item.goal and not item.error and item.stored is not None]
        if self.check_mode or not self.params.get("wait") or not due:
            return
        timeout_seconds, now = self.params["wait_timeout_seconds"], self.clock()
        labels = self._labels(due)
        awaited = dict((label, self._awaited(item, now)) for label, item in zip(labels, due))
        ids = dict((label, (item.stored or {})["id"]) for label, item in zip(labels, due))
        loop = WaitLoop(f"metal-api {self.client.server}", self.progress, self.clock)
        steps = poll(lambda: dict((machine["id"], machine) for machine in self.client.stored(self.kind)),
                     now + timeout_seconds, self.params["poll_interval_seconds"], self.clock, self.sleep,
                     lambda error: isinstance(error, MetalError) and error.passes)
        newest: dict[str, Any] = {}

        def find(objects: Any, key: Any) -> Any:
            newest[key] = objects.get(ids[key])
            return newest[key]

        ended = ""
        try:
            loop.run(awaited, steps, find)
        except MetalError as exc:
            # What was allocated is in the results all the same.
            ended = exc.message
        for label, item in zip(labels, due):
            item.stored = newest.get(label) or item.stored
            text = awaited[label].error(timeout_seconds, self.clock(), loop.silence())
            if ended and awaited[label].waiting:
                done = "" if item.action == "unchanged" else f"{item.action}, "
                text = f"{done}not waited for until it is {awaited[label].goal}: {ended}; then run again"
            item.error = f"{label}: {text}" if text else ""

    def _labels(self, items: list[Item]) -> list[str]:
        """Return what each is called while it is waited for: names repeat in other projects and partitions."""
        counted = Counter(self.kind.label(item.entry) for item in items)
        return [label if counted[label] == 1 else f"{label} ({(item.stored or {})['id']} of project "
                f"{item.entry['project']})" for item in items for label in (self.kind.label(item.entry),)]

    def _awaited(self, item: Item, now: float) -> Awaited:
        name, image = item.entry["name"], item.entry.get("image")
        key = part(item.stored, "allocation", "allocationuuid")
        if item.goal == goals.FREED:
            return Awaited("freed", now, goals.decide_freed(name, key))
        return Awaited("ready", now, goals.decide_ready(
            name, lambda stored: not image or image_fits(image, stored), key))

    def _result(self, item: Item) -> dict[str, Any]:
        facts = self.kind.facts(item.stored) if item.stored is not None else {}
        return dict(facts, name=item.entry["name"], project=item.entry["project"], action=item.action,
                    changed=item.action != "unchanged", failed=bool(item.error), error=item.error)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of entries to objects of one family: read once, check all, write what differs, wait for all."""
from __future__ import annotations

import time
from collections.abc import Generator
from functools import partial
from typing import Any, Callable

from .._common.documents.object_shape import of_kind
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._common.texts.plain_text import few
from .._common.texts.terminal import columns
from .._common.waiting.wait_loop import Step, WaitLoop
from .._common.waiting.wait_report import FAILED, WAITING, Awaited, Verdict
from .._host.state.reading import secret_of
from .._kube.api import bulk
from .._kube.api.cluster_clock import clock_of
from .._kube.api.follow import follow_kinds
from .._kube.objects.conditions import conditions
from .._kube.objects.finalizers import HINT, deletion_of
from .._kube.objects.precondition import uid_of
from .._kube.reconcile.plan import DELETE, DONE, UNCHANGED, UPDATE, Entry, absent, by_name, deletion
from .._kube.reconcile.reconcile import Reconcile
from .._kube.reconcile.report import counts, difference
from .._kube.responses.errors import KubeError
from .._metal3.kinds import KNOWN, resource_for
from .base import HOST, Family, Object, ObjectIndex, check_host, check_lock, check_typed, desired, label_of
from .wake import wake

# BMO 0.13 prepares a host again and again after a flash until it has read the firmware once more, each time after a
# pause twice as long (controller-runtime's rate limiter: 5 ms, at last minutes). Only a look at a host with nothing to
# do ends that; otherwise the next change of power begins with such a pause.
_DONE = "Asked BMO to look at %s once more, so that a change of power begins without a pause"
# Of those that a warning names.
_MOST_SECRETS = 5
_HELD_UP = "BMO pauses after an earlier failure of %s; asked it to try again now"


class Item:
    """What became of one entry.

    :param entry: the entry
    :param current: the stored object, or None
    """

    def __init__(self, entry: dict[str, Any], current: dict[str, Any] | None):
        self.entry = entry
        self.name = entry["name"]
        self.present = entry.get("state") != "absent"
        self.current = current
        self.stored = current
        self.action = DONE[UNCHANGED]
        self.error = ""
        self.seconds = 0.0
        # What the wait has found: whether it was not over at once, and whether BMO was asked to end its pause.
        self.worked_on = self.woken = False
        self.before: dict[str, Any] | None = None
        self.lasting: Any = None

    def result(self, family: Family, namespace: str | None, index: ObjectIndex) -> Object:
        """Return the entry's result as plain data."""
        facts = family.facts(self.stored, index) if self.stored else {}
        changed = self.action != DONE[UNCHANGED]
        return dict({"name": self.name, "namespace": namespace, "action": self.action, "changed": changed,
                     "error": self.error, "seconds": round(self.seconds, 1)}, **facts)


class FamilyWrites(Reconcile):
    """Writes of one family's objects.

    :param family: a Family
    :param problems_with: callable that takes a name and the object that is stored by now, or None, and returns lines
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any], family: Any,
                 problems_with: Callable[[str, Any], list[Any]]):
        super().__init__(client, check_mode, progress, sleep, resource_for)
        self._family = family
        self._problems_with = problems_with

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Send an entry; of some kinds the conditions are removed before the spec changes."""
        if self._family.clears_conditions and entry.action == UPDATE and not dry_run \
                and conditions(entry.current):
            # BMO 0.13 notes the generation it has looked at only when a condition's status changes (updateStatus in
            # hostfirmwaresettings_controller.go); until then it does nothing at all with the host.
            entry = entry._replace(current=self.client.patch(
                entry.resource, entry.namespace, entry.name, {"status": {"conditions": None}}, subresource="status",
                checked=entry.current))
            self.begun(entry)
        return super().send(entry, dry_run)

    def read_again(self, entry: Entry) -> Any:
        """Return the object in its shape."""
        return of_kind(super().read_again(entry), self._family.kind)

    def problems_again(self, entry: Entry, stored: Any) -> list[Any]:
        """Return why an entry does not fit what is stored by now."""
        return [] if entry.action == DELETE else self._problems_with(entry.name, stored)


class FamilyService:
    """One run over a list of entries.

    :param client: a KubeClient
    :param family: a Family
    :param params: the module's parameters
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    """

    def __init__(self, client: Any, family: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 now: Callable[[], float] | None = None):
        self.client = client
        self.family = family
        self.resource = KNOWN[family.kind]
        self.namespace = params["namespace"]
        self.entries = [dict(entry, namespace=self.namespace) for entry in params[family.option]]
        self.goal = params.get("wait_for")
        self.timeout_seconds = params.get("wait_timeout_seconds") or 0
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.now = now or clock_of(client)
        self.writes = FamilyWrites(client, check_mode, progress, sleep, family, self._problems_again)
        self.index = ObjectIndex({})
        self.diffs: list[dict[str, Any]] = []
        self.warnings: list[str] = []

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has mistakes
        :raises KubeError: when the API server can't be asked
        """
        began_at = self.clock()
        items = self._checked()
        self._write(items)
        if self.goal and not self.check_mode:
            self._wait([item for item in items if not item.error])
        results = [item.result(self.family, self.namespace, self.index) for item in items]
        return {"changed": any(result["changed"] for result in results), self.family.option: results,
                "counts": counts(results), "diff": self.diffs, "table": self.family.table(results, columns()),
                "seconds": round(self.clock() - began_at, 3), "warnings": self.warnings}

    # Reading and checking

    def _checked(self) -> list[Item]:
        labelled = [(label_of(self.family, entry, at), entry) for at, entry in enumerate(self.entries)]
        problems = check_typed(self.family, labelled)
        try:
            own, self.index = read(self.client, self.family, self.namespace)
        except KubeError:
            if problems:
                raise RefusedError(problems) from None
            raise
        self._read_secrets()
        current = by_name(own)
        # An entry with a mistake of its own is not fit to be compared; all others are.
        unfit = set(item.subject for item in problems)
        for label, entry in labelled:
            if entry.get("state") != "absent" and label not in unfit:
                problems = problems + self._problems_with(label, entry, current.get(entry["name"]), self.index)
        if self.goal == "deleted":
            problems = problems + [
                Problem(
                    "resource", label, "state", "present", "absent when wait_for is deleted: waiting deletes nothing",
                    "set state to absent for what you want to delete")
                for label, entry in labelled
                if entry.get("state") != "absent"
            ]
        if problems:
            raise RefusedError(problems)
        return [Item(entry, current.get(entry["name"])) for entry in self.entries]

    def _read_secrets(self) -> None:
        """Read the Secrets that checks look at; those that may not be read go unchecked, which a warning says."""
        wanted = sorted({(namespace or str(self.namespace), name) for entry in self.entries
                         if entry.get("state") != "absent" for namespace, name in self.family.secrets(entry)})
        outcomes = bulk.run([partial(secret_of, self.client, *where) for where in wanted])
        refused = []
        for (namespace, name), outcome in zip(wanted, outcomes):
            if outcome.error is None:
                self.index.add("Secret", [outcome.value] if outcome.value else [])
            elif outcome.error.status == 403:
                refused.append(f"{namespace}/{name}")
            else:
                raise outcome.error
        if refused:
            self.warnings.append(f"the network data in {few(refused, _MOST_SECRETS)} was not checked, because this "
                                 "account may not get the Secrets; allow it to get them")

    # Writing

    def _write(self, items: list[Item]) -> None:
        entries = self._entries(items)
        self.writes.announce([entry for entry in entries if entry.action != DELETE], len(items), self.resource.plural)
        for item, written in zip(items, self.writes.write(entries)):
            if written.changed:
                self.diffs.append(dict(difference(written.entry), host=item.name))
            item.action = written.action
            if written.error is not None:
                item.error = written.error.message
            elif item.present:
                item.stored = of_kind(written.value, self.family.kind)

    def _entries(self, items: list[Item]) -> list[Entry]:
        present = [item for item in items if item.present]
        planned = dict(zip((item.name for item in present), self.writes.plan(
            [desired(self.family, item.entry, self.namespace) for item in present],
            {(self.resource, self.namespace): dict(
                (item.name, item.current) for item in present if item.current is not None)})))
        return [planned[item.name] if item.present else self._deletion(item) for item in items]

    def _deletion(self, item: Item) -> Entry:
        if item.current is None:
            return absent(self.resource, self.namespace, item.name)
        return deletion(self.resource, item.current)

    def _problems_again(self, name: str, stored: Any) -> list[str]:
        """Return why an object that has changed since it was read must not be written."""
        entry = next(entry for entry in self.entries if entry["name"] == name)
        problems = [] if self.family.of_host and stored is None else self._problems_with(
            label_of(self.family, entry, 0), entry, stored, self.index)
        return list(map(str, problems)) or ([] if stored is not None else ["it was deleted; run again to create it"])

    def _problems_with(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        return check_host(self.family, label, entry, current, index) + \
            check_lock(self.family, entry, current, index, self.now()) + \
            self.family.check_against(label, entry, current, index)

    # Waiting

    def _wait(self, items: list[Item]) -> None:
        baseline, now = self.index, self.clock()
        items = [item for item in items if item.present or item.current is not None]
        awaited = dict((item.name, Awaited(str(self.goal if item.present else "gone"), now,
                                           self._verdict_of(item, baseline))) for item in items)
        loop = WaitLoop(f"API server {self.client.server}", self.progress, self.clock)
        loop.run(awaited, self._steps(now + self.timeout_seconds),
                 lambda objects, name: objects[self.family.kind].get(name), looked=lambda: self._end_pauses(items))
        now = self.clock()
        for item in items:
            item.seconds = awaited[item.name].seconds_taken(now)
            item.error = awaited[item.name].error(self.timeout_seconds, now, loop.silence())
        done = [item for item in items if self.goal == "applied" and item.stored and not item.error]
        self.warnings += [f"{item.name}: {doubt}" for item in done
                          for doubt in self.family.doubts(item.current, item.stored)]
        self._wake([item for item in items if item.stored and not item.error and (
            item.worked_on or self.family.has_new_pause(item.stored, self.index))], _DONE)

    def _end_pauses(self, items: list[Item]) -> None:
        held_up = [item for item in items if item.present and item.stored and not item.woken
                   and self.family.is_held_up(item.stored, self.index, item.before)]
        for item in held_up:
            item.woken = True
        self._wake(held_up, _HELD_UP)

    def _wake(self, items: list[Item], why: str) -> None:
        if self.family.wakes_hosts and self.goal == "applied":
            hosts = [self.index.host_of(item.stored) for item in items]
            self.warnings += wake(self.client, [host for host in hosts if host is not None], self.progress, why)

    def _verdict_of(self, item: Item, baseline: ObjectIndex) -> Callable[[Any], Verdict]:
        """Return the callable that takes the item's object, or None, and returns the Verdict on it."""
        awaited = item.stored

        def decide(stored: Any) -> Verdict:
            item.stored = stored
            another = self._another(awaited, stored, baseline)
            if another is not None:
                item.before = None
                return another
            if item.action != DONE[UNCHANGED]:
                stored = self.family.since(stored, item.current)
            if not item.present:
                return self.family.deletion_verdict(stored, self.index)
            if deletion_of(stored):
                return Verdict(FAILED, f"it is {deletion_of(stored)}", HINT)
            item.before = baseline.host_of(stored) if stored else None
            verdict = item.lasting or self.family.verdict(stored, self.index, self.goal, item.before)
            if stored and self.family.is_lasting(stored, verdict):
                item.lasting = verdict
            item.worked_on = item.worked_on or verdict.outcome == WAITING
            return verdict
        return decide

    def _another(self, awaited: Any, stored: Any, baseline: ObjectIndex) -> Verdict | None:
        """Return the Verdict on an object, or a host, that was created under the name during the wait, None for none.

        BMO creates the objects of a host that is enrolled again without what was asked for.
        """
        if stored is None:
            return None
        pairs = [(self.family.kind, awaited, stored)]
        if self.family.of_host:
            pairs.append((HOST, baseline.host_of(stored), self.index.host_of(stored)))
        return next((Verdict(FAILED, f"found another {kind} of this name than the one that was waited for",
                             "look at it, then run again")
                     for kind, before, now in pairs if before and now and uid_of(before) != uid_of(now)), None)

    def _steps(self, deadline: float) -> Generator[Step, None, None]:
        """Yield Steps of all kinds that the family looks at; ``index`` is brought up to date."""
        kinds = (self.family.kind,) + tuple(self.family.watches)
        for step in follow_kinds(self.client, [KNOWN[kind] for kind in kinds], self.namespace, deadline,
                                 tick_seconds=0.5, clock=self.clock):
            if step.listed:
                objects = dict((kind, dict((name, of_kind(obj, kind)) for name, obj in step.objects[kind].items()))
                               for kind in kinds)
                self.index = ObjectIndex(dict((kind, list(found.values())) for kind, found in objects.items()))
                step = step._replace(objects=objects)
            yield step


def read(client: Any, family: Family, namespace: str | None,
         label_selector: str | None = None) -> tuple[list[Object], ObjectIndex]:
    """Return the objects of a family and an ObjectIndex with them and those that the family looks at, each by one LIST.

    :param namespace: None for all
    :param label_selector: of the family's own objects
    :raises KubeError: when they can't be listed
    """
    kinds = (family.kind,) + tuple(kind for kind in family.reads if kind != family.kind)
    outcomes = bulk.run([_lister(client, kind, namespace, label_selector if kind == family.kind else None)
                         for kind in kinds])
    for kind, outcome in zip(kinds, outcomes):
        if outcome.error is not None and outcome.error.status == 404:
            raise KubeError(f"the API server {client.server} does not know {KNOWN[kind].plural}; install the Bare "
                            "Metal Operator first (playbook metal3.baremetal.install)", 404)
        if outcome.error is not None:
            raise outcome.error
    return outcomes[0].value, ObjectIndex(dict((kind, outcome.value) for kind, outcome in zip(kinds, outcomes)))


def _lister(client: Any, kind: str, namespace: str | None, label_selector: str | None) -> Callable[[], list[Object]]:
    return lambda: [of_kind(item, kind) for item in client.list(KNOWN[kind], namespace, label_selector)[0]]


def read_facts(client: Any, family: Family, params: Object) -> Object:
    """Return the result of a family's info module.

    :param params: ``namespace``, ``all_namespaces``, ``names``, ``label_selector``, ``full_objects``
    """
    namespace, names = None if params["all_namespaces"] else params["namespace"], params["names"]
    objects, index = read(client, family, namespace, params["label_selector"])
    found = []
    for obj in sorted(objects, key=lambda item: (item["metadata"]["namespace"], item["metadata"]["name"])):
        metadata = obj["metadata"]
        if names is not None and metadata["name"] not in names:
            continue
        facts = dict({"name": metadata["name"], "namespace": metadata["namespace"],
                      "labels": metadata.get("labels") or {}}, **family.facts(obj, index))
        if params.get("schemas"):
            facts["schema"] = family.schema(obj, index)
        if params["full_objects"]:
            facts["object"] = dict(obj, metadata=dict(
                (key, value) for key, value in metadata.items() if key != "managedFields"))
        found.append(facts)
    present = set(facts["name"] for facts in found)
    return {family.option: found, "missing": [name for name in names or [] if name not in present],
            "table": family.table(found, columns())}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From manifests to objects in a cluster: read once, let the server try them, write in order, wait until they run."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Callable

from .._common.problems.errors import RefusedError
from .._common.texts.plain_text import few
from .._common.waiting.wait_loop import until_nothing
from .._kube.api.discovery import resolve
from .._kube.kinds.resources import Resource
from .._kube.objects.finalizers import goes_by_itself
from .._kube.reconcile.plan import CREATE, Entry, refuse_going
from .._kube.reconcile.reconcile import Reconcile, Written, raise_refused
from .._kube.reconcile.report import counts, difference
from . import documents, order
from .rollout_wait import RolloutWait

DEFINITION = "CustomResourceDefinition"
INTERVAL_SECONDS = 0.5
ESTABLISHED_SECONDS = 60
# How many objects a line of progress names.
NAMED = 5


class ManifestsWrites(Reconcile):
    """The writes of one run, of which check mode cannot try all."""

    # Entries of what is not there yet: Namespaces and kinds.
    new: frozenset[tuple[str, str]] = frozenset()

    def expect(self, entries: Sequence[Entry], definitions: Sequence[dict[str, Any]] = ()) -> None:
        """Take note of the Namespaces and kinds that are created first.

        :param entries: of the run
        :param definitions: CustomResourceDefinitions that another run creates before
        """
        created = [entry for entry in entries if entry.action == CREATE]
        self.new = frozenset([("Namespace", entry.name) for entry in created if entry.resource.kind == "Namespace"] + [
            ("kind", (entry.desired or {})["spec"]["names"]["kind"]) for entry in created
            if entry.resource.kind == DEFINITION] + [
            ("kind", definition["spec"]["names"]["kind"]) for definition in definitions])

    def can_try(self, entry: Entry) -> bool:
        """Say whether the entry's Namespace and kind are there already."""
        return ("Namespace", entry.namespace) not in self.new and ("kind", entry.resource.kind) not in self.new


class ManifestsService:
    """One run over manifests.

    :param client: a KubeClient of the cluster that the objects belong to, None when there is none yet, which is enough
        for check mode only
    :param sources: see ``documents.read``
    :param namespace: namespace of objects that name none
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param clock: monotonic clock, in seconds
    """

    # How much time is left for waiting. Before it is over no run is refused for objects that go by themselves, outside
    # of check mode.
    seconds_left: float = 0

    def __init__(self, client: Any, sources: list[Any], namespace: str, check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep, clock: Callable[[], float] = time.monotonic):
        self.client = client
        self.sources = sources
        self.namespace = namespace
        self.check_mode = check_mode
        self.progress = progress
        self.sleep = sleep
        self.clock = clock
        self.resources: dict[tuple[str, str], Any] = {}
        self.writes = self.writes_of(client, check_mode, progress, sleep)

    def writes_of(self, client: Any, check_mode: bool, progress: Any,
                  sleep: Callable[[float], Any]) -> ManifestsWrites:
        """Return the writes of the run; a room that has rules of its own returns a class of its own."""
        return ManifestsWrites(client, check_mode, progress, sleep, self._resource_of)

    def _resource_of(self, api_version: str, kind: str) -> Resource:
        return self.resources[api_version, kind]

    def objects(self) -> list[dict[str, Any]]:
        """Return the manifests' objects.

        :raises RefusedError: when the manifests have mistakes
        """
        objects, problems = documents.read(self.sources)
        if problems:
            raise RefusedError(problems)
        return objects

    def run(self, timeout_seconds: float) -> dict[str, Any]:
        """Write what differs, then wait until all is rolled out; return the result.

        :param timeout_seconds: how long to wait, 0 for not at all
        :raises RefusedError: when the manifests have mistakes, or an object is being deleted
        :raises RolloutError: when something is not rolled out
        :raises KubeError: when the API server can't be asked or refuses
        """
        self.seconds_left = timeout_seconds
        result = self.write()
        if timeout_seconds and not self.check_mode:
            result["seconds"] = self.wait(self.seconds_left)
        return result

    def write(self) -> dict[str, Any]:
        """Write what differs and return the result.

        :raises RefusedError: when the manifests have mistakes, or an object is being deleted
        :raises KubeError: when the API server can't be asked or refuses
        """
        objects = self.objects()
        if self.client is None:
            return self._result([Written(Entry(
                Resource("", "", "", obj["kind"], True), obj["metadata"].get("namespace"), obj["metadata"]["name"],
                CREATE, obj, None, {}, obj), None, None) for obj in objects])
        entries = self._plan(objects)
        self.writes.expect(entries, self.defined_before())
        tried = self.writes.dry_run(entries)
        raise_refused(self.client, [item for item in tried if item.error or item.entry.changes], dry_run=True)
        written = tried if self.check_mode else self._write([item.entry for item in tried])
        return self._result(written)

    def _plan(self, objects: list[dict[str, Any]]) -> list[Entry]:
        """Return the entries of all objects, to be written.

        After a deletion of a moment ago, as when a part is installed again, they are waited for.

        :raises RefusedError: with all objects that are being deleted
        """
        found = self._look(objects)

        def going() -> list[str]:
            nonlocal found
            found = self._look(objects)
            return self._on_their_way(found)

        titles = self._on_their_way(found)
        if titles and self.seconds_left and not self.check_mode:
            began_at = self.clock()
            self.progress.event(f"waiting until {len(titles)} objects are gone that are being deleted: "
                                f"{few(titles, NAMED)}")
            until_nothing(going, self.seconds_left, INTERVAL_SECONDS, self.clock, self.sleep)
            self.seconds_left = max(self.seconds_left - (self.clock() - began_at), INTERVAL_SECONDS)
        refuse_going(found)
        return found

    @staticmethod
    def _on_their_way(entries: list[Entry]) -> list[str]:
        """Return what is soon gone, nothing when one of them is held by somebody's finalizer."""
        going = [entry for entry in entries if entry.applies_to_going]
        return [entry.title for entry in going] if all(goes_by_itself(entry.current or {}) for entry in going) else []

    def _look(self, objects: list[dict[str, Any]]) -> list[Entry]:
        """Return the entries of all objects, as the server's state asks for."""
        self.resources = resolve(self.client, objects + self.defined_before(), self.writes.persist)
        placed, problems = documents.placed(objects, self.resources, self.namespace)
        if problems:
            raise RefusedError(problems)
        return self.writes.look(placed)

    def _write(self, entries: list[Entry]) -> list[Written]:
        by_title = dict((entry.title, entry) for entry in entries)
        written = dict((entry.title, Written(entry, entry.current, None)) for entry in entries)
        for wave in self.waves([entry.desired for entry in entries if entry.desired is not None]):
            due = [by_title[documents.title(obj)] for obj in wave]
            due = [entry for entry in due if entry.changes]
            if not due:
                continue
            self.before_wave(due)
            self.progress.event(f"writing {', '.join(entry.title for entry in due)}")
            answers = self.writes.write(due)
            raise_refused(self.client, answers)
            written.update((item.entry.title, item) for item in answers)
            self.after_wave(due)
        return list(written.values())

    # What a room says in its own way

    def defined_before(self) -> list[dict[str, Any]]:
        """Return CustomResourceDefinitions that are not there yet and will be before this run's objects are written."""
        return []

    def waves(self, items: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
        """Return objects in lists that are written one after the other."""
        return order.waves(items)

    def before_wave(self, entries: list[Entry]) -> None:
        """Do what must be done before the objects of a wave are written.

        :param entries: those that are about to be written
        """

    def after_wave(self, entries: list[Entry]) -> None:
        """Do what must be done before the next wave.

        :param entries: those that were written
        """
        self.wait_for([entry for entry in entries if entry.resource.kind == DEFINITION])

    def wait_for(self, entries: list[Entry], timeout_seconds: float = ESTABLISHED_SECONDS) -> None:
        """Wait for what the next objects need: kinds are served only when their definitions are established.

        :raises RolloutError: when that takes too long
        """
        if entries:
            RolloutWait(self.client, entries, self.progress, sleep=self.sleep,
                        interval_seconds=INTERVAL_SECONDS).until(timeout_seconds)

    @staticmethod
    def _result(written: list[Written]) -> dict[str, Any]:
        objects = [{"object": item.entry.title, "action": item.action} for item in written]
        return {"changed": any(item.changed for item in written), "objects": objects,
                "counts": counts(dict(item, error="") for item in objects),
                "diff": [difference(item.entry) for item in written if item.changed]}

    def wait(self, timeout_seconds: float) -> float:
        """Wait until all objects that can be are rolled out; return the seconds that it took.

        Definitions were waited for when they were written.

        :raises RolloutError: when something is not, or can't be
        """
        entries = [entry for entry in self._look(self.objects()) if entry.resource.kind != DEFINITION]
        return RolloutWait(self.client, entries, self.progress, sleep=self.sleep).until(timeout_seconds)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves what a plane manages to another plane, takes up a move that was interrupted, or takes it back."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..._common.files.holder import holder_of
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._common.texts.formats import timestamp
from ..._common.texts.plain_text import few
from ..._kube.api.cluster_clock import clock_of
from ..._kube.objects.finalizers import is_going
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..checks import rotations
from ..handover import former_reading, provisioning_reading
from ..objects import clusterctl, graph, handed_over_notes, record
from ..objects.reading import Side
from ..pauses import clusters as cluster_pauses
from ..rehearsal import service as rehearsal
from . import comparison, interrupted, leftovers
from . import texts as move_texts
from .journal import Journal
from .kept_record import KeptRecord
from .permission import Permission

Object = dict[str, Any]

# From Kubernetes' garbage collector, after clusterctl has ended.
_GONE_SECONDS = 60
_SHOWN = 5


class Move:
    """One run of the module ``plane_move``.

    :param source: a KubeClient of the plane it goes from
    :param target: a KubeClient of the plane it goes to
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param run: callable that runs clusterctl, see :func:`clusterctl.move`
    :param alone: callable that keeps other runs waiting, see :func:`clusterctl.alone`
    :param rehearse: callable that rehearses the move, see :func:`rehearsal.move`
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param journal: of the moves from this machine, or None to keep none
    :param now: callable that returns seconds since 1970, by default by the clock of the source's API server
    :raises KubeError: when one of the API servers can't be asked
    """

    def __init__(self, source: Any, target: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 run: clusterctl.Run = clusterctl.move,
                 rehearse: Callable[..., rehearsal.Outcome] = rehearsal.move,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 alone: Callable[..., AbstractContextManager[int]] = clusterctl.alone,
                 journal: Journal | None = None, now: Callable[[], float] | None = None) -> None:
        self._params = params
        self._check_mode = check_mode
        self._progress = progress
        self._run = run
        self._alone = alone
        self._lock = -1
        self._clock, self._sleep, self._now = clock, sleep, now or clock_of(source)
        self._here = Side(source, params["namespace"])
        self._there = Side(target, params["namespace"])
        self._records = KeptRecord(self._here, self._there, holder_of(os.uname().nodename, params["work_dir"]), journal)
        self._permission = Permission(self._here, self._there, self._records, params, check_mode, progress, rehearse)

    def moved(self) -> dict[str, Any]:
        """Move, or finish a move that was interrupted.

        :returns: the module's result
        :raises RefusedError: when something is in the way; nothing was written then
        :raises ReportedError: when it does not come to its end
        """
        begun = self._records.begun()
        if not self._check_mode and (begun is not None or not self._is_done()):
            # What is refused leaves nothing behind, the lock neither.
            if begun is None:
                self._permission.checked(self._here.graph(), thoroughly=True)
            else:
                self._permission.confirmed_again(begun)
        with self._locked():
            return self._moved()

    def _moved(self) -> dict[str, Any]:
        begun = self._records.begun()
        if begun is None and self._is_done():
            return self._result(self._there.record, False, True)
        moving = self._here.graph()
        if begun is None:
            # A run that writes has asked BMCs and rehearsed before it took the lock.
            unconfirmed, warnings = self._permission.checked(moving, thoroughly=self._check_mode)
            planned = record.made(self._here.uid, self._there.uid, moving, self._records.holder)
            if self._check_mode:
                return dict(self._result(planned, True), warnings=warnings, diff=move_texts.difference(moving),
                            confirmation=move_texts.words(unconfirmed))
            begun = self._begin(planned, moving)
            taken_up = False
        else:
            taken_up = True
            unconfirmed = self._permission.checked_again(begun, moving)
            if self._check_mode:
                return dict(self._result(begun, True, True),
                            confirmation=move_texts.words(unconfirmed))
        begun = self._records.taken(begun)
        unknown = self._go_on(begun)
        return dict(self._result(begun, True, taken_up), diff=move_texts.difference(moving), warnings=unknown)

    def undone(self) -> dict[str, Any]:
        """Take back a move that has deleted nothing here yet; hosts stay held.

        :returns: the module's result
        :raises RefusedError: when it has: then it can only be finished; without the number of hosts; when something
            over there is no copy of what is here; without a record, when the Ironic over there is at work
        """
        if self._records.begun() is None and self._records.half() is None:
            return self._nothing_undone()
        with self._locked():
            return self._undone()

    def _nothing_undone(self) -> dict[str, Any]:
        """Return the result where no move is recorded, or but half; then the hosts could not be released.

        A run that was killed before its record may have started the Ironic over there; with hosts it is in use.

        :raises RefusedError: when it has none and no move has started it
        """
        if self._is_done():
            # Whoever goes by the result starts the former Ironic again.
            raise RefusedError([Problem(
                "move-undone", "plane_move", "state", "undone, and a move that has ended", "a move that has not ended",
                "move back by the playbook pivot with both kubeconfigs exchanged; when hosts are held over there yet, "
                "run it with state moved, which releases them")])
        both, problems = (provisioning_reading.Both(), []) if self._is_used() else (
            provisioning_reading.without_record(self._here, self._there, self._params))
        half = self._records.half()
        if half is not None:
            problems += self._permission.half_begun(half) + self._permission.held_elsewhere(half)
        if problems:
            raise RefusedError(problems)
        hosts = [name for _group, kind, name in self._here.by_key if kind == "BareMetalHost"]
        # Whoever goes by the result stops that Ironic, whatever it is there for.
        effect = f"the Ironic at {self._there.client.server} is stopped, and what it had for so many hosts comes back"
        back = both.handover()
        comes_back = back.address or back.dhcp
        unconfirmed = move_texts.unconfirmed(self._params["confirm"], hosts, effect) if comes_back else []
        if half is not None and not self._check_mode:
            self._records.delete(half)
        return dict(self._result(None, half is not None), **both.result(), confirmation=move_texts.words(unconfirmed))

    def _is_used(self) -> bool:
        """Return whether the Ironic over there has hosts, of this namespace or another one."""
        if self._there.record is not None or any(kind == "BareMetalHost" for _group, kind, _name in self._there.by_key):
            return True
        try:
            return bool(self._there.client.list(KNOWN["BareMetalHost"])[0])
        except KubeError as exc:
            # Who may look into the one namespace alone; the number of hosts is asked for.
            if exc.status not in (403, 404):
                raise
            return False

    def _undone(self) -> dict[str, Any]:
        begun = self._records.begun()
        if begun is None:
            return self._nothing_undone()
        unconfirmed = self._permission.undone(begun)
        if not self._check_mode:
            begun = self._records.taken(begun)
            self._remove(self._there, begun)
            self._resume_clusters(self._here, begun)
            self._records.delete(begun)
        return dict(self._result(begun, True), confirmation=move_texts.words(unconfirmed))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Begin when the clusterctl of a run that was killed has ended, and with what is there then."""
        if self._check_mode or (self._records.begun() is None and self._is_done()):
            yield
            return
        with self._alone(self._params["work_dir"], self._progress.event) as self._lock:
            for side in (self._here, self._there):
                side.read()
            yield

    # What there is

    def _is_done(self) -> bool:
        done = self._there.record
        return done is not None and done.state == record.MOVED and done.source == self._here.uid \
            and not self._here.graph().moved

    # What is done

    def _begin(self, planned: record.Record, moving: graph.Graph) -> record.Record:
        self._there.make_namespace()
        begun = self._records.begin(planned, moving.moved, self._permission.arriving)
        self._progress.event(f"moving {len(planned.entries)} objects from {self._here.client.server} to "
                             f"{self._there.client.server}")
        return begun

    def _go_on(self, begun: record.Record) -> list[str]:
        before = dict((graph.key(obj), obj) for obj in leftovers.still(begun, self._here, True)
                      if not leftovers.is_on_its_way(obj))
        if not leftovers.missing(begun, self._here, True):
            # A clusterctl that was killed leaves them paused, and the next one refuses what is.
            self._resume_clusters(self._here, begun)
            self._require_still_held(begun)
            source, target = (clusterctl.side(side.client, self._params[option], side.uid) for side, option in (
                (self._here, "kubeconfig"), (self._there, "to_kubeconfig")))
            self._run(self._params["clusterctl"], source, target, self._here.namespace, self._params["work_dir"],
                      self._progress.event, self._lock)
        else:
            self._finish(begun, before)
        left = self._wait_until_gone(begun)
        self._there.read()
        missing = leftovers.missing(begun, self._there, False)
        if left or missing:
            words = [f"{len(missing)} are not over there: {move_texts.named(missing)}"] if missing else []
            words += [f"{len(left)} are still here: {move_texts.named(left)}"] if left else []
            raise ReportedError(f"of {len(begun.entries)} objects {' and '.join(words)}; look at both planes, then run "
                                "again")
        unknown = self._compare(begun, before)
        self._resume_clusters(self._there, begun)
        unknown += self._noted(begun)
        self._records.end(begun)
        return unknown

    def _noted(self, begun: record.Record) -> list[str]:
        """Note where hosts are by now, here and over there, and return warnings: a move does not fail for it."""
        names = move_texts.hosts(begun)
        hosts = [host for name in names for host in [self._there.host(name)] if host is not None]
        found = []
        try:
            handed_over_notes.write(self._here, self._there, hosts, names, timestamp(self._now()))
        except KubeError as exc:
            found.append(f"which hosts have left {self._here.client.server} was not noted, so that enroll does not "
                         f"refuse them there: {exc.message}")
        try:
            handed_over_notes.carry(self._here, self._there, names)
        except KubeError as exc:
            found.append(f"which hosts had left {self._here.client.server} before was not noted at "
                         f"{self._there.client.server}, so that enroll does not refuse them there: {exc.message}")
        return found

    def _require_still_held(self, begun: record.Record) -> None:
        """Look once more at the hosts before clusterctl takes them, since the checks take their time.

        :raises ReportedError: when one is not what was checked
        """
        late = interrupted.late(begun, self._here.client.list(KNOWN["BareMetalHost"], self._here.namespace)[0])
        late += rotations.problems(dict(obj, kind="Secret") for obj in self._here.client.list(
            KNOWN["Secret"], self._here.namespace)[0])
        if late:
            raise ReportedError("\n".join([
                "hosts have changed since they were checked; nothing was moved, and a run that goes on checks again:",
                *(f"- {problem}" for problem in late)]))

    def _compare(self, begun: record.Record, before: dict[tuple[str, str, str], Object]) -> list[str]:
        """Return warnings of what was not compared; hosts are held still.

        :param before: objects as they were here when this run began
        :raises ReportedError: when something is over there and is not what it was
        """
        found = comparison.compared(begun, before, self._arrived(begun), self._records.secret(begun),
                                    self._params["accept"])
        if found.problems:
            raise ReportedError("\n".join([
                f"{len(found.problems)} of {len(begun.entries)} objects are not over there what they were; hosts stay "
                "held:", *(f"- {problem}" for problem in found.problems)]))
        return [f"{len(found.unknown)} of {len(begun.entries)} objects were not compared with what they were, for an "
                "earlier run has moved them and this machine does not have the key of their digests: "
                f"{few(found.unknown, _SHOWN)}"] if found.unknown else []

    def _arrived(self, begun: record.Record) -> dict[tuple[str, str, str], Object]:
        """Return what is over there, in the versions in which it was here."""
        arrived = dict(self._there.by_key)
        for kind in sorted(set(entry.key[:2] for entry in begun.entries)):
            mine, other = self._here.resources.get(kind), self._there.resources.get(kind)
            if mine is not None and other is not None and mine.version != other.version:
                arrived.update(graph.by_key(self._there.client.list(mine, self._there.namespace)[0]))
        return arrived

    def _finish(self, begun: record.Record, before: dict[tuple[str, str, str], Object]) -> None:
        """Delete here what is over there: what an interrupted clusterctl had left to do."""
        missing = leftovers.missing(begun, self._there, False)
        if missing:
            raise ReportedError(
                f"{len(missing)} of {len(begun.entries)} objects are not over there although the move has begun to "
                f"delete here: {move_texts.named(missing)}; restore them from the backup of before the move, then run "
                "again")
        # Before what it was is deleted.
        self._compare(begun, before)
        self._progress.event("a move that was interrupted is finished: all objects are over there")
        self._remove(self._here, begun)

    def _remove(self, side: Side, begun: record.Record) -> None:
        def problems(obj: Object) -> list[Problem]:
            if side is self._here:
                return interrupted.resumed(obj)
            return interrupted.no_copy(self._here.by_key[graph.key(obj)], obj)

        leftovers.remove(side, reversed(leftovers.still(begun, side, side is self._here)), self._progress, problems,
                         self._sleep, lambda obj: self._require_other(side, obj))

    def _require_other(self, side: Side, obj: Object) -> None:
        """Refuse to delete an object whose counterpart is gone since both planes were read: it would be nowhere.

        :raises ReportedError: when it is
        """
        of = graph.key(obj)
        other = self._there if side is self._here else self._here
        found = other.client.get(other.resources[of[:2]], other.namespace, of[2])
        known = other.by_key[of]["metadata"]["uid"]
        if found is None or found["metadata"]["uid"] != known or (other is self._there and is_going(found)):
            raise ReportedError(
                f"{graph.title(of)}: it stays at {side.client.server}, for its counterpart at {other.client.server} is "
                "gone, another one or being deleted since both were compared; find out who has done that, then run "
                "again")

    def _wait_until_gone(self, begun: record.Record) -> list[record.Entry]:
        deadline = self._clock() + _GONE_SECONDS
        while True:
            self._here.read()
            left = [entry for entry in begun.entries
                    if (self._here.by_key.get(entry.key) or {"metadata": {}})["metadata"].get("uid") == entry.uid]
            if not left or self._clock() >= deadline:
                return left
            self._sleep(1)

    def _resume_clusters(self, side: Side, begun: record.Record) -> None:
        # Others are paused by somebody for a reason of their own.
        cluster_pauses.resume(side, set(entry.key for entry in begun.entries), self._progress, self._sleep)

    def _result(self, what: record.Record | None, changed: bool, begun: bool = False) -> dict[str, Any]:
        return {"changed": changed, "due": changed, "begun": begun, "to_server": self._there.client.server,
                **move_texts.counted(what), "rehearsal": self._permission.rehearsed,
                "fits": self._permission.fits, "from_uid": self._here.uid, "to_uid": self._there.uid,
                **former_reading.result(self._here, self._params, move_texts.hosts(what) if what else []),
                **self._both(what).result()}

    def _both(self, what: record.Record | None) -> provisioning_reading.Both:
        """Return the Ironics between which something goes in this move, or back."""
        due = what is not None and what.state == record.MOVING
        return provisioning_reading.both(self._here, self._there, self._params) if due else provisioning_reading.Both()

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the record of a move on both planes, and its journal: that it has begun, who goes on with it, and its end."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..._common.files.holder import elsewhere
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.objects.precondition import ABSENT
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..objects import record
from ..objects.reading import Side
from .journal import Journal

Object = dict[str, Any]

_CONFIG_MAP = KNOWN["ConfigMap"]
_CONFLICT = 409


class KeptRecord:
    """The ConfigMaps of a move, as they were read with all else of both planes.

    :param here: the plane it goes from
    :param there: the plane it goes to
    :param holder: this run, see ``holder_of``
    :param journal: of this machine, or None to keep none
    """

    def __init__(self, here: Side, there: Side, holder: str, journal: Journal | None = None) -> None:
        self.holder = holder
        self._journal = journal
        self._here, self._there = here, there
        self._subject = f"ConfigMap {here.namespace}/{record.NAME}"

    def begun(self) -> record.Record | None:
        """Return the move that is on its way between these two planes, or None.

        :raises RefusedError: for one between other planes, and for two records that do not fit
        """
        found = [side.record for side in (self._here, self._there)
                 if side.record is not None and side.record.state == record.MOVING]
        for item in found:
            if (item.source, item.target) != (self._here.uid, self._there.uid):
                raise RefusedError([Problem(
                    "move-other", self._subject, "",
                    "the record of a move between other planes, or in the other direction, that has not ended",
                    "a move between these two", "finish that one first with its own kubeconfig and to_kubeconfig")])
        mine, theirs = self._here.record, self._there.record
        if not found or mine is None or theirs is None:
            # Written here first: nothing else has happened.
            return None
        # The state, and who has taken it over, are written on one side after the other.
        if mine._replace(state="", holder="") != theirs._replace(state="", holder=""):
            if theirs.state == record.MOVED:
                # That of an earlier move, over which this one's is written.
                return None
            raise RefusedError([Problem(
                "move-record", self._subject, "", "another record than over there", "the same on both sides",
                "find out who has written one of them; nothing is deleted by a record that does not fit")])
        return mine

    def half(self) -> record.Record | None:
        """Return the move that only the plane that lets go has a record of, or None.

        Its run was killed between the two writes of the record, or between their deletions, or is there by now.

        :raises RefusedError: as of :meth:`begun`
        """
        mine = self._here.record
        is_half = self.begun() is None and mine is not None and mine.state == record.MOVING
        return mine if is_half else None

    def other_holder(self, begun: record.Record, take_over: str | None) -> list[Problem]:
        """Return the problem of a move that another machine has begun, and whose clusterctl may run there still.

        :param begun: the move
        :param take_over: name of the machine from which it is taken over
        """
        return elsewhere("move-elsewhere", self._subject, ("the move", "lose objects"), begun.holder, self.holder,
                         take_over, "Ansible and clusterctl", "pivot_take_over")

    def secret(self, begun: record.Record) -> bytes | None:
        """Return the key of the digests of a move; None when this machine has none."""
        return None if self._journal is None else self._journal.secret(begun)

    def begin(self, planned: record.Record, moving: Iterable[Object],
              arriving: Mapping[tuple[str, str, str], Object]) -> record.Record:
        """Write the record of a move that begins, and return it.

        :param moving: its objects
        :param arriving: the same as the plane that takes over would store them, as far as that is known
        :raises RefusedError: when another run has written one since, as in all that follow
        :raises OSError: when the journal can't be written
        """
        if self._journal is not None:
            planned = record.with_digests(planned, moving, arriving, self._journal.new_secret(planned))
            self._journal.begin(planned)
        for side in (self._here, self._there):
            self._keep(side, planned)
        return planned

    def taken(self, begun: record.Record) -> record.Record:
        """Return the record with this run as its holder, as both planes have it then."""
        taken = begun._replace(holder=self.holder)
        self._note("goes on", taken)
        for side in (self._here, self._there):
            if side.record is not None and side.record.holder != self.holder:
                self._keep(side, taken)
        return taken

    def end(self, begun: record.Record) -> None:
        """Write that everything is over there."""
        for side in (self._there, self._here):
            self._keep(side, begun._replace(state=record.MOVED))
        self._note("has ended", begun)
        self._forget_secret(begun)

    def delete(self, begun: record.Record) -> None:
        """Delete the record of a move that was taken back, or is half begun."""
        for side in (self._there, self._here):
            # Of a move that is half begun the other plane has none, or that of an earlier move.
            if side.record is None or side.record.state != record.MOVING:
                continue
            with _other_runs_refused(side):
                side.client.delete(_CONFIG_MAP, side.namespace, record.NAME, checked=side.by_key[record.KEY])
        self._note("is taken back", begun)
        self._forget_secret(begun)

    def _forget_secret(self, of: record.Record) -> None:
        if self._journal is not None:
            self._journal.forget_secret(of)

    def _note(self, step: str, of: record.Record) -> None:
        if self._journal is not None:
            self._journal.note(step, of)

    def _keep(self, side: Side, what: record.Record) -> None:
        with _other_runs_refused(side):
            side.keep(side.client.apply(_CONFIG_MAP, side.namespace, record.config_map(what, side.namespace),
                                        checked=side.by_key.get(record.KEY, ABSENT)))


@contextmanager
def _other_runs_refused(side: Side) -> Iterator[None]:
    try:
        yield
    except KubeError as exc:
        if exc.status != _CONFLICT:
            raise
        raise RefusedError([Problem(
            "move-other", f"ConfigMap {side.namespace}/{record.NAME}", "",
            f"a record at {side.client.server} that another run has written since it was read",
            "one run at a time", "wait for the end of the other run, then run again")]) from exc

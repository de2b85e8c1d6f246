# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a move may go on: what is in its way, what its rehearsal shows, whether it is confirmed."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._plane.parts import fit_service
from ..checks import admission, other_namespaces, preflight, rotations
from ..checks import rules as checks
from ..handover import former_reading, provisioning_reading
from ..objects import graph, record
from ..objects.reading import Side
from ..rehearsal import operator as operator_rehearsal
from ..rehearsal import service as rehearsal
from . import interrupted, leftovers
from . import texts as move_texts
from .kept_record import KeptRecord


class Permission:
    """The checks of one run of the module ``plane_move``.

    :param here: the plane it goes from
    :param there: the plane it goes to
    :param records: of the move
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param rehearse: callable that rehearses the move, see :func:`rehearsal.move`
    :ivar rehearsed: what the rehearsal has shown, None without one
    :ivar fits: in words, what was checked and fits
    :ivar arriving: objects as the plane that takes over would store them, by their keys
    """

    def __init__(self, here: Side, there: Side, records: KeptRecord, params: dict[str, Any], check_mode: bool,
                 progress: Any, rehearse: Callable[..., rehearsal.Outcome]) -> None:
        self._here, self._there = here, there
        self._records = records
        self._params = params
        self._check_mode = check_mode
        self._progress = progress
        self._rehearse = rehearse
        self.rehearsed: dict[str, Any] | None = None
        self.fits: list[str] = []
        self.arriving: dict[tuple[str, str, str], Any] = {}

    def checked(self, moving: graph.Graph, thoroughly: bool) -> tuple[list[Problem], list[str]]:
        """Return the problem of a confirmation that is missing in check mode, and warnings.

        :param moving: what is moved
        :param thoroughly: whether BMCs and what lets objects in over there are asked, and the move is rehearsed, too,
            as far as the options say so
        :raises RefusedError: when something is in the way
        """
        params = self._params if thoroughly else dict(
            self._params, reach_from="none", media_checks=[], node_checks=[])
        problems, warnings, self.fits = preflight.found(self._here, self._there, moving, params)
        if thoroughly:
            tried = admission.tried(self._there, moving.moved, self._params["accept"])
            self.arriving = tried.stored
            problems += tried.besides(problems)
            warnings += tried.warnings
        others, unread = former_reading.checked(self._here, params, not self._check_mode,
                                                not checks.held(moving.of("BareMetalHost")))
        problems += others + rotations.problems(self._here.objects)
        warnings += unread
        unconfirmed = self._unconfirmed_move([host["metadata"]["name"] for host in moving.of("BareMetalHost")])
        half = self._records.half()
        if half is not None:
            problems += self.half_begun(half)
            unconfirmed += self.held_elsewhere(half)
        problems += record.too_large(record.made(self._here.uid, self._there.uid, moving, self._records.holder),
                                     self._here.namespace)
        if not self._check_mode:
            problems += checks.held(moving.of("BareMetalHost"))
        if thoroughly and self._params["rehearsal_programs"] and not problems:
            # What is in the way would be in its way, too.
            problems, more = self._shown(moving)
            warnings += more
        self._refuse(problems, unconfirmed)
        return unconfirmed, warnings

    def half_begun(self, half: record.Record) -> list[Problem]:
        """Return why a move that only the plane that lets go has a record of is no one that is half begun.

        A run that was killed between its two records has moved nothing. Of other objects than hosts some come and go.

        :param half: the move
        """
        moved = [entry for entry in leftovers.missing(half, self._here, True) if entry.key[:2] == graph.HOST]
        moved += [entry for entry in half.entries if entry.key in self._there.by_key and entry not in moved]
        return [Problem(
            "move-record", f"ConfigMap {self._here.namespace}/{record.NAME}", "",
            f"a record that {self._there.client.server} does not have, and {len(moved)} of its {len(half.entries)} "
            f"objects over there, or gone here: {move_texts.named(moved)}", "the same on both sides",
            "find out who has deleted the other one, and where these are; nothing is moved or taken back by one of "
            "them. When the other plane is lost for good, delete this one")] if moved else []

    def checked_again(self, begun: record.Record, moving: graph.Graph) -> list[Problem]:
        """Return the problem of a confirmation that is missing in check mode, for a move that was interrupted.

        Others can write the record, too: it makes up for no check and no confirmation.

        :param begun: the move
        :param moving: what clusterctl would move
        :raises RefusedError: when something is in the way
        """
        coming = [host for name in move_texts.hosts(begun) for host in [self._here.host(name) or self._there.host(name)]
                  if host is not None]
        # Somebody may have enrolled a server over there that seemed to be gone.
        problems = preflight.others_have(self._there, coming)[0]
        if not leftovers.missing(begun, self._here, True):
            problems += interrupted.problems(begun, moving, self._here.kinds, self._here.namespace)
            problems += interrupted.overwritten(begun, self._here.by_key, self._there.by_key)
            problems += interrupted.going_copies(begun, self._there.by_key)
            if not self._check_mode:
                problems += checks.held(moving.of("BareMetalHost"))
        elif not self._check_mode:
            problems += [problem for obj in leftovers.still(begun, self._here, True)
                         for problem in interrupted.resumed(obj)]
        problems += former_reading.checked(self._here, self._params, not self._check_mode, True)[0]
        unconfirmed = self._unconfirmed_again(begun)
        self._refuse(problems, unconfirmed)
        return unconfirmed

    def confirmed_again(self, begun: record.Record) -> None:
        """Refuse to go on with a move that was interrupted without its confirmation, or that another machine has begun.

        :param begun: the move
        :raises RefusedError: for these reasons
        """
        self._refuse([], self._unconfirmed_again(begun))

    def undone(self, begun: record.Record) -> list[Problem]:
        """Return the problem of a confirmation that is missing in check mode, for a move that is to be taken back.

        :param begun: the move
        :raises RefusedError: when it has deleted something here, or what is over there is no copy
        """
        missing = leftovers.missing(begun, self._here, True)
        if missing:
            raise RefusedError([Problem(
                "move-undone", "plane_move", "state",
                f"{len(missing)} of {len(begun.entries)} objects moved for good, among them "
                f"{graph.title(missing[0].key)}",
                "a move that has deleted nothing here yet", "run with state moved, which finishes it")])
        effect = (f"what the record of the move names would be deleted on {self._there.client.server}, so many hosts "
                  "among it")
        unconfirmed = move_texts.unconfirmed(self._params["confirm"], move_texts.hosts(begun), effect) \
            + self.held_elsewhere(begun)
        problems = interrupted.no_copies(begun, self._here.by_key, self._there.by_key)
        self._refuse(problems + self._works_for_others(begun), unconfirmed)
        return unconfirmed

    def _works_for_others(self, begun: record.Record) -> list[Problem]:
        """Return the problem of an Ironic over there that has got hosts of others, and would be stopped."""
        both = provisioning_reading.both(self._here, self._there, self._params)
        back = both.handover()
        if both.next_one is None or not (back.address or back.dhcp):
            return []
        names = other_namespaces.read(self._there.client, self._there.namespace, in_ironic=True)[0]
        names += [f"{self._there.namespace}/{name}" for group, kind, name in self._there.by_key
                  if (group, kind) == graph.HOST and name not in move_texts.hosts(begun)]
        return interrupted.works_for_others(both.next_one.name, names)

    def _unconfirmed_again(self, begun: record.Record) -> list[Problem]:
        return self._unconfirmed_move(move_texts.hosts(begun)) + self.held_elsewhere(begun)

    def _refuse(self, problems: list[Problem], unconfirmed: list[Problem]) -> None:
        if problems or (unconfirmed and not self._check_mode):
            raise RefusedError(problems + unconfirmed)

    def held_elsewhere(self, begun: record.Record) -> list[Problem]:
        """Return the problem of a move that another machine has begun, of which a run may be there still.

        :param begun: the move
        """
        return self._records.other_holder(begun, self._params["take_over"])

    def _unconfirmed_move(self, names: list[str]) -> list[Problem]:
        return move_texts.unconfirmed_move(self._params["confirm"], names, self._there.client.server)

    def _shown(self, moving: graph.Graph) -> tuple[list[Problem], list[str]]:
        outcome = self._rehearse(
            self._params["rehearsal_programs"], self._params["clusterctl"], self._here.namespace, self._here.objects,
            moving.moved, self._here.contents(), self._there.contents(), self._progress,
            operate=operator_rehearsal.operated if self._params["rehearsal_operator"] else None)
        self.rehearsed = outcome.result()
        return outcome.problems, outcome.warnings + self._other_operator(outcome.operator)

    def _other_operator(self, rehearsed: str | None) -> list[str]:
        if rehearsed is None:
            return []
        found = fit_service.read(self._there.client, self._there.definitions)[0].parts.get("bmo")
        if found is None or found.version == rehearsed:
            return []
        return [f"the rehearsal's operator is {rehearsed}, that over there {found.version or 'of an unknown version'} "
                f"({found.source}): what it would do with the hosts may differ"]

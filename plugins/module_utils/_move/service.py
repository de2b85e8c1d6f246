# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves what a plane manages to another plane, takes up a move that was interrupted, or takes it back."""
from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .._common import confirmation
from .._common.errors import RefusedError, ReportedError
from .._common.problem import Problem
from .._kube.errors import KubeError
from .._metal3.kinds import KNOWN
from .._plane import fit_service
from . import (
    checks,
    cluster_pauses,
    clusterctl,
    graph,
    interrupted,
    leftovers,
    move_texts,
    operator_rehearsal,
    preflight,
    provisioning,
    provisioning_reading,
    record,
    rehearsal,
)
from .journal import Journal
from .kept_record import KeptRecord
from .reading import Side

Object = dict[str, Any]

# From Kubernetes' garbage collector, after clusterctl has ended.
_GONE_SECONDS = 60


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
    :raises KubeError: when one of the API servers can't be asked
    """

    def __init__(self, source: Any, target: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 run: clusterctl.Run = clusterctl.move,
                 rehearse: Callable[..., rehearsal.Outcome] = rehearsal.move,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 alone: Callable[..., AbstractContextManager[int]] = clusterctl.alone,
                 journal: Journal | None = None) -> None:
        self._params = params
        self._check_mode = check_mode
        self._progress = progress
        self._run = run
        self._alone = alone
        self._lock = -1
        self._rehearse = rehearse
        self._rehearsed: dict[str, Any] | None = None
        self._fits: list[str] = []
        self._clock, self._sleep = clock, sleep
        self._here = Side(source, params["namespace"])
        self._there = Side(target, params["namespace"])
        self._records = KeptRecord(self._here, self._there, record.holder_of(os.uname().nodename, params["work_dir"]),
                                   journal)

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
                self._checked(self._here.graph(), thoroughly=True)
            else:
                self._refuse([], self._unconfirmed_again(begun))
        with self._locked():
            return self._moved()

    def _checked(self, moving: graph.Graph, thoroughly: bool) -> tuple[list[Problem], list[str]]:
        """Return the problem of a confirmation that is missing in check mode, and warnings.

        :param moving: what is moved
        :param thoroughly: whether BMCs are asked and the move is rehearsed, too, as far as the options say so
        :raises RefusedError: when something is in the way
        """
        params = self._params if thoroughly else dict(
            self._params, reach_from="none", media_checks=[], node_checks=[])
        problems, warnings, self._fits = preflight.found(self._here, self._there, moving, params)
        unconfirmed = self._unconfirmed_move([host["metadata"]["name"] for host in moving.of("BareMetalHost")])
        if not self._check_mode:
            problems += checks.held(moving.of("BareMetalHost"))
        if thoroughly and self._params["rehearsal_programs"] and not problems:
            # What is in the way would be in its way, too.
            problems, more = self._shown(moving)
            warnings += more
        self._refuse(problems, unconfirmed)
        return unconfirmed, warnings

    def _checked_again(self, begun: record.Record, moving: graph.Graph) -> list[Problem]:
        """Return the problem of a confirmation that is missing in check mode, for a move that was interrupted.

        Others can write the record, too: it makes up for no check and no confirmation.

        :param begun: the move
        :param moving: what clusterctl would move
        :raises RefusedError: when something is in the way
        """
        problems = []
        if not self._missing(begun, self._here):
            problems = interrupted.problems(begun, moving, self._here.kinds, self._here.namespace)
            problems += interrupted.overwritten(begun, self._here.by_key, self._there.by_key)
            if not self._check_mode:
                problems += checks.held(moving.of("BareMetalHost"))
        elif not self._check_mode:
            problems += [problem for obj in self._still(begun, self._here) for problem in interrupted.resumed(obj)]
        unconfirmed = self._unconfirmed_again(begun)
        self._refuse(problems, unconfirmed)
        return unconfirmed

    def _unconfirmed_again(self, begun: record.Record) -> list[Problem]:
        return self._unconfirmed_move(move_texts.hosts(begun)) + self._held_elsewhere(begun)

    def _held_elsewhere(self, begun: record.Record) -> list[Problem]:
        return self._records.other_holder(begun, self._params["take_over"])

    def _refuse(self, problems: list[Problem], unconfirmed: list[Problem]) -> None:
        if problems or (unconfirmed and not self._check_mode):
            raise RefusedError(problems + unconfirmed)

    def _unconfirmed_move(self, names: list[str]) -> list[Problem]:
        return self._unconfirmed(names, f"so many hosts would be managed by {self._there.client.server} from then on")

    def _unconfirmed(self, names: list[str], effect: str) -> list[Problem]:
        """Return the problem of a confirmation that is missing or wrong, or nothing.

        :param names: of the hosts that it is about
        :param effect: what happens to them, as a clause
        """
        if confirmation.confirmed(self._params["confirm"], names):
            return []
        return [Problem("confirmation-missing", "plane_move", "confirm", self._params["confirm"] or None,
                        confirmation.expected(names),
                        f"{effect}; repeat how many (playbook: set metal3_confirm={len(names)})")]

    def _moved(self) -> dict[str, Any]:
        begun = self._records.begun()
        if begun is None and self._is_done():
            return self._result(self._there.record, False, True)
        moving = self._here.graph()
        if begun is None:
            # A run that writes has asked BMCs and rehearsed before it took the lock.
            unconfirmed, warnings = self._checked(moving, thoroughly=self._check_mode)
            planned = record.made(self._here.uid, self._there.uid, moving, self._records.holder)
            if self._check_mode:
                return dict(self._result(planned, True), warnings=warnings, diff=move_texts.difference(moving),
                            confirmation=move_texts.words(unconfirmed))
            self._begin(planned)
            begun = planned
            taken_up = False
        else:
            taken_up = True
            unconfirmed = self._checked_again(begun, moving)
            if self._check_mode:
                return dict(self._result(begun, True, True),
                            confirmation=move_texts.words(unconfirmed))
        begun = self._records.taken(begun)
        self._go_on(begun)
        return dict(self._result(begun, True, taken_up), diff=move_texts.difference(moving))

    def undone(self) -> dict[str, Any]:
        """Take back a move that has deleted nothing here yet; hosts stay held.

        :returns: the module's result
        :raises RefusedError: when it has: then it can only be finished; without the number of hosts; when something
            over there is no copy of what is here
        """
        if self._records.begun() is None:
            return self._nothing_undone()
        with self._locked():
            return self._undone()

    def _nothing_undone(self) -> dict[str, Any]:
        """Return the result where no move is recorded.

        A run that was killed before its record may have started the Ironic over there; with hosts it is in use.
        """
        back = provisioning.Handover() if self._is_used() else provisioning_reading.handover(
            self._here, self._there, self._params)
        hosts = [name for _group, kind, name in self._here.by_key if kind == "BareMetalHost"]
        # Whoever goes by the result stops that Ironic, whatever it is there for.
        unconfirmed = self._unconfirmed(hosts, f"the Ironic at {self._there.client.server} is stopped, and what it had "
                                        "for so many hosts comes back") if back.address or back.dhcp else []
        return dict(self._result(None, False), handover=back._asdict(), confirmation=move_texts.words(unconfirmed))

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
        missing = self._missing(begun, self._here)
        if missing:
            raise RefusedError([Problem(
                "move-undone", "plane_move", "state",
                f"{len(missing)} of {len(begun.entries)} objects moved for good, among them "
                f"{graph.title(missing[0].key)}",
                "a move that has deleted nothing here yet", "run with state moved, which finishes it")])
        effect = (f"what the record of the move names would be deleted on {self._there.client.server}, so many hosts "
                  "among it")
        unconfirmed = self._unconfirmed(move_texts.hosts(begun), effect) + self._held_elsewhere(begun)
        self._refuse(interrupted.no_copies(begun, self._here.by_key, self._there.by_key), unconfirmed)
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

    def _missing(self, begun: record.Record, side: Side) -> list[record.Entry]:
        return [entry for entry in begun.entries if entry.key not in side.by_key
                or (side is self._here and _is_gone(side.by_key[entry.key], entry))]

    def _shown(self, moving: graph.Graph) -> tuple[list[Problem], list[str]]:
        outcome = self._rehearse(
            self._params["rehearsal_programs"], self._params["clusterctl"], self._here.namespace, self._here.objects,
            moving.moved, self._here.contents(), self._there.contents(), self._progress,
            operate=operator_rehearsal.operated if self._params["rehearsal_operator"] else None)
        self._rehearsed = outcome.result()
        return outcome.problems, outcome.warnings + self._other_operator(outcome.operator)

    def _other_operator(self, rehearsed: str | None) -> list[str]:
        if rehearsed is None:
            return []
        found = fit_service.read(self._there.client, self._there.definitions)[0].parts.get("bmo")
        if found is None or found.version == rehearsed:
            return []
        return [f"the rehearsal's operator is {rehearsed}, that over there {found.version or 'of an unknown version'} "
                f"({found.source}): what it would do with the hosts may differ"]

    # What is done

    def _begin(self, planned: record.Record) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._there.namespace}}
        if self._there.client.get(KNOWN["Namespace"], None, self._there.namespace) is None:
            self._there.client.apply(KNOWN["Namespace"], None, namespace)
        self._records.begin(planned)
        self._progress.event(f"moving {len(planned.entries)} objects from {self._here.client.server} to "
                             f"{self._there.client.server}")

    def _go_on(self, begun: record.Record) -> None:
        if not self._missing(begun, self._here):
            # A clusterctl that was killed leaves them paused, and the next one refuses what is.
            self._resume_clusters(self._here, begun)
            self._run(self._params["clusterctl"], _side(self._params, ""), _side(self._params, "to_"),
                      self._here.namespace, self._params["work_dir"], self._progress.event, self._lock)
        else:
            self._finish(begun)
        left = self._wait_until_gone(begun)
        self._there.read()
        missing = self._missing(begun, self._there)
        if left or missing:
            words = [f"{len(missing)} are not over there: {move_texts.named(missing)}"] if missing else []
            words += [f"{len(left)} are still here: {move_texts.named(left)}"] if left else []
            raise ReportedError(f"of {len(begun.entries)} objects {' and '.join(words)}; look at both planes, then run "
                                "again")
        self._resume_clusters(self._there, begun)
        self._records.end(begun)

    def _finish(self, begun: record.Record) -> None:
        """Delete here what is over there: what an interrupted clusterctl had left to do."""
        missing = self._missing(begun, self._there)
        if missing:
            raise ReportedError(
                f"{len(missing)} of {len(begun.entries)} objects are not over there although the move has begun to "
                f"delete here: {move_texts.named(missing)}; restore them from the backup of before the move, then run "
                "again")
        self._progress.event("a move that was interrupted is finished: all objects are over there")
        self._remove(self._here, begun)

    def _remove(self, side: Side, begun: record.Record) -> None:
        def problems(obj: Object) -> list[Problem]:
            if side is self._here:
                return interrupted.resumed(obj)
            return interrupted.no_copy(self._here.by_key[graph.key(obj)], obj)

        leftovers.remove(side, reversed(self._still(begun, side)), self._progress, problems, self._sleep)

    def _still(self, begun: record.Record, side: Side) -> list[Object]:
        """Return what of a move is on a side, in the order of the record."""
        return [side.by_key[entry.key] for entry in begun.entries if entry.key in side.by_key
                and (side is self._there or side.by_key[entry.key]["metadata"]["uid"] == entry.uid)]

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
        counts = Counter(entry.kind for entry in what.entries) if what else {}
        return {"changed": changed, "due": changed, "begun": begun, "to_server": self._there.client.server,
                "hosts": move_texts.hosts(what) if what else [],
                "machines": what.names("cluster.x-k8s.io", "Machine") if what else [],
                "objects": dict(sorted(counts.items())), "rehearsal": self._rehearsed,
                "fits": self._fits, "handover": self._handover(what)}

    def _handover(self, what: record.Record | None) -> dict[str, bool]:
        """Return what goes from one Ironic to the other in this move, or back."""
        due = what is not None and what.state == record.MOVING
        return (provisioning_reading.handover(self._here, self._there, self._params)
                if due else provisioning.Handover())._asdict()


def _is_gone(obj: Object, entry: record.Entry) -> bool:
    return obj["metadata"]["uid"] != entry.uid or leftovers.is_on_its_way(obj)


def _side(params: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {"kubeconfig": params[prefix + "kubeconfig"], "context": params[prefix + "context"]}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a move that was interrupted from going on by clusterctl, or from being taken back; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._host.description import annotations as host_annotations
from ..._kube.objects.finalizers import is_going
from ..checks import rules as checks
from ..objects import copies, record
from ..objects.graph import Graph, Kind, key

Object = dict[str, Any]
Keys = tuple[str, str, str]

_SHOWN = 5
# Name under which an API server notes what clusterctl writes, until clusterctl has replaced that by what is noted here.
_CLUSTERCTL = "clusterctl"


def problems(begun: record.Record, moving: Graph, known: Iterable[Kind], namespace: str) -> list[Problem]:
    """Return what keeps a move from going on, of which everything is still where it comes from.

    clusterctl moves what it finds, whatever the record names: what has come since nobody has checked or confirmed.

    :param begun: the record of the move
    :param moving: what clusterctl would move
    :param known: the Kinds of the plane that lets go
    :param namespace: name of the namespace
    """
    return checks.source(moving, known, namespace, taken_up=True) + _unnamed(begun, moving.moved)


def late(begun: record.Record, hosts: Iterable[Object]) -> list[Problem]:
    """Return why clusterctl must not be started for hosts as they are by then.

    It takes along what it finds, and of a host that is not held any more no status: over there it would begin from the
    start.

    :param begun: the record of the move
    :param hosts: BareMetalHosts of the plane that lets go, as they have just been read
    """
    hosts = list(hosts)
    return _unnamed(begun, hosts) + [problem for host in hosts for problem in checks.host_problems(host)] \
        + checks.held(hosts)


def _unnamed(begun: record.Record, objects: Iterable[Object]) -> list[Problem]:
    named = set(entry.key for entry in begun.entries)
    return [checks.obstacle(
        obj, "", "an object that the record of the move does not name", "what was there when the move began",
        "delete it, or take the move back (state undone, playbook: pivot_state=undone) and begin again with it")
        for obj in objects if key(obj) not in named]


def going_copies(begun: record.Record, there: Mapping[Keys, Object]) -> list[Problem]:
    """Return a problem for each object of a move that is being deleted over there.

    :param begun: the record of the move
    :param there: objects over there, by their key
    """
    return [going(there[entry.key]) for entry in begun.entries if is_going(there.get(entry.key))]


def going(obj: Object) -> Problem:
    """Return the problem of an object that is being deleted over there: whoever resumes it completes that.

    A host would be deprovisioned, and is nowhere then.
    """
    return checks.obstacle(
        obj, "metadata.deletionTimestamp", "an object that is being deleted over there, and only waits for its "
        "finalizers", "one that stays", "find out who has deleted it; take its finalizers over there, while nobody "
        "works with it, so that it is gone, then run again. What is gone here, too, comes out of the backup of before "
        "the move")


def overwritten(begun: record.Record, here: Mapping[Keys, Object], there: Mapping[Keys, Object]) -> list[Problem]:
    """Return a problem for each object over there that clusterctl has not made and would overwrite.

    Names were free when the move began; clusterctl updates what it finds (``mover.go``: createTargetObject). A copy
    of an earlier run may be older than what is here, so that content alone says nothing of what clusterctl has made.

    :param begun: the record of the move
    :param here: objects of the plane that lets go, by their key; all of the record are among them
    :param there: objects over there, by their key, with their ``managedFields``
    """
    pairs = [(here[entry.key], there[entry.key]) for entry in begun.entries if entry.key in there]
    return [checks.obstacle(
        other, "", f"an object that was made over there since the move began, other than here: {few(fields, _SHOWN)}",
        "a copy that clusterctl has made, which it may overwrite",
        "find out who has made it and why, and delete it there when nobody needs it")
        for mine, other in pairs if not _is_of_clusterctl(other) for fields in [_fields(mine, other)] if fields]


def _is_of_clusterctl(obj: Object) -> bool:
    metadata = obj["metadata"]
    noted = [item for item in metadata.get("managedFields") or [] if isinstance(item, Mapping)]
    # clusterctl copies the notes of who has written what, too, so that they are older than the copy.
    return any(item.get("manager") == _CLUSTERCTL or "" < str(item.get("time") or "") < metadata.get(
        "creationTimestamp", "") for item in noted)


def no_copies(begun: record.Record, here: Mapping[Keys, Object], there: Mapping[Keys, Object]) -> list[Problem]:
    """Return a problem for each object over there that is not the copy that the move has made of the one here.

    Its uid over there nobody has kept: clusterctl is killed between its making and any note of it.

    :param begun: the record of the move
    :param here: objects of the plane that lets go, by their key; all of the record are among them
    :param there: objects over there, by their key
    """
    pairs = [(here[entry.key], there[entry.key]) for entry in begun.entries if entry.key in there]
    return [problem for mine, other in pairs for problem in no_copy(mine, other)]


def works_for_others(ironic: str, hosts: list[str]) -> list[Problem]:
    """Return the problem of an Ironic over there that is stopped when a move is taken back, and has hosts of others.

    :param ironic: as messages name it
    :param hosts: those that are none of the move, as namespace/name
    """
    return [Problem(
        "move-ironic", plain(ironic), "spec.replicas", f"an Ironic with {len(hosts)} hosts that are none of the move "
        f"({few(sorted(map(plain, hosts)), _SHOWN)})", "one with the hosts of the move alone",
        "it is stopped when the move is taken back, which interrupts what it does with their servers: finish the move "
        "(state moved), or have their owners move or delete them first")] if hosts else []


def resumed(obj: Object) -> list[Problem]:
    """Return the problem of an object that is still here though it has a copy over there: a host that nobody holds.

    Nobody has resumed one that clusterctl was about to delete when it was killed, which has lost its annotations; it is
    held again with the first request of its deletion.
    """
    if key(obj)[1] != "BareMetalHost" or host_annotations.PAUSED in host_annotations.of(obj) or copies.is_stripped(obj):
        return []
    return [checks.obstacle(
        obj, f"metadata.annotations.{host_annotations.PAUSED}", "not held here: the operator works on it, and would "
        "clean the server, which the other plane has, too", host_annotations.FOR_MOVE, "find out who has resumed it; "
        f"pause it by the annotation {host_annotations.PAUSED}={host_annotations.FOR_MOVE}, then run again")]


def _fields(mine: Object, other: Object) -> list[str]:
    """Return the paths of the fields in which an object is no copy of another one."""
    lost, added = copies.differences(mine, other)
    # Values that only that one has would be lost; other fields are filled in by defaults.
    return lost + [path for path in added if path.partition(".")[0] in ("data", "binaryData")]


def no_copy(mine: Object, other: Object) -> list[Problem]:
    """Return the problems of one object over there that is not the copy of one here."""
    fields = _fields(mine, other)
    if fields:
        return [checks.obstacle(
            other, "", f"another object over there than here: {few(fields, _SHOWN)}", "the copy of the one here",
            "find out who has made or changed it, and delete it there when nobody needs it")]
    paused = host_annotations.of(other).get(host_annotations.PAUSED)
    if key(other)[1] == "BareMetalHost" and paused != host_annotations.FOR_MOVE:
        return [checks.obstacle(
            other, f"metadata.annotations.{host_annotations.PAUSED}", "not held over there: the operator works on it",
            host_annotations.FOR_MOVE, "find out who has resumed it; detach it there, wait until it is detached, then "
            "delete it there")]
    return []

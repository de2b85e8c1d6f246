# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts of a backup the operator would work on after a restore, and what must be said of them before; pure."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._host.actions.actions import has_status
from ..._host.description import annotations as host_annotations
from ..objects import copies
from ..objects.graph import key, title
from . import verdicts

Object = dict[str, Any]


class RestoredHost(NamedTuple):
    """A host of a backup.

    :ivar verdict: what would become of it once it is released
    :ivar is_there: whether a host of this name is in the plane
    :ivar is_held: whether that one is held since it was restored
    :ivar is_of_backup: whether that one has the status that the backup says, by which the operator takes it up
    :ivar was_paused: whether somebody had paused the host, which is not there, when it was backed up
    """

    verdict: verdicts.Verdict
    is_there: bool
    is_held: bool
    is_of_backup: bool
    was_paused: bool = False


def is_held(there: Object | None) -> bool:
    """Say whether a host of the plane is held since it was restored."""
    return there is not None and host_annotations.of(there).get(host_annotations.PAUSED) == host_annotations.FOR_RESTORE


def restored_host(host: Object, there: Object | None, now: verdicts.Now, taken_at: str) -> RestoredHost:
    """Return what is to be said of a host.

    :param host: the BareMetalHost as it was backed up
    :param there: the one of this name in the plane, or None
    :param now: what is known of its server
    :param taken_at: when the backup was taken, RFC 3339 in UTC
    """
    if there is None or not is_held(there):
        return RestoredHost(verdicts.of(host, now, taken_at), there is not None, False, True,
                            there is None and host_annotations.pause_of_others(host) is not None)
    # Somebody may have changed it since; the operator goes by what it finds.
    found = there if has_status(there) else dict(there, status=host.get("status"))
    return RestoredHost(verdicts.of(found, now, taken_at), True, True, has_status(there) or _status(there) == _status(
        copies.held(host)))


def taken(pairs: Iterable[tuple[Object, Object | None]], due: Collection[tuple[str, str]],
          accepted: Collection[str]) -> list[Problem]:
    """Return what keeps machines from being restored to hosts that work in the plane without them.

    Nothing is decided of such a host, but CAPM3 gives a machine the host that it names when nobody else has it.

    :param pairs: hosts as they were backed up, each with the one of its name in the plane
    :param due: kind and name of what is restored
    :param accepted: names of hosts whose servers may lose something
    """
    found = []
    for host, there in pairs:
        name, user = host["metadata"]["name"], _consumer(host)
        if there is None or is_held(there) or user not in due or _consumer(there) == user or name in accepted:
            continue
        found.append(Problem(
            "restore-taken", f"BareMetalHost {name}", "accept", None, f"{name} in it",
            f"{' '.join(user)}, which is restored, would take this host, which is there and no longer its own, with "
            "what is on its disks; restore into a plane without the host, or name it"))
    return found


def _consumer(host: Object) -> tuple[str, str]:
    found = (host.get("spec") or {}).get("consumerRef") or {}
    return str(found.get("kind", "")), str(found.get("name", ""))


def _status(host: Object) -> str | None:
    return host_annotations.of(host).get(host_annotations.STATUS)


def problems(hosts: Iterable[RestoredHost], accepted: Collection[str]) -> list[Problem]:
    """Return what keeps hosts from being restored and released.

    :param hosts: those that the operator would work on
    :param accepted: names of hosts whose servers may lose something
    """
    found = []
    for host in hosts:
        name, effect, cause, _not_asked = host.verdict
        if not host.is_of_backup:
            found.append(Problem(
                "restore-other", f"BareMetalHost {name}", f"metadata.annotations.{host_annotations.STATUS}",
                "another status than that of the backup, at a host that is held", "that of the backup",
                "take the backup from which it was restored; what is said of its server holds for that one alone"))
        if effect in verdicts.COSTLY and name not in accepted:
            found.append(Problem(
                "restore-costly", f"BareMetalHost {name}", "accept", None, f"{name} in it",
                f"once it is released, its server would be {effect}: {cause}; leave it out of the plane, or name it"))
    return found


def warnings(hosts: Iterable[RestoredHost], due: Iterable[Object], left_out: Iterable[Object],
             arrives_in_move: bool) -> list[str]:
    """Return what of a backup does not come back as it was.

    :param hosts: all of it
    :param due: objects that are restored
    :param left_out: those that are not
    :param arrives_in_move: whether hosts wait for the playbook ``pivot`` afterwards
    """
    found = [f"BareMetalHost {host.verdict.name} was paused when the backup was taken, and arrives held for the move "
             "in place of that; pause it again (action pause) when the playbook pivot has ended"
             for host in hosts if host.was_paused and arrives_in_move]
    return found + [
        f"{plain(title(key(obj)))}: its {len(updates)} updates are left out, for the operator would flash them, "
        "whether or not they are flashed by now; ask for those that are to be flashed by the playbook firmware"
        for obj in due for updates in [copies.updates_of(obj)] if updates] + [
        f"{plain(title(key(obj)))}: left out, for it would begin again, with a reboot; Cluster API makes another one "
        "for a machine that is not healthy" for obj in left_out]

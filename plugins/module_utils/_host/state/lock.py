# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a host: somebody works on its server for a while, and nothing of the collection interrupts it; pure.

Only this collection looks at it: the controllers of BMO and Cluster API do not know it.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.formats import moment_of
from ..._common.texts.plain_text import plain, shortened
from ..description import annotations as host_annotations

Object = Mapping[str, Any]

# Value: a JSON object with the texts ``reason`` and ``until``.
LOCKED = "metal3.baremetal/lock"


class Lock(NamedTuple):
    """Who else must not interrupt a server.

    :param reason: text of whoever locked it
    :param until: when the lock ends, RFC 3339 in UTC; empty for one that does not end by itself
    """

    reason: str
    until: str


def value(reason: str, until: str) -> str:
    """Return the text of the annotation.

    :param reason: why the host is locked
    :param until: when the lock ends, as ``formats.moment_of`` takes it
    """
    return host_annotations.compact({"reason": reason, "until": until})


def lock_of(bmh: Object, now: float) -> Lock | None:
    """Return the lock of a host, None when it has none or when that is over.

    A value that is none of ours locks, too: whoever wrote it meant something by it.

    :param bmh: the BareMetalHost
    :param now: seconds since 1970
    """
    stored = host_annotations.of(bmh).get(LOCKED)
    if stored is None:
        return None
    given = host_annotations.arguments(stored)
    until = moment_of(given.get("until"))
    if until is not None and until <= now:
        return None
    reason = given["reason"] if isinstance(given.get("reason"), str) else shortened(stored)
    return Lock(plain(reason), given["until"] if until is not None else "")


def problem(subject: str, field: str, bmh: Object, now: float) -> Problem | None:
    """Return why a host is not interrupted, None when it may be.

    :param subject: what messages call the host, or what would interrupt it
    :param field: option by which it would be interrupted
    :param bmh: the BareMetalHost
    :param now: seconds since 1970
    """
    lock = lock_of(bmh, now)
    if lock is None:
        return None
    name = bmh["metadata"]["name"]
    end = f"until {lock.until}" if lock.until else "without an end"
    return Problem("host-locked", subject, field, f"host {name} locked {end}: {show(lock.reason)}",
                   "a host that nobody works on",
                   "ask whoever locked it; when the work is done unlock it (playbook host_action, action unlock)")


def problems(subject: str, field: str, hosts: Iterable[Object | None], now: float) -> list[Problem]:
    """Return why hosts are not interrupted, as :func:`problem` does for each.

    :param hosts: BareMetalHosts; None is passed over
    """
    found = [problem(subject, field, bmh, now) for bmh in hosts if bmh]
    return [item for item in found if item]

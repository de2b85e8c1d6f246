# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes in the plane that hosts have left which plane manages them, so that nobody enrols them there again."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._host.state import handed_over
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from .reading import Side

Object = dict[str, Any]

_CONFIG_MAP = KNOWN["ConfigMap"]
_KEY = ("", "ConfigMap", handed_over.NAME)
# Runs that write notes at the same moment are few.
_ATTEMPTS = 5


def immutable(here: Side, there: Side) -> list[Problem]:
    """Return a problem for each plane whose notes cannot be written.

    :param here: the plane that hosts leave
    :param there: the plane that they come to
    """
    return [Problem("move-note", f"ConfigMap {side.namespace}/{handed_over.NAME}", option, "immutable",
                    "one that can be written", "delete it; it says which hosts have left that plane")
            for side, option in ((here, "kubeconfig"), (there, "to_kubeconfig"))
            if side.by_key.get(_KEY, {}).get("immutable")]


def write(here: Side, there: Side, hosts: Iterable[Object], names: Iterable[str], at: str) -> None:
    """Note hosts in the plane that they leave; the other plane has no note of them.

    :param here, there: as for :func:`immutable`
    :param hosts: BareMetalHosts that leave, or their copies
    :param names: of the hosts that come, with those that have left before
    :param at: RFC 3339 in UTC
    :raises KubeError: when an API server refuses
    """
    notes: dict[str, str | None] = dict(
        (host["metadata"]["name"], handed_over.note(host, there.client.server, at)) for host in hosts)
    come = set(names)
    _change(here, lambda _stored: notes)
    # Another text for one of them is another run's, with which the host has left again.
    stale = handed_over.texts(there.client.get(_CONFIG_MAP, there.namespace, handed_over.NAME))
    _change(there, lambda stored: dict.fromkeys(
        name for name, text in handed_over.texts(stored).items() if name in come and stale.get(name) == text))


def carry(here: Side, there: Side, names: Iterable[str]) -> None:
    """Note hosts that had left a plane before in the one to which all else has moved: there they could be enrolled.

    :param here: the plane that all have left
    :param there: the plane that has them, as it was read since
    :param names: of the hosts that have come
    :raises KubeError: when an API server refuses
    """
    add_lacking(there, handed_over.texts(here.client.get(_CONFIG_MAP, here.namespace, handed_over.NAME)), names)


def lacking(side: Side, notes: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return those of the notes that a plane lacks: of hosts that it has not, and that another plane manages.

    :param side: the plane
    :param notes: from :func:`handed_over.texts`
    :param names: of hosts that come into it
    :raises KubeError: when its API server can't be asked
    """
    return _lacking(side, notes, names, side.client.get(
        _CONFIG_MAP, side.namespace, handed_over.NAME)) if notes else {}


def add_lacking(side: Side, notes: Mapping[str, str], names: Iterable[str]) -> None:
    """Write those of the notes that a plane lacks by then, see :func:`lacking`; what another run has noted stays.

    :param side: the plane, as it was read last
    :raises KubeError: when the API server refuses
    """
    come = list(names)
    if notes:
        _change(side, lambda stored: dict(_lacking(side, notes, come, stored)))


def _lacking(side: Side, notes: Mapping[str, str], names: Iterable[str], stored: Object | None) -> dict[str, str]:
    known = {*handed_over.read(stored), *names}
    return dict((name, notes[name]) for name, note in handed_over.read({"data": notes}).items()
                if name not in known and side.host(name) is None and note.server != side.client.server)


def _change(side: Side, decide: Callable[[Object | None], Mapping[str, str | None]]) -> None:
    """Write what is decided on the notes as they are stored: another run may note, or take back, hosts at that moment.

    :param decide: callable that takes the ConfigMap, None for none, and returns what becomes of its keys; None for
        one that goes
    :raises KubeError: when the API server refuses
    """
    for attempts_left in reversed(range(_ATTEMPTS)):
        stored = side.client.get(_CONFIG_MAP, side.namespace, handed_over.NAME)
        data = decide(stored)
        if not data:
            return
        try:
            if stored is None:
                side.client.create(_CONFIG_MAP, side.namespace, {
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                        "name": handed_over.NAME, "namespace": side.namespace}, "data": dict(data)})
            else:
                side.client.patch(_CONFIG_MAP, side.namespace, handed_over.NAME, {"data": dict(data)}, checked=stored)
            return
        except KubeError as exc:
            if exc.status != 409 or not attempts_left:
                raise

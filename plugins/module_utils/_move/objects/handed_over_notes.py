# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes in the plane that hosts have left which plane manages them, so that nobody enrols them there again."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._host.state import handed_over
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from .reading import Side

Object = dict[str, Any]

_CONFIG_MAP = KNOWN["ConfigMap"]
_KEY = ("", "ConfigMap", handed_over.NAME)


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
    notes = dict((host["metadata"]["name"], handed_over.note(host, there.client.server, at)) for host in hosts)
    # Each host is a key of its own: what another run notes meanwhile stays.
    add(here, notes)
    known = handed_over.read(there.client.get(_CONFIG_MAP, there.namespace, handed_over.NAME))
    come = set(known) & set(names)
    if come:
        there.client.patch(_CONFIG_MAP, there.namespace, handed_over.NAME, {"data": dict.fromkeys(come)})


def carry(here: Side, there: Side, names: Iterable[str]) -> None:
    """Note hosts that had left a plane before in the one to which all else has moved: there they could be enrolled.

    :param here: the plane that all have left
    :param there: the plane that has them, as it was read since
    :param names: of the hosts that have come
    :raises KubeError: when an API server refuses
    """
    add(there, lacking(there, handed_over.texts(here.client.get(_CONFIG_MAP, here.namespace, handed_over.NAME)), names))


def lacking(side: Side, notes: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return those of the notes that a plane lacks: of hosts that it has not, and that another plane manages.

    :param side: the plane
    :param notes: from :func:`handed_over.texts`
    :param names: of hosts that come into it
    :raises KubeError: when its API server can't be asked
    """
    if not notes:
        return {}
    known = {*handed_over.read(side.client.get(_CONFIG_MAP, side.namespace, handed_over.NAME)), *names}
    return dict((name, notes[name]) for name, note in handed_over.read({"data": notes}).items()
                if name not in known and side.host(name) is None and note.server != side.client.server)


def add(side: Side, notes: dict[str, str]) -> None:
    """Write notes besides those that a plane has.

    :raises KubeError: when the API server refuses
    """
    if notes and not _created(side, notes):
        side.client.patch(_CONFIG_MAP, side.namespace, handed_over.NAME, {"data": notes})


def _created(side: Side, notes: dict[str, str]) -> bool:
    """Create the ConfigMap with the notes; return whether there was none, also of another run, which moves others."""
    if side.client.get(_CONFIG_MAP, side.namespace, handed_over.NAME) is not None:
        return False
    try:
        side.client.create(_CONFIG_MAP, side.namespace, {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "name": handed_over.NAME, "namespace": side.namespace}, "data": notes})
    except KubeError as exc:
        if exc.status != 409:
            raise
        return False
    return True

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the network links of a machine can stand on one another: VLANs, bonds and cards, however they are described.

Linux refuses a VLAN whose MTU is larger than that of its link (``vlan_dev_change_mtu``), a second one of a number on a
link, and takes the addresses of a bond's ports for nothing; what configures the network refuses two default routes of
one family, or the later one takes the place of the other.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..problems.problem import Problem
from .field_checks import show

# Adds a problem: field, what was found, what is allowed, what to do.
_Add = Callable[[str, str, str, str], Any]
# Of an Ethernet card of which nobody says another one.
DEFAULT_MTU = 1500


class Link(NamedTuple):
    """A link.

    :ivar name: by which others name it
    :ivar field: path of its description
    :ivar below: path below ``field`` of what it stands on, and the names of those links
    :ivar is_bond: whether those are the ports of a bond
    :ivar mtu: in bytes, None when nobody says it
    :ivar vlan: number of the VLAN that it is, else None
    """

    name: str
    field: str
    below: tuple[str, tuple[str, ...]] = ("", ())
    is_bond: bool = False
    mtu: int | None = None
    vlan: int | None = None


class Network(NamedTuple):
    """Addresses on a link.

    :ivar link: name of the link
    :ivar field: path of what names it
    :ivar defaults: for each default route its family, 4 or 6, and the path of its description
    """

    link: str
    field: str
    defaults: tuple[tuple[int, str], ...] = ()


def problems(code: str, subject: str, links: Sequence[Link], networks: Sequence[Network],
             one_default: str = "remove the other") -> list[Problem]:
    """Return why links and networks cannot be as described.

    :param code: of the problems
    :param subject: of the problems
    :param links: all of one machine
    :param networks: all of one machine
    :param one_default: what the user does to have one default route of a family
    """
    found: list[Problem] = []

    def add(field: str, actual: str, expected: str, hint: str) -> None:
        found.append(Problem(code, subject, field, actual, expected, hint))

    known: dict[str, Link] = {}
    for link in links:
        if link.name in known:
            add(link.field, f"link {show(link.name)} twice", f"one description of it ({known[link.name].field})",
                "remove one, or give it another name")
        known.setdefault(link.name, link)
    _ports(known, networks, add)
    numbers: dict[tuple[str, int | None], str] = {}
    for link in known.values():
        path = f"{link.field}{link.below[0]}"
        for name in link.below[1]:
            if name not in known:
                add(path, show(name), _one_of(known, link), "correct it, or describe that link")
                continue
            most = known[name].mtu or DEFAULT_MTU
            if link.mtu is not None and link.mtu > most:
                add(f"{link.field}.mtu", str(link.mtu), f"at most {most}, the MTU of {show(name)} below it",
                    "lower it, or raise the other")
            if link.vlan is not None and numbers.setdefault((name, link.vlan), link.field) != link.field:
                add(link.field, f"VLAN {link.vlan} on {show(name)}",
                    f"another VLAN than {numbers[name, link.vlan]}", "correct one of them, or remove it")
        if _stands_on_itself(link, known):
            add(path, " and ".join(map(show, link.below[1])), "a link that ends at a card", "correct it")
    for network in networks:
        if network.link not in known:
            add(network.field, show(network.link), _one_of(known, None), "correct it, or describe that link")
    _defaults(networks, one_default, add)
    return found


def _ports(known: Mapping[str, Link], networks: Iterable[Network], add: _Add) -> None:
    """Report ports of bonds that carry something else."""
    bond_of: dict[str, Link] = {}
    for bond in known.values():
        for port in bond.below[1] if bond.is_bond else ():
            if port in bond_of:
                add(f"{bond.field}{bond.below[0]}", f"{show(port)}, a port of {show(bond_of[port].name)}",
                    "a port of one bond", "remove it from one of them")
            bond_of.setdefault(port, bond)
    users = [(f"{link.field}{link.below[0]}", name) for link in known.values() if not link.is_bond
             for name in link.below[1]] + [(network.field, network.link) for network in networks]
    for field, name in users:
        if name in bond_of:
            add(field, f"{show(name)}, a port of {show(bond_of[name].name)}", "a link that is no port of a bond",
                f"name {bond_of[name].name}, or take the port out of it")


def _stands_on_itself(link: Link, known: Mapping[str, Link]) -> bool:
    visited: set[str] = set()
    due = list(link.below[1])
    while due:
        name = due.pop()
        if name == link.name:
            return True
        if name in known and name not in visited:
            visited.add(name)
            due += known[name].below[1]
    return False


def _defaults(networks: Iterable[Network], hint: str, add: _Add) -> None:
    first: dict[int, str] = {}
    for family, field in (default for network in networks for default in network.defaults):
        if first.setdefault(family, field) != field:
            add(field, f"a second default route for IPv{family}", f"one for each family ({first[family]})", hint)


def _one_of(known: Mapping[str, Link], link: Link | None) -> str:
    names = sorted(name for name in known if link is None or name != link.name)
    return f"one of {', '.join(names) or 'no other link'}"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenStack's network data (nova: ``network_data.json``): whether its links and networks fit together; pure.

Whether each entry has all that its reader requires is another question: readers differ.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problems.problem import Problem
from . import link_stack

_ANY = {4: ("0.0.0.0", "0", "0.0.0.0"), 6: ("::", "0", "::")}
# Of which nothing is said: no digits of a number that is none.
_LONGEST_NUMBER = 6


def problems(code: str, subject: str, field: str, data: Any) -> list[Problem]:
    """Return why links and networks cannot be as they are described.

    :param code: of the problems
    :param subject: of the problems
    :param field: path of the document
    :param data: the document, of any shape; what cannot be read is left out
    """
    if not isinstance(data, Mapping):
        return []
    links = [_link(f"{field}.links[{number}]", entry) for number, entry in _entries(data, "links")]
    networks = [_network(f"{field}.networks[{number}]", entry) for number, entry in _entries(data, "networks")]
    return link_stack.problems(code, subject, [link for link in links if link is not None],
                               [network for network in networks if network is not None])


def _entries(data: Mapping[str, Any], part: str) -> list[tuple[int, Mapping[str, Any]]]:
    found = data.get(part)
    return [(number, entry) for number, entry in enumerate(found if isinstance(found, list) else [])
            if isinstance(entry, Mapping)]


def _link(field: str, entry: Mapping[str, Any]) -> link_stack.Link | None:
    name, kind = _text(entry.get("id")), entry.get("type")
    if not name:
        return None
    below: tuple[str, tuple[str, ...]] = ("", ())
    if kind == "vlan":
        below = (".vlan_link", (_text(entry.get("vlan_link")),))
    elif kind == "bond":
        ports = entry.get("bond_links")
        below = (".bond_links", tuple(map(_text, ports if isinstance(ports, list) else [])))
    return link_stack.Link(name, field, below, kind == "bond", _number(entry.get("mtu")),
                           _number(entry.get("vlan_id")) if kind == "vlan" else None)


def _network(field: str, entry: Mapping[str, Any]) -> link_stack.Network | None:
    link = entry.get("link")
    if link is None or isinstance(link, (Mapping, list)):
        return None
    family = 6 if _text(entry.get("type")).startswith("ipv6") else 4
    defaults = [(family, f"{field}.gateway")] if entry.get("gateway") else []
    defaults += [(family, f"{field}.routes[{number}]") for number, route in _entries(entry, "routes")
                 if _is_default(route, family)]
    return link_stack.Network(_text(link), f"{field}.link", tuple(defaults))


def _is_default(route: Mapping[str, Any], family: int) -> bool:
    address, *masks = _ANY[family]
    network, mask = _text(route.get("network")), _text(route.get("netmask"))
    return network == f"{address}/0" or (network == address and mask in masks)


def _text(value: Any) -> str:
    """Return a value as text, empty for what is none: in YAML a name of digits is a number, wherever it is named."""
    # Python writes no number of thousands of digits, which YAML may have in hexadecimal.
    is_short = isinstance(value, int) and value.bit_length() <= 64
    return str(value) if is_short or isinstance(value, (str, float)) else ""


def _number(value: Any) -> int | None:
    text = _text(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else None

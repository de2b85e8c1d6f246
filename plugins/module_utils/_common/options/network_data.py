# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenStack's network data (nova: ``network_data.json``): whether its links and networks fit together; pure.

Whether each entry has all that its reader requires is another question: readers differ. Of them Ironic is here.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problems.problem import Problem
from ..redaction.redaction import HIDDEN
from . import link_stack

# What Ironic requires of the data for the agent (api/controllers/v1/network-data-schema.json); it refuses the node
# without, and says only that an address does not match a pattern.
PARTS = ("links", "networks", "services")
_REQUIRED_OF_NETWORK = ("id", "link", "network_id", "type")
_REQUIRED_OF_LINK = {
    "bond": ("id", "type", "ethernet_mac_address", "bond_mode", "bond_links"),
    "vlan": ("id", "type", "vlan_mac_address", "vlan_link", "vlan_id"),
}
_REQUIRED_OF_OTHER_LINKS = ("id", "type", "ethernet_mac_address")
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


def lacking_for_ironic(code: str, subject: str, field: str, data: Mapping[str, Any]) -> list[Problem]:
    """Return what network data for the agent lacks that Ironic requires of a node's.

    :param code: of the problems
    :param subject: of the problems
    :param field: path of the document
    :param data: the document, with parts of any shape
    """
    missing = [part for part in PARTS if not isinstance(data.get(part), list)]
    if missing:
        return [Problem(code, subject, field, f"no list {', '.join(missing)}", f"the lists {', '.join(PARTS)}",
                        "add them; an empty list is enough")]
    found = []
    for part in ("links", "networks"):
        for number, entry in enumerate(data[part]):
            path = f"{field}.{part}[{number}]"
            if not isinstance(entry, Mapping):
                found.append(Problem(code, subject, path, HIDDEN, "a mapping", "correct it"))
                continue
            required = _required_of_link(entry) if part == "links" else _REQUIRED_OF_NETWORK
            lacking = [name for name in required if entry.get(name) in (None, "")]
            if lacking:
                found.append(Problem(code, subject, path, f"no {', '.join(lacking)}",
                                     f"{', '.join(required)}, which Ironic requires", "add them"))
    return found


def _required_of_link(link: Mapping[str, Any]) -> tuple[str, ...]:
    kind = link.get("type")
    return _REQUIRED_OF_LINK.get(kind if isinstance(kind, str) else "", _REQUIRED_OF_OTHER_LINKS)


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

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the links of a cluster's machines fit together, as CAPM3 gets them; pure."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._common.options import link_stack
from ..._common.problems.problem import Problem
from ..description.model import FAMILIES, ClusterDescription, Group
from ..render.network import ANY, attached, link_id, network_data

# Lists of CAPM3's networkData, and what its entries call the links below.
_LINKS = (("ethernets", ""), ("bonds", "bondLinks"), ("vlans", "vlanLink"))
# What the description calls it.
_BELOW = {"ethernets": "", "bonds": ".bond.interfaces", "vlans": ".vlan.network"}


def machine_link_problems(subject: str, description: ClusterDescription) -> list[Problem]:
    """Return why links and networks of a group's machines cannot be as described.

    :param subject: the cluster
    :param description: one whose networks have no problems by themselves
    """
    found: list[Problem] = []
    for group in description.groups:
        data = network_data(description, group) or {}
        links = list(_links(description, group, data))
        found += _same_vlan(subject, links) + _same_pool(subject, description, group)
        found += link_stack.problems(
            "network", subject, links, list(_networks(description, group, data)),
            "set default_route to false for one of them, or attach the machines to one of them alone")
    # Groups have networks in common.
    return list(dict.fromkeys(found))


def _same_vlan(subject: str, links: list[link_stack.Link]) -> list[Problem]:
    """Return the VLANs of a number on different links; on the same one nothing could have both."""
    found, first = [], {}
    for link in links:
        if link.vlan is not None and first.setdefault(link.vlan, link).below[1] != link.below[1]:
            found.append(Problem("network", subject, link.field, f"VLAN {link.vlan} twice",
                                 f"one VLAN of each number for a machine ({first[link.vlan].field}; CAPM3's list is "
                                 "keyed by vlanID)", "give one of them another number, or attach the machines to one "
                                 "of them alone"))
    return found


def _same_pool(subject: str, description: ClusterDescription, group: Group) -> list[Problem]:
    """Return the networks of a machine that share a pool: CAPM3 asks each pool for one address for each machine."""
    found: list[Problem] = []
    first: dict[str, str] = {}
    names = attached(description, group)
    for network, family, _settings, pool in description.pool_uses:
        field = f"networks.{network}.{family}"
        if network in names and first.setdefault(pool, field) != field:
            found.append(Problem("network", subject, f"{field}.pool", f"{pool}, as in {first[pool]}",
                                 "a pool of its own, for a machine gets one address of each pool",
                                 "name another pool, or attach the machines to one of the networks alone"))
    return found


def _links(description: ClusterDescription, group: Group, data: Mapping[str, Any]) -> Iterator[link_stack.Link]:
    fields = {}
    for name in attached(description, group):
        for interface in (description.networks[name].get("bond") or {}).get("interfaces") or ():
            fields[interface] = f"networks.{name}.bond.interfaces"
    for name in attached(description, group):
        fields[link_id(description, name)] = f"networks.{name}"
    for kind, key in _LINKS:
        for number, entry, own in _entries(description, group, data, "links", kind):
            identity = str(entry.get("id"))
            field = fields.get(identity) if own is None else f"{own}[{number}]"
            below = entry.get(key) if key else None
            names = tuple(map(str, below if isinstance(below, list) else [below])) if key else ()
            yield link_stack.Link(
                identity, str(field), (_BELOW[kind] if own is None else f".{key}", names), kind == "bonds",
                _number(entry.get("mtu")), _number(entry.get("vlanID")) if kind == "vlans" else None)


def _networks(description: ClusterDescription, group: Group, data: Mapping[str, Any]) -> Iterator[link_stack.Network]:
    fields = dict((identity, f"networks.{name}.{family}") for name in attached(description, group)
                  for family, identity in zip(FAMILIES, (name, f"{name}-v6")))
    for form in sorted(data.get("networks") or {}):
        family = "ipv6" if form.startswith("ipv6") else "ipv4"
        for number, entry, own in _entries(description, group, data, "networks", form):
            field = fields.get(str(entry.get("id"))) if own is None else f"{own}[{number}]"
            routes = entry.get("routes")
            defaults = [(position, route) for position, route in enumerate(routes if isinstance(routes, list) else [])
                        if isinstance(route, Mapping) and (route.get("network"), route.get("prefix")) == (
                            ANY[family], 0)]
            yield link_stack.Network(str(entry.get("link")), f"{field}.link" if own else str(field), tuple(
                (int(family[-1]), f"{field}.routes[{position}]" if own or position else f"{field}.default_route")
                for position, _route in defaults))


def _entries(description: ClusterDescription, group: Group, data: Mapping[str, Any], part: str,
             kind: str) -> Iterator[tuple[int, Mapping[str, Any], str | None]]:
    """Return the entries of a list with their numbers, and the list's path when ``network_data`` has it."""
    given = (group.get("network_data") or {}).get(part)
    is_own = isinstance(given, Mapping) and kind in given
    path = f"{description.option_path(group, 'network_data')}.{part}.{kind}" if is_own else None
    found = (data.get(part) or {}).get(kind)
    for number, entry in enumerate(found if isinstance(found, list) else []):
        if isinstance(entry, Mapping):
            yield number, entry, path


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for the networks of a cluster description; pure."""
from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription
from ..description.spec import NAME_RULE
from ..render.network import has_default_route

# CAPM3's CRD of the Metal3DataTemplate, links[].name.
_DEVICE = re.compile(r"[a-zA-Z][a-zA-Z0-9._-]{0,14}")


def one_of(names: Iterable[str]) -> str:
    """Return in words which networks may be named."""
    return "one of %s" % (", ".join(sorted(names)) or "no networks, for none is described")


def network_problems(subject: str, description: ClusterDescription) -> list[Problem]:
    """Return the mistakes in a description's networks."""
    found = []
    networks = description.networks
    for name in sorted(networks):
        network, field = networks[name], f"networks.{name}"
        if not re.match(NAME_RULE, name):
            found.append(Problem("network", subject, field, shown(name),
                                 "a name of lower case letters, digits and dashes"))
        if not 1280 <= network["mtu"] <= 9000:
            found.append(Problem("network", subject, field + ".mtu", shown(network["mtu"]), "1280 to 9000 (CAPM3 CRD)"))
        given = [key for key in ("interface", "bond", "vlan") if network.get(key)]
        if len(given) > 1:
            found.append(Problem("network", subject, field, " and ".join(given), "one of interface, bond and vlan",
                                 "keep the one that the nodes have, and describe others as networks of their own"))
        found += _vlan(subject, field, name, networks) + _interface(subject, field, name, networks)
        if network.get("bond") and len(set(network["bond"]["interfaces"])) < 2:
            found.append(Problem(
                "network", subject, field + ".bond.interfaces", ", ".join(network["bond"]["interfaces"]) or None,
                "at least two interfaces", "add one, or give interface in place of bond"))
        for family in ("ipv4", "ipv6"):
            settings = network.get(family)
            found += _family(subject, f"{field}.{family}", settings)
            found += _of_family(subject, f"{field}.{family}", family, settings or {})
    return found


def _interface(subject, field, name, networks):
    """Return the mistakes of a link's name, and of a card that two networks describe."""
    network = networks[name]
    given, found = network.get("link_name"), []
    if given and not _DEVICE.fullmatch(given):
        found.append(Problem("network", subject, field + ".link_name", shown(given),
                             "at most 15 letters, digits, dots, dashes and underscores that begin with a letter "
                             "(CAPM3 CRD)", "choose another name"))
    card = _card(name, network)
    others = [other for other in sorted(networks) if other < name and card and _card(other, networks[other]) == card]
    # One that does not name a MAC address takes the other's.
    for key in ("mtu", "link_name", "link_type") + (("mac_address",) if network.get("mac_address") else ()):
        if others and network.get(key) != networks[others[0]].get(key):
            found.append(Problem("network", subject, f"{field}.{key}", shown(network.get(key)),
                                 f"{shown(networks[others[0]].get(key))}, as networks.{others[0]} has for the same "
                                 f"interface {card}", "give both the same one"))
    return found


def _card(name, network):
    return "" if network.get("bond") or network.get("vlan") else network.get("interface") or name


def _vlan(subject, field, name, networks):
    vlan = networks[name].get("vlan")
    if not vlan:
        return []
    found = []
    if not 1 <= vlan["id"] <= 4094:
        found.append(Problem("network", subject, field + ".vlan.id", shown(vlan["id"]), "1 to 4094"))
    chain, parent = [name], vlan["network"]
    while parent in networks and parent not in chain:
        chain.append(parent)
        parent = (networks[parent].get("vlan") or {}).get("network")
    if parent in chain:
        found.append(
            Problem("network", subject, field + ".vlan.network", " on ".join(chain + [parent]), "a link that ends",
                    "let one of them have interface or bond")
        )
    elif vlan["network"] not in networks:
        found.append(Problem("network", subject, field + ".vlan.network", shown(vlan["network"]), one_of(networks)))
    return found


def _family(subject, field, settings):
    if not settings:
        return []
    found = []
    sources = [key for key in ("ranges", "pool", "pool_annotation") if settings.get(key)]
    if settings["mode"] == "pool" and not sources:
        found.append(
            Problem("network", subject, field, "no addresses", "ranges, the name of a pool, or a pool_annotation",
                    "add one of them, or set mode to dhcp")
        )
    if settings["mode"] != "pool" and sources:
        found.append(Problem("network", subject, field + ".mode", f"{settings['mode']} with {' and '.join(sources)}",
                             "mode pool, or neither ranges nor pool", "set mode to pool, or remove them"))
    if settings.get("pool_annotation") and len(sources) > 1:
        found.append(Problem("network", subject, field, " and ".join(sources), "pool_annotation alone",
                             "remove the others"))
    # The addresses of another pool, or of DHCP, are not kept or chosen by what is written here.
    found += [Problem("network", subject, f"{field}.{option}", shown(settings[option]), "nothing without ranges",
                      "set it for the pool itself (module ip_pool)" if settings.get("pool") else "remove it")
              for option in ("pre_allocations", "allocation_strategy")
              if settings.get(option) and not settings.get("ranges")]
    targets = [route.get("network") for route in settings.get("routes") or []]
    for target in sorted(set(str(entry) for entry in targets if targets.count(entry) > 1)):
        found.append(Problem("network", subject, field + ".routes", f"{target} twice",
                             "one route for each network (CAPM3's list is keyed by network)", "remove one"))
    for number, route in enumerate(settings.get("routes") or []):
        for key in ("network", "prefix", "gateway"):
            if route.get(key) is None:
                found.append(Problem("network", subject, f"{field}.routes[{number}].{key}", None, "a value",
                                     "set it: a route needs network, prefix and gateway"))
    return found


def _of_family(subject, field, family, settings):
    """Return the ranges of the other address family, and those whose addresses would have an empty gateway."""
    found = []
    ranges = settings.get("ranges") or []
    for number, range_ in enumerate(ranges):
        for key in ("start", "end", "subnet"):
            version = _version(range_.get(key))
            if version and family != f"ipv{version}":
                found.append(Problem("network", subject, f"{field}.ranges[{number}].{key}", shown(range_[key]),
                                     f"IPv{family[-1]}", f"describe it below ipv{version} of the network"))
                break
    if has_default_route(settings) and not settings.get("gateway"):
        found += [Problem("network", subject, f"{field}.ranges[{number}].gateway", None,
                          "a gateway, because the machines have a default route",
                          "set one for this range or for all of them, or set default_route to false")
                  for number, range_ in enumerate(ranges) if not range_.get("gateway")]
    return found


def _version(text):
    try:
        return ipaddress.ip_interface(text).version if text else None
    except ValueError:
        # Reported with the pool.
        return None

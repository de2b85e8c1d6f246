# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a description a machine's interfaces have not got; pure.

Interfaces are as ``ip -json -details address show`` lists them (iproute2).
"""
from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .description import interfaces
from .interface_files import Made

# What iproute2 calls each kind; a card has no kind of its own.
_KINDS = {"bridge": "bridge", "vlan": "vlan", "bond": "bond"}


def differences(network: Mapping[str, Any], links: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in words what the machine lacks of a description; nothing when it has all of it.

    :param network: a description without mistakes
    :param links: all interfaces of the machine
    """
    by_name = {link.get("ifname"): link for link in links}
    name, kind = network["name"], network.get("kind") or "ethernet"
    link = by_name.get(name)
    if link is None:
        return [f"interface {name} does not exist"]
    found = [_kind(link, name, kind, network.get("vlan"))]
    if "UP" not in (link.get("flags") or ()):
        found.append(f"interface {name} is down")
    if network.get("mtu") and link.get("mtu") != network["mtu"]:
        found.append(f"interface {name} has an MTU of {link.get('mtu')} bytes, not {network['mtu']}")
    has = _addresses(link)
    found += [f"interface {name} lacks the address {wanted}" for wanted in interfaces(network) if wanted not in has]
    for port in network.get("ports") or ():
        found.append(_port(by_name.get(port), port, name, kind, link))
    return [text for text in found if text]


def missing_interfaces(network: Mapping[str, Any], links: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of interfaces that a description needs and that the machine must have already."""
    there = {link.get("ifname") for link in links}
    kind = network.get("kind") or "ethernet"
    wanted = [network["name"]] if kind == "ethernet" else list(network.get("ports") or ())
    return [name for name in wanted if name not in there]


def made_devices(links: Iterable[Mapping[str, Any]]) -> dict[str, Made]:
    """Return by name those of a machine's interfaces that are bridges, VLANs or bonds."""
    found = {}
    for link in links:
        about = link.get("linkinfo") or {}
        # What carries a VLAN may be in another namespace: then nobody here makes it.
        if about.get("info_kind") in _KINDS.values() and (about["info_kind"] != "vlan" or link.get("link")):
            found[str(link.get("ifname"))] = Made(
                about["info_kind"], (about.get("info_data") or {}).get("id"), str(link.get("link") or ""),
                str((about.get("info_data") or {}).get("mode") or ""))
    return found


def carried_by(name: str, links: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in words what the kernel deletes with an interface: VLANs and the like on it.

    :param name: of the interface
    """
    kinds = [(link, (link.get("linkinfo") or {}).get("info_kind")) for link in links if link.get("link") == name]
    # The other end of a veth pair is no part of it.
    return [f"{link.get('ifname')} ({kind or 'a device'} on it)" for link, kind in kinds if kind != "veth"]


def standing_on(name: str, links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what would lose an interface that is deleted, in words: what it carries, a bridge or bond of it.

    :param name: of the interface
    """
    return carried_by(name, links) + [f"{link['master']} (which has it as a port)" for link in links
                                      if link.get("ifname") == name and link.get("master")]


def conflicting_kind(network: Mapping[str, Any], links: Iterable[Mapping[str, Any]]) -> str:
    """Return what an interface of the description's name is in place of the wanted kind; empty when nothing."""
    for link in links:
        if link.get("ifname") == network["name"]:
            kind = network.get("kind") or "ethernet"
            return _kind(link, network["name"], kind, None)
    return ""


def unfit(network: Mapping[str, Any], links: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return what the kernel refuses of a VLAN on what carries it: field, what was found, what is allowed, what to do.

    :param network: a description without mistakes
    :param links: all interfaces of the machine
    """
    if network.get("kind") != "vlan":
        return []
    name, below, found = network["name"], network["ports"][0], []
    for link in links:
        mtu, about = link.get("mtu"), link.get("linkinfo") or {}
        if link.get("ifname") == below and isinstance(mtu, int) and (network.get("mtu") or 0) > mtu:
            found.append(("mtu", str(network["mtu"]), f"at most {mtu}, the MTU of {below}, which carries the VLAN",
                          f"lower it, or give {below} a larger one first"))
        if link.get("ifname") != name and link.get("link") == below and about.get("info_kind") == "vlan" \
                and (about.get("info_data") or {}).get("id") == network.get("vlan"):
            found.append(("vlan", f"{network['vlan']} on {below}, which {link.get('ifname')} is already",
                          "a VLAN that no other interface of the machine is", f"name it {link.get('ifname')}, or "
                          "remove that one"))
    return found


def held_elsewhere(network: Mapping[str, Any], links: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return those addresses of a description that others of a machine's interfaces have: field, what was found, which.

    Its ports lose theirs.

    :param network: a description without mistakes
    :param links: all interfaces of the machine
    """
    own = [network["name"], *(network.get("ports") or ())]
    others = [link for link in links if link.get("ifname") not in own and link.get("master") != network["name"]]
    return [(f"addresses[{place}]", f"{wanted}, which interface {link['ifname']} has already", link["ifname"])
            for place, wanted in enumerate(interfaces(network)) if not wanted.is_link_local
            for link in others for held in _addresses(link)
            # One that is a network by itself is announced by routing, and may be on several interfaces.
            if held.ip == wanted.ip and held.network.prefixlen != held.max_prefixlen]


def wider_than_ports(network: Mapping[str, Any], links: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the ports of a bridge whose MTU is smaller than the one that it is to have, with their own."""
    ports = network.get("ports") or () if network.get("kind") == "bridge" and network.get("mtu") else ()
    return [f"{link.get('ifname')} ({link['mtu']})" for link in links if link.get("ifname") in ports
            and isinstance(link.get("mtu"), int) and link["mtu"] < network["mtu"]]


def other_default_routes(network: Mapping[str, Any], routes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in words the default routes that a machine has by other interfaces than one with a gateway.

    :param network: a description without mistakes
    :param routes: as ``ip -json route show default`` lists those of the gateway's family
    """
    return [f"{route.get('gateway') or 'a route'} on {route['dev']}" for route in routes
            if network.get("gateway") and route.get("dst") == "default" and route.get("dev")
            and route["dev"] != network["name"]]


def _kind(link: Mapping[str, Any], name: str, kind: str, vlan: Any) -> str:
    about = link.get("linkinfo") or {}
    actual = about.get("info_kind")
    if kind in _KINDS and actual != _KINDS[kind]:
        return f"interface {name} is {'of kind ' + actual if actual else 'a card'}, not a {kind}"
    if kind == "vlan" and vlan is not None and (about.get("info_data") or {}).get("id") != vlan:
        return f"interface {name} carries VLAN {(about.get('info_data') or {}).get('id')}, not {vlan}"
    return ""


def _addresses(link: Mapping[str, Any]) -> list[Any]:
    return [ipaddress.ip_interface(f"{entry['local']}/{entry['prefixlen']}") for entry in link.get("addr_info") or ()
            if entry.get("local")]


def _port(port: Mapping[str, Any] | None, name: str, owner: str, kind: str, link: Mapping[str, Any]) -> str:
    if port is None:
        return f"interface {name} does not exist"
    if kind == "vlan":
        return "" if link.get("link") in (name, None) else f"VLAN {owner} is on {link.get('link')}, not on {name}"
    return "" if port.get("master") == owner else f"interface {name} does not belong to {owner}"

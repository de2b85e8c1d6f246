# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that give a machine the provisioning network, for each of the systems that configure networks; pure.

Exactly one of them may configure an interface: two would undo each other's work. ``chosen`` decides which it is.
"""
from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .description import family

HEADER = "# Written by metal3.baremetal: changes are lost at its next run."
# Where each of the systems reads its files.
NETWORKD_FOLDER, MANAGER_FOLDER = "/etc/systemd/network", "/etc/NetworkManager/system-connections"
NETPLAN_FOLDER, IFUPDOWN_FOLDER = "/etc/netplan", "/etc/network/interfaces.d"
# Begins the names of the collection's files, so that removal finds them.
PREFIX = "60-metal3-"
# Between the names of a network and its port in the name of a file: no interface's name has it.
OF_PORT = "@"
# Of netplan's files.
_SECTIONS = {"ethernet": "ethernets", "bridge": "bridges", "vlan": "vlans", "bond": "bonds"}
# Keys by which ifupdown's scripts make a device.
_OF_IFUPDOWN = {"bridge": "bridge_ports", "vlan": "vlan-raw-device", "bond": "bond-slaves"}
_TITLES = {"networkd": "systemd-networkd", "network_manager": "NetworkManager", "ifupdown": "ifupdown"}
# How often a bond looks whether its ports have a carrier, in milliseconds; without it the kernel sees no loss of one.
_MONITOR_MS = 100
# Whenever NetworkManager activates the connection, it activates those of its ports; since 1.46 the name is an alias.
_BRINGS_PORTS = ("autoconnect-slaves", 1)
# Names of connections of NetworkManager: stable, so that a second run writes the same file.
_NAMESPACE = uuid.UUID("5f0b8a52-6d0e-4d6f-9b53-0a4c3f1f7e10")


class File(NamedTuple):
    """One file: absolute path, content, and mode in octal digits."""

    path: str
    content: str
    mode: str = "0644"


class Made(NamedTuple):
    """An interface that is no card.

    :param kind: ``bridge``, ``bond`` or ``vlan``
    :param vlan: number of the VLAN
    :param link: name of the interface that carries the VLAN
    :param mode: of a bond
    """

    kind: str
    vlan: int | None = None
    link: str = ""
    mode: str = ""


class Found(NamedTuple):
    """What a machine runs and has.

    :param networkd: systemd-networkd runs
    :param network_manager: NetworkManager runs
    :param netplan: netplan is installed and has files
    :param ifupdown: ifup is installed and /etc/network/interfaces exists
    :param owners: what configures the interface or one of its ports now: of ``networkd``, ``network_manager`` and
        ``ifupdown``
    """

    networkd: bool = False
    network_manager: bool = False
    netplan: bool = False
    ifupdown: bool = False
    owners: tuple[str, ...] = ()


def chosen(found: Found) -> tuple[str, str]:
    """Return which system is used, and why none could be chosen; one of both is empty.

    :returns: ``netplan``, ``networkd``, ``network_manager`` or ``ifupdown``, and a phrase that says what was found
    """
    if found.netplan and "ifupdown" not in found.owners:
        # netplan writes the files of one of the daemons: a file beside them would be a second owner.
        return "netplan", ""
    daemons = [name for name in ("networkd", "network_manager") if getattr(found, name)]
    if len(found.owners) == 1:
        return found.owners[0], ""
    if found.owners:
        return "", f"{' and '.join(_TITLES[owner] for owner in found.owners)}, which configure interfaces of it"
    if len(daemons) > 1:
        return "", "systemd-networkd and NetworkManager, both running, and neither configures the interface"
    if daemons:
        return daemons[0], ""
    if found.ifupdown:
        return "ifupdown", ""
    return "", "none of netplan, systemd-networkd, NetworkManager and ifupdown"


def files(system: str, network: Mapping[str, Any], port_files: Mapping[str, str] | None = None,
          made: Mapping[str, Made] | None = None) -> list[File]:
    """Return the files of a description for one system, by path.

    :param system: as returned by :func:`chosen`
    :param network: a description without mistakes
    :param port_files: for systemd-networkd, the interface or a port → the .network file that configures it now; for
        ifupdown, the keys are those ports that are no cards and have a definition of their own
    :param made: the machine's interfaces that are no cards: other files make them
    """
    if system == "networkd":
        return sorted(_networkd(network, port_files or {}, made or {}))
    if system == "netplan":
        return sorted(_netplan(network, made or {}))
    return sorted(_network_manager(network, made or {}) if system == "network_manager" else _ifupdown(
        network, port_files or {}))


def shared_port_file(port: str) -> str:
    """Return the name of systemd-networkd's file for a port that nothing else configures, without its VLANs.

    They add themselves by drop-ins, and so does whatever is described of the card later: this file comes before all
    others. It is no interface's own, and goes with the last of them.
    """
    return f"{PREFIX}{OF_PORT}{port}.network"


def is_shared(path: str) -> bool:
    """Say whether a file is one of :func:`shared_port_file`."""
    return os.path.basename(path).startswith(PREFIX + OF_PORT)


def connection_of(interface: str, port: str = "") -> str:
    """Return what NetworkManager calls the collection's connection of an interface, or of a port of it."""
    return "-".join(["metal3", interface, *([port] if port else [])])


def _ports(network: Mapping[str, Any]) -> list[str]:
    return list(network.get("ports") or ())


def _kind(network: Mapping[str, Any]) -> str:
    return network.get("kind") or "ethernet"


def _mode(network: Mapping[str, Any]) -> str:
    return network.get("bond_mode") or "active-backup"


def _ini(*sections: tuple[str, list[tuple[str, Any]]]) -> str:
    blocks = ["\n".join([f"[{name}]", *(f"{key}={value}" for key, value in lines)])
              for name, lines in sections if lines]
    return HEADER + "\n" + "\n\n".join(blocks) + "\n"


def _networkd(network: Mapping[str, Any], port_files: Mapping[str, str],
              made: Mapping[str, Made]) -> list[File]:
    name, kind, ports = network["name"], _kind(network), _ports(network)
    mtu = [("MTUBytes", network["mtu"])] if network.get("mtu") else []
    wanted = [("Address", text) for text in network["addresses"]]
    if network.get("gateway"):
        wanted.append(("Gateway", network["gateway"]))
    # The provisioning network's own DHCP server must not configure the machine that runs it.
    own: list[tuple[str, Any]] = [("DHCP", "no"), ("IPv6AcceptRA", "no"), ("ConfigureWithoutCarrier", "yes"), *wanted]
    if not network["addresses"]:
        own.append(("LinkLocalAddressing", "no"))
    if kind == "ethernet" and os.path.basename(port_files.get(name, "")) == shared_port_file(name):
        return [_of_networkd(f"{shared_port_file(name)}.d/{PREFIX}{name}.conf", ("Link", mtu), (
            "Network", [*own, ("LinkLocalAddressing", "ipv6")]))]
    written = [_of_networkd(f"{PREFIX}{name}.network", _match(name), ("Link", mtu), ("Network", own))]
    if kind != "ethernet":
        settings: dict[str, tuple[str, list[tuple[str, Any]]]] = {
            "vlan": ("VLAN", [("Id", network.get("vlan"))]),
            "bond": ("Bond", [("Mode", _mode(network)), ("MIIMonitorSec", f"{_MONITOR_MS}ms")]),
            "bridge": ("Bridge", [("STP", "no")])}
        special = settings[kind]
        written.append(_of_networkd(f"{PREFIX}{name}.netdev", ("NetDev", [("Name", name), ("Kind", kind)]), special))
    attach = {"bridge": "Bridge", "bond": "Bond", "vlan": "VLAN"}
    for port in ports:
        port_file = f"{PREFIX}{name}{OF_PORT}{port}.network"
        configured_by = os.path.basename(port_files.get(port, ""))
        if kind == "vlan" and configured_by in ("", port_file, shared_port_file(port)):
            # Of the port alone: each of its VLANs may go while others stay.
            configured_by = shared_port_file(port)
            written.append(_of_networkd(configured_by, _match(port), ("Network", [("LinkLocalAddressing", "no")])))
        if configured_by not in ("", port_file) and (
                kind == "vlan" or port in made or configured_by == shared_port_file(port)):
            # networkd uses the first file that matches: another one for this port would take its addresses away.
            written.append(_of_networkd(f"{configured_by}.d/{PREFIX}{name}.conf", ("Network", [(attach[kind], name)])))
            continue
        written.append(_of_networkd(port_file, _match(port), ("Network", [
            (attach[kind], name), ("LinkLocalAddressing", "no")])))
    return written


def _of_networkd(name: str, *sections: tuple[str, list[tuple[str, Any]]]) -> File:
    return File(f"{NETWORKD_FOLDER}/{name}", _ini(*sections))


def _match(interface: str) -> tuple[str, list[tuple[str, Any]]]:
    return "Match", [("Name", interface)]


def _network_manager(network: Mapping[str, Any], made: Mapping[str, Made]) -> list[File]:
    name, kind, ports = network["name"], _kind(network), _ports(network)
    folder = f"{MANAGER_FOLDER}/{PREFIX}"
    special: list[tuple[str, list[tuple[str, Any]]]] = []
    mtu = [("mtu", network["mtu"])] if network.get("mtu") else []
    if kind == "vlan":
        special.append(("vlan", [("id", network["vlan"]), ("parent", ports[0]), ("interface-name", name)]))
    elif kind == "bond":
        special.append(_bond(_mode(network)))
    elif kind == "bridge":
        special.append(("bridge", [("stp", "false")]))
    connection = [("id", connection_of(name)), ("uuid", uuid.uuid5(_NAMESPACE, name)), ("type", kind),
                  ("interface-name", name), ("autoconnect", "true")]
    if kind in ("bridge", "bond") and any(port in made for port in ports):
        # A bond or VLAN has a connection of its own, which NetworkManager takes at its start when this device is not
        # ready yet for the one of the port, and then stays with it (auto_activate_device in nm-policy.c of 1.42).
        connection.append(_BRINGS_PORTS)
    addressed = []
    for version in (4, 6):
        texts = [text for text in network["addresses"] if family(text.split("/")[0]) == version]
        lines: list[tuple[str, Any]] = [(f"address{place}", text) for place, text in enumerate(texts, 1)]
        gateway = network.get("gateway")
        if gateway and family(gateway) == version:
            lines.append(("gateway", gateway))
        addressed.append((f"ipv{version}", [("method", "manual" if texts else "disabled"), *lines]))
    # NetworkManager ignores a keyfile that others may read.
    written = [File(f"{folder}{name}.nmconnection", _ini(("connection", connection), ("ethernet", mtu), *special,
                                                         *addressed), "0600")]
    if kind in ("bridge", "bond"):
        written += [File(f"{folder}{name}{OF_PORT}{port}.nmconnection", _port_of(name, kind, port, made.get(port)),
                         "0600") for port in ports]
    return written


def _port_of(name: str, kind: str, port: str, made: Made | None) -> str:
    """Return NetworkManager's connection of a port, which makes the port when it is no card."""
    connection = [("id", connection_of(name, port)), ("uuid", uuid.uuid5(_NAMESPACE, f"{name}/{port}")),
                  ("type", made.kind if made else "ethernet"), ("interface-name", port), ("master", name),
                  ("slave-type", kind)]
    if made is None:
        return _ini(("connection", connection))
    # A device that is made has a connection of its own besides, which would be as good at the machine's next start.
    connection.append(("autoconnect-priority", 1))
    if made.kind != "vlan":
        # Of its own ports it lets go when it is activated as a port.
        connection.append(_BRINGS_PORTS)
    special = {"vlan": ("vlan", [("id", made.vlan), ("parent", made.link), ("interface-name", port)]),
               "bond": _bond(made.mode or _mode({})), "bridge": ("bridge", [("stp", "false")])}[made.kind]
    return _ini(("connection", connection), special)


def _bond(mode: str) -> tuple[str, list[tuple[str, Any]]]:
    return "bond", [("mode", mode), ("miimon", _MONITOR_MS)]


def _netplan(network: Mapping[str, Any], made: Mapping[str, Made]) -> list[File]:
    name, kind, ports = network["name"], _kind(network), _ports(network)
    section = _SECTIONS[kind]
    named = dict((other, [f'    "{port}": {about}' for port, about in names.items()])
                 for other, names in _named(ports, made).items())
    lines = [HEADER, "network:", "  version: 2"]
    for other in sorted(set(named) - {section}):
        lines += [f"  {other}:", *named[other]]
    lines += [f"  {section}:", *named.get(section, ()), f'    "{name}":', "      dhcp4: false", "      dhcp6: false",
              "      accept-ra: false"]
    if kind == "vlan":
        lines += [f"      id: {network['vlan']}", f'      link: "{ports[0]}"']
    elif ports:
        lines += ["      interfaces:", *(f'        - "{port}"' for port in ports)]
    if kind == "bond":
        lines += ["      parameters:", f"        mode: {_mode(network)}",
                  f"        mii-monitor-interval: {_MONITOR_MS}"]
    if kind == "bridge":
        lines += ["      parameters:", "        stp: false"]
    if network.get("mtu"):
        lines.append(f"      mtu: {network['mtu']}")
    if network["addresses"]:
        lines += ["      addresses:", *(f'        - "{text}"' for text in network["addresses"])]
    else:
        lines += ["      link-local: []"]
    if network.get("gateway"):
        lines += ["      routes:", "        - to: default", f'          via: "{network["gateway"]}"']
    # netplan warns of files that others may read.
    return [File(f"{NETPLAN_FOLDER}/{PREFIX}{name}.yaml", "\n".join(lines) + "\n", "0600")]


def _named(ports: Sequence[str], made: Mapping[str, Made]) -> dict[str, dict[str, str]]:
    """Return what netplan must know of ports: by section and name.

    It refuses an interface that no file defines up to there, and one that two files define as different devices.
    """
    sections: dict[str, dict[str, str]] = {}
    for port in ports:
        device = made.get(port) or Made("ethernet")
        about = "{}"
        if device.kind == "vlan":
            about = f'{{id: {device.vlan}, link: "{device.link}"}}'
            for section, names in _named([device.link], made).items():
                sections.setdefault(section, {}).update(names)
        sections.setdefault(_SECTIONS[device.kind], {})[port] = about
    return sections


def _ifupdown(network: Mapping[str, Any], port_files: Mapping[str, str]) -> list[File]:
    name, kind, ports = network["name"], _kind(network), _ports(network)
    # At boot interfaces come in the order of the files' names, and a VLAN is not made without what carries it.
    stanzas = [f"auto {port}\n" for port in ports if kind == "vlan" and port in port_files
               and ifupdown_name(name) < ifupdown_name(port)]
    if kind in ("bridge", "bond"):
        stanzas += [f"auto {port}\niface {port} inet manual\n" for port in ports]
    special = {
        "ethernet": [], "vlan": [f"vlan-raw-device {ports[0]}" if ports else "", f"vlan-id {network.get('vlan')}"],
        "bridge": [f"bridge_ports {' '.join(ports) or 'none'}", "bridge_stp off", "bridge_fd 0"],
        "bond": [f"bond-slaves {' '.join(ports)}", f"bond-mode {_mode(network)}", f"bond-miimon {_MONITOR_MS}"]}[kind]
    if network.get("mtu"):
        special = [*special, f"mtu {network['mtu']}"]
    for position, text in enumerate(network["addresses"]):
        version = family(text.split("/")[0])
        lines = [f"address {text}"]
        gateway = network.get("gateway")
        first = all(family(other.split("/")[0]) != version for other in network["addresses"][:position])
        if gateway and first and family(gateway) == version:
            lines.append(f"gateway {gateway}")
        if version == 6:
            lines.append("accept_ra 0")
        # What makes the interface stands once; a second stanza adds an address.
        lines += special if position == 0 else []
        stanza = f"iface {name} {'inet' if version == 4 else 'inet6'} static"
        begin = [f"auto {name}", stanza] if position == 0 else [stanza]
        stanzas.append("\n".join(begin + [f"    {line}" for line in lines]) + "\n")
    if not network["addresses"]:
        stanzas.append("\n".join([f"auto {name}", f"iface {name} inet manual", *(f"    {line}" for line in special)])
                       + "\n")
    return [File(f"{IFUPDOWN_FOLDER}/{PREFIX}{ifupdown_name(name)}", HEADER + "\n" + "\n".join(stanzas))]


def ifupdown_name(interface: str) -> str:
    """Return what ifupdown's file of an interface is called, after the prefix; no other interface's has it.

    ifupdown reads only names of letters, digits, '-' and '_' in its folder.
    """
    return re.sub(r"[^A-Za-z0-9-]", lambda match: f"_{ord(match.group()):02x}", interface)


def is_of_ifupdown(content: str, interface: str) -> bool:
    """Say whether a file of the collection for ifupdown is an interface's own, and no other's that has it as a port.

    :param content: of the file
    """
    return re.search(rf"^iface {re.escape(interface)} inet6? static$", content, re.MULTILINE) is not None


def kind_in(contents: Mapping[str, str], name: str) -> str:
    """Return what the collection's files make of an interface: a device of which kind, ``ethernet`` for none.

    :param contents: path → content, of all its files for the interface
    """
    for path, content in contents.items():
        if path.endswith(".yaml"):
            about = re.search(rf'(?ms)^  (\w+):\n(?:    [^\n]*\n)*?    "{re.escape(name)}":$', content)
            kinds = [kind for kind, section in _SECTIONS.items() if about and about.group(1) == section]
        elif path.endswith(".netdev"):
            kinds = re.findall(r"(?m)^Kind=(\w+)$", content)
        elif path.endswith(f"/{PREFIX}{name}.nmconnection"):
            kinds = re.findall(r"(?m)^type=(\w+)$", content)
        else:
            kinds = [kind for kind, key in _OF_IFUPDOWN.items() if re.search(rf"(?m)^    {key} ", content)]
        if kinds and kinds[0] != "ethernet":
            return kinds[0]
    return "ethernet"


def ifupdown_addresses(contents: Iterable[str]) -> list[str]:
    """Return the addresses that files of ifupdown give an interface."""
    return [text for content in contents for text in re.findall(r"(?m)^    address (\S+)$", content)]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which TCP ports of this machine are taken, and by whom."""
from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from ..._common.waiting.wait_loop import until_nothing
from ..._metal3 import ironic_rpc
from . import orphans

# How long a process that ends may keep its ports after its files are no longer found.
_END_SECONDS = 2
LOOPBACK = "127.0.0.1"
# Who has a port when none of the processes does that this user may inspect.
UNKNOWN = "a process of another user"
_LOOK_INTERVAL_SECONDS = 0.05


_LISTENS = "0A"


class Socket(NamedTuple):
    """A TCP socket that listens.

    :ivar link: as the links in /proc name it that its processes have
    :ivar address: IP address that it listens on
    :ivar port: its port
    """

    link: str
    address: Any
    port: int


class Place(NamedTuple):
    """Where a part of a plane listens.

    :ivar address: IP address
    :ivar port: its port
    """

    address: str
    port: int


def taken(ports: dict[str, int], addresses: dict[str, str] | None = None) -> dict[str, int]:
    """Return the ports on which nothing can listen, part → port.

    :param ports: dict part → port
    :param addresses: dict part → IP address that it listens on, for those that do not listen on 127.0.0.1
    """
    found = {}
    for part, port in ports.items():
        address = (addresses or {}).get(part, LOOPBACK)
        if listen_error(address, port):
            found[part] = port
    return found


def listen_error(address: str, port: int) -> int:
    """Return the number of the error that who would listen there gets, 0 for none.

    :param address: the IP address; all of IPv6 are those of IPv6 only, as for nginx
    :param port: the port
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do: a connection of a process that has ended does not keep its port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            probe.bind((address, port))
            probe.listen(1)
        except OSError as exc:
            return exc.errno or errno.EIO
    return 0


def holders(address: str, port: int, proc: str = "/proc") -> set[int] | None:
    """Return the ids of the processes that listen where a connection to an address of this machine leads.

    :param address: the IP address
    :param port: the port
    :param proc: where procfs is mounted
    :returns: those that this user may inspect; None when nobody listens there
    """
    place = Place(address, port)
    return holders_of([place], proc)[place]


def holders_of(places: Collection[Place], proc: str = "/proc") -> dict[Place, set[int] | None]:
    """Return place → see :func:`holders`, all of one look.

    :param places: addresses and ports
    :param proc: where procfs is mounted
    """
    links: dict[Place, set[str]] = {}
    for item in _sockets(proc):
        for place in places:
            if item.port == place.port and _answers_for(item.address, ipaddress.ip_address(place.address)):
                links.setdefault(place, set()).add(item.link)
    every: set[str] = set().union(*links.values())
    pids: dict[str, set[int]] = {}
    for link, pid in _links(proc) if every else ():
        if link in every:
            pids.setdefault(link, set()).add(pid)
    return dict((place, set().union(*(pids.get(link, ()) for link in links[place])) if place in links else None)
                for place in places)


def is_here(address: str) -> bool:
    """Return whether an IP address is one of this machine."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _answers_for(listens: Any, wanted: Any) -> bool:
    if wanted.is_unspecified:
        # Whoever has one of these addresses, or all.
        return wanted.version == listens.version or (listens.is_unspecified and wanted.version < listens.version)
    mapped = getattr(listens, "ipv4_mapped", None)
    # One on all addresses of IPv6 has those of IPv4, too, unless it says otherwise, which /proc does not show.
    return wanted in (listens, mapped) or (listens.is_unspecified and wanted.version <= listens.version)


def _sockets(proc: str) -> Iterator[Socket]:
    for table in ("tcp", "tcp6"):
        try:
            with open(os.path.join(proc, "net", table), encoding="utf-8") as stream:
                lines = stream.read().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTENS:
                address, _colon, port = fields[1].partition(":")
                yield Socket(f"socket:[{fields[9]}]", _address(address), int(port, 16))


def _address(digits: str) -> Any:
    """Return an address of /proc/net/tcp, whose words of four bytes are in the order of this machine's processor."""
    content = bytes.fromhex(digits)
    if sys.byteorder == "little":
        content = b"".join(content[start:start + 4][::-1] for start in range(0, len(content), 4))
    return ipaddress.ip_address(content)


def _links(proc: str) -> Iterator[tuple[str, int]]:
    """Yield what the descriptors of processes lead to, each with the process, of those that this user may inspect."""
    for entry in os.listdir(proc):
        if not entry.isdigit():
            continue
        directory = os.path.join(proc, entry, "fd")
        try:
            descriptors = os.listdir(directory)
        except OSError:
            continue
        for descriptor in descriptors:
            # Connections end meanwhile; the process has others.
            with contextlib.suppress(OSError):
                yield os.readlink(os.path.join(directory, descriptor)), int(entry)


def program(pid: int, proc: str = "/proc") -> str:
    """Return the name of a process's program, "?" when it has ended."""
    try:
        with open(os.path.join(proc, str(pid), "comm"), encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return "?"


def foreign(figures: Any) -> list[str]:
    """Return texts about a plane's ports that others listen on.

    :param figures: the plane's figures
    """
    found = places_of(figures)
    return [f"port {found[part].port} ({part}) is taken by {owner}" for part, owner in owners_of(figures)]


def places_of(figures: Any) -> dict[str, Place]:
    """Return where each part of a plane listens.

    :param figures: the plane's figures
    """
    addresses = figures.get("listens_on") or {}
    found = dict((part, Place(addresses.get(part, LOOPBACK), port)) for part, port in figures["ports"].items())
    # They are no ports that somebody may change: all have the same one.
    found.update((f"ironic_conductor_{number}", Place(address, ironic_rpc.PORT))
                 for number, address in enumerate(figures.get("conductor_addresses") or (), 1))
    return found


def owners_of(figures: Any) -> list[tuple[str, str]]:
    """Return which parts' ports others listen on, as (part, who).

    :param figures: the plane's figures
    """
    places = places_of(figures)
    addresses = dict((part, place.address) for part, place in places.items())
    busy = taken(dict((part, place.port) for part, place in places.items()), addresses)
    if not busy:
        return []
    own = set(orphans.processes(figures["dir"]))
    # Another plane may have the same port at another address of this machine.
    pids = holders_of([places[part] for part in busy])
    unknown = _still_taken(dict((part, port) for part, port in busy.items() if not pids[places[part]]), addresses)
    found = []
    for part in sorted(busy):
        others = pids[places[part]] or set()
        if others & own or (not others and part not in unknown):
            continue
        found.append((part, f"pid {min(others)} ({program(min(others))})" if others else UNKNOWN))
    return found


def _still_taken(ports: dict[str, int], addresses: dict[str, str] | None) -> dict[str, int]:
    """Return those of the ports that stay taken: one that just ends is gone from /proc before its ports are free."""
    return until_nothing(lambda: taken(ports, addresses), _END_SECONDS, _LOOK_INTERVAL_SECONDS)

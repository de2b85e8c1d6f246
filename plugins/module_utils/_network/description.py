# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of a provisioning network and its mistakes, all at once; pure.

Every text that reaches a configuration file has been through a rule of this file, so that none holds a line break or
the separators of dnsmasq's or systemd's files.
"""
from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any, Union

from .._common.addresses import ip_texts
from .._common.addresses.mac_address import mac_error
from .._common.options import lending
from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from .lending import CODE, kept_of, ranges_of

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
Interface = Union[ipaddress.IPv4Interface, ipaddress.IPv6Interface]

KINDS = ("ethernet", "bridge", "vlan", "bond")
BOND_MODES = ("active-backup", "802.3ad", "balance-xor", "balance-alb", "balance-tlb", "balance-rr", "broadcast")
# Which may be there for others alone: as the port of a bridge, or below VLANs.
BARE_KINDS = ("vlan", "bond")
# What the firmware asks TFTP for when nothing else is given: BIOS, then UEFI by architecture.
LOADERS = {"bios": "undionly.kpxe", "x86_64": "snponly.efi", "arm64": "snponly-arm64.efi"}
# dnsmasq's lease time has no shorter one.
SHORTEST_LEASE_SECONDS = 120
# dnsmasq refuses a file with a shorter one.
SHORTEST_PREFIX6 = 64
# IFNAMSIZ of Linux without the final zero; a dot is how VLANs are named, a slash would be a path of /sys.
INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}\Z")
_HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*\Z")
_FOLDER = re.compile(r"(/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_.][A-Za-z0-9_.-]*)+\Z")
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+(/[A-Za-z0-9._~%/=&?+-]*)?\Z")


def problems(network: Mapping[str, Any]) -> list[Problem]:
    """Return all mistakes of a description.

    :param network: ``name``, ``kind``, ``ports``, ``vlan``, ``bond_mode``, ``mtu``, ``addresses``, ``gateway`` and
        ``dhcp``, see the role provisioning_network; types are those of its argument spec
    """
    return _Checks(network).run()


def interfaces(network: Mapping[str, Any]) -> list[Interface]:
    """Return the addresses of a description that has no mistakes."""
    return [ip_texts.interface(text) for text in network.get("addresses") or ()]


def family(text: str) -> int:
    """Return 4 or 6 for an address."""
    return ip_texts.address(text).version


def has_own_range(network: Mapping[str, Any], version: int) -> bool:
    """Return whether addresses of a family are lent on the network itself, not behind a relay.

    :param network: a description that has no mistakes
    :param version: 4 or 6
    """
    return any(not given.get("network") and family(given["first"]) == version
               for given in (network.get("dhcp") or {}).get("ranges") or ())


class _Checks:
    def __init__(self, network: Mapping[str, Any]) -> None:
        self.network = network
        self.subject = f"network {network.get('name') or '(without a name)'}"
        self.found: list[Problem] = []
        self.own: list[Any] = []
        # Whether all of them could be read: else what lies outside of them is not known.
        self.own_known = True
        # Networks that DHCP serves behind a relay.
        self.relayed: list[Any] = []
        # Address → who has it.
        self.holders: dict[Address, str] = {}
        self.gateway: Address | None = None
        # Fields of ranges whose ends are right.
        self.lending: set[str] = set()

    def run(self) -> list[Problem]:
        self._link()
        self._addresses()
        dhcp = self.network.get("dhcp")
        if dhcp:
            ranges = self._ranges(dhcp)
            self._others(dhcp)
            self._hosts(dhcp, [first.version for first, _last in ranges])
            self._servers(dhcp)
            self._boot(dhcp)
        return self.found

    def _add(self, field: str, actual: Any, expected: str, hint: str | None = None) -> None:
        self.found.append(Problem(CODE, self.subject, field, None if actual is None else show(actual),
                                  expected, hint))

    def _matches(self, field: str, value: Any, rule: re.Pattern[str], expected: str) -> None:
        if value is not None and not rule.match(value):
            self._add(field, value, expected)

    def _link(self) -> None:
        network = self.network
        expected = "1 to 15 letters, digits, '-', '_' and '.', beginning with a letter, digit or '_'"
        if not network.get("name"):
            self._add("name", None, expected, "set it to the name of the network interface")
        self._matches("name", network.get("name") or None, INTERFACE, expected)
        ports, kind = network.get("ports") or [], network.get("kind") or "ethernet"
        for position, port in enumerate(ports):
            self._matches(f"ports[{position}]", port, INTERFACE, expected)
            if port == network.get("name"):
                self._add(f"ports[{position}]", port, "another interface than the network's own")
            elif port in ports[:position]:
                self._add(f"ports[{position}]", port, "each interface once")
        if kind not in KINDS:
            self._add("kind", kind, f"one of {', '.join(KINDS)}")
        if kind == "ethernet" and ports:
            self._add("ports", ports, "no interface for kind ethernet", "remove it, or set kind to bridge or bond")
        if kind == "vlan" and len(ports) != 1:
            self._add("ports", ports or None, "the one interface that carries the VLAN")
        if kind == "bond" and not ports:
            self._add("ports", None, "at least one interface")
        vlan = network.get("vlan")
        if kind == "vlan" and (vlan is None or not 1 <= vlan <= 4094):
            self._add("vlan", vlan, "a number from 1 to 4094")
        if kind != "vlan" and vlan is not None:
            self._add("vlan", vlan, f"no VLAN for kind {kind}", "set kind to vlan")
        mode = network.get("bond_mode")
        if mode is not None and (kind != "bond" or mode not in BOND_MODES):
            self._add("bond_mode", mode, f"kind bond, and one of {', '.join(BOND_MODES)}")
        mtu = network.get("mtu")
        # RFC 8200: IPv6 needs 1280 bytes; DHCP and TFTP do with less, but every host of the network may speak IPv6.
        if mtu is not None and not 1280 <= mtu <= 9216:
            self._add("mtu", mtu, "a number of bytes from 1280 to 9216")

    def _addresses(self) -> None:
        given = self.network.get("addresses") or []
        bare = self.network.get("kind") in BARE_KINDS
        if not given and not (bare and not self.network.get("dhcp") and self.network.get("gateway") is None):
            self._add("addresses", None, "at least one address with the length of its network, as 172.22.0.1/24",
                      f"set it, or remove gateway and dhcp from a {self.network['kind']} that needs none" if bare
                      else "set it")
        for position, text in enumerate(given):
            field = f"addresses[{position}]"
            own = self._parsed(field, text, ip_texts.interface,
                               "an address with the length of its network, as 172.22.0.1/24") if "/" in text else None
            if "/" not in text:
                self._add(field, text, "an address with the length of its network, as 172.22.0.1/24")
            if own is None:
                self.own_known = False
                continue
            if not _usable(own.ip, own.network):
                self._add(field, text, "an address of a host, not of the network or for all hosts")
            for other in self.own:
                if own.version == other.version and own.network.overlaps(other.network):
                    self._add(field, text, f"a network that does not overlap {other.network}")
            self.own.append(own)
            self._hold(field, own.ip, "the machine itself")
        gateway = self.network.get("gateway")
        if gateway is not None:
            self.gateway = self._neighbour("gateway", gateway)

    def _parsed(self, field: str, text: Any, parse: Callable[[str], Any], expected: str) -> Any:
        try:
            return parse(text)
        except ValueError:
            self._add(field, text, expected)
            return None

    def _address(self, field: str, text: Any) -> Any:
        return self._parsed(field, text, ip_texts.address, "an IPv4 or IPv6 address")

    def _neighbour(self, field: str, text: Any) -> Any:
        found = self._address(field, text)
        networks = [own.network for own in self.own]
        if found is None or self._within(field, text, found, networks):
            return found
        return None

    def _within(self, field: str, text: Any, address: Address, networks: list[Any]) -> bool:
        if not self.own or not self.own_known or any(_inside(address, network) for network in networks):
            return True
        self._add(field, text, f"an address inside {' or '.join(str(network) for network in networks)}")
        return False

    def _hold(self, field: str, address: Address, holder: str) -> None:
        if address in self.holders:
            self._add(field, str(address), f"an address that is not that of {self.holders[address]}")
        self.holders.setdefault(address, holder)

    def _others(self, dhcp: Mapping[str, Any]) -> None:
        """Refuse what dnsmasq would lend, or keep for a server, of what the description says that others have."""
        taken = [] if self.gateway is None else [lending.Taken(self.gateway, "the gateway's address")]
        taken += [lending.Taken(given.get("router"), f"the address of the router of dhcp.ranges[{position}]")
                  for position, given in enumerate(dhcp.get("ranges") or ())]
        taken += [lending.Taken(text, f"the address of {field}[{position}]", may_be_kept=True)
                  for field in ("dns_servers", "ntp_servers") for position, text in enumerate(dhcp.get(field) or ())]
        ranges = [given for given in ranges_of(dhcp) if given.field in self.lending]
        self.found += lending.problems(CODE, self.subject, ranges, kept_of(dhcp), taken, self.holders)

    def _ranges(self, dhcp: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        good: list[tuple[Any, Any]] = []
        if not dhcp.get("ranges"):
            self._add("dhcp.ranges", None, "at least one range", "set first and last, or remove dhcp")
        for position, given in enumerate(dhcp.get("ranges") or ()):
            field = f"dhcp.ranges[{position}]"
            relayed = given.get("network")
            network = None
            if relayed is not None:
                network = self._parsed(f"{field}.network", relayed, ip_texts.network, "a network, as 10.1.0.0/24")
                if network is None:
                    continue
                self.relayed.append(network)
                if any(own.version == network.version and own.network.overlaps(network) for own in self.own):
                    self._add(f"{field}.network", relayed, "a network behind a relay, not one of this machine's own",
                              f"remove {field}.network")
            ends = [self._address(f"{field}.{end}", given.get(end)) if network is not None
                    else self._neighbour(f"{field}.{end}", given.get(end)) for end in ("first", "last")]
            router = given.get("router")
            if router is not None:
                self._router(f"{field}.router", router, network)
            first, last = ends
            if first is None or last is None:
                continue
            home = network if network is not None else next(
                (own.network for own in self.own if _inside(first, own.network)), None)
            if first.version != last.version or first > last:
                self._add(f"{field}.last", str(last), f"an address not before {first}")
                continue
            if home is not None and not (_inside(first, home) and _inside(last, home)):
                self._add(field, f"{first} to {last}", f"a range inside {home}")
            if home is not None and home.version == 6 and home.prefixlen < SHORTEST_PREFIX6:
                self._add(field, f"{first} to {last} of {home}", "a network of IPv6 with a length of at least "
                          f"{SHORTEST_PREFIX6}, of which alone dnsmasq lends addresses",
                          f"give it the length {SHORTEST_PREFIX6}" + (
                              f" in {field}.network" if relayed is not None else " in addresses"))
            for own in self.own:
                if own.version == first.version and first <= own.ip <= last:
                    self._add(field, f"{first} to {last}", f"a range without {own.ip}, the machine's own address")
            for start, end in good:
                if start.version == first.version and first <= end and start <= last:
                    self._add(field, f"{first} to {last}", f"a range that does not overlap {start} to {end}")
            good.append((first, last))
            self.lending.add(field)
        return good

    def _router(self, field: str, text: str, network: Any) -> None:
        router = self._address(field, text) if network is not None else self._neighbour(field, text)
        if router is not None and network is not None and not _inside(router, network):
            self._add(field, text, f"an address inside {network}")
        if router is not None and router.version == 6:
            self._add(field, text, "an IPv4 address", "remove it: IPv6 has routers by router advertisements")

    def _hosts(self, dhcp: Mapping[str, Any], versions: list[int]) -> None:
        macs: dict[str, str] = {}
        for position, host in enumerate(dhcp.get("hosts") or ()):
            field = f"dhcp.hosts[{position}]"
            name = host.get("name")
            self._matches(f"{field}.name", name, _HOST_NAME, "at most 63 small letters, digits and '-'")
            mac = host.get("mac")
            wrong = mac_error(mac) if mac else "the MAC address of the card that boots"
            if wrong:
                self._add(f"{field}.mac", mac, wrong, "set boot_mac in the inventory")
            elif mac.lower() in macs:
                self._add(f"{field}.mac", mac, f"a MAC address that is not that of {macs[mac.lower()]}")
            else:
                macs[mac.lower()] = str(name or field)
            for at, text in enumerate(host.get("addresses") or ()):
                place = f"{field}.addresses[{at}]"
                address = self._address(place, text)
                if address is None:
                    continue
                self._hold(place, address, str(name or field))
                if not self._within(place, text, address, [own.network for own in self.own] + self.relayed):
                    continue
                if address.version not in versions:
                    self._add(place, text, f"an address of a family that has a range, IPv{address.version} has none",
                              "add a range to dhcp.ranges")
        if not dhcp.get("unknown_hosts") and not dhcp.get("hosts"):
            self._add("dhcp.hosts", None, "at least one host", "add hosts, or set dhcp.unknown_hosts to true")

    def _servers(self, dhcp: Mapping[str, Any]) -> None:
        for field in ("dns_servers", "ntp_servers"):
            for position, text in enumerate(dhcp.get(field) or ()):
                self._address(f"dhcp.{field}[{position}]", text)
        lease = dhcp.get("lease_seconds")
        if lease is not None and lease < SHORTEST_LEASE_SECONDS:
            self._add("dhcp.lease_seconds", lease, f"at least {SHORTEST_LEASE_SECONDS}")

    def _boot(self, dhcp: Mapping[str, Any]) -> None:
        self._matches("dhcp.tftp_root", dhcp.get("tftp_root"), _FOLDER,
                      "an absolute path of letters, digits, '.', '_' and '-', without '..'")
        for name, loader in (dhcp.get("loaders") or {}).items():
            self._matches(f"dhcp.loaders.{name}", loader, _FILE, "a path below dhcp.tftp_root, without '..'")
        for field in ("ipxe_script_url", "http_boot_url"):
            self._matches(f"dhcp.{field}", dhcp.get(field), _URL, "a URL with http or https, without a password")
        if (dhcp.get("loaders") or dhcp.get("ipxe_script_url")) and not dhcp.get("tftp_root"):
            self._add("dhcp.tftp_root", None, "the folder with the boot loaders", "set it: firmware reads them by TFTP")


def _inside(address: Any, network: Any) -> bool:
    return bool(address.version == network.version and address in network)


def _usable(address: Any, network: Any) -> bool:
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        return False
    # RFC 3021: both addresses of a /31 are hosts'; IPv6 has no broadcast.
    ends = network.max_prefixlen - network.prefixlen
    return bool(ends < 2 or network.version == 6 or address not in (network.network_address, network.broadcast_address))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsmasq's configuration for a provisioning network: addresses, boot loaders by firmware, TFTP; pure."""
from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .._common.addresses import ip_texts
from .description import LOADERS, family, interfaces
from .interface_files import HEADER

DEFAULT_LEASE_SECONDS = 3600
# IANA's processor architectures of DHCP option 93: by TFTP, then by HTTP. OVMF says 7, other firmware 9.
TFTP_ARCHITECTURES = {"bios": (0,), "x86_64": (7, 9), "arm64": (11,)}
HTTP_ARCHITECTURES = {"x86_64": (16,), "arm64": (19,)}
# DHCPv6's option of the same numbers, RFC 5970; dnsmasq has no name for it, and takes its two bytes as they are.
_ARCHITECTURE6 = 61
# DHCPv6's vendor class has a number of four bytes and then texts, each behind its length in two (RFC 8415, 21.16).
# dnsmasq writes this option as texts alone: a first one of two bytes makes the number 0x00023030, which is nobody's.
# Firmware looks at the text behind it (EDK II, HttpBootDxe/HttpBootDhcp6.c, HttpBootParseDhcp6Packet).
_VENDOR_CLASS6, _NO_VENDOR = 16, "00"
_HTTP_CLIENT = "HTTPClient"
# What dnsmasq takes for a lease's time, or for a server that it is not to answer, in the place of a host's name.
_NO_NAME = re.compile(r"([0-9]+[wWdDhHmMsS]?|infinite|ignore)\Z")


def configuration(network: Mapping[str, Any], leases: str, log: str | None = None) -> str:
    """Return the file for ``dnsmasq --conf-file``.

    :param network: a description without mistakes, with ``dhcp``
    :param leases: path of the file of leases
    :param log: path of the log, None for the system's
    """
    dhcp = network["dhcp"]
    lines = [
        HEADER,
        # No name server: the machine may have one.
        "port=0",
        f"interface={network['name']}",
        "except-interface=lo",
        # The interface may lose and regain its address, as when a bridge is made again.
        "bind-dynamic",
        "no-hosts",
        "no-resolv",
        "log-dhcp",
        # Of IPv4: firmware, agent and system call themselves by different names, and a server would hold an address for
        # each of them.
        "dhcp-ignore-clid",
        f"dhcp-leasefile={leases}",
        *([f"log-facility={log}"] if log else []),
    ]
    lines += _ranges(network, dhcp)
    lines += _options(network, dhcp)
    if not dhcp.get("unknown_hosts"):
        lines.append("dhcp-ignore=tag:!known")
    lines += [_host(host) for host in dhcp.get("hosts") or ()]
    lines += _firmware6(dhcp)
    lines += _boot(network, dhcp)
    return "\n".join(lines) + "\n"


def _ranges(network: Mapping[str, Any], dhcp: Mapping[str, Any]) -> list[str]:
    lines, seconds = [], dhcp.get("lease_seconds") or DEFAULT_LEASE_SECONDS
    advertised = False
    for position, given in enumerate(dhcp["ranges"]):
        home = _network_of(network, given)
        tag = f"range{position}"
        if home.version == 4:
            lines.append(f"dhcp-range=set:{tag},{given['first']},{given['last']},{home.netmask},{seconds}")
            # Without a router dnsmasq would name itself: a machine that forwards nothing.
            router = given.get("router") or ("" if given.get("network") else _gateway(network, 4))
            lines.append(f"dhcp-option=tag:{tag},option:router" + (f",{router}" if router else ""))
        else:
            lines.append(f"dhcp-range=set:{tag},{given['first']},{given['last']},{home.prefixlen},{seconds}")
            advertised = True
    # Neither is this machine a router in its advertisements: a lifetime of 0, at dnsmasq's own interval.
    return lines + (["enable-ra", f"ra-param={network['name']},0,0"] if advertised else [])


def _network_of(network: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    if given.get("network"):
        return ipaddress.ip_network(given["network"])
    first = ipaddress.ip_address(given["first"])
    return next(own.network for own in interfaces(network) if own.version == first.version and first in own.network)


def _gateway(network: Mapping[str, Any], version: int) -> str:
    gateway = network.get("gateway")
    return gateway if gateway and family(gateway) == version else ""


def _options(network: Mapping[str, Any], dhcp: Mapping[str, Any]) -> list[str]:
    lines = []
    for field, name in (("dns_servers", "dns-server"), ("ntp_servers", "ntp-server")):
        given = dhcp.get(field) or []
        fours = [text for text in given if family(text) == 4]
        sixes = [f"[{text}]" for text in given if family(text) == 6]
        # An option without a value is not sent: dnsmasq would name itself as name server.
        lines.append(",".join([f"dhcp-option=option:{name}", *fours]))
        if sixes:
            lines.append(",".join([f"dhcp-option=option6:{name}", *sixes]))
    if network.get("mtu"):
        lines.append(f"dhcp-option=option:mtu,{network['mtu']}")
    return lines


def _host(host: Mapping[str, Any]) -> str:
    addresses = [text if family(text) == 4 else f"[{text}]" for text in host.get("addresses") or ()]
    name = host.get("name")
    return "dhcp-host=" + ",".join([host["mac"].lower(), *addresses, *(
        [name] if name and not _NO_NAME.match(name) else [])])


def _firmware6(dhcp: Mapping[str, Any]) -> list[str]:
    """Return what lends firmware that boots by IPv6 an address of a range, instead of the one kept for its server.

    UEFI asks twice at once, for what boots and for its own network (EDK II, Ip6Dxe, after an advertisement), and
    dnsmasq offers both the kept address: who asks for it second is refused it for good.
    """
    macs = [host["mac"].lower() for host in dhcp.get("hosts") or ()
            if any(family(text) == 6 for text in host.get("addresses") or ())]
    if not macs:
        return []
    return [f"dhcp-match=set:firmware6,option6:{_ARCHITECTURE6}",
            *(f"dhcp-host=tag:firmware6,{mac}" for mac in macs)]


def _boot(network: Mapping[str, Any], dhcp: Mapping[str, Any]) -> list[str]:
    root = dhcp.get("tftp_root")
    if not root and not dhcp.get("http_boot_url"):
        return []
    loaders = dict(LOADERS, **{kind: file for kind, file in (dhcp.get("loaders") or {}).items() if file})
    script, http = dhcp.get("ipxe_script_url"), dhcp.get("http_boot_url")
    lines = ["dhcp-userclass=set:ipxe,iPXE"]
    if root:
        lines += ["enable-tftp", f"tftp-root={root}"]
        for kind, numbers in TFTP_ARCHITECTURES.items():
            lines += [f"dhcp-match=set:{kind},option:client-arch,{number}" for number in numbers]
            # iPXE that has been started must not be given itself again.
            lines.append(f"dhcp-boot=tag:{kind},tag:!ipxe,{loaders[kind]}")
        for own in interfaces(network):
            lines += _loaders6(own, loaders) if own.version == 6 else []
    if script:
        lines += [f"dhcp-boot=tag:ipxe,{script}", f"dhcp-option=tag:ipxe,option6:bootfile-url,{script}"]
    if http:
        lines += [f"dhcp-match=set:http,option:client-arch,{number}"
                  for numbers in HTTP_ARCHITECTURES.values() for number in numbers]
        # UEFI 2.10, 24.7.2: the firmware takes only an offer whose vendor class is HTTPClient.
        lines += [f"dhcp-boot=tag:http,tag:!ipxe,{http}",
                  f"dhcp-option-force=tag:http,60,{_HTTP_CLIENT}"]
        if any(own.version == 6 for own in interfaces(network)):
            lines += _http6(http)
    return lines


def _http6(url: str) -> list[str]:
    host = urlsplit(url).hostname or ""
    # Firmware that has asked by IPv6 has no address of IPv4.
    if ip_texts.is_address(host) and ip_texts.address(host).version == 4:
        return []
    lines = [f"dhcp-match=set:http6,option6:{_ARCHITECTURE6},{number.to_bytes(2, 'big').hex(':')}"
             for numbers in HTTP_ARCHITECTURES.values() for number in numbers]
    return [*lines, f"dhcp-option=tag:http6,tag:!ipxe,option6:bootfile-url,{url}",
            f"dhcp-option-force=tag:http6,tag:!ipxe,option6:{_VENDOR_CLASS6},{_NO_VENDOR},{_HTTP_CLIENT}"]


def _loaders6(own: Any, loaders: Mapping[str, str]) -> list[str]:
    lines = []
    for kind, numbers in TFTP_ARCHITECTURES.items():
        # A BIOS boots by IPv4 only.
        if kind != "bios":
            lines += [f"dhcp-match=set:{kind}6,option6:{_ARCHITECTURE6},{number.to_bytes(2, 'big').hex(':')}"
                      for number in numbers]
            lines.append(f"dhcp-option=tag:{kind}6,tag:!ipxe,option6:bootfile-url,tftp://[{own.ip}]/{loaders[kind]}")
    return lines

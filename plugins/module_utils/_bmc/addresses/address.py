# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMC addresses, read and written as ``pkg/hardwareutils/bmc`` of the Bare Metal Operator 0.13 does; pure."""
from __future__ import annotations

import difflib
import functools
import ipaddress
import re
from collections import namedtuple
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from ..._common.addresses import ip_texts
from ..._common.redaction import redaction
from .schemes import DRIVERS, REMOVED, SCHEMES, STANDARD_PORTS, Driver, Scheme

_LONGEST_SCHEME = max(len(name) for name in SCHEMES) + 5
PRIVILEGE_LEVELS = ("USER", "OPERATOR", "ADMINISTRATOR", "CALLBACK")

# BMO's own rule for host names (bmc.checkDNSValid).
_HOST_NAME = re.compile(
    r"^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9])\.)*"
    r"([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9])$")
_IN_NO_URL = re.compile(r"[\s'\"]")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):(.*)$", re.DOTALL)
_REDFISH_ROOTS = ("", "redfish/v1")
# RFC 3986: what a path may hold beside percent escapes; a query may hold "?" too.
_NO_PATH = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@/%-]")
_NO_QUERY = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


class AddressError(ValueError):
    """A BMC address that BMO would refuse or misread.

    :param expected: what was expected in its place
    :param hint: what to do
    """

    def __init__(self, expected: str, hint: str):
        super().__init__(f"expected {expected}; {hint}")
        self.expected = expected
        self.hint = hint


class BmcAddress(namedtuple("BmcAddress", ["scheme", "host", "port", "path", "query"])):
    """A BMC address in parts: a Scheme, host without brackets, port or None, path, query as a dict."""

    __slots__ = ()

    @property
    def driver(self) -> Driver:
        """The Driver behind the scheme."""
        return self.scheme.driver

    @property
    def effective_port(self) -> int:
        """The port given, or the scheme's default."""
        return self.port or self.scheme.default_port

    @property
    def uses_tls(self) -> bool:
        """True when the BMC is asked over TLS."""
        return self.scheme.transport == "https"

    @property
    def supports_virtual_media(self) -> bool:
        """True when the deploy ramdisk is booted from virtual media."""
        return self.driver.boot == "virtual-media"

    @property
    def system(self) -> str:
        """Path of the Redfish system, empty when the BMC's only one is meant."""
        return "" if self.path.strip("/") in _REDFISH_ROOTS else self.path.rstrip("/")

    @property
    def authority(self) -> str:
        """``host:port``, as messages and URLs have it."""
        return f"{_bracketed(self.host)}:{self.effective_port}"

    @property
    def endpoint(self) -> str:
        """The service's URL for Redfish (``https://host:port``), ``host:port`` for IPMI."""
        return self.authority if self.driver.protocol == "ipmi" else f"{self.scheme.transport}://{self.authority}"

    @property
    def bmc(self) -> tuple[str, int | None]:
        """What distinguishes one BMC from another.

        Standard ports of a host are doors to one BMC. At any other port there may be another one, behind one address.
        """
        return ip_texts.host_text(self.host), None if self.effective_port in STANDARD_PORTS else self.effective_port

    @property
    def identity(self) -> tuple[str, str, int, str]:
        """What distinguishes one server from another whatever the spelling: protocol, host, port, system."""
        return self.driver.protocol, ip_texts.host_text(self.host), self.effective_port, self.system

    def __str__(self) -> str:
        query = "?" + urlencode(sorted(self.query.items())) if self.query else ""
        port = "" if self.effective_port == self.scheme.default_port else f":{self.port}"
        return f"{self.scheme.name}://{_bracketed(self.host)}{port}{self.system}{query}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def parse(address: Any) -> BmcAddress:
    """Read a BMC address.

    A bare host or IP address is IPMI, as for BMO. What BMO would take for something else than was meant
    (``host:port`` without a scheme, a user name and password in the address) is refused with the way to write it.

    :param address: for example ``redfish-virtualmedia://10.0.0.11/redfish/v1/Systems/1``
    :returns: a BmcAddress
    :raises AddressError: for anything BMO's webhook would refuse (unknown scheme, invalid host), and for the above
    """
    if not isinstance(address, str) or not address:
        raise AddressError("a BMC address like redfish://192.0.2.11/redfish/v1/Systems/1", "set bmc.address")
    if re.search(r"[\s\x00-\x1f\x7f]", address):
        raise AddressError("an address without blanks or control characters", "remove them from bmc.address")
    name, rest = _split_scheme(address)
    scheme = _known_scheme(name)
    parts = _split(name, rest)
    if "@" in parts.netloc:
        raise AddressError("an address without user name and password",
                           "give them as bmc.username and bmc.password; BMO ignores them in the address")
    host = _host(parts)
    try:
        port = parts.port
    except ValueError as exc:
        raise AddressError("a port from 1 to 65535", "correct the port in bmc.address") from exc
    if port == 0 or parts.netloc.endswith(":"):
        raise AddressError("a port from 1 to 65535", "correct or leave out the port in bmc.address")
    if parts.fragment:
        raise AddressError("an address without #", "remove it and what follows from bmc.address")
    mistake = path_mistake(parts.path) or _mistake(_NO_QUERY, parts.query)
    if mistake:
        raise AddressError(f"an address of URL characters and whole percent escapes, found {mistake}",
                           "correct bmc.address; write other characters as percent escapes")
    return BmcAddress(scheme, host, port, parts.path, _query(scheme, parts.query))


def path_mistake(path: str) -> str:
    """Return what a URL's path must not hold, for a message; empty when it is one.

    :param path: text, which may come from a BMC
    """
    return _mistake(_NO_PATH, path)


def _mistake(forbidden: re.Pattern[str], text: str) -> str:
    found = forbidden.search(text) or _BROKEN_ESCAPE.search(text)
    # As ASCII: it may be a control character, or half of one.
    return ascii(found.group()) if found else ""


def _split_scheme(address: str) -> tuple[str, str]:
    if "://" in address:
        name, dummy, rest = address.partition("://")
        return name.lower(), rest
    # BMO reads [address]:port as IPMI, but not without a port.
    if address.startswith("[") and not re.match(r"^\[[^]]+\]:\d+$", address):
        raise AddressError("a scheme before a bracketed IPv6 address", f"write ipmi://{address}")
    if ":" in address and _is_ip(address):
        raise AddressError("a scheme before an IPv6 address", f"write ipmi://[{address}]")
    match = _SCHEME.match(address)
    if not match:
        return "ipmi", address
    name, rest = match.group(1).lower(), match.group(2)
    if name in SCHEMES or name in REMOVED:
        return name, rest
    # BMO takes what stands before the colon for the scheme.
    if re.match(r"^\d+(/|\?|$)", rest):
        raise AddressError("a scheme before host:port", f"write ipmi://{address}")
    return name, rest


def _known_scheme(name: str) -> Scheme:
    if name in SCHEMES:
        return SCHEMES[name]
    base = name.partition("+")[0]
    if base in REMOVED:
        release, instead = REMOVED[base]
        raise AddressError(f"a scheme that BMO still supports ({base} went away with BMO {release})",
                           f"write {instead}")
    near = difflib.get_close_matches(name[:_LONGEST_SCHEME], SCHEMES, 1)
    raise AddressError(
        "ipmi, libvirt, or one of %s, each bare or with +http or +https" % ", ".join(
            driver.name for driver in DRIVERS if driver.protocol == "redfish"),
        "correct the scheme of bmc.address%s" % (f" (perhaps {near[0]})" if near else ""))


def _split(name: str, rest: str) -> SplitResult:
    try:
        # The scheme is replaced, so that urlsplit treats all of them alike.
        return urlsplit("http://" + rest)
    except ValueError as exc:
        # It quotes what is before the path, a login that is there included.
        reason = re.sub(r"netloc '.*' contains", "it contains", str(exc), flags=re.DOTALL)
        raise AddressError(f"{name}://host[:port][/path]", f"correct bmc.address ({reason})") from None


def _host(parts: SplitResult) -> str:
    bracketed = "[" in parts.netloc or "]" in parts.netloc
    if bracketed and not re.match(r"^\[[^][]*\](:[0-9]*)?$", parts.netloc):
        raise AddressError("brackets around an IPv6 address only", "correct the host in bmc.address")
    if not bracketed and parts.netloc.count(":") > 1:
        raise AddressError("brackets around an IPv6 address", f"write [{parts.netloc}] if it is one, or correct the "
                                                              "host in bmc.address")
    host = parts.hostname
    if not host:
        raise AddressError("a host name or IP address after the scheme", "add it to bmc.address")
    if bracketed:
        if "%" in host:
            raise AddressError("an IPv6 address without a zone", f"remove {ascii(host[host.index('%'):])[1:-1]} from "
                                                                 "the host in bmc.address")
        if not (":" in host and _is_ip(host)):
            raise AddressError("an IPv6 address in the brackets", "correct the host in bmc.address")
        return host
    if "%" in host:
        raise AddressError("a host without percent escapes", "write its characters themselves in bmc.address")
    if _is_ip(host):
        return host
    if not _HOST_NAME.match(host):
        raise AddressError("a DNS host name or an IP address", "correct the host in bmc.address")
    if re.match(r"^[0-9.]+$", host):
        raise AddressError("an IPv4 address of four numbers from 0 to 255", "correct the host in bmc.address")
    return host


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _query(scheme: Scheme, text: str) -> dict[str, str]:
    query = dict(parse_qsl(text, keep_blank_values=True))
    if not text:
        return query
    if scheme.driver.protocol != "ipmi":
        raise AddressError("a Redfish address without a query", "remove ? and what follows from bmc.address")
    if scheme.name == "libvirt":
        return query
    unknown = sorted(set(query) - {"privilegelevel"})
    if unknown or not query:
        raise AddressError("only privilegelevel in the query of an IPMI address",
                           f"remove {', '.join(unknown) or 'the query'} from bmc.address")
    if query["privilegelevel"] not in PRIVILEGE_LEVELS:
        raise AddressError(f"privilegelevel one of {', '.join(PRIVILEGE_LEVELS)}",
                           "correct privilegelevel in bmc.address")
    return query


def build(scheme: str, host: str, port: int | None = None, path: str = "",
          query: Mapping[str, str] | None = None) -> str:
    """Return the normal form of an address made of parts.

    :param scheme: name of a scheme
    :param host: host name or IP address, IPv6 without brackets
    :param port: integer, or None for the scheme's default
    :param path: path of the Redfish system
    :param query: dict, for IPMI
    :raises AddressError: when the parts don't make a valid address
    """
    text = f"{scheme}://{_bracketed(host)}"
    if port is not None:
        text += f":{port}"
    text += path
    if query:
        text += "?" + urlencode(sorted(query.items()))
    return str(parse(text))


def described(address: BmcAddress) -> dict[str, Any]:
    """Return a BmcAddress as plain data, with what follows from its scheme; the keys of filter bmc_address_parse."""
    driver = address.driver
    return {
        "scheme": address.scheme.name, "protocol": driver.protocol, "driver": driver.driver, "boot": driver.boot,
        "host": address.host, "port": address.port, "effective_port": address.effective_port,
        "system": address.system, "query": address.query, "endpoint": address.endpoint, "uses_tls": address.uses_tls,
        "needs_boot_mac": driver.needs_mac, "needs_provisioning_network": driver.provisioning_network,
        "supports_raid": driver.raid, "supports_secure_boot": driver.secure_boot, "normal": str(address),
    }


def readable(address: Any) -> BmcAddress | None:
    """Return a BMC address, None when it can't be read."""
    return _readable(address) if isinstance(address, str) else None


# Hosts are compared with each other several times in a run.
@functools.lru_cache(maxsize=1 << 15)
def _readable(address: str) -> BmcAddress | None:
    try:
        return parse(address)
    except AddressError:
        return None


def identity_of(address: Any) -> tuple[str, str, int, str] | None:
    """Return the identity of an address as text, None when it can't be read."""
    parts = readable(address)
    return parts.identity if parts else None


def redacted(address: Any) -> str:
    """Return an address of any type for messages, without user name and password."""
    text = redaction.redacted(str(address))
    scheme, found, rest = text.partition("://")
    login, at, after = rest.rpartition("@")
    # In a text of many words a login ends at a space or a quote; here the whole text is the address.
    if found and at and ("@" in rest.partition("/")[0] or _IN_NO_URL.search(login)):
        return f"{scheme}://***@{after}"
    return text

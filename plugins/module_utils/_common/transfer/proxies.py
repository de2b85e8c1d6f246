# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which proxy the environment names for a URL, by the rules of Go's programs, kubectl among them; pure.

Each of Python's libraries has rules of its own: none leaves out this machine, ``urllib`` knows no networks in
``NO_PROXY``, and the package kubernetes takes ``ALL_PROXY``, which may be of SOCKS. Reference for the rules:
``golang.org/x/net/http/httpproxy``.
"""
from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from ..addresses import ip_texts, web_ports


def proxy_of(url: str, environ: Mapping[str, str]) -> str:
    """Return the URL of the proxy by which a server is asked, empty for none.

    :param url: http or https
    :param environ: environment variables
    """
    scheme = urlsplit(url).scheme.lower()
    proxy = _variable(environ, f"{scheme}_proxy") if scheme in web_ports.BY_SCHEME else ""
    if not proxy or is_of_this_machine(url) or is_direct(url, no_proxy_of(environ)):
        return ""
    # As it is often written.
    return proxy if "://" in proxy else f"http://{proxy}"


def no_proxy_of(environ: Mapping[str, str]) -> str:
    """Return which servers the environment has asked without a proxy."""
    return _variable(environ, "no_proxy")


def is_of_this_machine(url: str) -> bool:
    """Return whether a URL names the machine that asks, which another one takes for itself."""
    return ip_texts.is_loopback(urlsplit(url).hostname or "")


def is_direct(url: str, no_proxy: str) -> bool:
    """Return whether a server is asked without a proxy.

    :param url: with a host, whose port is a number
    :param no_proxy: names, with those below them, addresses and networks, separated by commas; of a name or address
        with a port that port only; ``*`` for all
    """
    parts = urlsplit(url)
    host, port = (parts.hostname or "").rstrip("."), parts.port or web_ports.BY_SCHEME.get(parts.scheme.lower())
    return any(_is_meant(entry.strip().lower(), host, port) for entry in no_proxy.split(","))


def _is_meant(entry: str, host: str, port: int | None) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return ip_texts.is_address(host) and _is_in(host, entry)
    name, given_port = _with_port(entry)
    if not name or given_port not in ("", str(port)):
        return False
    if ip_texts.is_address(host):
        return ip_texts.is_same_host(name, host)
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _with_port(entry: str) -> tuple[str, str]:
    """Return an entry's host and its port, empty for any."""
    if entry.startswith("["):
        name, _bracket, port = entry[1:].partition("]")
        return name, port.removeprefix(":")
    # An IPv6 address has no port without brackets.
    name, _colon, port = entry.partition(":")
    return (entry, "") if entry.count(":") > 1 else (name, port)


def _is_in(host: str, network: str) -> bool:
    try:
        # With bits of a host, too, as Go's programs take it.
        return ip_texts.address(host) in ip_texts.interface(network).network
    except ValueError:
        return False


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name.upper()) or environ.get(name) or ""

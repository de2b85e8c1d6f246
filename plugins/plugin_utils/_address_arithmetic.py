# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic with IP addresses for filters, by netaddr: which address is how far away, how many addresses there are."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import addresses as ipam_addresses

try:
    import netaddr
    NETADDR_ERROR = None
except ImportError as exc:
    netaddr = None
    NETADDR_ERROR = exc


def require_netaddr():
    """Refuse to go on without netaddr.

    :raises ValueError: naming what to install, and where
    """
    if netaddr is None:
        raise ValueError("the Python package netaddr is missing where ansible-playbook runs; install it there: "
                         "pip install netaddr") from NETADDR_ERROR


def count(ranges):
    """Return how many different addresses ranges have.

    :param ranges: as ``ipam_addresses.spans_of`` takes them
    :raises ValueError: naming the range that can't be read
    """
    require_netaddr()
    spans = ipam_addresses.spans_of(ranges)
    return netaddr.IPSet(network for span in spans for network in netaddr.iprange_to_cidrs(
        _address(span.first), _address(span.last))).size


def _address(address):
    return netaddr.IPAddress(int(address), address.version)


def shifted(address, offset):
    """Return the address that is ``offset`` after (or before) another, with its prefix length when it has one.

    :param address: as 192.0.2.10 or 192.0.2.10/24
    :param offset: integer
    :raises ValueError: when there is no such address, or it is outside the network of the prefix
    """
    require_netaddr()
    if isinstance(offset, bool) or not isinstance(offset, int):
        raise ValueError(f"offset: found {offset!r}, expected an integer")
    text, slash, dummy = str(address).partition("/")
    first = _address(ipam_addresses.address_of(text))
    try:
        result = first + offset
        network = netaddr.IPNetwork(str(address)) if slash else None
    except IndexError as exc:
        raise ValueError(f"{address} + {offset}: there is no such address") from exc
    except netaddr.AddrFormatError as exc:
        raise ValueError(f"address: found {address!r}, expected an IP address with a prefix length") from exc
    if network is None:
        return str(result)
    if result not in network:
        raise ValueError(f"{address} + {offset}: found {result}, expected an address in {network.cidr}")
    return f"{result}/{network.prefixlen}"

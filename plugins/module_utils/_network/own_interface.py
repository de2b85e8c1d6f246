# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel says of one of this machine's interfaces, in whichever network namespace is asked."""
from __future__ import annotations

import fcntl
import socket
import struct

from .wire_probe import ProbeError

# linux/sockios.h, linux/if.h and linux/if_addr.h; Python has no names for them.
_GET_CARD, _LONGEST_NAME, _LINK_SCOPE = 0x8927, 15, 0x20
# Not /sys: that is of the namespace in which it was mounted.
_ADDRESSES = "/proc/net/if_inet6"


def card(name: str) -> str:
    """Return the MAC address of an interface, six pairs of small digits with colons.

    :param name: of the interface
    :raises ProbeError: when it does not exist
    """
    request = struct.pack("16s24x", name.encode()[:_LONGEST_NAME])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            answer = fcntl.ioctl(asked.fileno(), _GET_CARD, request)
    except OSError as exc:
        raise ProbeError(f"interface {name}: {exc.strerror or exc}; check that it exists (the role "
                         "provisioning_network makes that of a provisioning network)") from exc
    return answer[18:24].hex(":")


def has_ipv6(name: str) -> bool:
    """Return whether an interface has an address of IPv6 with which it reaches more than its wire.

    :param name: of the interface
    """
    try:
        with open(_ADDRESSES, encoding="ascii") as stream:
            # Address, number of the interface, length of the prefix, scope, flags, name.
            lines = [line.split() for line in stream]
    except FileNotFoundError:
        # A kernel without IPv6.
        return False
    return any(line[5] == name and int(line[3], 16) != _LINK_SCOPE for line in lines)

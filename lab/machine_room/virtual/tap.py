"""A virtual NIC's link to the lab's bridge; it vanishes with the last process that has its descriptor."""
from __future__ import annotations

import fcntl
import os
import struct

from ..node_boot import network

TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000


def link_name(index, number, nic):
    """Return a link's name, at most 15 letters.

    :param index: the lab's index
    :param number: the server's number
    :param nic: the NIC's number
    """
    return "m3v%d-%dn%d" % (index, number, nic)


def opened(name):
    """Return the descriptor of a link that is plugged in nowhere yet.

    :param name: at most 15 letters
    :raises OSError: without the right to create links
    """
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def connect(name, bridge):
    """Return the descriptor of a link that is up and plugged into a bridge.

    :param name: see link_name
    :raises OSError: without the right to create links
    :raises NetworkError: when the bridge does not take it
    """
    descriptor = opened(name)
    try:
        network.plug(name, bridge)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor

"""The lab's bridge and each server's cables to it, by ip."""
from __future__ import annotations

import functools
import hashlib
import os
import subprocess

from . import names

TIMEOUT_SECONDS = 20


class NetworkError(Exception):
    """A link can't be made."""


def _ip(*arguments):
    result = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
    if result.returncode:
        raise NetworkError(f"ip {' '.join(arguments)}: {result.stderr.strip()}")
    return result.stdout


def _exists(link):
    return os.path.exists("/sys/class/net/" + link)


def _bridge_mac(name):
    """Return the MAC address of a bridge, a locally administered one by its name.

    Without one of its own a bridge has the lowest of its links, which changes while servers are switched on and off;
    what they send to the one that they know is then lost until they ask for the address again.
    """
    return "02:" + hashlib.sha256(name.encode()).digest()[:5].hex(":")


def ensure_bridge(name, address):
    """Make the bridge unless it is there.

    :param name: the bridge
    :param address: this machine's address on it, with the prefix length
    """
    if not _exists(name):
        try:
            _ip("link", "add", name, "type", "bridge", "forward_delay", "0")
        except NetworkError:
            # Two servers switched on at the same moment.
            if not _exists(name):
                raise
    _ip("address", "replace", address, "dev", name)
    _ip("link", "set", name, "address", _bridge_mac(name), "up")


def plug(link, bridge):
    """Plug a link into a bridge.

    :param link: the link's name
    :param bridge: the bridge's name
    """
    _ip("link", "set", link, "master", bridge, "up")


def connect(index, server, nics, bridge):
    """Make a server's network namespace with one link for each NIC.

    :param nics: list of mappings with ``name`` and ``mac``
    :param bridge: the bridge's name
    """
    namespace = names.network_namespace(index, server)
    _ip("netns", "add", namespace)
    for nic in nics:
        link = names.host_link(index, server, nic["name"])
        _ip("link", "add", link, "type", "veth",
            "peer", "name", nic["name"], "address", nic["mac"], "netns", namespace)
        plug(link, bridge)


def _remove(exists, *arguments):
    """Remove a thing that may vanish by itself or by another's hand."""
    if exists():
        try:
            _ip(*arguments)
        except NetworkError:
            if exists():
                raise


def disconnect(index, server, nics):
    """Remove what connect() made, as far as it is there."""
    namespace = names.network_namespace(index, server)
    _remove(lambda: os.path.exists("/run/netns/" + namespace), "netns", "delete", namespace)
    for nic in nics:
        link = names.host_link(index, server, nic["name"])
        _remove(functools.partial(_exists, link), "link", "delete", link)

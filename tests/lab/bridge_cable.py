# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on the lab's bridge: a network namespace with a cable that is plugged into it."""
from __future__ import annotations

import contextlib
import subprocess

INTERFACE = "wire"


@contextlib.contextmanager
def plugged(lab, namespace, port, address=""):
    """Make the namespace with one interface for a time.

    :param namespace: its name
    :param port: name of the bridge's end of the cable
    :param address: of the interface, with the length of its network; none when left out
    """
    ip("netns", "add", namespace)
    try:
        ip("link", "add", port, "type", "veth", "peer", "name", INTERFACE, "netns", namespace)
        ip("link", "set", "dev", port, "master", lab.figures["bridge"]["name"], "up")
        if address:
            ip("-n", namespace, "address", "add", address, "dev", INTERFACE)
        for link in ("lo", INTERFACE):
            ip("-n", namespace, "link", "set", "dev", link, "up")
        yield
    finally:
        # Its cable goes with it.
        ip("netns", "delete", namespace)


def ip(*arguments):
    """Run the program ``ip``."""
    subprocess.run(["ip", *arguments], check=True, timeout=60)

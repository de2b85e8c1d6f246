"""What a server's namespaces, links and groups are called: all of it follows from the lab and the server."""
from __future__ import annotations

import hashlib


def lab_group(index):
    """Return the name of the control group with all nodes of a lab.

    :param index: the lab's index
    """
    return f"m3lab{index}"


def network_namespace(index, server):
    """Return the name of a server's network namespace."""
    return f"m3lab{index}-{server}"


def host_link(index, server, nic):
    """Return the name of the bridge's end of a cable: a link's name has at most 15 characters.

    :param nic: the NIC's name
    """
    text = f"{network_namespace(index, server)}/{nic}"
    return f"m3v{hashlib.sha256(text.encode()).hexdigest()[:10]}"

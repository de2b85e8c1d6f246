"""Removes what a node leaves behind on this machine, however it ended; finds it by name, so it can run at any time."""
from __future__ import annotations

from . import cgroups, network


def release(index, server, nics):
    """Remove a node's control group and links; loop devices and mounts end with its last process.

    :param index: the lab's index
    :param server: the server's name
    :param nics: its NICs, a list of mappings with ``name``
    """
    cgroups.NodeGroup(cgroups.of_this_machine(), index, server).remove()
    network.disconnect(index, server, nics)

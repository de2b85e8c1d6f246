# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an Ironic in several processes or pods talks to itself, by JSON-RPC; pure."""
from __future__ import annotations

# Ironic's default. With another one Ironic 39.0 names a conductor with its port in the list of conductors, and without
# it in locks on nodes (ironic/conductor/base_manager.py, task_manager.py), so that those of a lost conductor are never
# found.
PORT = 8089
# More than a machine has cores for add nothing; the role ironic has as many choices.
CONDUCTORS_LIMIT = 4


def conductor_addresses(etcd_port: int) -> list[str]:
    """Return the addresses of the conductors of a plane of processes, in their order.

    Only processes of this machine talk to each other, so that they are of the loopback interface. Each conductor needs
    one of its own, which is its name, too, since all have one port.

    :param etcd_port: port of the plane's etcd, which each plane of the machine has for itself, on loopback; two planes
        at two addresses may have the same port of Ironic
    """
    return [f"127.{etcd_port // 256}.{etcd_port % 256}.{number}" for number in range(1, CONDUCTORS_LIMIT + 1)]

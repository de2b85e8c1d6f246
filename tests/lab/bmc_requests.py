# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asked the lab's BMCs for what, by their own logs; whether two Ironics had power over a host.

An Ironic of the lab's machine asks from an address of that machine, one in a pod from that of its node: the pod is in
the node's network. What else asks from there says so by its user agent.
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from machine_room.access_log import CHASSIS_CONTROL, FILE, IPMI, SESSIONLESS
from machine_room.bounded_log import now

# Of sushy, by the library that it asks with; the collection has one of its own.
IRONICS_AGENT = "python-requests/"
WRITES = ("POST", "PATCH", "PUT")
SWITCHES = ("/Actions/ComputerSystem.Reset", "/Actions/Chassis.Reset")


class Request(NamedTuple):
    """A request to a BMC.

    :ivar moment: when it arrived; such texts sort by time
    :ivar server: name of the server, empty for a request that names none
    """

    moment: str
    server: str
    address: str
    port: int
    method: str
    path: str
    status: int | None
    user_agent: str

    def __str__(self):
        return (f"{self.moment} {self.server or 'no server'}: {self.method} {self.path} by {self.address} "
                f"({self.user_agent or 'no user agent'})")


def read(path, server):
    """Return the Requests in a BMC's log and in the one before it, the oldest first; and whether others were before.

    :param path: of the log; it is there once somebody has asked
    :param server: whose it is
    """
    found, former = [], Path(f"{path}.1")
    for file in (former, Path(path)):
        if file.exists():
            found += [Request(server=server, **json.loads(line)) for line in file.read_text().splitlines()]
    return found, former.exists()


def by_ironic(request):
    """Return whether a request is one of Ironic's, as far as its kind says."""
    if request.method == IPMI:
        return request.path != SESSIONLESS
    return request.user_agent.startswith(IRONICS_AGENT)


def switches(request):
    """Return whether a request switches a server on or off, or resets it."""
    if request.method == IPMI:
        return request.path == CHASSIS_CONTROL
    return request.method in WRITES and request.path.endswith(SWITCHES)


def mistakes(requests, since, former, new):
    """Return what speaks against one Ironic after the other having had power over the hosts, in words.

    :param requests: all Requests that are known, those of before the handover too
    :param since: moment before the handover
    :param former: addresses from which the Ironic asks that lets go
    :param new: addresses from which the one asks that takes over
    """
    requests = sorted(requests, key=lambda item: item.moment)
    asked = [item for item in requests if by_ironic(item)]
    ours = [item for item in asked if item.address in former]
    theirs = [item for item in asked if item.address in new and item.moment >= since]
    found = []
    if not ours:
        found.append("the Ironic that lets go is in no log: nothing shows that it would be known")
    if theirs:
        found += [f"both ask: {item}, after {theirs[0]}" for item in ours if item.moment >= theirs[0].moment]
    else:
        found.append(f"the Ironic that takes over has asked no BMC since {since}")
    return found + [f"switched: {item}" for item in requests if item.moment >= since and switches(item)]


class BmcLogs:
    """The logs of all BMCs of a lab; what counts begins now.

    :param lab: the Lab
    """

    def __init__(self, lab):
        self._lab, self.since = lab, now()
        self._own = {"127.0.0.1", lab.figures["bridge"]["address"].partition("/")[0]}

    def requests(self):
        """Return all Requests of the logs."""
        folders = dict((name, self._lab.dir / "machines" / name) for name in self._lab.servers)
        found = []
        for server, folder in [*folders.items(), ("", self._lab.dir / "redfish")]:
            path = folder / FILE
            of_server, is_cut = read(path, server)
            assert not is_cut or of_server[0].moment <= self.since, f"{path} does not reach back to {self.since}"
            found += of_server
        return found

    def mistakes(self, back=False):
        """Return what speaks against a handover between this machine's Ironic and one elsewhere.

        :param back: whether the one elsewhere has let go
        """
        requests = self.requests()
        sides = [self._own, set(item.address for item in requests) - self._own]
        return mistakes(requests, self.since, *(reversed(sides) if back else sides))

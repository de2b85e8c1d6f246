# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of Redfish services on loopback, a port each, in a process of its own.

Run as a program: ``redfish_fleet.py COUNT LATENCY_SECONDS`` prints the ports as JSON and serves until its standard
input ends. The resources are those of the unit tests' HPE server, with an identity of its own for each.
"""
from __future__ import annotations

import copy
import json
import sys
from contextlib import ExitStack

from fakes.redfish import FakeRedfish, tree

SYSTEM = "/redfish/v1/Systems/1"


def server(resources, number):
    """Return the resources of one server of the fleet."""
    own = copy.deepcopy(resources)
    for path, resource in own.items():
        # Required by the standard, and by sushy's objects.
        resource.setdefault("Id", path.rpartition("/")[2])
        resource.setdefault("Name", path)
    own[SYSTEM].update(UUID=f"39373638-3935-584d-5139-{number:012d}", SerialNumber=f"MXQ{number:05d}")
    own[SYSTEM + "/EthernetInterfaces/1"]["MACAddress"] = "00:5c:52:%02x:%02x:01" % divmod(number, 256)
    # An account that may set power and boot.
    own["/redfish/v1/AccountService/Accounts/1"]["RoleId"] = "Administrator"
    own["/redfish/v1/AccountService/Roles/ReadOnly"].update(
        Id="Administrator", AssignedPrivileges=["Login", "ConfigureManager", "ConfigureComponents"])
    own[SYSTEM + "/SecureBoot"]["SecureBootEnable"] = False
    return own


def main():
    """Serve the fleet."""
    count, latency_seconds = int(sys.argv[1]), float(sys.argv[2])
    resources = tree("hpe")
    with ExitStack() as stack:
        fleet = [stack.enter_context(FakeRedfish(server(resources, number), latency_seconds=latency_seconds))
                 for number in range(count)]
        print(json.dumps([bmc.port for bmc in fleet]), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()

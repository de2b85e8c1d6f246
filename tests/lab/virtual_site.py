# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site of the tests of virtual servers: tests/lab/data/metal with what a test adds to it."""
from __future__ import annotations

import json
import subprocess

from support import REPOSITORY

# By the way in which they boot.
IPXE, MEDIA, IPMI, HTTP = "server-01", "server-02", "server-03", "server-04"
# TCG, and four servers at a time on two cores.
BOOT_SECONDS = 3000


def disk_type(disk):
    """Return the type of a disk as a host's hardware has it; the operator goes by the kernel's name of the device.

    :param disk: its entry in the server's
    """
    return "NVME" if disk["bus"] == "nvme" else "HDD" if disk["rotational"] else "SSD"


def cards(hardware):
    """Return a host's NICs as ``(name, MAC address, address)``, each once, in their order.

    The host has one for each family of addresses; that of IPv6 that a card gives itself is left out.

    :param hardware: ``status.hardware`` of the host
    """
    found = {}
    for nic in hardware["nics"]:
        address = nic.get("ip", "")
        known = found.get((nic["name"], nic["mac"]))
        found[nic["name"], nic["mac"]] = known or ("" if address.startswith("fe80:") else address)
    return [(name, mac, address) for (name, mac), address in found.items()]


def inventory_arguments(folder, hosts):
    """Write an inventory that adds variables to those of the lab's servers, and return a playbook's arguments.

    :param folder: a folder of the test's
    :param hosts: {name: variables}
    """
    path = folder / "hosts.json"
    path.write_text(json.dumps({"metal_servers": {"hosts": hosts}}))
    return "-i", str(REPOSITORY / "inventory" / "metal"), "-i", str(path)


def in_system(lab, name, command):
    """Run a command in the system of a server that playbook metal has logged in to, and return what it prints."""
    folder, address = lab.dir / "secrets" / "ssh", lab.servers[name]["nics"][0]["address"]
    done = subprocess.run(
        ["ssh", "-i", folder / "user_key", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=yes",
         "-o", f"UserKnownHostsFile={folder / 'known_hosts'}", f"root@{address}", command],
        capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A DHCP server of somebody else on the lab's bridge: the installation server of another department."""
from __future__ import annotations

import contextlib
import ipaddress
import subprocess

import bridge_cable

NAME = "foreign-dhcp"
# UEFI firmware takes an offer with a menu of boot servers before all others, whichever came first.
SETTINGS = """\
port=0
interface=wire
except-interface=lo
bind-dynamic
log-dhcp
no-ping
dhcp-authoritative
dhcp-range={first},{last},{netmask},600
dhcp-option=option:router
enable-tftp
tftp-root={folder}
pxe-prompt="Another department",0
pxe-service=x86-64_EFI,"Installation",other.efi
pxe-service=BC_EFI,"Installation",other.efi
dhcp-leasefile={folder}/leases
"""


@contextlib.contextmanager
def running(lab, folder):
    """Run it, on a cable of its own that is plugged into the bridge, and give the path of its log.

    :param folder: an empty folder, from which it serves nothing by TFTP
    """
    network = ipaddress.ip_network(lab.figures["bridge"]["network"])
    settings = SETTINGS.format(folder=folder, first=network[210], last=network[220], netmask=network.netmask)
    (folder / "dnsmasq.conf").write_text(settings)
    log = folder / "log"
    with bridge_cable.plugged(lab, NAME, "m3foreign", f"{network[209]}/{network.prefixlen}"):
        server = subprocess.Popen(["ip", "netns", "exec", NAME, "dnsmasq", "--keep-in-foreground", "--user=root",
                                   "--group=root", "--pid-file=", f"--conf-file={folder / 'dnsmasq.conf'}",
                                   f"--log-facility={log}"])
        try:
            yield log
        finally:
            server.terminate()
            server.wait(60)

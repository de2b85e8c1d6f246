# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A DHCP server of somebody else on the lab's bridge: the installation server of another department."""
from __future__ import annotations

import contextlib
import ipaddress
import subprocess

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
    bridge, network = lab.figures["bridge"]["name"], ipaddress.ip_network(lab.figures["bridge"]["network"])
    settings = SETTINGS.format(folder=folder, first=network[210], last=network[220], netmask=network.netmask)
    (folder / "dnsmasq.conf").write_text(settings)
    log = folder / "log"
    _ip("netns", "add", NAME)
    try:
        _ip("link", "add", "m3foreign", "type", "veth", "peer", "name", "wire", "netns", NAME)
        _ip("link", "set", "dev", "m3foreign", "master", bridge, "up")
        _ip("-n", NAME, "address", "add", f"{network[209]}/{network.prefixlen}", "dev", "wire")
        for link in ("lo", "wire"):
            _ip("-n", NAME, "link", "set", "dev", link, "up")
        server = subprocess.Popen(["ip", "netns", "exec", NAME, "dnsmasq", "--keep-in-foreground", "--user=root",
                                   "--group=root", "--pid-file=", f"--conf-file={folder / 'dnsmasq.conf'}",
                                   f"--log-facility={log}"])
        try:
            yield log
        finally:
            server.terminate()
            server.wait(60)
    finally:
        # Its cable goes with it.
        _ip("netns", "delete", NAME)


def _ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, timeout=60)

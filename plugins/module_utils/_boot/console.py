# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the serial console of a booting server says of why it does not get on; pure.

What is on a console is what its firmware and the system that it boots make it: it is looked through for known signs,
and nothing of it is repeated in a text.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Its advice is the same, whatever the loader of a medium says once that is gone, and when it says nothing any more.
_MEDIUM_GONE = "check whether its BMC was restarted or has let go of the medium"
_NO_LOADER = ("its firmware gets no answer from where it is to read its boot loader",
              "check TFTP (UDP port 69 and those above 1023), firewalls, and whether another DHCP server has answered")
_NO_ADDRESS = ("its firmware gets no answer by DHCP",
               "check that the DHCP server runs, the port's VLAN and cable, and what other DHCP servers have answered")
# EDK2's word for both, of which it names a boot loader only when DHCP has.
_NO_ANSWER = re.compile(r"PXE-E18\b")
_PXE_BEGINS = re.compile(r">>Start PXE over")
_LOADER_NAMED = re.compile(r"NBP file(?:name|size) is")
# The first sign that matches a line counts. Firmware is EDK2 and its descendants, boot loaders are shim, GRUB and iPXE,
# the rest is Linux, Python's ssl and Ironic's agent.
_SIGNS = tuple((re.compile(pattern), (cause, next_step)) for pattern, cause, next_step in (
    (r"Kernel panic - not syncing", "its kernel has stopped by a panic",
     "check its ramdisk, kernel parameters and memory by what its console says"),
    (r"certificate is not yet valid", "its agent takes a certificate for one that is not valid yet",
     "set the server's clock, or give its ramdisk a time server (ntp_servers of agent_image)"),
    (r"certificate has expired", "its agent takes a certificate for one that has expired",
     "renew it, or set the server's clock"),
    (r"unable to get (?:local )?issuer certificate|self[- ]signed certificate",
     "its agent does not trust a certificate",
     "give its ramdisk the authority that signed it (ca_certificates of agent_image)"),
    # Not PXE-E16, no offer: firmware says it of IPv6, too, on a network that has none, after whatever else went wrong.
    (r"PXE-E(?:11|12|18|32|35)\b", *_NO_LOADER),
    (r"PXE-E(?:23|36|37|3B|3C|99)\b", "the TFTP server refuses its boot loader",
     "check the loader's name and the folder of the TFTP server"),
    (r"Security (?:Policy )?Violation|Access Denied", "secure boot has refused its boot loader",
     "give one that its firmware's keys have signed, or switch secure boot off (boot_mode)"),
    # GRUB of a medium that was there when it was loaded finds no file system on it, and stays at its prompt.
    (r'failure reading sector|I/O error, dev sr\d|error: unknown filesystem|error: no such device: /\.disk/|'
     r'Failed to open \S{1,200} - No Media|'
     r'failed to start Boot[0-9A-F]{4} "[^"]{0,80}\b(?:CD|DVD)', "it cannot read its boot medium any more",
     _MEDIUM_GONE),
))
# How far a system from a disk is, in the order in which they come; of one line the last one counts. EDK2, GRUB, Linux,
# systemd, cloud-init, agetty.
_STAGES = tuple((re.compile(pattern), text) for pattern, text in (
    (r'starting Boot[0-9A-F]{4} "(?![^"]{0,80}\b(?:CD|DVD|PXE|HTTP|Shell))|Booting from Hard Disk',
     "its firmware starts a disk"),
    (r"Welcome to GRUB!|GNU GRUB +version", "its boot loader runs"),
    (r"\] Linux version \d", "its kernel has started"),
    (r"systemd\[1\]: .{0,80}running in system mode|Welcome to (?!GRUB).{1,80}!\s*$", "its system starts"),
    (r"Cloud-init v\. .{1,80} running 'modules:final'|cloud-init\[\d+\]: .{0,200}finished at", "cloud-init has run"),
    # What agetty prints before its question, which ends no line.
    (r"^[A-Z].{1,80} tty(?:S|AMA)\d{1,3}\s{0,3}$", "its console asks for a login"),
))
# EDK2, SeaBIOS.
_STARTED = re.compile(r'starting Boot[0-9A-F]{4} "[^"]{0,80}\b(?:CD|DVD)|Booting from (?:DVD|CD)')
# A loader that reads kernel and ramdisk from a medium of a BMC says nothing meanwhile.
SILENT_SECONDS = 300
SILENT = ("its console is silent since its boot medium was started", _MEDIUM_GONE)


class Signs:
    """Known signs on one console, whose lines come in parts."""

    def __init__(self) -> None:
        # Whether a boot by PXE has got to the name of a boot loader; None when its beginning was not read.
        self._is_loader_named: bool | None = None

    def take(self, lines: Iterable[str]) -> tuple[str, str] | None:
        """Return cause and next step of the last line with a known sign, None when there is none.

        :param lines: the next lines, in order
        """
        found = None
        for line in lines:
            if _PXE_BEGINS.search(line):
                self._is_loader_named = False
            elif _LOADER_NAMED.search(line):
                self._is_loader_named = True
            found = self._meaning(line) or found
        return found

    def _meaning(self, line: str) -> tuple[str, str] | None:
        meaning = next((meaning for pattern, meaning in _SIGNS if pattern.search(line)), None)
        is_of_dhcp = meaning == _NO_LOADER and self._is_loader_named is False and _NO_ANSWER.search(line)
        return _NO_ADDRESS if is_of_dhcp else meaning


def stage(lines: Iterable[str]) -> str:
    """Return how far a system that boots from a disk is by the last line that says it, empty when none does.

    :param lines: lines of a console, in order
    """
    found = ""
    for line in lines:
        found = next((text for pattern, text in reversed(_STAGES) if pattern.search(line)), "") or found
    return found


def is_medium_started(lines: Sequence[str]) -> bool:
    """Return whether the last that a console says is that its firmware has started the loader of a medium.

    :param lines: lines of the console, in order
    """
    last = next((line for line in reversed(lines) if line.strip()), "")
    return _STARTED.search(last) is not None

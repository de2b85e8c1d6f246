# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a booting server did last, from the lines of the logs of DHCP, TFTP and the web server; pure.

Lines are what clients of the provisioning network make them: of what they ask for, only known forms are taken, and
nothing of them is repeated in a text.
"""
from __future__ import annotations

import re
from collections import namedtuple
from typing import Any

# at: reading of the caller's clock, in seconds.
Trace = namedtuple("Trace", ["text", "at"])

_HEX = "[0-9A-Fa-f]"
_UUID = f"({_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})"
# dnsmasq's, with log-dhcp or without, in the system's log, a file, or on its standard error as in a pod.
_DHCP = re.compile(r"\bDHCP(DISCOVER|OFFER|ACK)\([^)\s]{1,20}\) "
                   rf"(?:([0-9.]{{7,15}}) )?((?:{_HEX}{{2}}:){{5}}{_HEX}{{2}})"
                   r"(?: (ignored|no address available)|\b)")
_TFTP = re.compile(r"\bdnsmasq-tftp(?:\[\d{1,10}\])?: (sent|failed sending) \S{1,4096} to ([0-9A-Fa-f.:]{3,45})$")
# The combined format of nginx and Apache.
_WEB = re.compile(r"^([0-9A-Fa-f.:]{3,45}) \S{1,80} \S{1,80} \[[^\]]{1,40}\] "
                  r'"(GET|POST) (/\S{0,2048}) HTTP/[0-9.]{1,3}" ([0-9]{3}) ')
_BY_MAC = re.compile(rf"/pxelinux\.cfg/(?:01-)?((?:{_HEX}{{2}}-){{5}}{_HEX}{{2}})$")
_BY_NODE = (
    (re.compile(rf"/{_UUID}/(?:deploy_|rescue_)?kernel$"), "the kernel", True),
    (re.compile(rf"/{_UUID}/(?:deploy_|rescue_)?ramdisk$"), "the ramdisk", True),
    (re.compile(rf"/(?:boot|deploy)-{_UUID}\.iso$"), "the boot image", False),
)
_HEARTBEAT = re.compile(rf"/v1/heartbeat/{_UUID}$")
_LOOKUP = re.compile(rf"/v1/lookup\?(?:\S*&)?node_uuid={_UUID}(?:&|$)")
_INVENTORY = re.compile(r"/v1/continue_inspection(?:\?|$)")
_DHCP_STEPS = {"DISCOVER": "asked for an address by DHCP", "OFFER": "was offered an address by DHCP",
               "ACK": "has an address by DHCP"}
# After so long firmware has gone on to the next, or something keeps it.
STUCK_SECONDS = 60
# Later it is another boot.
_ASKED_AGAIN_SECONDS = 600
# Texts of a trace → what is said instead, and what to check.
_STUCK = {
    _DHCP_STEPS["OFFER"]: ("has taken no address of this DHCP server since its offer",
                           "check the wire for another DHCP server (provisioning_dhcp)"),
    _DHCP_STEPS["ACK"]: ("has read nothing since its address by DHCP",
                         "check TFTP (UDP port 69 and those above 1023), the name of its boot loader, and firewalls"),
}
# Firmware of servers takes minutes from its power on to its first question.
NO_DHCP_SECONDS = 300
NO_DHCP = ("left no trace in DHCP's log since it was found powered on",
           "check that the DHCP server runs, the port's VLAN and cable, and the boot order")
_DHCP_TEXTS = {"ignored": "DHCP ignores its MAC address", "no address available": "DHCP has no free address"}


def stuck(trace: Trace, now: float) -> tuple[str, str]:
    """Return what a trace says, and what to check when it has stayed the last one for a while, else an empty text.

    :param trace: a Trace
    :param now: reading of the caller's clock, in seconds
    """
    return _STUCK.get(trace.text, (trace.text, "")) if now - trace.at >= STUCK_SECONDS else (trace.text, "")


class Traces:
    """The last trace of each server, by MAC address and by the UUID of its node.

    :ivar known: the keys that lines are taken for, in lower case: MAC addresses and UUIDs of nodes
    """

    def __init__(self) -> None:
        self.known: frozenset[str] = frozenset()
        self._last: dict[str, Trace] = {}
        # Which server has an address; None for one that several have.
        self._owners: dict[str, str | None] = {}

    def last(self, keys: Any) -> Trace | None:
        """Return the newest Trace of a server, or None.

        :param keys: its MAC addresses and the UUID of its node, in lower case
        """
        found = [self._last[key] for key in keys if key in self._last]
        return max(found, key=lambda trace: trace.at, default=None)

    def take(self, line: str, now: float) -> None:
        """Take a line of any of the logs; one of another form is passed over.

        :param line: the line, without its end
        :param now: reading of the caller's clock, in seconds
        """
        match = _DHCP.search(line)
        if match:
            return self._dhcp(now, *match.groups())
        match = _TFTP.search(line)
        if match:
            text = "read a file by TFTP" if match.group(1) == "sent" else "a transfer by TFTP to it failed"
            return self._note(self._owners.get(match.group(2)), text, now)
        match = _WEB.match(line)
        return self._web(now, *match.groups()) if match else None

    def _dhcp(self, now: float, kind: str, address: str | None, mac: str, refused: str | None) -> None:
        if refused:
            return self._note(mac, _DHCP_TEXTS[refused], now)
        if kind == "ACK" and address and mac.lower() in self.known:
            self._owners[address] = mac.lower()
        return self._note(mac, _DHCP_STEPS[kind], now)

    def _web(self, now: float, client: str, method: str, path: str, status: str) -> None:
        if method == "POST":
            match = _HEARTBEAT.search(path)
            if match:
                self._own(client, match.group(1))
                return self._note(match.group(1), "its agent called", now)
            if _INVENTORY.search(path):
                return self._note(self._owners.get(client), "its agent has delivered the inventory", now)
            return None
        match = _LOOKUP.search(path)
        if match:
            self._own(client, match.group(1))
            return self._note(match.group(1), _answered("its agent has asked for its node", status), now)
        match = _BY_MAC.search(path)
        if match:
            mac = match.group(1).replace("-", ":")
            self._own(client, mac)
            return self._note(mac, _answered("read its boot script", status), now)
        for pattern, what, is_server in _BY_NODE:
            match = pattern.search(path)
            if match:
                if is_server:
                    self._own(client, match.group(1))
                return self._note(match.group(1), _answered(f"read {what}", status), now)
        return None

    def _own(self, address: str, key: str) -> None:
        if key.lower() not in self.known:
            return
        owner = self._owners.setdefault(address, key.lower())
        # A MAC address and a node may be of one server; two of a kind are of two, behind one address.
        if owner is not None and owner != key.lower() and (":" in owner) == (":" in key):
            self._owners[address] = None

    def _note(self, key: str | None, text: str, now: float) -> None:
        if key is None or key.lower() not in self.known:
            return
        last = self._last.get(key.lower())
        # Firmware asks again, by each of its ways to boot: what it was offered first is what it did not take.
        again = last is not None and last.text == _DHCP_STEPS["OFFER"] and now - last.at < _ASKED_AGAIN_SECONDS
        if not (again and text in (_DHCP_STEPS["DISCOVER"], _DHCP_STEPS["OFFER"])):
            self._last[key.lower()] = Trace(text, now)


def _answered(text: str, status: str) -> str:
    """Return what a server did, or that it was refused: by what the web server has answered."""
    return text if status[0] in "23" else f"{text.replace('read ', 'asked for ')}: HTTP {status}"

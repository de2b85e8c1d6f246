# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a network namespace of its own: dnsmasq on one end of a cable, questions as firmware asks them on the other.

Arguments: a folder with files ``<interface>.conf``, one dnsmasq for each; then questions as JSON, those with ``macs``
by IPv6, those with ``dhcp`` as the module network_check asks them. Prints the answers.
"""
from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time

from ansible_collections.metal3.baremetal.plugins.module_utils._network import (
    dhcp_probe,
    ipv6_probe,
    own_interface,
    reach,
)

START_SECONDS = 10
# A server that has an address to choose asks by ICMP, for 3 seconds, whether somebody has it.
LISTEN_SECONDS = 7


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def checked(question):
    checks, found = reach.check({"timeout_seconds": LISTEN_SECONDS, "dhcp": question["dhcp"]})
    return {"found": [entry["found"] for entry in checks], "problems": [str(problem) for problem in found]}


def asked(question):
    if "dhcp" in question:
        return checked(question)
    if "macs" not in question:
        return [offer._asdict() for offer in dhcp_probe.offers("client", seconds=LISTEN_SECONDS, **question)]
    interface = question.pop("interface", "client")
    macs = [*question.pop("macs"), own_interface.card(interface)]
    found = ipv6_probe.ask(interface, macs, LISTEN_SECONDS, **question)
    return {kind: [answer._asdict() for answer in answers] for kind, answers in found._asdict().items()}


def main():
    folder, questions = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
    # An address that is yet to be tried is nobody's sender: a server would answer from another one.
    pathlib.Path("/proc/sys/net/ipv6/conf/default/accept_dad").write_text("0")
    ip("link", "set", "lo", "up")
    ip("link", "add", "wire", "type", "bridge")
    ip("link", "set", "wire", "up")
    servers = []
    try:
        for position, file in enumerate(sorted(folder.glob("*.conf")), 1):
            name = file.stem
            # A card of its own number, so that its link-local address is known.
            ip("link", "add", name, "address", f"02:00:00:00:00:{position:02x}", "type", "veth", "peer", "name",
               f"p{position}")
            ip("link", "set", f"p{position}", "master", "wire", "up")
            ip("addr", "add", f"172.22.0.{position}/24", "dev", name)
            ip("addr", "add", f"fd00:22::{position}/64", "dev", name, "nodad")
            ip("link", "set", name, "up")
            # By its configuration.
            log = folder / f"{name}.log"
            servers.append(subprocess.Popen(["dnsmasq", "--keep-in-foreground", f"--conf-file={file}", "--user=root",
                                             "--group=root", "--pid-file="]))
            deadline = time.monotonic() + START_SECONDS
            while not (log.exists() and "IP range" in log.read_text()):
                if servers[-1].poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"dnsmasq on {name} did not start: {log.read_text() if log.exists() else 'no log'}")
                time.sleep(0.05)
        ip("link", "add", "client", "type", "veth", "peer", "name", "pc")
        ip("link", "set", "pc", "master", "wire", "up")
        ip("link", "set", "client", "up")
        print(json.dumps([asked(question) for question in questions]))
    finally:
        for server in servers:
            server.terminate()
            server.wait()


main()

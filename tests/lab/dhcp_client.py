# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on the lab's bridge whose firmware asks for an address and for what it boots, and takes neither.

As a program, in the machine's network namespace: one argument, the question as JSON; prints the offers.
"""
from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

import bridge_cable

from ansible_collections.metal3.baremetal.plugins.module_utils._network import dhcp_probe

NAME, PORT = "dhcp-client", "m3client"
# A server that has an address to choose asks by ICMP, for 3 seconds, whether somebody has it.
LISTEN_SECONDS = 8


@contextlib.contextmanager
def asking(lab):
    """Give a callable that asks all servers of the bridge, as ``dhcp_probe.offers``, and returns their offers."""
    def ask(**question):
        done = subprocess.run(
            ["ip", "netns", "exec", NAME, sys.executable, __file__, json.dumps(question)], capture_output=True,
            text=True, check=False, timeout=120,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with bridge_cable.plugged(lab, NAME, PORT):
        yield ask


if __name__ == "__main__":
    print(json.dumps([offer._asdict() for offer in dhcp_probe.offers(
        bridge_cable.INTERFACE, seconds=LISTEN_SECONDS, **json.loads(sys.argv[1]))]))

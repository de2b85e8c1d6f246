# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a network namespace of its own: two machines on a cable, each a namespace with a real keepalived.

Argument: a folder with ``first.conf`` and ``second.conf``. Prints, as JSON, who holds the address with both, after the
check of the first one fails, and after it answers again.
"""
from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import time

HELD = "172.22.0.2/"
PORT = 6385
SECONDS = 60


class Machine:
    """A namespace with one end of the cable as ``prov``."""

    def __init__(self, name, address, folder):
        # What holds the namespace until the cable is there, and ends with its input.
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo ready; exec cat"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == b"ready\n"
        self.inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        self.address, self.folder, self.name = address, folder, name
        self.keepalived = None

    def plug(self):
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "addr", "add", f"{self.address}/24", "dev", "prov")
        self.run("ip", "link", "set", "prov", "up")

    def run(self, *command):
        return subprocess.run([*self.inside, *command], check=True, capture_output=True, text=True).stdout

    def start(self):
        path = self.folder / self.name
        with open(f"{path}.log", "wb") as log:
            self.keepalived = subprocess.Popen(
                [*self.inside, "keepalived", "--dont-fork", "--log-console", "--vrrp", f"--use-file={path}.conf",
                 f"--pid={path}.pid", f"--vrrp_pid={path}.vrrp"], stdout=log, stderr=log)

    def holds(self):
        return HELD in self.run("ip", "-oneline", "addr", "show", "dev", "prov")

    def end(self):
        if self.keepalived:
            self.keepalived.terminate()
            self.keepalived.wait(30)
        self.holder.stdin.close()
        self.holder.wait(30)


@contextlib.contextmanager
def answering(machine):
    """A program in a machine that listens on the port of the check."""
    code = f"import socket, sys; s = socket.create_server(('{machine.address}', {PORT})); print('up', flush=True); " \
           "sys.stdin.read()"
    with subprocess.Popen([*machine.inside, sys.executable, "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        yield
        process.stdin.close()


def held_by(machines, wanted):
    """Wait until one machine alone holds the address; return the names of those that do in the end."""
    deadline, found = time.monotonic() + SECONDS, []
    while time.monotonic() < deadline:
        found = [machine.name for machine in machines if machine.holds()]
        if found == [wanted]:
            break
        time.sleep(0.2)
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    machines = [Machine("first", "172.22.0.11", folder), Machine("second", "172.22.0.12", folder)]
    first, second = machines
    try:
        subprocess.run(["ip", "link", "add", "prov", "netns", str(first.holder.pid), "type", "veth", "peer", "name",
                        "prov", "netns", str(second.holder.pid)], check=True)
        for machine in machines:
            machine.plug()
        answers = []
        with answering(second):
            with answering(first):
                for machine in machines:
                    machine.start()
                answers.append(held_by(machines, "first"))
            answers.append(held_by(machines, "second"))
            with answering(first):
                answers.append(held_by(machines, "first"))
        print(json.dumps(answers))
    finally:
        for machine in machines:
            machine.end()


if __name__ == "__main__":
    main()

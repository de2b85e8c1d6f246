# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What servers print, read from their files: asking the machine room returns whole consoles each time."""
from __future__ import annotations

import os
from pathlib import Path

from support import eventually


class Console:
    """What a server prints from now on.

    :param path: its file; a grown one becomes ``<path>.1`` (lab/machine_room/console.py)
    """

    def __init__(self, path):
        self._path = Path(path)
        self._inode, self._position, self._rest = None, 0, b""
        for dummy in self.lines():
            pass

    def lines(self):
        """Return the lines that were printed since the last call."""
        found = b""
        try:
            with self._path.open("rb") as stream:
                inode = os.fstat(stream.fileno()).st_ino
                if inode != self._inode:
                    found, self._inode, self._position = self._left_behind(), inode, 0
                stream.seek(self._position)
                found += stream.read()
                self._position = stream.tell()
        except FileNotFoundError:
            return []
        *lines, self._rest = (self._rest + found).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def _left_behind(self):
        """Return what was printed into the file that has become the old one."""
        old = self._path.with_name(self._path.name + ".1")
        if self._inode is None or not old.exists() or old.stat().st_ino != self._inode:
            return b""
        return old.read_bytes()[self._position:]


class Bmc:
    """How a server is reset from now on, by its BMC's own words."""

    def __init__(self, lab, name):
        self._console = Console(lab.dir / "machines" / name / "console.log")
        self._lines = []

    def lines(self):
        """Return all that was printed since this was made."""
        self._lines += self._console.lines()
        return self._lines

    def resets(self):
        """Return the kinds of reset in their order, as Redfish names them."""
        return [line.rpartition("BMC: reset ")[2] for line in self.lines() if "BMC: reset " in line]


def next_to_print(lab, text, seconds):
    """Return a function that waits for a server whose console prints a text from now on, and returns its name."""
    consoles = dict((name, Console(lab.dir / "machines" / name / "console.log")) for name in lab.servers)

    def printed():
        return next((name for name, console in consoles.items() if any(text in line for line in console.lines())), None)

    return lambda: eventually(printed, seconds, f"a server that prints {text!r}", interval_seconds=0.5)


def resets(lab):
    """Return a function that says which servers' BMCs were asked for a reset since."""
    bmcs = dict((name, Bmc(lab, name)) for name in lab.servers)
    return lambda: sorted(name for name, bmc in bmcs.items() if bmc.resets())

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of systemd_machine that runs as long as this program, for those whose steps are programs of their own.

What is written there is in memory. Beside it there is a program to enter it, which takes ssh's place: its last argument
is what the machine's shell runs.

Usage: kept_machine.py FOLDER
"""
from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import threading
from pathlib import Path

import systemd_machine
from machine_room.node_boot import linux

ENTER = r"""#!/bin/sh
for command; do :; done
exec nsenter --target {pid} --mount --pid --uts --ipc --net --cgroup --root \
  env -i --chdir=/ {variables} sh -c "$command"
"""
VARIABLES = {"PATH": systemd_machine.SEARCH_PATH, "HOME": "/root", "LANG": "C.UTF-8"}
CONSOLE_SECONDS = 0.2


class Machine(systemd_machine.Machine):
    """See above.

    :param folder: an empty folder
    """

    def __init__(self, folder):
        super().__init__(folder)
        # What starts systemd here need not be Debian's systemd-sysv.
        init = self.folder / "upper" / "usr" / "sbin" / "init"
        init.parent.mkdir(parents=True)
        init.symlink_to("/lib/systemd/systemd")

    def keep(self, ended):
        """Return when an event is set."""
        while not ended.wait(CONSOLE_SECONDS):
            self._drain()


def _in_memory(folder):
    """Make an empty folder that only this process and its children have, and that ends with them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount(None, "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", str(folder), "tmpfs", 0, "mode=755")


def main(folder):
    """Keep the machine until this program is asked to end."""
    enter = Path(folder, "enter")
    enter.unlink(missing_ok=True)
    ended = threading.Event()
    # The machine has users of its own, who may read what its root writes.
    os.umask(0o022)
    signal.signal(signal.SIGTERM, lambda _number, _frame: ended.set())
    _in_memory(Path(folder, "machine"))
    with Machine(Path(folder, "machine")) as machine:
        machine.start()
        text = ENTER.format(pid=machine.pid, variables=shlex.join(f"{key}={value}" for key, value in VARIABLES.items()))
        # Whole, with its mode: who waits for it runs it.
        partial = enter.with_suffix(".partial")
        partial.write_text(text)
        partial.chmod(0o700)
        os.replace(partial, enter)
        machine.keep(ended)
    enter.unlink()


if __name__ == "__main__":
    main(sys.argv[1])

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the playbook install of a bootstrap plane, from nothing until all its programs are ready.

Its programs and Python environments are in the cache: what a first run on a machine builds is not measured. Each round
has a folder of its own, which uninstall removes. Prints seconds and memory of each round; exit code 1 when the goal is
missed.
"""
from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import program_usage

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor import Supervisor
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import Layout

GOAL_SECONDS = 15
TIMEOUT_SECONDS = 900
# No lab listens there.
ADDRESS = "127.0.0.2"


class Site:
    """A site without servers, and the plane that it describes.

    :param folder: empty private folder
    """

    def __init__(self, folder):
        self.dir, self._file = folder / "plane", folder / "site.json"
        self._file.write_text(json.dumps({"all": {
            "vars": {"management_plane": {"mode": "process", "name": "bench", "dir": str(self.dir), "address": ADDRESS},
                     "metal3_kubeconfig": str(self.dir / "kubeconfig"),
                     # Asked for when a server boots, and here none does.
                     "bmo_deploy_kernel_url": f"https://{ADDRESS}/vmlinuz",
                     "bmo_deploy_ramdisk_url": f"https://{ADDRESS}/initrd",
                     "ironic_bootloader_url": f"https://{ADDRESS}/esp.img"},
            "children": {"baremetal": {}, "management": {"hosts": {"localhost": {
                "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}}}}}))

    def playbook(self, name, *arguments):
        """Run a playbook and return its seconds.

        :raises RuntimeError: when it fails
        """
        began = time.monotonic()
        command = [str(Path(sys.executable).parent / "ansible-playbook"), "metal3.baremetal." + name, "-i",
                   str(self._file), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
        return time.monotonic() - began

    def programs(self):
        """Return ``{program: pid}`` of what runs."""
        supervisor = Supervisor(Layout(str(self.dir / "supervisor")))
        return dict((name, info["pid"]) for name, info in supervisor.processes().items() if info.get("pid"))


def measured():
    """Install and remove a plane; return seconds until it is ready, those of a second run, and ``{group: MiB}``."""
    with tempfile.TemporaryDirectory(prefix="m3-bench-") as folder:
        site = Site(Path(folder))
        try:
            first, second = site.playbook("install"), site.playbook("install")
            return first, second, program_usage.memory_by_group(site.programs())
        finally:
            if site.dir.exists():
                site.playbook("uninstall", "-e", f"metal3_confirm={len(site.programs())}")


def main():
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds, taken = parser.parse_args().rounds, []
    # What is compiled to bytecode once.
    measured()
    for number in range(rounds):
        first, second, memory = measured()
        taken.append(first)
        print(f"round {number + 1}: {first:.1f} s from nothing, {second:.1f} s again; {sum(memory.values()):.0f} MiB: "
              + ", ".join(f"{group} {size:.0f}" for group, size in sorted(memory.items())), flush=True)
    median = statistics.median(taken)
    print(f"median {median:.1f} s, goal {GOAL_SECONDS} s")
    return int(median > GOAL_SECONDS)


if __name__ == "__main__":
    sys.exit(main())

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the collection against its peers on an API server of its own; prints a line for each figure.

Needs the engine's programs, a Python environment with kubernetes and kubernetes.core, and the collection in
ANSIBLE_COLLECTIONS_PATH. Exit code 1 when a goal is missed.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile

from control_plane import ControlPlane
from inventory_plugin import measure_inventory
from measures import measure
from move import measure_move
from power import measure_power
from preflight import measure_preflight

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import labs_dir

# What is measured: callables of the API server, a private folder, the engine's folder and the arguments.
SUBJECTS = {
    "enrol": lambda server, work_dir, _engine_dir, arguments: measure(
        server, work_dir, arguments.hosts, arguments.sample),
    "inventory": lambda server, work_dir, engine_dir, arguments: measure_inventory(
        server, work_dir, engine_dir, arguments.inventory_hosts),
    "power": lambda server, work_dir, _engine_dir, arguments: measure_power(
        server, work_dir, arguments.power_hosts, arguments.sample),
    "move": lambda _server, work_dir, _engine_dir, arguments: measure_move(work_dir, arguments.move_hosts),
    "preflight": lambda _server, _work_dir, _engine_dir, arguments: measure_preflight(arguments.bmcs, arguments.sample),
}


def main():
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--lab", help="take the engine of this lab; the lab itself is left alone")
    where.add_argument("--engine-dir", help="folder with bin and manifests")
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--sample", type=int, default=10, help="hosts, or BMCs, for what is measured in a loop")
    parser.add_argument("--inventory-hosts", type=int, default=5000)
    parser.add_argument("--power-hosts", type=int, default=200)
    parser.add_argument("--move-hosts", type=int, nargs="+", default=[4, 50, 200])
    parser.add_argument("--bmcs", type=int, default=200)
    parser.add_argument("--only", choices=sorted(SUBJECTS), action="append", help="all by default")
    arguments = parser.parse_args()
    engine_dir = arguments.engine_dir
    if arguments.lab:
        with open(os.path.join(labs_dir(), arguments.lab, "lab.json"), encoding="utf-8") as stream:
            engine_dir = json.load(stream)["engine_dir"]
    # So that the API server ends with the benchmark.
    signal.signal(signal.SIGTERM, lambda *_ignored: sys.exit(143))
    missed = 0
    with contextlib.ExitStack() as stack:
        work_dir = stack.enter_context(tempfile.TemporaryDirectory(prefix="metal3-benchmark-"))
        control_plane = stack.enter_context(ControlPlane(engine_dir, work_dir))
        for subject in arguments.only or SUBJECTS:
            for figure in SUBJECTS[subject](control_plane, work_dir, engine_dir, arguments):
                missed += figure.met is False
                print(line(figure), flush=True)
    return 1 if missed else 0


def line(figure):
    """Return a figure as ``name: value unit (goal …: met or missed) peer``."""
    goal = f" (goal {figure.goal}: {'met' if figure.met else 'missed'})" if figure.goal else ""
    return "%s: %.3g %s%s%s" % (figure.name, figure.value, figure.unit, goal,
                                f"  [{figure.peer}]" if figure.peer else "")


if __name__ == "__main__":
    sys.exit(main())

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print what a shell needs about a lab.

``python3 lab/cli.py env`` prints ``export`` lines for the lab, ``status`` a table of its parts; ``--lab NAME`` (or the
variable LAB) names another lab than ``lab``.
"""
from __future__ import annotations

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugins"))

from module_utils._common.texts.terminal import columns
from module_utils._lab import status
from module_utils._lab.layout import lab_dir, labs_dir
from module_utils._plane.process import figures
from module_utils._plane.process.figures import FiguresError


def main(arguments=None):
    """Run one of the commands; see the top of the file."""
    parser = argparse.ArgumentParser(prog="cli.py", description="Print what a shell needs about a lab")
    parser.add_argument("--lab", default=os.environ.get("LAB") or "lab", help="name of the lab")
    parser.add_argument("--json", action="store_true", help="status: the programs as JSON")
    parser.add_argument("command", choices=["env", "status"])
    options = parser.parse_args(arguments)
    try:
        lab = figures.read(lab_dir(options.lab))
    except (FiguresError, ValueError) as error:
        print(f"cli.py: {error}", file=sys.stderr)
        return 1
    if lab is None:
        print(f"cli.py: there is no lab {options.lab} in {labs_dir()}. Bring it up: make lab", file=sys.stderr)
        return 1
    if options.command == "env":
        print("\n".join(status.exports(lab)))
        return 0
    programs, servers = status.parts(lab)
    print(json.dumps(programs) if options.json else "\n".join(status.table(programs + servers, columns(sys.stdout))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

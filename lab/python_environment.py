# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments made from a lock file and kept in the cache, one for each lock file and Python.

Commands: ``ensure NAME LOCK_FILE`` makes the environment unless it is there and prints its path; ``path`` only prints
the path; ``lock IN_FILE LOCK_FILE`` resolves the direct requirements and writes the lock file; ``check`` refuses a
Python that is too old. Standard library only: this runs before any environment exists.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugins"))

from module_utils.lab.python_environment import VenvError, check_python, ensure, venv_path


def report(text):
    """Print a line on standard error: standard output is for the environment's path."""
    print(text, file=sys.stderr)


def lock_lines(report):
    """Return the pins of a pip installation report, sorted.

    :param report: dict, what ``pip install --dry-run --report`` writes
    """
    found = ((item["metadata"]["name"], item["metadata"]["version"]) for item in report["install"])
    return ["%s==%s" % pin for pin in sorted(found, key=lambda pin: re.sub(r"[-_.]+", "-", pin[0]).lower())]


def lock(in_file, lock_file):
    """Resolve direct requirements and write them with all their dependencies, pinned, to a lock file.

    :param in_file: requirements file with the direct requirements
    :param lock_file: path to write
    :raises VenvError: when the requirements can't be resolved
    """
    check_python()
    result = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--dry-run",
         "--ignore-installed", "--report", "-", "--requirement", in_file],
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise VenvError("pip could not resolve %s (exit code %d)" % (in_file, result.returncode))
    lines = lock_lines(json.loads(result.stdout))
    with open(lock_file + ".part", "w") as stream:
        stream.write("# Made by `make lock` from %s: change that file, not this one.\n" % os.path.basename(in_file))
        stream.writelines(line + "\n" for line in lines)
    os.rename(stream.name, lock_file)
    print("%s: %d packages" % (lock_file, len(lines)), file=sys.stderr)


def main(arguments=None):
    """Run one of the commands; see the top of the file."""
    parser = argparse.ArgumentParser(prog="python_environment.py", description="Virtual environments from lock files")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("ensure", "path"):
        one = commands.add_parser(command)
        one.add_argument("name")
        one.add_argument("lock_file")
    commands.add_parser("check")
    one = commands.add_parser("lock")
    one.add_argument("in_file")
    one.add_argument("lock_file")
    options = parser.parse_args(arguments)
    try:
        if options.command == "check":
            check_python()
        elif options.command == "lock":
            lock(options.in_file, options.lock_file)
        else:
            path = (ensure(options.name, options.lock_file, report) if options.command == "ensure"
                    else venv_path(options.name, options.lock_file))
            print(path)
    except VenvError as error:
        print("python_environment.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

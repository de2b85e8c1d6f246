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
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugins", "module_utils", "lab"))

import layout

OLDEST_PYTHON = (3, 11)
# An environment's scripts hold its path, so that it can't be made elsewhere and renamed: this file, written last,
# is what tells a finished one from what a killed pip left.
FINISHED = "finished.json"


class VenvError(Exception):
    """An environment could not be made; the message says what to do."""


def check_python(version=None):
    """Refuse a Python that ansible-core or Ironic would refuse later, and less clearly.

    :param version: tuple, the running Python's by default
    :raises VenvError: for a Python older than 3.11
    """
    version = sys.version_info[:3] if version is None else version
    if tuple(version[:2]) < OLDEST_PYTHON:
        raise VenvError(
            "Python %s is too old: %d.%d or newer is needed; name another one, as in: make PYTHON=python3.12"
            % (".".join(str(part) for part in version), *OLDEST_PYTHON))


def venv_path(name, lock_file, environ=None):
    """Return the folder of the environment that belongs to a lock file and to the running Python.

    :param name: short name, for people who look at the cache
    :param lock_file: path of a requirements file in which everything is pinned
    :param environ: mapping of environment variables (XDG_CACHE_HOME, HOME); the process's own by default
    """
    digest = hashlib.sha256()
    with open(lock_file, "rb") as stream:
        digest.update(stream.read())
    # An environment refers to the Python it was made from by path, and to its version by folder names.
    digest.update(repr((sys.version, os.path.realpath(sys.base_prefix))).encode())
    return os.path.join(layout.cache_dir(environ), "venv", "%s-%s" % (name, digest.hexdigest()[:16]))


def is_finished(path):
    """Tell whether an environment was made to its end and its Python still runs."""
    return os.path.exists(os.path.join(path, FINISHED)) and os.access(os.path.join(path, "bin", "python"), os.X_OK)


@contextlib.contextmanager
def locked(path):
    """Hold a lock beside a folder: two clones may ask for the same environment at once."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path + ".lock", "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def run(arguments, what):
    """Run a program with its output on standard error; standard output is the caller's.

    :raises VenvError: when the program fails
    """
    arguments = [os.fspath(argument) for argument in arguments]
    result = subprocess.run(arguments, stdout=sys.stderr, stderr=sys.stderr, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise VenvError("%s failed (exit code %d): %s" % (what, result.returncode, " ".join(arguments)))


def ensure(name, lock_file):
    """Make the environment for a lock file unless it is there.

    :param name: see ``venv_path``
    :param lock_file: see ``venv_path``
    :returns: the environment's folder
    :raises VenvError: when Python is too old or a step fails; nothing that looks finished is left then
    """
    check_python()
    path = venv_path(name, lock_file)
    if is_finished(path):
        return path
    with locked(path):
        if is_finished(path):
            return path
        started = time.monotonic()
        print("Python environment %s: making it from %s" % (name, lock_file), file=sys.stderr)
        shutil.rmtree(path, ignore_errors=True)
        run([sys.executable, "-m", "venv", path], "making a virtual environment (on Debian: package python3-venv)")
        python = os.path.join(path, "bin", "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        run([*pip, "install", "--quiet", "--requirement", lock_file], "installing %s" % lock_file)
        run([*pip, "check"], "checking %s" % lock_file)
        seconds = round(time.monotonic() - started)
        with open(os.path.join(path, FINISHED + ".part"), "w") as stream:
            json.dump({"lock_file": os.path.basename(lock_file), "python": sys.version, "seconds": seconds}, stream)
        os.rename(stream.name, os.path.join(path, FINISHED))
        print("Python environment %s: made in %d s" % (name, seconds), file=sys.stderr)
    return path


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
            make_path = ensure if options.command == "ensure" else venv_path
            print(make_path(options.name, options.lock_file))
    except VenvError as error:
        print("python_environment.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments made from a lock file and kept in the cache, one for each lock file and Python.

Commands: ``ensure NAME LOCK_FILE`` makes the environment unless it is there and prints its path; ``path`` only prints
the path; ``lock IN_FILE LOCK_FILE`` resolves the direct requirements and writes the lock file, with hashes; ``check``
refuses a Python that is too old. Standard library only: this runs before any environment exists.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugins"))

from module_utils._plane.process.python_environment import OLDEST_PYTHON, VenvError, check_python, ensure, venv_path


def report(text):
    """Print a line on standard error: standard output is for the environment's path."""
    print(text, file=sys.stderr)


def canonical(name):
    """Return a package's name as indexes have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(report):
    """Return the names and versions in a pip installation report, sorted.

    :param report: dict, what ``pip install --dry-run --report`` writes
    """
    found = ((item["metadata"]["name"], item["metadata"]["version"]) for item in report["install"])
    return sorted(found, key=lambda pin: canonical(pin[0]))


def without_hashes(text):
    """Return a lock file's pins alone: pip would want a hash of everything it resolves if there were any."""
    lines = (line.partition(" ")[0] for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line))
    return "".join(line + "\n" for line in lines)


def wheel_fits(file_name, version):
    """Return whether a file of an index is a wheel of a version that can be met: any Python from 3.11 on, on Linux.

    :param file_name: a wheel's name, or that of any other file
    """
    match = re.match(r"[^-]+-([^-]+)(?:-\d[^-]*)?-([^-]+)-([^-]+)-([^-]+)\.whl$", file_name)
    if not match or match.group(1) != version:
        return False
    interpreters, abis, platforms = (match.group(number).split(".") for number in (2, 3, 4))
    if not any(re.match(r"any$|(manylinux|linux).*_(x86_64|aarch64)$", platform) for platform in platforms):
        return False
    minors = [int(found.group(1)) for found in (re.match(r"cp3(\d+)$", name) for name in interpreters) if found]
    if minors:
        return "abi3" in abis or (max(minors) >= OLDEST_PYTHON[1] and not all(abi.endswith("t") for abi in abis))
    return "py3" in interpreters


def wheel_hashes(files, name, version):
    """Return the SHA-256 of each wheel of a release that can be met, sorted.

    :param files: the list ``files`` of an index's answer about a package, see PEP 691
    :raises VenvError: when there is none
    """
    found = sorted(set(item["hashes"]["sha256"] for item in files
                       if item.get("hashes", {}).get("sha256") and wheel_fits(item["filename"], version)))
    if not found:
        raise VenvError("%s %s: the package index has no wheel with a SHA-256 for Linux and Python %d.%d or newer; "
                        "sources are not installed, because they run code that no hash covers"
                        % (name, version, *OLDEST_PYTHON))
    return found


@contextlib.contextmanager
def package_index():
    """Give a function that returns what the index that pip is set to knows of a package: PEP 691's list of files."""
    # pip's own client: the index, its certificates, its proxy and its credentials are pip's settings.
    from pip._internal.commands import create_command
    command = create_command("index")
    with command.main_context():
        options, _rest = command.parse_args(["versions", "any"])
        session = command.get_default_session(options)

        def files(name):
            answer = session.get(f"{options.index_url.rstrip('/')}/{canonical(name)}/",
                                 headers={"Accept": "application/vnd.pypi.simple.v1+json"})
            if answer.status_code != 200 or "json" not in answer.headers.get("Content-Type", ""):
                raise VenvError(f"{name}: the package index answered with status code {answer.status_code} and content "
                                f"type {answer.headers.get('Content-Type')}; expected 200 and JSON (PEP 691)")
            return answer.json()["files"]

        yield files


def resolve(in_file):
    """Return the pip installation report for direct requirements.

    :param in_file: requirements file; a lock file that it names as constraints counts without its hashes
    :raises VenvError: when the requirements can't be resolved
    """
    folder = os.path.dirname(os.path.abspath(in_file))
    with contextlib.ExitStack() as stack:
        def stripped(match):
            with open(os.path.join(folder, match.group(1))) as stream:
                text = without_hashes(stream.read())
            copy = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".txt"))
            copy.write(text)
            copy.flush()
            return "-c " + copy.name

        with open(in_file) as stream:
            text = re.sub(r"(?m)^-c (\S+)$", stripped, stream.read())
        text = re.sub(r"(?m)^-r (\S+)$", lambda match: "-r " + os.path.join(folder, match.group(1)), text)
        wanted = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".in"))
        wanted.write(text)
        wanted.flush()
        result = subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet",
             "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", "-", "--requirement",
             wanted.name], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise VenvError(f"pip could not resolve {in_file} (exit code {result.returncode})")
    return json.loads(result.stdout)


def lock_text(in_file, locked, files):
    """Return a lock file's text: each package with the hashes of its wheels.

    :param in_file: the file with the direct requirements
    :param locked: list of pairs of name and version
    :param files: callable that returns an index's files of a package
    """
    lines = [f"# Made by `make lock` from {os.path.basename(in_file)}: change that file, not this one.",
             "--require-hashes", "--only-binary :all:"]
    for name, version in locked:
        lines.append(" \\\n".join([f"{name}=={version}"] + [
            f"    --hash=sha256:{digest}" for digest in wheel_hashes(files(name), name, version)]))
    return "\n".join(lines) + "\n"


def lock(in_file, lock_file):
    """Resolve direct requirements and write them with all their dependencies, pinned by hash, to a lock file.

    :param in_file: requirements file with the direct requirements
    :param lock_file: path to write
    :raises VenvError: when the requirements can't be resolved, or have no wheels
    """
    check_python()
    locked = pins(resolve(in_file))
    with package_index() as files:
        text = lock_text(in_file, locked, files)
    with open(lock_file + ".part", "w") as stream:
        stream.write(text)
    os.rename(stream.name, lock_file)
    print(f"{lock_file}: {len(locked)} packages", file=sys.stderr)


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
        print(f"python_environment.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

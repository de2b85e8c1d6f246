# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments made from a lock file and kept in the cache, one for each lock file and Python."""
from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from ..._common import timed_run
from ..._common.files import file_lock, user_folders
from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import duration
from ..._common.waiting.progress import Progress

OLDEST_PYTHON = (3, 11)
# An environment's scripts hold its path, so that it can't be made elsewhere and renamed: this file, written last,
# is what distinguishes a finished one from what a killed pip left.
FINISHED = "finished.json"
OUTPUT_LIMIT = 1000


class VenvError(ReportedError):
    """An environment could not be made; the message says what to do."""


def check_python(version: Any = None) -> None:
    """Refuse a Python that ansible-core or Ironic would refuse later, and less clearly.

    :param version: tuple, the running Python's by default
    :raises VenvError: for a Python older than 3.11
    """
    version = sys.version_info[:3] if version is None else version
    if tuple(version[:2]) < OLDEST_PYTHON:
        raise VenvError(
            "Python %s is too old: %d.%d or newer is needed; name another one, as in: make PYTHON=python3.12"
            % (".".join(str(part) for part in version), *OLDEST_PYTHON))


def venv_path(name: Any, lock_file: Any, environ: Any = None) -> Any:
    """Return the folder of the environment that belongs to a lock file and to the running Python.

    :param name: short name, for users who look at the cache
    :param lock_file: path of a requirements file in which everything is pinned
    :param environ: mapping of environment variables (XDG_CACHE_HOME, HOME); the process's own by default
    """
    digest = hashlib.sha256()
    with open(lock_file, "rb") as stream:
        digest.update(stream.read())
    # An environment refers to the Python it was made from by path, and to its version by folder names.
    digest.update(repr((sys.version, os.path.realpath(sys.base_prefix))).encode())
    return os.path.join(user_folders.cache_dir(environ), "venv", f"{name}-{digest.hexdigest()[:16]}")


def is_finished(path: Any) -> Any:
    """Return whether an environment was made to its end and its Python still runs."""
    return os.path.exists(os.path.join(path, FINISHED)) and os.access(os.path.join(path, "bin", "python"), os.X_OK)


@contextlib.contextmanager
def locked(path: Any) -> Iterator[Any]:
    """Hold a lock beside a folder: two clones may ask for the same environment at once."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with file_lock.held(path + ".lock"):
        yield


def run(arguments: Any, what: Any) -> None:
    """Run a program; nothing of its output is shown unless it fails.

    :param arguments: the program and its arguments
    :param what: what it is for
    :raises VenvError: with the end of its output when the program fails, and when it does not end
    """
    arguments = [os.fspath(argument) for argument in arguments]
    try:
        result = timed_run.run(arguments, timed_run.DOWNLOAD_LIMIT_SECONDS, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    except timed_run.LateError as exc:
        raise VenvError(f"{what}: {' '.join(arguments)} {exc}; {timed_run.PACKAGE_INDEX}, then run again: what pip has "
                        "in its cache is not downloaded again") from exc
    if result.returncode:
        # A company's mirror does not belong in a log.
        output = re.sub(r"https?://\S+", "(address)", " ".join(result.stdout.split()))[-OUTPUT_LIMIT:]
        raise VenvError(f"{what} failed (exit code {result.returncode}): {' '.join(arguments)}: {output}")


def ensure(name: Any, lock_file: Any, report: Any) -> Any:
    """Make the environment for a lock file unless it is there.

    :param name: see ``venv_path``
    :param lock_file: see ``venv_path``
    :param report: callable that takes a line about what is being done
    :returns: the environment's folder
    :raises VenvError: when Python is too old or a step fails; nothing that looks finished is left then
    """
    check_python()
    path = venv_path(name, lock_file)
    if is_finished(path):
        return path
    lock_file = os.path.normpath(lock_file)
    with locked(path):
        if is_finished(path):
            return path
        started = time.monotonic()
        report(f"Python environment {name}: making it from {lock_file}")
        shutil.rmtree(path, ignore_errors=True)
        run([sys.executable, "-m", "venv", path], "making a virtual environment (on Debian: package python3-venv)")
        python = os.path.join(path, "bin", "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        # The lock files say both too: so does a pip that somebody starts by hand with one of them.
        run([*pip, "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "--requirement", lock_file],
            f"installing {lock_file}")
        run([*pip, "check"], f"checking {lock_file}")
        seconds = round(time.monotonic() - started)
        with open(os.path.join(path, FINISHED + ".part"), "w", encoding="utf-8") as stream:
            json.dump({"lock_file": os.path.basename(lock_file), "python": sys.version, "seconds": seconds}, stream)
        os.rename(stream.name, os.path.join(path, FINISHED))
        report(f"Python environment {name}: made in {duration(seconds)}")
    return path


def package_version(package: str, python: str, requirements_file: str | None) -> str | None:
    """Return the version of a package in an environment, or that it will have there; None when nothing says which.

    :param package: name of the package
    :param python: Python of the environment
    :param requirements_file: lock file of an environment that may not be there yet, or None
    """
    environment = glob.escape(os.path.dirname(os.path.dirname(python)))
    for path in sorted(glob.glob(f"{environment}/lib/python3*/site-packages/{package}-*.dist-info")):
        return os.path.basename(path)[len(package) + 1:-len(".dist-info")]
    if requirements_file is None:
        return None
    with open(requirements_file, encoding="utf-8") as stream:
        match = re.search(rf"^{re.escape(package)}==(\S+)", stream.read(), re.MULTILINE)
    return match.group(1) if match else None


def services(given: str | None, requirements_file: str, check_mode: bool, progress: Progress) -> tuple[str, bool]:
    """Return the Python that runs a plane's services, and whether its environment was created.

    :param given: Python that the user names, or None
    :param requirements_file: lock file of the environment otherwise
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises VenvError: see :func:`ensure`
    """
    if given:
        return given, False
    path = venv_path("services", requirements_file)
    made = not is_finished(path)
    if made and not check_mode:
        ensure("services", requirements_file, progress.event)
        progress.wrote(path, "created")
    return os.path.join(path, "bin", "python"), made

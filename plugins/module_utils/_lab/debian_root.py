# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian for images: which sources this machine uses, and the command that installs it."""
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from .._common.formats import duration

SUITE = "bookworm"
TIMEOUT_SECONDS = 1200
FORWARDED_APT_SETTINGS = (
    "Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::http::Proxy", "Acquire::https::Proxy")
# What runs in it ends with this process, however that ends, and takes its mounts along.
CONTAINED = ("setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


class StepError(Exception):
    """A command failed; the message names the step, the command and the end of its output."""


def run(arguments: Sequence[str], step: str, **options: Any) -> str:
    """Run a command of an image's build and return what it prints.

    :param arguments: program and arguments
    :param step: what it does, for errors
    :param options: for ``subprocess.run``
    :raises StepError: when it fails or does not end
    """
    try:
        result = subprocess.run(
            arguments, stdin=options.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=False, timeout=TIMEOUT_SECONDS, universal_newlines=True, **options)
    except subprocess.TimeoutExpired as exc:
        raise StepError(f"{step}: {arguments[0]} did not end within {duration(TIMEOUT_SECONDS)}") from exc
    if result.returncode:
        text = " ".join((result.stderr or result.stdout).splitlines()[-15:])
        raise StepError("%s: %s failed (exit code %d): %s" % (
            step, arguments[0], result.returncode, re.sub(r"https?://\S+", "(address)", text)))
    return result.stdout


def packages(text: str) -> list[str]:
    """Return the package names of ``packages.txt``: one a line, comments after ``#``."""
    return [line.split("#")[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def apt_sources(index_targets: str) -> list[str]:
    """Return sources.list lines for Debian's own mirrors, as this machine uses them.

    :param index_targets: lines ``<origin>|<address>|<release code name>|<component>``, from apt-get indextargets
    """
    lines = []
    for line in index_targets.splitlines():
        origin, address, code_name, component = line.split("|")
        if origin == "Debian" and code_name.split("-")[0] == SUITE and component == "main":
            lines.append(f"deb {address} {code_name} main")
    return sorted(set(lines))


def install(target: str, names: list[str], work: str, hooks: Sequence[str] = (),
            asked: Callable[..., str] = run) -> None:
    """Install Debian with some packages.

    :param target: folder to install into, or a file that ends with ``.tar``
    :param names: packages
    :param work: folder for temporary files
    :param hooks: shell commands that run at the end, with the folder as ``$1``
    :param asked: see :func:`run`
    :raises StepError: when a step fails
    """
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--quiet", "--include=" + ",".join(names)]
    command += [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("man", "doc", "locale", "info")]
    command += [f"--customize-hook={hook}" for hook in hooks]
    for setting in FORWARDED_APT_SETTINGS:
        value = asked(["apt-config", "shell", "VALUE", setting], "reading apt's settings").strip()
        if value:
            command.append("--aptopt=%s %s" % (setting, value.split("=", 1)[1].replace("'", '"')))
    sources = apt_sources(asked(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)",
         "Created-By: Packages"], "reading apt's sources"))
    asked([*CONTAINED, *command, SUITE, target, *sources], "installing Debian " + SUITE,
          env=dict(os.environ, LC_ALL="C.UTF-8", TMPDIR=work))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of Debian packages, and which of them a machine lacks."""
from __future__ import annotations

import os
import shutil
import subprocess
from collections import namedtuple
from typing import Any

from .._common.problems.errors import ReportedError


class PackagesError(ReportedError):
    """Packages can't be installed; the message says what to do."""


Package = namedtuple("Package", ["services", "program"])


def parse(text: Any) -> Any:
    """Return the packages of a list, the services they bring, and the program that makes a package unnecessary.

    :param text: the list's text: on each line a package, ``service:<name>`` any number of times, ``program:<name>`` at
        most once, ``# comment``
    :returns: dict of package name to Package
    :raises PackagesError: for another word
    """
    packages = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        services, programs = [], []
        for word in words[1:]:
            kind, colon, name = word.partition(":")
            if not (colon and name and kind in ("service", "program")):
                raise PackagesError(f"line {line!r}: expected 'service:<name>' or 'program:<name>' after the package, "
                                    f"found {word!r}")
            (services if kind == "service" else programs).append(name)
        if len(programs) > 1:
            raise PackagesError(f"line {line!r}: expected one program, found {', '.join(programs)}")
        packages[words[0]] = Package(services, programs[0] if programs else None)
    return packages


def missing(packages: Any) -> Any:
    """Return the names of packages that aren't installed and whose program isn't there either, in the given order.

    :param packages: dict of package name to Package
    """
    query = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\\n", *packages],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, universal_newlines=True)
    installed = {line.split()[0] for line in query.stdout.splitlines() if line.endswith(" installed")}
    # Debian keeps servers in sbin, which is not on every user's path.
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    return [name for name, package in packages.items()
            if name not in installed and not (package.program and shutil.which(package.program, path=path))]

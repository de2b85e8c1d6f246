# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of Debian packages, and which of them a machine lacks."""
from __future__ import annotations

import subprocess


class PackagesError(Exception):
    """Packages can't be installed; the message says what to do."""


def parse(text):
    """Return the packages of a list and the services they bring.

    :param text: the list's text: on each line a package, ``service:<name>`` any number of times, ``# comment``
    :returns: dict of package name to list of service names
    :raises PackagesError: for a word that is neither
    """
    packages = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        wrong = [word for word in words[1:] if not word.startswith("service:")]
        if wrong:
            raise PackagesError("line %r: expected 'service:<name>' after the package, found %r" % (line, wrong[0]))
        packages[words[0]] = [word.partition(":")[2] for word in words[1:]]
    return packages


def missing(packages):
    """Return those package names that aren't installed, in the given order."""
    query = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\\n", *packages],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, universal_newlines=True)
    installed = {line.split()[0] for line in query.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in installed]

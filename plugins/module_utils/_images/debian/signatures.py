# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt says about the signature of a repository; pure."""
from __future__ import annotations

import re
from collections.abc import Mapping

from ..._common.problems.problem import Problem

# What apt's gpgv reports of a key that is another one, that has ended, and of a list that was changed.
_VERDICT = re.compile(r"\b(NO_PUBKEY|EXPKEYSIG|REVKEYSIG|BADSIG) [0-9A-F]{16,40}\b|\bNODATA\b|is not signed")


def key_problem(output: str, repository: Mapping[str, str]) -> Problem | None:
    """Return that a repository's key does not verify its lists, or None when apt does not say so of this repository.

    :param output: all that apt has printed
    :param repository: ``source``, a line of a sources.list without options and logins, and ``key``
    """
    address = repository["source"].split()[1].rstrip("/")
    # The address of another repository may begin with this one's.
    about = re.compile(re.escape(address) + r"/?(?=\s)")
    verdicts = [match.group() for match in map(_VERDICT.search, filter(about.search, output.splitlines())) if match]
    if not verdicts:
        return None
    found = "another key than that of the repository's signature" if "NO_PUBKEY" in verdicts[0] else (
        "a signature that it does not verify")
    return Problem("node-image", "node_image", "kubernetes_repository.key",
                   f"{found} (apt says of {address}: {verdicts[0]})", "the key that its lists are signed with",
                   "take the key that the repository's owner publishes for this address")

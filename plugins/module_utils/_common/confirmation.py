# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a user has repeated how many things, or which ones, an operation concerns; pure."""
from __future__ import annotations


def confirmed(value, names):
    """Return whether a confirmation fits.

    :param value: what the user gave: a number, or names with commas between, in any order; None or empty for nothing
    :param names: names of the things that the operation concerns
    """
    text = str("" if value is None else value).strip()
    if text.isascii() and text.isdigit():
        return int(text) == len(names)
    return bool(text) and sorted(part.strip() for part in text.split(",")) == sorted(names)


def expected(names):
    """Return what :func:`confirmed` takes, as a phrase.

    :param names: names of the things that the operation concerns
    """
    return f"{len(names)} (how many they are) or {','.join(sorted(names))}"

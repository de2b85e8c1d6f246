# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers of an inventory a step is for, and what of their entries; pure."""
from __future__ import annotations

from .fields import DEPLOYMENT


def is_deployable(entry):
    """Return whether an entry says what is to be deployed."""
    return "image" in entry or "custom_deploy" in entry


def undeployed(entries):
    """Return the entries without everything that deploys something."""
    return [dict(entry, **dict((option, {}) for option in DEPLOYMENT)) for entry in entries]


def absent(names):
    """Return the entries that delete hosts.

    :param names: list of names; each is data, of any form
    """
    return [{"name": name, "state": "absent"} for name in names]


# name of a selection: callable that takes all entries and returns those of the selection.
SELECTIONS = {
    "all": list,
    "deployable": lambda entries: [entry for entry in entries if is_deployable(entry)],
    "without_image": lambda entries: [entry for entry in entries if not is_deployable(entry)],
    "undeployed": undeployed,
}

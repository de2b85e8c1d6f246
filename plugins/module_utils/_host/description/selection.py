# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers of an inventory a step is for, and what of their entries; pure."""
from __future__ import annotations

from .fields import DEPLOYMENT
from .objects import is_removal

# By which servers are chosen.
_DEPLOYED = ("image", "custom_deploy")


def is_deployable(entry):
    """Return whether an entry says what is to be deployed; an empty option says that nothing is."""
    return any(option in entry and not is_removal(entry[option]) for option in _DEPLOYED)


def undeployed(entries):
    """Return the entries without everything that deploys something."""
    return [dict(entry, **dict((option, {}) for option in DEPLOYMENT)) for entry in entries]


def absent(names):
    """Return the entries that delete hosts.

    :param names: list of names; each is data, of any form
    """
    return [{"name": name, "state": "absent"} for name in names]


def counts(only, option, is_chosen):
    """Return whether what a server's variables say of an option changes what a selection returns.

    :param only: name of the selection
    :param option: of the entry, or another variable
    :param is_chosen: whether the selection has the server's entry
    """
    if only == "undeployed" and option not in _DEPLOYED:
        return option not in DEPLOYMENT
    return is_chosen or option in _DEPLOYED


# name of a selection: callable that takes all entries and returns those of the selection.
SELECTIONS = {
    "all": list,
    "deployable": lambda entries: [entry for entry in entries if is_deployable(entry)],
    "without_image": lambda entries: [entry for entry in entries if not is_deployable(entry)],
    "undeployed": undeployed,
}

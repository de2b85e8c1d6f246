# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of firmware components, and what is said of one that a host does not have; pure.

Neither BMO nor Ironic compares the name of a network card with those of the host, and Ironic gives the BMC an image
and no card (``_submit_simple_update`` in ``ironic/drivers/modules/redfish/firmware.py``), so that a wrong name would be
flashed as well.
"""
from __future__ import annotations

import re
from collections.abc import Collection

# BMO's ValidateHostFirmwareComponents; the others begin with NIC_PREFIX.
NAMES = ("bmc", "bios")
NIC_PREFIX = "nic:"
# All network cards, where versions are compared; no component that can be flashed.
ALL_CARDS = "nic"
ALLOWED = "bmc, bios or nic:<serial number, or identity at the BMC, of the network card>"


def is_allowed(name: str) -> bool:
    """Return whether BMO takes a name, whatever the host has."""
    return name in NAMES or (is_card(name) and name != NIC_PREFIX)


def is_card(name: str) -> bool:
    """Return whether a name is a network card's."""
    return name.startswith(NIC_PREFIX)


def one_of(known: Collection[str]) -> str:
    """Return what a name is expected to be.

    :param known: the components that Ironic has found
    """
    return f"one of {', '.join(sorted(known))}"


def correction(name: str, known: Collection[str]) -> str:
    """Return what to do about a name that is none of those that Ironic has found."""
    cards = sorted(filter(is_card, known))
    if not is_card(name):
        return "correct it"
    if not cards:
        return "take it out: the BMC lists no network card with the version of its firmware (Redfish: NetworkAdapters)"
    # Serial numbers of cards resemble one another, so that one that is merely similar is no hint.
    same = [card for card in cards if _plain(card) == _plain(name)]
    if same:
        return f"correct it (perhaps {same[0]} is meant)"
    return "name a card of this server: its serial number, or its identity at the BMC where that reports none"


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()

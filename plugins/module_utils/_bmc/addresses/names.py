# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory variables of the options by which a server's BMC is reached; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# option: inventory variable.
VARIABLES = {
    "bmc.address": "bmc_address",
    "bmc.username": "bmc_username",
    "bmc.password": "bmc_password",
    "bmc.credentials_name": "bmc_credentials_name",
    "bmc.disable_certificate_verification": "bmc_disable_certificate_verification",
    "boot_mac_address": "boot_mac",
}
# Of modules that replace passwords.
NEW_PASSWORD = {"bmc.new_password": "bmc_new_password"}


def names_for(params: Mapping[str, Any]) -> dict[str, str] | None:
    """Return ``{option: name}`` for messages as the parameter ``field_names`` asks, None for the options' own names.

    :param params: the module's parameters
    """
    if params.get("field_names") != "variables":
        return None
    return dict(VARIABLES, **NEW_PASSWORD, boot_mode="bmh_boot_mode")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory variables of a server that modules of this room read: their mistakes, by the modules' own rules; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.options.field_checks import type_name
from .._common.problems.problem import Problem
from .._host.description.inventory import entries_of
from .base import check_raw
from .registry import FAMILIES

# variable: kind, and the option of an entry that is its value; None where the value, a dictionary, holds the options.
# The role hosts makes entries of the same variables in the same way.
VARIABLES: dict[str, tuple[str, str | None]] = {
    "bmh_update_policy": ("HostUpdatePolicy", None),
    "bmh_firmware_settings": ("HostFirmwareSettings", "settings"),
    "bmh_firmware_components": ("HostFirmwareComponents", "updates"),
}


def problems(name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the variables of a server; fields are paths that begin with the variable.

    :param name: the server in the inventory
    :param variables: mapping of its variables
    """
    found = []
    for variable, (kind, option) in VARIABLES.items():
        value = variables.get(variable)
        if value is None:
            continue
        if option is None and not isinstance(value, dict):
            found.append(Problem("value", name, variable, type_name(value), "a dictionary",
                                 "write its options below it, as name: value"))
            continue
        # The name is the host's, which the rules for hosts check.
        found += [problem._replace(subject=name, field=_path(variable, option, problem.field))
                  for problem in check_raw(FAMILIES[kind], entries_of({name: value}, [name], option))
                  if problem.field != "name"]
    return found


def _path(variable: str, option: str | None, field: str) -> str:
    """Return the path in a variable of an option's path in an entry."""
    if option is not None:
        return variable + field.removeprefix(option)
    return f"{variable}.{field}" if field else variable

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a server's inventory variables to an entry for ``baremetal_host``: by one table of names for both ways."""
from __future__ import annotations

import difflib
import json

from ..._bmc.addresses.names import VARIABLES
from . import fields as host_fields

PREFIX = "bmh_"
# Variables with the prefix that are for other modules than baremetal_host.
OTHERS = ("bmh_expected", "bmh_firmware_settings", "bmh_firmware_components", "bmh_update_policy")
_LIKENESS = 0.8
# option of a module: variable of the role hosts by which it is set.
ROLE_VARIABLES = {
    "force_hosts": "hosts_force",
    "allow_detach": "hosts_allow_detach",
    "check_images": "hosts_check_images",
    "image_ca_file": "hosts_image_ca_file",
    "ironic_pod": "hosts_ironic_pod",
    "wait_for": "hosts_wait_for",
    "wait_timeout_seconds": "hosts_wait_timeout_seconds",
    "error_limit": "hosts_error_limit",
}
ACTION_VARIABLES = dict(
    ((option, "hosts_action_" + option) for option in ("mode", "key", "force", "delete_action", "reason", "until")),
    force_hosts="hosts_force", wait_timeout_seconds="hosts_wait_timeout_seconds", error_limit="hosts_error_limit",
    status="hosts_action_status_dir", action="hosts_action")


def field_names():
    """Return ``{option: inventory variable}`` for all options, and for their parts as ``image.url``."""
    names = {}
    for field in host_fields.HOST:
        if field.name not in ("name", "state", "bmc"):
            names[field.name] = PREFIX + field.name
            names.update((f"{field.name}.{part.name}", f"{PREFIX + field.name}.{part.name}")
                         for part in field.fields or ())
    names.update(VARIABLES)
    return names


def names_in_role():
    """Return ``{option: variable}`` of :func:`field_names` and of the options that the role ``hosts`` sets."""
    return dict(field_names(), **ROLE_VARIABLES)


def entry(name, variables):
    """Return the entry of a server.

    Unknown variables that begin with ``bmh_`` become unknown options, so that a mistyped one is refused.

    :param name: name of the server in the inventory
    :param variables: mapping of its variables
    """
    result = {"name": name}
    bmc = {}
    for option, variable in VARIABLES.items():
        value = variables.get(variable)
        if value is None:
            continue
        if option.startswith("bmc."):
            bmc[option[len("bmc."):]] = value
        else:
            result[option] = value
    if bmc:
        result["bmc"] = bmc
    for variable in variables:
        if str(variable).startswith(PREFIX) and variable not in OTHERS:
            option = str(variable)[len(PREFIX):]
            value = variables[variable]
            if value is not None:
                result[option] = _data(option, value) if option in host_fields.DATA_KEYS else value
    if result.get("image") or result.get("custom_deploy"):
        # BMO provisions only hosts that shall be online, and CAPM3 gives hosts back switched off.
        result.setdefault("online", True)
    # The inventory is the whole truth of labels and annotations that this collection sets: what it does not name goes.
    result.setdefault("labels", {})
    result.setdefault("annotations", {})
    return result


def other_meant(option):
    """Return the variable for another module that an unknown option was made of, mistyped; None when none is like it.

    :param option: the variable without its prefix
    """
    near = difflib.get_close_matches(f"{PREFIX}{option}", OTHERS, 1, _LIKENESS)
    return near[0] if near else None


def entries_of(values, names, option=None):
    """Return an entry for each server that has a value, and not None.

    :param values: mapping of server to the value of one variable
    :param names: the servers
    :param option: option of the entry that its value becomes; None when its value, a dict, holds the options
    """
    return [dict({"name": name}, **({option: values[name]} if option else values[name]))
            for name in names if values[name] is not None]


def _data(option, value):
    """Text is content, and so is a structure, except for one that only names a Secret."""
    if isinstance(value, str):
        return {"content": value}
    if isinstance(value, dict) and (not value or set(value) <= {"name", "content"}):
        content = value.get("content")
        if content is not None and not isinstance(content, str):
            return dict(value, content=json.dumps(content))
        return dict(value)
    return {"content": json.dumps(value)} if option != "user_data" else value

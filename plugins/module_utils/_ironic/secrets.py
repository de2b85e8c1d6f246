# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of a node are secrets, and how to show a node without them; pure."""
from __future__ import annotations

from typing import Any

# What Ironic shows in place of a secret.
MASK = "******"
HIDDEN = "(hidden)"
CHANGED = "(hidden, new value)"
# Nothing is shown below so many dictionaries and lists: what a server sends must not exhaust the stack.
_DEEPEST = 50
# Ironic masks each key that contains one of these (oslo_utils.strutils.mask_dict_password).
_KEYS = ("adminpass", "admin_pass", "password", "auth_token", "new_pass", "secret", "sys_pswd", "token", "configdrive",
         "encrypted_key", "private_key", "fernetkey", "sslkey", "passphrase", "snmp_community", "auth_key", "priv_key")


def is_secret(key: str) -> bool:
    """Return whether a key of driver_info or instance_info holds a secret.

    :param key: the key, for example ``redfish_password``
    """
    return any(part in str(key).lower() for part in _KEYS)


def values(tree: dict[str, Any]) -> set[Any]:
    """Return the secrets in a dictionary as texts, those in dictionaries and lists below it too."""
    found, left = set(), [(False, tree)]
    while left:
        secret, branch = left.pop()
        if isinstance(branch, dict):
            left += [(is_secret(key), value) for key, value in branch.items()]
        elif isinstance(branch, (list, tuple)):
            left += [(secret, value) for value in branch]
        elif secret and branch not in (None, ""):
            found.add(str(branch))
    return found


def without(tree: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return a dictionary with its secrets replaced, those in dictionaries and lists below it too."""
    return dict((key, _shown(value, is_secret(key), depth + 1)) for key, value in tree.items())


def _shown(value: Any, secret: bool, depth: int) -> Any:
    if isinstance(value, (dict, list)) and depth > _DEEPEST:
        return HIDDEN
    if isinstance(value, dict):
        return without(value, depth)
    if isinstance(value, list):
        return [_shown(item, secret, depth + 1) for item in value]
    return HIDDEN if value not in (None, "") and secret else value

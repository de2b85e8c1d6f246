# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of a node are secrets, and how to show a node without them; pure."""
from __future__ import annotations

# What Ironic shows in place of a secret.
MASK = "******"
HIDDEN = "(hidden)"
CHANGED = "(hidden, new value)"
# Ironic masks each key that contains one of these (oslo_utils.strutils.mask_dict_password).
_KEYS = ("adminpass", "admin_pass", "password", "auth_token", "new_pass", "secret", "sys_pswd", "token", "configdrive",
         "encrypted_key", "private_key", "fernetkey", "sslkey", "passphrase", "snmp_community", "auth_key", "priv_key")


def is_secret(key):
    """Return whether a key of driver_info or instance_info holds a secret.

    :param key: the key, for example ``redfish_password``
    """
    return any(part in str(key).lower() for part in _KEYS)


def values(tree):
    """Return the secrets in a dictionary as texts, those in dictionaries and lists below it too."""
    found = set()
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= values(value)
        elif isinstance(value, list):
            for item in value:
                found |= values(item) if isinstance(item, dict) else set()
        elif value not in (None, "") and is_secret(key):
            found.add(str(value))
    return found


def without(tree):
    """Return a dictionary with its secrets replaced, those in dictionaries and lists below it too."""
    shown = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            shown[key] = without(value)
        elif isinstance(value, list):
            shown[key] = [without(item) if isinstance(item, dict) else item for item in value]
        else:
            shown[key] = HIDDEN if value not in (None, "") and is_secret(key) else value
    return shown

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that an inventory has already from another source, whose hosts a cluster's object must not take over."""
from __future__ import annotations


def taken(name, uid, inventory, variable, groups, key="uid"):
    """Return what has a name, as messages say it, empty when an object may have it.

    :param name: of an inventory host that is to be added
    :param uid: of its object
    :param inventory: Ansible's InventoryData
    :param variable: name of the variable with the object's facts; another file of the same plugin may have set it
    :param groups: groups of other sources to whose hosts may be added
    :param key: of ``uid`` in the facts
    """
    if name in inventory.groups:
        return "a group of the inventory"
    host = inventory.hosts.get(name)
    if host is None or (uid and (host.vars.get(variable) or {}).get(key) == uid):
        return ""
    if set(groups) & set(group.name for group in host.get_groups()):
        return ""
    return "a host of another inventory source"

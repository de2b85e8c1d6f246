# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that an inventory has already from another source, whose hosts a cluster's object must not take over."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show

GROUP = "a group of the inventory"
HOST = "a host of another inventory source"


def taken(name, facts, inventory, variable, groups, key="uid"):
    """Return what has a name, as messages say it, empty when an object may have it.

    :param name: of an inventory host that is to be added
    :param facts: of its object; where ``server`` is that it was read from
    :param inventory: Ansible's InventoryData
    :param variable: name of the variable with the object's facts; another file of the same plugin may have set it
    :param groups: groups of other sources to whose hosts may be added
    :param key: of the facts, that distinguishes objects of one server
    """
    if name in inventory.groups:
        return GROUP
    host = inventory.hosts.get(name)
    if host is None:
        return ""
    known = host.vars.get(variable)
    if isinstance(known, dict) and "kind" in known:
        # A uid says nothing across clusters: one that was copied, or restored twice, has the other one's.
        is_same = all(facts.get(field) and known.get(field) == facts[field] for field in ("server", "kind", key))
        return "" if is_same else (f"another object ({known['kind']} {show(known.get(key))} of "
                                   f"{show(known.get('server'))})")
    if set(groups) & set(group.name for group in host.get_groups()):
        return ""
    return HOST

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of clusters in an inventory: which groups are directly below ``clusters``, and who is in them.

Ansible's variables ``groups`` and ``group_names`` are flat; only the inventory itself knows parents and order.
"""
from __future__ import annotations

from collections.abc import Mapping

from ansible.errors import AnsibleError
from jinja2 import TemplateError

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)


def children(hostvars, group=cluster_inventory.GROUP):
    """Return ``[(group directly below a group, names of its hosts)]`` in the inventory's order.

    :param hostvars: Ansible's variable ``hostvars``
    :returns: None when it is not Ansible's own object, which alone leads to the inventory
    """
    inventory = getattr(hostvars, "_inventory", None)
    if inventory is None:
        return None
    parent = inventory.groups.get(group)
    return [(child.name, [host.name for host in child.get_hosts()]) for child in parent.child_groups] if parent else []


def with_children(hostvars, group=cluster_inventory.GROUP):
    """Return the names of the groups directly below a group that have groups below them.

    :param hostvars: Ansible's variable ``hostvars``
    """
    inventory = getattr(hostvars, "_inventory", None)
    parent = inventory.groups.get(group) if inventory is not None else None
    return [child.name for child in parent.child_groups if child.child_groups] if parent else []


def members(hostvars, group=cluster_inventory.GROUP):
    """Return the names of all hosts of a group, whatever the run is limited to.

    :param hostvars: Ansible's variable ``hostvars``, or a mapping of host names to variables
    """
    inventory = getattr(hostvars, "_inventory", None)
    if inventory is None:
        return [name for name in hostvars if group in (hostvars[name].get("group_names") or [])]
    parent = inventory.groups.get(group)
    return [host.name for host in parent.get_hosts()] if parent else []


class Naming(Mapping):
    """The variables of a host that a filter needs, or the values of one; what can't be templated reads as None.

    Templates of one cluster's variables are no reason for the run of another to fail.
    """

    def __init__(self, variables):
        self._variables = variables

    def __getitem__(self, name):
        try:
            return self._variables[name]
        except (AnsibleError, TemplateError):
            # The latter is what a value inside of a variable raises from ansible-core 2.19 on.
            return None

    def __iter__(self):
        return iter(self._variables)

    def __len__(self):
        return len(self._variables)

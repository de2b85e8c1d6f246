# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The virtual routers of the planes and clusters of an inventory."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.needs import needs
from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import virtual_router
from ansible_collections.metal3.baremetal.plugins.module_utils._network import plane_routers
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts


def of_machines(hostvars, machines):
    """Return those of each machine of planes, by its name.

    What cannot be templated for one machine is no reason for the run of another to fail.

    :param hostvars: mapping of host names to variables
    :param machines: names of the planes' machines
    """
    return dict((name, plane_routers.of_machine(named_hosts.Noting(hostvars[name]))) for name in machines)


def of_planes(of_machine):
    """Return those of planes, each once: all machines of a plane have the same.

    :param of_machine: some of what :func:`of_machines` returns
    """
    return [{"owner": f"the plane of {name}", "address": router["address"], "number": router["number"]}
            for name, router in _each_once(of_machine)]


def each_of_planes(of_machine):
    """Return ``(name of a machine, variable, VirtualRouter)`` of those of planes, each of the first machine with it.

    :param of_machine: as for :func:`of_planes`
    """
    return [(name, router["variable"], virtual_router.of_text(router["address"], router["number"]))
            for name, router in _each_once(of_machine)]


def _each_once(of_machine):
    found = {}
    for name, routers in of_machine.items():
        for router in routers:
            found.setdefault((router["address"], router["number"]), (name, router))
    return list(found.values())


def of_clusters(hostvars, clusters):
    """Return those of clusters, without those whose own run fails with mistakes.

    :param hostvars: mapping of host names to variables
    :param clusters: names of the inventory hosts that stand for them
    """
    children = cluster_groups.children(hostvars)
    found = [_of_cluster(name, named_hosts.Noting(hostvars[name]), children) for name in clusters]
    return [router for router in found if router is not None]


def _of_cluster(name, variables, children):
    try:
        needed = needs(cluster_inventory.parameters(name, variables, children)) or {}
    except cluster_inventory.ClusterNameError:
        return None
    router = needed.get("virtual_router")
    return router and dict(router, owner=f"cluster {needed['namespace']}/{needed['name']}")

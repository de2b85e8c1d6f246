# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site whose management is to move into one of its clusters, read from an inventory; which plane manages it now."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.problem import Problem
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.connection_choice import ENVIRONMENT
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import site_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import stages as manager
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager.site_folder import SiteFolder
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

MANAGEMENT = "management"
SERVERS = "baremetal"


class ManagedSite(NamedTuple):
    """What an inventory says of a site with a cluster of its own.

    :ivar host: inventory host that stands for the cluster
    :ivar cluster: its variables
    :ivar manager: first inventory host of the group ``management``, None without one
    :ivar managing: its variables
    :ivar name: the cluster's name
    """

    host: str
    cluster: Any
    manager: str | None
    managing: Any
    name: str

    @property
    def namespace(self) -> str:
        """Namespace of the cluster."""
        return str(cluster_inventory.namespace_of(self.cluster))

    def folder(self) -> SiteFolder:
        """Return the site's folder on this machine.

        :raises RefusedError: when the bootstrap plane is not described
        """
        plane = self.managing.get("management_plane")
        found = site_checks.bootstrap_problems(self.host, self.manager, plane)
        if found:
            raise RefusedError(found)
        return SiteFolder(plane["name"], plane["dir"], f"{self.namespace}/{self.name}")


def read(hostvars: Any) -> ManagedSite | None:
    """Return the site, None when none of its clusters is to manage it.

    :param hostvars: Ansible's variable ``hostvars``
    :raises RefusedError: when several are, or it is not clear
    """
    clusters = dict((name, cluster_groups.Naming(hostvars[name])) for name in cluster_groups.members(hostvars))
    host, problems = site_checks.chosen(clusters)
    if problems:
        raise RefusedError(problems)
    if host is None:
        return None
    first, managing = manager_of(hostvars)
    try:
        name = cluster_inventory.name_of(host, clusters[host], cluster_groups.children(hostvars))
    except cluster_inventory.ClusterNameError as exc:
        raise RefusedError([exc.args[0]]) from None
    return ManagedSite(host, clusters[host], first, managing, name)


def manages(site: ManagedSite) -> bool:
    """Return whether the cluster of a site manages it, as was recorded.

    :raises RefusedError: when the record is not what was written
    """
    recorded = site.folder().read()
    return recorded is not None and recorded.manager == manager.CLUSTER


def manager_of(hostvars: Any) -> tuple[str | None, Any]:
    """Return the first host of the group ``management`` and its variables; None and nothing without one.

    :param hostvars: Ansible's variable ``hostvars``
    """
    managers = cluster_groups.members(hostvars, MANAGEMENT)
    return (managers[0], cluster_groups.Naming(hostvars[managers[0]])) if managers else (None, {})


def problems(site: ManagedSite, hostvars: Any) -> list[Problem]:
    """Return what keeps a site from moving into its cluster, and warnings.

    :param hostvars: Ansible's variable ``hostvars``
    """
    servers = dict((name, cluster_groups.Naming(hostvars[name]))
                   for name in cluster_groups.members(hostvars, SERVERS))
    try:
        own = site.folder().kubeconfig
    except RefusedError:
        # Among what follows.
        own = ""
    return site_checks.problems(site.host, site.cluster, site.manager, site.managing, servers, own)


def kubeconfig(hostvars: Any) -> str:
    """Return the path of the kubeconfig of the plane that manages, empty when the inventory does not say which that is.

    What the environment says of an API server counts more than the description of a plane.

    :param hostvars: Ansible's variable ``hostvars``
    :raises RefusedError: when a file of the site's folder is not what was recorded
    """
    site = read(hostvars)
    if site is None:
        is_named = any(os.environ.get(name) for option in ("kubeconfig", "host") for name in ENVIRONMENT[option])
        return "" if is_named else _described_kubeconfig(hostvars)
    folder = site.folder()
    recorded = folder.read()
    if recorded is not None and recorded.manager == manager.CLUSTER:
        return folder.checked_kubeconfig(recorded)
    return f"{site.managing['management_plane']['dir']}/kubeconfig"


def _described_kubeconfig(hostvars: Any) -> str:
    """Return the kubeconfig of the one plane that the group ``management`` describes, empty without one, or of several.

    A context of its own counts for the plane's playbooks alone: those of servers would take another one of that file.
    """
    paths = set(_kubeconfig_of(hostvars[name]) for name in cluster_groups.members(hostvars, MANAGEMENT))
    return paths.pop() if len(paths) == 1 else ""


def _kubeconfig_of(variables: Any) -> str:
    """Return the kubeconfig of the plane that a machine's variables describe, empty when they name none."""
    plane = cluster_groups.Naming(variables).get("management_plane")
    fields = cluster_groups.Naming(plane if isinstance(plane, Mapping) else {})
    if fields.get("mode") == "process":
        return f"{fields['dir']}/kubeconfig" if fields.get("dir") else ""
    return "" if fields.get("context") else str(fields.get("kubeconfig") or "")


class MachinePlanes:
    """Which planes machines name, read once for all clusters that are asked for.

    :param hostvars: Ansible's variable ``hostvars``
    :param machines: names of inventory hosts, as those of the group ``management``
    """

    def __init__(self, hostvars: Any, machines: Iterable[str]) -> None:
        # The kubeconfigs of the planes that each machine names.
        self._named = dict((name, {normal_path(text) for text in (named_hosts.cluster_plane_of(hostvars[name]),
                                                                  _kubeconfig_of(hostvars[name])) if text})
                           for name in machines)

    def of_cluster(self, cluster: Any) -> list[str]:
        """Return those machines that may serve the servers of a cluster: not those of another plane than its own.

        :param cluster: variables of the inventory host that stands for the cluster
        """
        wanted = normal_path(named_hosts.cluster_plane_of(cluster))
        if not any(wanted in found for found in self._named.values()):
            return list(self._named)
        return [name for name, found in self._named.items() if wanted in found or not found]

    def beside(self, machine: str) -> list[str]:
        """Return those machines that may be of a plane of a machine: not those that name other planes alone.

        :param machine: its name, one of them
        """
        own = self._named[machine]
        return [name for name, found in self._named.items() if not own or not found or own & found]


def machines_of(hostvars: Any, machines: Iterable[str], cluster: Any) -> list[str]:
    """Return those machines that may serve the servers of a cluster, see :meth:`MachinePlanes.of_cluster`."""
    return MachinePlanes(hostvars, machines).of_cluster(cluster)


def normal_path(text: str) -> str:
    """Return the one spelling of a path, empty for an empty one."""
    return os.path.normpath(os.path.expanduser(text)) if text else ""

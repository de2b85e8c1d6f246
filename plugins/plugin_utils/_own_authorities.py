# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which files with certificate authorities the BMCs of servers are verified, as their own variables say."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _cluster_groups as cluster_groups
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _managed_site as managed_site
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts


def first(variables: Mapping[str, Any], names: Iterable[str], default: str = "") -> str:
    """Return the value of the first variable that is there, as a role's default takes it.

    :param variables: variables of a host
    :param names: names of variables
    :param default: what a host without all of them has
    """
    return next((str(variables[name] or "") for name in names if name in variables), default)


def counting(ca_cert: Any) -> str:
    """Return the file that counts in a task, empty for none: what omits an option is an object of its own."""
    return str(ca_cert) if isinstance(ca_cert, str) else ""


def of_servers(hostvars: Any, names: Iterable[str], read: Callable[[Mapping[str, Any]], str],
               is_one: Callable[[Mapping[str, Any]], bool] = lambda server: True) -> dict[str, str | None]:
    """Return the file of each server, None of one whose variables cannot be templated.

    :param hostvars: Ansible's variable ``hostvars``
    :param names: names of servers; those that the inventory does not have are left out
    :param read: callable that takes the variables of a server and returns its file
    :param is_one: callable that takes them and returns whether the server is one of those that are asked for
    """
    found = {}
    for name in names:
        if name in hostvars:
            # Of ten thousand servers not all at a time.
            variables = hostvars[name]
            if is_one(variables):
                own = named_hosts.Noting(variables)
                file = read(own)
                found[name] = None if own.unknown else file
    return found


class Plane:
    """Where a cluster is managed.

    :param cluster: variables of the inventory host that stands for the cluster
    """

    def __init__(self, cluster: Any) -> None:
        self._kubeconfig = managed_site.normal_path(named_hosts.cluster_plane_of(cluster))
        self._namespace = cluster_inventory.namespace_of(cluster_groups.Naming(cluster))

    def may_have(self, server: Mapping[str, Any]) -> bool:
        """Return whether a server may be of it: neither in another namespace, nor of another plane that is named.

        :param server: its variables
        """
        kubeconfig, namespace = named_hosts.home_of(server)
        return (namespace or cluster_inventory.DEFAULT_NAMESPACE) == self._namespace and (
            not kubeconfig or not self._kubeconfig or managed_site.normal_path(kubeconfig) == self._kubeconfig)

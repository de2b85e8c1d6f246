# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster needs that others may take: hosts and addresses, without the rest of its description; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.addresses import virtual_router
from ..._common.addresses.virtual_router import VirtualRouter
from .model import CONTROL_PLANE, STANDALONE, WORKER, Group
from .reader import read
from .spec import METAL3

_OF_GROUP = ("replicas", "autoscaler", "host_selector", "host_selector_expressions")
# What of a range says which addresses it gives away.
_OF_RANGE = ("start", "end", "subnet")


class ClusterNeeds(NamedTuple):
    """What a cluster needs of hosts.

    :param name: of the cluster
    :param namespace: of the cluster and of its hosts
    :param groups: its groups of machines, with the options that choose hosts, and the names of their ``pools``
    :param virtual_router: of its endpoint, None without keepalived
    :param endpoint: ``host`` and ``port``, None without one
    :param own_pools: ``name`` and ``ranges`` of the pools that it makes for itself
    """

    name: str
    namespace: str
    groups: tuple[Group, ...]
    virtual_router: VirtualRouter | None = None
    endpoint: Mapping[str, Any] | None = None
    own_pools: tuple[dict[str, Any], ...] = ()

    @property
    def subject(self) -> str:
        """Return what messages call the cluster."""
        return f"cluster {self.namespace}/{self.name}"


def needs(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a description needs of hosts; None without hosts, or with mistakes, which its own run reports.

    Nothing that it may have of secrets comes along.

    :param params: as ``reader.read`` takes them
    :returns: dict as :func:`needs_options` describes it
    """
    description, mistakes = read(params)
    if mistakes or description.provider != METAL3 or description.cluster_class:
        return None
    router, endpoint = description.virtual_router, description.endpoint
    pools = [{"name": pool["name"], "ranges": [
        dict((option, range_[option]) for option in _OF_RANGE if range_.get(option)) for range_ in pool["ranges"]]}
        for pool in description.pools]
    return {"name": description.name, "namespace": description.namespace,
            **({"virtual_router": {"address": str(router.address), "number": router.number}} if router else {}),
            **({"endpoint": {"host": endpoint["host"], "port": endpoint["port"]}} if endpoint else {}),
            **({"own_pools": pools} if pools else {}),
            "groups": [dict(((option, group.get(option)) for option in _OF_GROUP if group.get(option) is not None),
                            role=group.role, name=group.name, pools=description.pools_taken(group))
                       for group in description.groups]}


def of_parameter(neighbour: Mapping[str, Any]) -> ClusterNeeds:
    """Return the needs of a cluster as rules take them.

    :param neighbour: as :func:`needs` returns it
    """
    return ClusterNeeds(neighbour["name"], neighbour["namespace"], tuple(
        Group(neighbour["name"], group["role"], group["name"], group) for group in neighbour["groups"]),
        _router(neighbour.get("virtual_router")), neighbour.get("endpoint"), tuple(neighbour.get("own_pools") or ()))


def _router(given: Mapping[str, Any] | None) -> VirtualRouter | None:
    return virtual_router.of_text(given["address"], given["number"]) if given else None


def needs_options() -> dict[str, Any]:
    """Return the options of what :func:`needs` returns, as an argument spec."""
    group = {
        "role": {"type": "str", "required": True, "choices": [CONTROL_PLANE, WORKER, STANDALONE]},
        "name": {"type": "str", "required": True}, "replicas": {"type": "int"}, "autoscaler": {"type": "dict"},
        "host_selector": {"type": "dict"}, "host_selector_expressions": {"type": "list", "elements": "dict"},
        "pools": {"type": "list", "elements": "str", "default": []},
    }
    return {"name": {"type": "str", "required": True}, "namespace": {"type": "str", "required": True},
            "virtual_router": {"type": "dict", "options": {
                "address": {"type": "str", "required": True}, "number": {"type": "int", "required": True}}},
            "endpoint": {"type": "dict", "options": {
                "host": {"type": "str", "required": True}, "port": {"type": "int", "required": True}}},
            "own_pools": {"type": "list", "elements": "dict", "default": [], "options": {
                "name": {"type": "str", "required": True},
                "ranges": {"type": "list", "elements": "dict", "required": True,
                           "options": dict((option, {"type": "str"}) for option in _OF_RANGE)}}},
            "groups": {"type": "list", "elements": "dict", "required": True, "options": group}}

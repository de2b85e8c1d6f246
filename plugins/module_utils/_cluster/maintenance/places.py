# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Machine and Node a host is, and whether it may be taken out of its cluster for a while; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._host.state import lock as host_lock
from ..._kube.objects.finalizers import is_going
from ..machines.actions import quorum_problems
from ..workflow.snapshot import CLUSTER_LABEL, Snapshot, node_name
from . import named_hosts

Object = dict[str, Any]


class Place(NamedTuple):
    """A host and what it is in a cluster.

    :param host: the BareMetalHost
    :param cluster: name of the cluster, None for a host that is in none
    :param machine: its Machine, None for a host that is in no cluster
    :param node: name of its Node, None while it is none
    """

    host: Object
    cluster: str | None
    machine: Object | None
    node: str | None

    @property
    def name(self) -> str:
        """Return the host's name."""
        return self.host["metadata"]["name"]


def places(names: Iterable[str], objects: Mapping[str, list[Object]], namespace: str,
           leaves: bool = True, now: float = 0, together: bool = True,
           later: Iterable[str] = ()) -> tuple[list[Place], list[Problem]]:
    """Return a Place for each host, and why hosts can't be taken out.

    :param names: names of BareMetalHosts
    :param objects: dict of kind to list of objects of the namespace
    :param leaves: whether they are to be taken out; False when they come back
    :param now: seconds since 1970, up to which the locks of hosts are looked at
    :param together: whether they leave all at once; else etcd's quorum is looked at for each by itself
    :param later: names of hosts that have their turn after these in the same run
    """
    names = list(names)
    hosts, wrong = named_hosts.find("host-maintenance", names, objects, namespace)
    found = []
    for host in hosts:
        subject = named_hosts.subject_of(namespace, host["metadata"]["name"])
        place, problem = _place(host, objects, subject)
        found.append(place)
        wrong += [problem] if problem and leaves else []
        wrong += host_lock.problems(subject, "hosts", [host], now) if leaves else []
    if leaves and not wrong:
        for cluster in sorted(set(place.cluster for place in found if place.cluster)):
            machines = [place.machine for place in found if place.machine and place.cluster == cluster]
            snapshot, subject = Snapshot(objects, cluster), f"cluster {namespace}/{cluster}"
            for group in [machines] if together else [[machine] for machine in machines]:
                wrong += quorum_problems(group, snapshot, subject, "hosts", [*names, *later])
    return found, wrong


def changes(before: Iterable[Place], objects: Mapping[str, list[Object]], namespace: str) -> dict[str, str]:
    """Return what of hosts and their Machines is gone or another one by now: name of the host to text.

    :param before: the Places as they were checked
    :param objects: dict of kind to list of objects of the namespace, as they are by now
    """
    before = list(before)
    hosts = dict((item["metadata"]["name"], item) for item in objects["BareMetalHost"])
    machines = dict((place.name, place.machine) for place in places(
        [place.name for place in before], objects, namespace, leaves=False)[0])
    found = dict((place.name, named_hosts.lost(place.host, place.machine, hosts.get(place.name),
                                               machines.get(place.name))) for place in before)
    return dict((name, text) for name, text in found.items() if text)


def _place(host, objects, subject):
    consumer = host["spec"].get("consumerRef") or {}
    if not consumer:
        return Place(host, None, None, None), None
    if consumer.get("kind") != "Metal3Machine":
        return Place(host, None, None, None), Problem(
            "host-maintenance", subject, "spec.consumerRef", f"{consumer.get('kind')} {consumer.get('name')}",
            "a Metal3Machine, or nothing", "take it out of use by what uses it")
    machine = named_hosts.machine_of(host, objects)
    if machine is None:
        # With a place all the same: one that was taken out before that comes back by losing its mark.
        return Place(host, None, None, None), Problem(
            "host-maintenance", subject, "spec.consumerRef",
            f"Metal3Machine {consumer.get('name')}, which no Machine owns", "the Metal3Machine of a Machine",
            "look at its cluster")
    title, node = f"Machine {machine['metadata']['name']}", node_name(machine)
    place = Place(host, machine["metadata"]["labels"].get(CLUSTER_LABEL), machine, node)
    if is_going(machine):
        return place, Problem("host-maintenance", subject, "spec.consumerRef",
                              f"{title}, which is being deleted", "one that stays",
                              "wait until the host is available")
    if node is None:
        return place, Problem("host-maintenance", subject, "spec.consumerRef", f"{title}, which is no Node yet",
                              "a Node", "wait until it is one (playbook cluster)")
    return place, None

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the replacement of named Machines takes and costs, and what stands against it; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._kube.objects.finalizers import is_going
from ..checks import hosts as cluster_hosts
from ..description.model import CONTROL_PLANE
from ..description.spec import METAL3
from .budgets import budget_lines, end_of_drain
from .machines import disk_texts, free_text, time_texts, unready, unready_line
from .outlook import Outlook

Object = Mapping[str, Any]


class Spare(NamedTuple):
    """The hosts that CAPM3 could choose for the Machine that takes another one's place.

    :ivar free: names of those that it could choose now
    :ivar coming: names of those that become free by themselves
    """

    free: list[str]
    coming: list[str]


def spare_hosts(snapshot: Any, machine: Object) -> Spare | None:
    """Return the hosts that are free for the Machine that takes the place of another one.

    By the selector of the Machine that goes: what its owner describes since may differ.

    :param snapshot: a workflow Snapshot
    :param machine: the Machine that goes
    :returns: None when CAPM3 does not choose hosts, or nobody makes another Machine
    """
    metal3_machine, owner = snapshot.metal3_machine(machine), _owner(snapshot, machine)
    if snapshot.provider.name != METAL3 or metal3_machine is None or owner is None:
        return None
    keeper = cluster_hosts.keeper(
        CONTROL_PLANE if owner["kind"] == "KubeadmControlPlane" else "worker",
        owner["metadata"]["name"])
    matching = cluster_hosts.matching(snapshot.all("BareMetalHost"), metal3_machine)
    free = [host for host in matching if cluster_hosts.refusal(host, keeper) is None]
    return Spare([host["metadata"]["name"] for host in free],
                 [host["metadata"]["name"] for host in matching
                  if host not in free and cluster_hosts.on_its_way(host, keeper)])


def replacement(snapshot: Any, names: Iterable[str], budgets: Iterable[Object], pods: Iterable[Object],
                comes_back: bool) -> Outlook:
    """Return what is said before Machines are replaced.

    :param snapshot: a workflow Snapshot of their cluster
    :param names: of the Machines
    :param budgets: PodDisruptionBudgets of the cluster
    :param pods: the pods on the nodes that go
    :param comes_back: whether the hosts of these Machines may be chosen again
    """
    names = list(names)
    machines = [machine for name in names for machine in [snapshot.get("Machine", name)] if machine]
    outlook = Outlook([], [])
    for owner in sorted(set(_title(snapshot, machine) for machine in machines)):
        mine = [machine for machine in machines if _title(snapshot, machine) == owner]
        own_names = [machine["metadata"]["name"] for machine in mine]
        hosts = [host["metadata"]["name"] for machine in mine for host in [snapshot.host(
            snapshot.metal3_machine(machine))] if host]
        parts, spare = time_texts(snapshot, own_names), spare_hosts(snapshot, mine[0])
        if spare:
            parts.append(free_text(len(spare.free)))
            if len(spare.free) < len(mine):
                outlook.notes.append(_shortage(owner, len(mine), spare, hosts if comes_back else []))
        parts += disk_texts(snapshot, hosts)
        if parts:
            outlook.figures.append(f"{owner}: {'; '.join(parts)}")
    outlook.notes.extend(unready_line(step, "others go beside it") for step in unready(snapshot, names))
    limits = [((machine.get("spec") or {}).get("deletion") or {}).get("nodeDrainTimeoutSeconds")
              for machine in machines]
    outlook.notes.extend(budget_lines(budgets, pods, end_of_drain(limits)))
    return outlook


def _shortage(owner, number, spare, hosts):
    """Return the line about hosts that are missing."""
    later = [*spare.coming, *hosts]
    wait = (f"the rest waits until {', '.join(later)} {'is' if len(later) == 1 else 'are'} deprovisioned and available"
            if later else "the rest waits until one is")
    return (f"{owner}: {free_text(len(spare.free))} for {number} new machine{'' if number == 1 else 's'}: {wait}; free "
            "or enrol a host first to be without it for less time")


def _owner(snapshot, machine):
    """Return the owner that makes another Machine in place of this one, or None."""
    owner = snapshot.owner_of(machine)
    return None if owner is None or is_going(owner) else owner


def _title(snapshot, machine):
    owner = _owner(snapshot, machine)
    return owner["metadata"]["name"] if owner else machine["metadata"]["name"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts may leave their clusters together: how many of a pool at once, of a control plane one; pure."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._host.description import annotations as host_annotations
from ..._kube.objects.finalizers import is_going
from ..interruption.machines import unready
from ..workflow.snapshot import CLUSTER_LABEL, DEPLOYMENT_LABEL, SET_LABEL, Snapshot, is_control_plane, node_name
from .places import Place

Object = dict[str, Any]

_NUMBER = re.compile(r"[1-9][0-9]{0,5}%?")
_LIMIT = 6
_FIELD = "max_unavailable_per_pool"


class Pool(NamedTuple):
    """Machines of which only so many may be away at once.

    :ivar cluster: name of the cluster
    :ivar name: of the MachineDeployment, or of the MachineSet that none owns; empty for the control plane
    """

    cluster: str
    name: str

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"pool {self.name} of cluster {self.cluster}" if self.name else f"the control plane of {self.cluster}"


class Away(NamedTuple):
    """A machine of a pool that is unavailable already.

    :ivar host: name of its host, empty when it has none
    :ivar text: why, in words
    :ivar is_unready: whether that is because its node is not ready, and not because somebody takes it away
    """

    host: str
    text: str
    is_unready: bool = False


def pool_of(machine: Mapping[str, Any] | None) -> Pool | None:
    """Return the pool of a Machine, None for a standalone one and for a host that is no Machine."""
    labels = ((machine or {}).get("metadata") or {}).get("labels") or {}
    if machine is None or CLUSTER_LABEL not in labels:
        return None
    if is_control_plane(machine):
        return Pool(labels[CLUSTER_LABEL], "")
    name = labels.get(DEPLOYMENT_LABEL) or labels.get(SET_LABEL)
    return Pool(labels[CLUSTER_LABEL], name) if name else None


def pools_of(found: Iterable[Place]) -> set[Pool]:
    """Return the pools that hosts are of."""
    return set(pool for place in found for pool in [pool_of(place.machine)] if pool)


def limit_problem(subject: str, text: str | None) -> Problem | None:
    """Return the Problem of a limit that is none.

    :param text: the option: a number, or a percentage
    """
    if text is None or _NUMBER.fullmatch(text):
        return None
    return Problem("max-unavailable", subject, _FIELD, f'"{plain(text)}"',
                   "a number from 1 on, or a percentage such as 25%", "correct it")


def limit_of(text: str, size: int) -> int:
    """Return how many machines of a pool may be unavailable.

    :param text: the option, without problem
    :param size: how many machines the pool has
    """
    number = int(text.rstrip("%"))
    return max(1, size * number // 100) if text.endswith("%") else number


def away(pool: Pool, snapshot: Any, names: Iterable[str]) -> list[Away]:
    """Return the machines of a pool that are unavailable and are not among the hosts of a run.

    :param snapshot: a workflow Snapshot of the pool's cluster
    :param names: names of the run's hosts
    """
    own, not_ready = set(names), set(step["machine"] for step in unready(snapshot))
    found: list[Away] = []
    for machine in _members(pool, snapshot):
        name, host = machine["metadata"]["name"], snapshot.host(snapshot.metal3_machine(machine))
        host_name = host["metadata"]["name"] if host else ""
        mark = host_annotations.of(host or {}).get(host_annotations.MAINTENANCE)
        if host_name in own or (mark is None and node_name(machine) is None):
            continue
        if mark is not None:
            found.append(Away(host_name, f"{host_name} is being maintained ({plain(mark)})"))
        elif is_going(machine):
            found.append(Away(host_name, f"Machine {name} is being deleted"))
        elif name in not_ready:
            found.append(Away(host_name, f"Machine {name} on host {host_name or '(none)'} is not ready", True))
    return found


def rounds(found: Sequence[Place], objects: Mapping[str, list[Object]], namespace: str, limit: str | None,
           stays_out: bool) -> tuple[list[list[Place]], list[Problem]]:
    """Return which hosts leave together, one round after another, and why some cannot.

    :param found: the hosts; what an earlier run has left out comes first
    :param objects: dict of kind to list of objects of the namespace
    :param limit: how many of a pool may be unavailable at once, None for any number
    :param stays_out: whether the hosts of a round are still away when the next one begins; else those that an earlier
        run has left out are of the first one
    """
    names = [place.name for place in found]
    room: dict[Pool, int] = {}
    problems: list[Problem] = []
    pools = sorted(pools_of(found))
    limited = set(pool.cluster for pool in pools if pool.name) if limit is not None else set()
    snapshots = dict((cluster, Snapshot(objects, cluster)) for cluster in limited)
    for pool in pools:
        mine = [place for place in found if pool_of(place.machine) == pool]
        if not pool.name:
            # Whether etcd keeps its quorum is looked at elsewhere.
            room[pool] = 1
            continue
        if limit is None:
            continue
        snapshot = snapshots[pool.cluster]
        allowed, others = limit_of(limit, len(_members(pool, snapshot))), away(pool, snapshot, names)
        room[pool] = allowed - len(others)
        # What an earlier run has left out is away from the first round on, however many hosts a round has.
        marked = [] if stays_out else [place for place in mine if _is_marked(place)]
        need = len(mine) if stays_out else max(1, len(marked))
        if room[pool] < need:
            problems.append(_too_many(namespace, pool, allowed, others, mine, marked, need))
    result: list[list[Place]] = []
    for place in sorted(found, key=lambda item: not _is_marked(item)):
        own = pool_of(place.machine)
        group = next((group for group in result if own is None or own not in room or sum(
            pool_of(item.machine) == own for item in group) < room[own]), None)
        if group is None:
            result.append([place])
        else:
            group.append(place)
    return result, problems


def taken_up(found: Sequence[Place], later: Iterable[Place]) -> list[Place]:
    """Return the hosts of later batches that an earlier run has left out of a pool that this batch takes hosts of.

    They would be in the way of this batch, and have their turn anyway.

    :param found: the hosts of this batch
    :param later: those of later batches
    """
    pools = pools_of(found)
    return [place for place in later if _is_marked(place) and pool_of(place.machine) in pools]


def _too_many(namespace: str, pool: Pool, allowed: int, others: list[Away], mine: list[Place], marked: list[Place],
              need: int) -> Problem:
    names = few([place.name for place in mine], _LIMIT)
    if len(marked) > 1:
        out = few([place.name for place in marked], _LIMIT)
        beside = f"{few([other.text for other in others], _LIMIT, '; ')}, and " if others else ""
        already, first = f"{beside}{out} left out by an earlier run", "bring some of them back first"
    elif others:
        already = f"{few([other.text for other in others], _LIMIT, '; ')}, and {names} to go"
        first = "bring the others back first"
    else:
        already, first = f"{names} to be away together", "name fewer servers"
    if others:
        first += " (playbook maintain, return; playbook remediate)"
    elif marked:
        first += " (playbook maintain, return)"
    return Problem(
        "max-unavailable", f"cluster {namespace}/{pool.cluster}", _FIELD, f"{already}, of pool {pool.name}",
        f"at most {allowed} unavailable at once",
        f"{first}, or allow more (maintain_max_unavailable_per_pool={len(others) + need}; module option {_FIELD})")


def together_problems(found: Sequence[Place], objects: Mapping[str, list[Object]], namespace: str,
                      limit: str | None) -> list[Problem]:
    """Return why hosts cannot leave all at once; parameters as in :func:`rounds`."""
    return rounds(found, objects, namespace, limit, True)[1] if limit is not None else []


def _members(pool, snapshot):
    return [machine for machine in snapshot.mine("Machine") if pool_of(machine) == pool]


def _is_marked(place):
    return host_annotations.MAINTENANCE in host_annotations.of(place.host)

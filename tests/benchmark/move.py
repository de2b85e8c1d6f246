# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a move takes: ``clusterctl move`` alone against plane_move, and its rehearsal, in one run.

Between two API servers with the real definitions and without controllers; hosts at rest and one cluster.
"""
from __future__ import annotations

import os
import time

from fakes import move_planes, moves
from measures import Figure

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import clusterctl
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.service import Move

GOAL_RATIO = 1.2


def measure_move(work_dir, counts):
    """Yield the figures of a move of each of several numbers of hosts.

    :param work_dir: private folder
    :param counts: numbers of hosts
    """
    with move_planes.planes() as servers:
        folder = os.path.join(work_dir, "move")
        # An API server takes a second for each kind that is listed for the first time since its start; there are kinds
        # that one of the two lists and the other does not.
        for namespace, warm_up in (("first", _alone), ("second", _ours)):
            move_planes.populate(move_planes.client(servers, "here"), namespace, 1, first=_next(1))
            warm_up(servers, folder, namespace)
        for hosts in counts:
            yield from _measure(servers, folder, hosts)


def _next(hosts):
    """Return the number of the first of so many servers that no other host has: all of them stay over there."""
    first = _next.number
    _next.number += hosts
    return first


_next.number = 0


def _sides(servers):
    return dict((name, {"kubeconfig": servers.kubeconfig(name), "context": None}) for name in ("here", "there"))


def _alone(servers, work_dir, namespace, _hosts=1):
    """Move a namespace by clusterctl alone and return how many seconds that took."""
    sides = _sides(servers)
    with clusterctl.alone(work_dir, lambda _line: None) as lock:
        return _seconds(lambda: clusterctl.move(move_planes.clusterctl(), sides["here"], sides["there"], namespace,
                                                work_dir, lambda _line: None, lock))


def _ours(servers, work_dir, namespace, hosts=1):
    """Move a namespace with so many hosts by plane_move and return how many seconds that took."""
    sides = _sides(servers)
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    params = moves.move_params(
        namespace=namespace, confirm=str(hosts), clusterctl=move_planes.clusterctl(), work_dir=work_dir,
        kubeconfig=sides["here"]["kubeconfig"], to_kubeconfig=sides["there"]["kubeconfig"], ironic_namespace="",
        ironic_deployment="")
    return _seconds(lambda: Move(here, there, params, False, Progress(None)).moved())


def _measure(servers, work_dir, hosts):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    took = {_alone: [], _ours: []}
    rehearsed = outcome = None
    # Whatever else the machine does only adds to a time, and databases grow: neither side is always the first.
    for number, side in enumerate((_alone, _ours, _ours, _alone, _alone, _ours)):
        namespace = f"{number}-of-{hosts}"
        objects = move_planes.populate(here, namespace, hosts, first=_next(hosts))
        if outcome is None:
            rehearsed, outcome = _rehearsal(here, namespace)
            assert outcome.problems == [] and outcome.objects == objects, outcome
        took[side].append(side(servers, work_dir, namespace, hosts))
        assert len(move_planes.objects(there, namespace)) == objects, namespace
        assert move_planes.objects(here, namespace) == {}, namespace
    peer, taken = (min(took[side]) for side in (_alone, _ours))
    ratio = taken / peer
    name = f"move of {hosts} hosts"
    yield Figure(f"{name}: clusterctl move alone", peer, f"s for {objects} objects, least of three", "", None, "")
    yield Figure(f"{name}: plane_move", taken, "s, least of three", "", None, "")
    yield Figure(f"{name}: plane_move to clusterctl", ratio, "times", f"at most {GOAL_RATIO}", ratio <= GOAL_RATIO,
                 "clusterctl move alone")
    yield Figure(f"{name}: rehearsal", rehearsed, "s with the start of its API servers", "", None, "")
    memory = outcome.resident_bytes / 1024 ** 2
    yield Figure(f"{name}: memory of the rehearsal's API servers", memory, "MiB", "", None, "")


def _rehearsal(here, namespace):
    """Rehearse the move of a namespace and return how many seconds that took, and its Outcome."""
    side = Side(here, namespace)
    outcome = []
    taken = _seconds(lambda: outcome.append(rehearsal.move(
        move_planes.programs(), move_planes.clusterctl(), namespace, side.objects, side.graph().moved, side.contents(),
        side.contents(), Progress(None))))
    return taken, outcome[0]


def _seconds(call):
    began = time.monotonic()
    call()
    return time.monotonic() - began

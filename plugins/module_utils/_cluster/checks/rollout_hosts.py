# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the machines that a rollout makes can ever have hosts; pure.

Those of the machines that go come back, and are chosen again only where the present selector matches them.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription
from ..description.spec import METAL3
from .hosts import as_free, keeper, on_its_way, shortages
from .preflight import Facts, hosts_wanted


def rollout_problems(description: ClusterDescription, facts: Facts,
                     changes: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Return a problem for each group whose rollout would end halfway, for want of hosts that its machines could have.

    One that only has no host to spare is a line of attention, see ``preflight.rollout_warnings``.

    :param facts: a Facts, of before
    :param changes: as ``rollout.preview`` returns them
    """
    if description.provider != METAL3 or description.cluster_class:
        return []
    replaced = dict((change["owner"], change["machines"]) for change in changes if change["rolls"])
    snapshot, names = facts.snapshot, set(name for machines in replaced.values() for name in machines)
    if not names:
        return []
    given_back = [host["metadata"]["name"] for name in names for machine in [snapshot.get("Machine", name)] if machine
                  for host in [snapshot.host(snapshot.metal3_machine(machine))] if host]
    keepers = [keeper(group.role, group.owner) for group in description.groups]
    hosts = [as_free(host) if host["metadata"]["name"] in given_back or any(on_its_way(host, name) for name in keepers)
             else host for host in facts.hosts]
    wanted = [(description, group, hosts_wanted(group, snapshot, replaced.get(group.owner, ())))
              for group in description.groups]
    return [problem._replace(hint=f"{problem.hint}; this replaces machines, and hosts of those that go count where the "
                                  "selector matches them") for problem in shortages(wanted, hosts)]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the replacement of machines takes and costs: time, spare hosts, addresses, disks; pure.

These are figures for who confirms it, and no reason against it.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._ipam.usage import usage
from ..checks.hosts import is_free
from ..description.spec import METAL3
from ..interruption.machines import disk_texts, free_text, time_texts


def figure_lines(description: Any, facts: Any, going: Mapping[str, Iterable[tuple[str, str | None]]],
                 replaced: Iterable[str]) -> list[str]:
    """Return a line for each owner whose machines go.

    :param description: a ClusterDescription
    :param facts: a preflight Facts
    :param going: (Machine, host or None) of the machines that go, by their owner's name
    :param replaced: names of the owners that make others in their place
    """
    replaced, groups = set(replaced), dict((group.owner, group) for group in description.groups)
    result = []
    for owner, machines in sorted(going.items()):
        machines, group = list(machines), groups.get(owner)
        parts = []
        if owner in replaced:
            parts = time_texts(facts.snapshot, [name for name, _host in machines])
            # Of a class of the user's nobody knows which hosts it selects.
            if group is not None and description.provider == METAL3 and not description.cluster_class:
                free = sum(is_free(host, group) for host in facts.hosts)
                parts.append(free_text(free))
                parts += _addresses(description, facts, group)
        parts += disk_texts(facts.snapshot, [host for _name, host in machines if host])
        if parts:
            result.append(f"{owner}: {'; '.join(parts)}")
    return result


def _addresses(description: Any, facts: Any, group: Any) -> list[str]:
    free = [(pool, usage(facts.pools[pool], facts.addresses, facts.claims)["free"])
            for pool in description.pools_taken(group) if pool in facts.pools]
    return [f"pool {pool} has {count} free address{'' if count == 1 else 'es'}" for pool, count in free]

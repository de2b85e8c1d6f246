# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the replacement of machines takes and costs: time, spare hosts, addresses, disks; pure.

These are figures for who confirms it, and no reason against it.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.formats import duration
from ..._common.plain_text import few
from ..._ipam.usage import usage
from ..description.spec import METAL3
from ..render.network import attached
from .hosts import is_free
from .rollout_gates import boot_seconds

Object = Mapping[str, Any]

_LIMIT = 6


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
            parts = _time(facts.snapshot, [name for name, _host in machines])
            # Of a class of the user's nobody knows which hosts it selects.
            if group is not None and description.provider == METAL3 and not description.cluster_class:
                free = sum(is_free(host, group) for host in facts.hosts)
                parts.append(f"{free} host{' that matches is' if free == 1 else 's that match are'} free")
                parts += _addresses(description, facts, group)
        parts += _disks(facts.snapshot, [host for _name, host in machines if host])
        if parts:
            result.append(f"{owner}: {'; '.join(parts)}")
    return result


def _time(snapshot: Any, names: Iterable[str]) -> list[str]:
    """Say how long the present machines took: nobody knows better how long the next ones will."""
    took = sorted(seconds for name in names for seconds in [boot_seconds(snapshot.get("Machine", name))] if seconds)
    if not took:
        return []
    span = " to ".join(dict.fromkeys([duration(took[0]), duration(took[-1])]))
    return [f"from its creation to its Node a machine took {span}"]


def _addresses(description: Any, facts: Any, group: Any) -> list[str]:
    networks = attached(description, group)
    pools = sorted(set(use.pool for use in description.pool_uses if use.network in networks) & set(facts.pools))
    free = [(pool, usage(facts.pools[pool], facts.addresses, facts.claims)["free"]) for pool in pools]
    return [f"pool {pool} has {count} free address{'' if count == 1 else 'es'}" for pool, count in free]


def _disks(snapshot: Any, names: Iterable[str]) -> list[str]:
    """Say what becomes of the disks: CAPM3 gives a host back, and the operator cleans it as its mode says."""
    hosts = [snapshot.get("BareMetalHost", name) for name in sorted(names)]
    kept = [host["metadata"]["name"] for host in hosts
            if host and (host.get("spec") or {}).get("automatedCleaningMode") == "disabled"]
    wiped = sum(host is not None for host in hosts) - len(kept)
    parts = [f"all disks of {wiped} host{'' if wiped == 1 else 's'} are wiped"] if wiped else []
    return parts + ([f"not cleaned are the disks of {few(kept, _LIMIT)} (automatedCleaningMode disabled), where an "
                     "image is only written over what is there"] if kept else [])

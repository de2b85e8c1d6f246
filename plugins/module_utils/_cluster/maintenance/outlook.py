# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said before hosts leave their clusters: pods that go, time, what stands against it; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._common.texts.formats import duration
from ..._common.texts.plain_text import few, plain
from ..._host.description import annotations as host_annotations
from ..interruption.budgets import budget_lines
from ..interruption.machines import span_of, unready, unready_line
from ..interruption.outlook import Outlook
from ..workflow.snapshot import Snapshot
from .places import Place
from .waves import away, pools_of

Object = Mapping[str, Any]

_LIMIT = 8


def outlook(found: Sequence[Place], pods: Mapping[str, Sequence[Object]], budgets: Mapping[str, Iterable[Object]],
            objects: Mapping[str, list[dict[str, Any]]], seconds: float) -> Outlook:
    """Return what is said of hosts that leave their clusters.

    :param found: the hosts
    :param pods: those that are evicted, by the host's name
    :param budgets: PodDisruptionBudgets by the cluster's name
    :param objects: dict of kind to list of objects of the namespace
    :param seconds: how long a drain is waited for
    :returns: as figures a line for each host and one about time
    """
    figures = [_host_line(place, pods.get(place.name, ())) for place in found]
    took = _took(place.host for place in found) or _took(objects["BareMetalHost"])
    figures += [f"the last maintenance of a server took {span_of(took.values())} ({few(sorted(took), _LIMIT)})"] \
        if took else []
    notes, names = [], [place.name for place in found]
    for cluster in sorted(set(place.cluster for place in found if place.cluster)):
        mine = [place for place in found if place.cluster == cluster]
        gone = [pod for place in mine for pod in pods.get(place.name, ())]
        notes += budget_lines(budgets.get(cluster, ()), gone,
                              f"the drain waits for it, and the run ends after {duration(seconds)}")
        machines = [place.machine["metadata"]["name"] for place in mine if place.machine]
        snapshot = Snapshot(objects, cluster)
        notes += [unready_line(step, f"others of cluster {cluster} go beside it")
                  for step in unready(snapshot, machines)]
        notes += [f"{other.text}: others of {pool.title} go beside it" for pool in sorted(pools_of(mine))
                  for other in away(pool, snapshot, names) if not other.is_unready]
    return Outlook(figures, notes)


def _host_line(place, pods):
    if place.node is None:
        return f"{place.name}: in no cluster, so that nothing is evicted"
    titles = sorted(plain(f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}") for pod in pods)
    what = f"evicts {len(titles)} pod{'' if len(titles) == 1 else 's'}: {few(titles, _LIMIT)}" if titles else \
        "evicts no pod"
    return f"{place.name} (node {place.node} of cluster {place.cluster}): {what}"


def _took(hosts):
    """Return for how many seconds each host was away when it was maintained last, by its name."""
    found = {}
    for host in hosts:
        text = host_annotations.of(host).get(host_annotations.MAINTENANCE_TOOK, "")
        if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 10:
            found[host["metadata"]["name"]] = int(text)
    return found

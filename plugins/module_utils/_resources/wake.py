# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking BMO to look at hosts now: a change of an annotation ends every pause that it makes."""
from __future__ import annotations

from typing import Any

from .._common.texts.formats import timestamp
from .._host.description import annotations as host_annotations
from .._kube.api import bulk
from .._kube.api.cluster_clock import clock_of
from .._kube.responses.errors import KubeError
from .._metal3.kinds import KNOWN
from .base import HOST


def wake(client: Any, hosts: list[dict[str, Any]], progress: Any, why: str) -> list[str]:
    """Change an annotation of hosts, so that BMO looks at them at once.

    :param client: a KubeClient
    :param hosts: BareMetalHosts as they were read; one of another ``uid`` by now is left unchanged
    :param progress: a Progress
    :param why: line of progress, with ``%s`` for the names
    :returns: a warning for each host that could not be changed
    """
    if not hosts:
        return []
    progress.event(why % ", ".join(sorted(host["metadata"]["name"] for host in hosts)))
    now = timestamp(clock_of(client)())
    outcomes = bulk.run([lambda host=host: _annotate(client, host, now) for host in hosts])
    return [f"{host['metadata']['name']}: BMO was not asked to look at the host ({outcome.error.message}); its next "
            "change of power may begin minutes late" for host, outcome in zip(hosts, outcomes)
            if outcome.error is not None]


def _annotate(client: Any, host: Any, now: str) -> None:
    metadata = host["metadata"]
    try:
        # The uid alone: BMO writes the host's status all the time, and the annotation fits any status.
        client.patch(KNOWN[HOST], metadata["namespace"], metadata["name"],
                     {"metadata": {"annotations": {host_annotations.RETRY: now}}},
                     checked={"metadata": {"uid": metadata["uid"]}})
    except KubeError as exc:
        # Another host, or none: then there is no pause to end.
        if exc.status not in (404, 409):
            raise

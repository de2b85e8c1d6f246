# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster must have for parts to be monitored, and what is there of it."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._kube.api.discovery import resolve
from ..._kube.reconcile.plan import Entry
from ..parts.catalogue import Part
from . import monitor, own_objects

Object = dict[str, Any]


def problems(client: Any, run: Callable[..., Any], chosen: Iterable[tuple[Part, Object]],
             shipped: Mapping[str, tuple[list[Object], str]], certificates: str) -> list[Problem]:
    """Return why parts cannot be monitored as their settings ask for.

    :param client: a KubeClient
    :param run: callable that takes a list of calls and returns their ``bulk.Outcome``
    :param chosen: parts and their settings
    :param shipped: part's name → its objects as they are shipped and its version
    :param certificates: the module's option
    :raises KubeError: when the API server can't be asked
    """
    monitored = [(part, settings) for part, settings in chosen if settings.get("monitor")]
    if not monitored:
        return []
    found = [problem for part, settings in monitored
             for problem in monitor.problems(part, settings, shipped[part.name][0], certificates)]
    key = monitor.MONITORS.api_version, monitor.MONITORS.kind
    if resolve(client, [{"apiVersion": key[0], "kind": key[1]}], run)[key] is None:
        found += [Problem("part-monitor", f"part {part.name}", "monitor", "true",
                          f"false, because the cluster does not serve {key[1]} of {key[0]}",
                          "install the Prometheus operator first, or remove monitor") for part, _settings in monitored]
    return found


def written(client: Any, part: Part, settings: Object) -> list[Entry]:
    """Return the deletions of what this collection has written for a part's metrics, in their order.

    Without its Secret, which is deleted last, nothing of it is there.

    :param client: a KubeClient
    :param part: a Part
    :param settings: its settings
    :raises KubeError: when the API server can't be asked
    """
    if part.metrics is None:
        return []
    found: list[Entry] = []
    for resource in reversed(monitor.KINDS if part.metrics.is_secure else monitor.KINDS[:1]):
        entry = own_objects.deletion_of(
            client, resource, settings.get("namespace") or part.namespace, monitor.name_of(part), not found)
        if entry is not None:
            found.insert(0, entry)
        elif not found:
            break
    return found

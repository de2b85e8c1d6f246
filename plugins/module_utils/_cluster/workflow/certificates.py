# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the certificates of a control plane's machines end, and which machines are replaced to renew them; pure.

kubeadm issues them for a year; a new machine has new ones. Cluster API notes when they end (``certificatesExpiryDate``
in ``internal/controllers/machine/machine_controller.go``). Kubelets renew their own, and Cluster API those of
kubeconfigs; the authorities of a cluster, of ten years, nobody renews.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.texts.formats import moment, timestamp
from ..._kube.objects.finalizers import is_going
from .snapshot import node_name

_DAY = 86400


def of_control_plane(snapshot: Any, now: float) -> list[dict[str, Any]]:
    """Return when the certificates of each machine of a control plane end, in order of the machines' names.

    :param snapshot: a workflow Snapshot
    :param now: seconds since 1970
    :returns: dicts with ``machine``, ``created`` (RFC 3339), ``joined`` (whether it has a Node: before that it has no
        certificates whose end could be known), ``not_after`` (RFC 3339, None while it is not known) and ``days_left``
        (whole days, None while it is not known)
    """
    plane = snapshot.control_plane
    found = []
    for machine in snapshot.machines_of(plane) if plane else []:
        if is_going(machine):
            continue
        ends = (machine.get("status") or {}).get("certificatesExpiryDate")
        # Of a time that can't be read nothing is known: others may have written it.
        seconds = moment(ends)
        left = None if seconds is None else math.floor((seconds - now) / _DAY)
        found.append({"machine": machine["metadata"]["name"], "created": machine["metadata"].get("creationTimestamp"),
                      "joined": bool(node_name(machine)), "not_after": None if seconds is None else ends,
                      "days_left": left})
    return found


def rollout_after(certificates: Iterable[Mapping[str, Any]], days: int, before: str | None = None,
                  unknown: bool = False) -> str:
    """Return the time to which machines must have been made to be replaced, so that those are whose certificates end.

    It depends on the machines alone: a run that was interrupted goes on with those that are left, and those that have
    come in their place are newer.

    :param certificates: as :func:`of_control_plane` returns them
    :param days: certificates with fewer days left are renewed
    :param before: certificates that end before this time are renewed, too; RFC 3339
    :param unknown: whether those of a machine with a Node are renewed, too, of which it is not known when they end
    :returns: RFC 3339, empty when none is renewed
    :raises ValueError: when ``before`` is no time
    """
    latest = moment(before)
    if before and latest is None:
        raise ValueError(f"time: found {before!r}, expected RFC 3339")
    due = [item for item in certificates if item["created"] and (
        item["days_left"] < days or (latest is not None and (moment(item["not_after"]) or 0) < latest)
        if item["not_after"] else unknown and item["joined"])]
    newest = max((moment(item["created"]) or 0 for item in due), default=None)
    return "" if newest is None else timestamp(newest + 1)

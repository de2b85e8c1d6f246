# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What maintenance writes into a host, its Machine and its Node, and takes away again: only what is its own; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.texts.formats import moment_of, timestamp
from ..._host.description.annotations import MAINTENANCE, MAINTENANCE_BEGUN, MAINTENANCE_TOOK, REBOOT_BEGUN
from ..._kube.objects.conditions import is_true
from ..machines.actions import NOT_REMEDIATED

Object = Mapping[str, Any]
Patch = dict[str, Any]

# On a Node that was not cordoned before.
CORDONED = "metal3.baremetal/cordoned"
# Kubernetes' cluster autoscaler, ``cluster-autoscaler/core/scaledown/eligibility``: it looks for this value.
NO_SCALE_DOWN, _YES = "cluster-autoscaler.kubernetes.io/scale-down-disabled", "true"
# On a Node that was not kept from the autoscaler: what that annotation was, empty for none.
FORMER_SCALE_DOWN = "metal3.baremetal/former-scale-down-disabled"
# Cluster API looks whether the annotation is there; the value says whose it is.
_MINE = "metal3.baremetal"


def before(obj: Any, patch: Any) -> Any:
    """Return what an object has where a merge patch changes it."""
    if not isinstance(patch, dict):
        return obj
    return dict((key, before(obj[key], value)) for key, value in patch.items() if key in obj)


def hold(host: Object, reason: str, is_new: bool, now: float) -> Patch | None:
    """Return the patch that marks a host as being maintained, None when it is.

    :param is_new: whether its node takes pods, so that whatever maintenance was begun before is over
    :param now: seconds since 1970
    """
    stored = _annotations(host)
    begins = is_new or MAINTENANCE not in stored
    marks: dict[str, Any] = {} if stored.get(MAINTENANCE) == reason else {MAINTENANCE: reason}
    if REBOOT_BEGUN in stored and begins:
        # Of a maintenance that is over; the one that begins would take it for its own.
        marks[REBOOT_BEGUN] = None
    if begins:
        marks[MAINTENANCE_BEGUN] = timestamp(now)
    return {"metadata": {"annotations": marks}} if marks else None


def is_unmarked(host: Object) -> bool:
    """Say whether nobody has marked a host as being maintained."""
    return MAINTENANCE not in _annotations(host)


def unmark(host: Object, reason: str, now: float) -> Patch | None:
    """Return the patch that takes the marks of :func:`hold` away, None when another run has marked the host since.

    :param reason, now: as for :func:`hold`
    """
    stored, own = _annotations(host), {MAINTENANCE: reason, MAINTENANCE_BEGUN: timestamp(now)}
    return {"metadata": {"annotations": dict.fromkeys(own)}} if own.items() <= stored.items() else None


def release(host: Object, now: float) -> Patch | None:
    """Return the patch that takes the marks away, and keeps how long the maintenance took.

    :param now: seconds since 1970
    """
    stored = _annotations(host)
    marks: dict[str, Any] = dict((key, None) for key in (MAINTENANCE, MAINTENANCE_BEGUN, REBOOT_BEGUN) if key in stored)
    begun = moment_of(stored.get(MAINTENANCE_BEGUN))
    if begun is not None and begun < now:
        marks[MAINTENANCE_TOOK] = str(int(now - begun))
    return {"metadata": {"annotations": marks}} if marks else None


def keep(machine: Object) -> Patch | None:
    """Return the patch that keeps health checks from replacing a Machine."""
    return None if NOT_REMEDIATED in _annotations(machine) else {"metadata": {"annotations": {NOT_REMEDIATED: _MINE}}}


def give_back(machine: Object) -> Patch | None:
    """Return the patch that lets health checks look at a Machine again, unless somebody else keeps them from it."""
    mine = _annotations(machine).get(NOT_REMEDIATED) == _MINE
    return {"metadata": {"annotations": {NOT_REMEDIATED: None}}} if mine else None


def cordon(node: Object) -> Patch | None:
    """Return the patch that keeps new pods away from a Node."""
    if (node.get("spec") or {}).get("unschedulable"):
        return None
    return {"metadata": {"annotations": {CORDONED: "true"}}, "spec": {"unschedulable": True}}


def keep_from_autoscaler(node: Object) -> Patch | None:
    """Return the patch that keeps an autoscaler from a Node that a drain has made empty, None when it is kept from it.

    It would take the Node for an unneeded one, and its Machine, with what is on the server's disks, would be deleted.
    """
    stored = _annotations(node)
    if stored.get(NO_SCALE_DOWN) == _YES:
        return None
    marks = {NO_SCALE_DOWN: _YES} if FORMER_SCALE_DOWN in stored else {
        NO_SCALE_DOWN: _YES, FORMER_SCALE_DOWN: stored.get(NO_SCALE_DOWN, "")}
    return {"metadata": {"annotations": marks}}


def give_to_autoscaler(node: Object) -> Patch | None:
    """Return the patch that takes back what :func:`keep_from_autoscaler` has set, None when it has set nothing."""
    stored = _annotations(node)
    if FORMER_SCALE_DOWN not in stored:
        return None
    return {"metadata": {"annotations": {FORMER_SCALE_DOWN: None, NO_SCALE_DOWN: stored[FORMER_SCALE_DOWN] or None}}}


def leave(node: Object) -> Patch | None:
    """Return the patch with which a Node leaves its cluster for a while, None when it has."""
    return _joined(cordon(node), keep_from_autoscaler(node))


def come_back(node: Object) -> Patch | None:
    """Return the patch with which a Node comes back, None when it has."""
    return _joined(uncordon(node), give_to_autoscaler(node))


def _joined(*patches: Patch | None) -> Patch | None:
    """Return merge patches, some of annotations and one of the ``spec``, as one."""
    found: Patch = {}
    marks: dict[str, Any] = {}
    for patch in filter(None, patches):
        marks.update(patch["metadata"]["annotations"])
        found.update(patch)
    return dict(found, metadata={"annotations": marks}) if found else None


def uncordon(node: Object) -> Patch | None:
    """Return the patch that lets new pods come, unless somebody else had cordoned the Node."""
    if CORDONED not in _annotations(node):
        return None
    return {"metadata": {"annotations": {CORDONED: None}}, "spec": {"unschedulable": None}}


def is_ready(node: Object | None) -> bool:
    """Say whether a Node is Ready."""
    return is_true(node, "Ready")


def _annotations(obj):
    return obj["metadata"].get("annotations") or {}

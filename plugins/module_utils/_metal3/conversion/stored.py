# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Cluster API or CAPM3 of a plane that serves only v1beta1: in the shape of v1beta2, and back; pure.

What is read stays whole where it can't be converted: the API server has checked it, and a report is better than none.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import machines, metal3, status, topology
from .objects import NEW, SPECS, prune
from .older import CONVERSIONS, downgrade
from .place import Notes, Place

Object = dict[str, Any]

_CORE = "cluster.x-k8s.io"
# Spec of kinds that no manifest has, or whose manifests stay as they are.
READ: dict[str, tuple[str, Callable[[Place], None]]] = {
    "Cluster": ("", topology.cluster),
    "MachineSet": ("", machines.machine_set),
    "Metal3Data": ("", metal3.data),
    "Metal3DataClaim": ("", metal3.data_claim),
    "Metal3Remediation": ("", metal3.remediation),
    "IPAddress": ("", lambda _spec: None),
    "IPAddressClaim": ("", lambda _spec: None),
    **dict((kind, rules) for (_group, kind), rules in SPECS.items() if kind != "Cluster"),
}
# Kinds that have the same spec in both versions, of those that the collection writes.
_SAME = ("IPAddressClaim",)
# Fields of a spec that are the same in both versions, of all kinds.
_PATCHED = ("paused", "replicas")


def newer(obj: Object) -> Object:
    """Return an object of v1beta1 in v1beta2; one of a kind without rules stays in v1beta1.

    :param obj: as the API server returned it, which is changed
    """
    kind = obj.get("kind")
    group, _slash, version = str(obj.get("apiVersion")).rpartition("/")
    if kind not in READ or version == NEW:
        return obj
    whole = Place(obj, "", Notes())
    way, rules = READ[kind]
    spec = whole.inner("spec")
    rules(spec.inner(way) if way else spec)
    prune(spec.value)
    status.convert(whole.inner("status"), status.BY_KIND.get(kind, status.Rules()))
    obj["apiVersion"] = f"{group}/{NEW}"
    return obj


def older(obj: Object, version: str) -> Object:
    """Return an object that is to be written in an older version.

    :param obj: of v1beta2
    :param version: for example ``v1beta1``
    :raises ValueError: when it can't be written in it
    """
    kind = obj["kind"]
    if kind in _SAME:
        return dict(obj, apiVersion=f"{obj['apiVersion'].rpartition('/')[0]}/{version}")
    if kind not in CONVERSIONS or (obj.get("spec") or {}).get("topology"):
        raise ValueError(f"a {kind}{' with a topology' if kind in CONVERSIONS else ''} is only written in {NEW}")
    found = downgrade(obj)
    if kind in ("Metal3Machine", "Metal3MachineTemplate"):
        spec = Place(found, "", Notes()).inner("spec")
        machine = spec.inner("template.spec") if kind == "Metal3MachineTemplate" else spec
        metal3.with_values(machine)
    return found


def older_patch(patch: Object) -> Object:
    """Return a merge patch of an object of v1beta2 for one of an older version.

    :raises ValueError: when it concerns fields that may differ
    """
    spec = patch.get("spec") or {}
    others = [field for field in patch if field not in ("metadata", "spec")] + \
        [f"spec.{field}" for field in spec if field not in _PATCHED]
    if others:
        raise ValueError(f"{', '.join(others)}: only changed in {NEW}")
    return patch

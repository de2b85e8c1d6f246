# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object of Cluster API or CAPM3 in v1beta1 as one in v1beta2; pure."""
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from . import kubeadm, machines, metal3
from .place import Mistake, Notes, Place

OLD, NEW = "v1beta1", "v1beta2"
_CORE = "cluster.x-k8s.io"
_BOOTSTRAP, _CONTROL_PLANE, _METAL3 = (f"{name}.{_CORE}" for name in ("bootstrap", "controlplane", "infrastructure"))
# An API server that converted an object notes here what the older version has no place for.
_CONVERTED = f"{_CORE}/conversion-data"
_TEMPLATE = "template.spec"
# Where an empty dictionary is something else than none.
_MEANT = ("controlPlane", "selector")
SPECS: dict[tuple[str, str], tuple[str, Callable[[Place], None]]] = {
    (_CORE, "Cluster"): ("", machines.cluster),
    (_CORE, "Machine"): ("", machines.machine),
    (_CORE, "MachineDeployment"): ("", machines.machine_deployment),
    (_CORE, "MachineHealthCheck"): ("", machines.health_check),
    (_BOOTSTRAP, "KubeadmConfig"): ("", kubeadm.config),
    (_BOOTSTRAP, "KubeadmConfigTemplate"): (_TEMPLATE, kubeadm.config),
    (_CONTROL_PLANE, "KubeadmControlPlane"): ("", machines.control_plane),
    (_CONTROL_PLANE, "KubeadmControlPlaneTemplate"): (_TEMPLATE, machines.control_plane),
    (_METAL3, "Metal3Cluster"): ("", metal3.cluster),
    (_METAL3, "Metal3ClusterTemplate"): (_TEMPLATE, metal3.cluster),
    (_METAL3, "Metal3Machine"): ("", metal3.machine),
    (_METAL3, "Metal3MachineTemplate"): (_TEMPLATE, metal3.machine),
    (_METAL3, "Metal3DataTemplate"): ("", metal3.data_template),
    (_METAL3, "Metal3RemediationTemplate"): ("", metal3.remediation_template),
}


class Converted(NamedTuple):
    """What became of an object.

    :param obj: the object in v1beta2; the one that was given when it was not converted
    :param kept_because: why an object in v1beta1 stays in it; empty for every other one
    :param lost: paths of what v1beta2 has no place for
    :param mistakes: what keeps it from being converted
    """

    obj: Any
    kept_because: str = ""
    lost: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


def convert(obj: Any) -> Converted:
    """Return an object in v1beta2; one of other kinds, or not of v1beta1, stays as it is.

    :param obj: a document of a manifest, or a patch of one with apiVersion and kind
    """
    if not isinstance(obj, dict):
        return Converted(obj)
    group, _slash, version = str(obj.get("apiVersion") or "").rpartition("/")
    if version != OLD or not (group == _CORE or group.endswith(f".{_CORE}")):
        return Converted(obj)
    kind = str(obj.get("kind"))
    if (group, kind) not in SPECS:
        return Converted(obj, "this kind is not converted")
    result, notes = copy.deepcopy(obj), Notes()
    whole = Place(result, "", notes)
    spec = whole.inner("spec")
    reason = _kept_because(kind, spec)
    if reason:
        return Converted(obj, reason)
    result["apiVersion"] = f"{group}/{NEW}"
    way, rules = SPECS[group, kind]
    rules(spec.inner(way) if way else spec)
    prune(spec.value)
    whole.lose("status")
    annotations = whole.inner("metadata.annotations")
    annotations.lose(_CONVERTED)
    if whole.inner("metadata").value.get("annotations") == {}:
        del result["metadata"]["annotations"]
    return Converted(obj if notes.mistakes else result, "", tuple(notes.lost), tuple(dict.fromkeys(notes.mistakes)))


def prune(value: Any) -> None:
    """Take empty dictionaries away, which v1beta2 refuses; those of v1beta1 say nothing."""
    for entry in list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        prune(entry)
    if isinstance(value, dict):
        for key in [key for key, entry in value.items() if entry == {} and key not in _MEANT]:
            del value[key]


def _kept_because(kind: str, spec: Place) -> str:
    if kind == "Cluster" and spec.value.get("topology"):
        return "a topology, whose ClusterClass and patches speak of fields of v1beta1"
    if kind == "Metal3DataTemplate" and spec.inner("networkData.links").value.get("bonds"):
        return "the v1beta2 definition of CAPM3 1.13 refuses bonds, with parameters and without"
    return ""

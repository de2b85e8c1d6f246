# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of an object of v1beta1 as v1beta2 has it; pure.

The rules are those of the conversion functions of Cluster API 1.13 (``api/*/v1beta1/conversion.go``) and CAPM3 1.13
(``api/v1beta1/conversion.go``), but for two things that the controllers of 1.10 do otherwise than those of 1.13:

* A Cluster's control plane is initialized by its condition. ``controlPlaneReady``, which upstream takes, comes with
  the first Ready Node, and so not before the network add-on.
* Kinds that have no conditions of v1beta2 at that release get those of v1beta1, under the names that v1beta2 has.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..._common.documents.tolerant import dicts_in
from . import metal3
from .place import Place

# The part of a status of v1beta1 that has what v1beta2 has in place of other fields of the same name.
_NEW = "v1beta2"
_FAILURE = ("failureReason", "failureMessage")
_COUNTERS = ("readyReplicas", "availableReplicas", "upToDateReplicas")
_CONDITION = ("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration")


class Rules(NamedTuple):
    """What becomes of the status of a kind.

    :ivar initialization: field of v1beta1 → field of ``initialization``; what is false is left out
    :ivar initialized_by: the same for conditions that are True
    :ivar deprecated: fields that go to ``deprecated.v1beta1``, beside the conditions
    :ivar new: fields that are taken from the part ``v1beta2``, beside the conditions
    :ivar renamed: of a kind without conditions of v1beta2: names of those of v1beta1 → names in v1beta2
    :ivar more: changes the rest
    """

    initialization: Mapping[str, str] = {}
    initialized_by: Mapping[str, str] = {}
    deprecated: tuple[str, ...] = _FAILURE
    new: tuple[str, ...] = ()
    renamed: Mapping[str, str] | None = None
    more: Callable[[Place], None] | None = None


def convert(status: Place, rules: Rules) -> None:
    """Convert a status.

    :param status: the status, which is changed
    :param rules: of its kind
    """
    new, old = status.inner(_NEW).value, {}
    status.value.pop(_NEW, None)
    earlier = dicts_in(status.value, "conditions")
    given = status.value.pop("conditions", None)
    if given:
        old["conditions"] = given
    for field in rules.deprecated:
        value = status.value.pop(field, None)
        if value is not None:
            old[field] = value
    for field in ("conditions", *rules.new):
        if new.get(field) is not None:
            status.value[field] = new[field]
    if rules.renamed is not None and given and "conditions" not in status.value:
        status.value["conditions"] = [
            dict(((key, entry[key]) for key in _CONDITION if key in entry),
                 type=rules.renamed.get(str(entry.get("type")), entry.get("type"))) for entry in earlier]
    for field, goal in rules.initialization.items():
        if status.value.pop(field, None):
            status.put(f"initialization.{goal}", True)
    true = set(str(entry.get("type")) for entry in [*earlier, *dicts_in(new, "conditions")]
               if entry.get("status") == "True")
    for kind, goal in rules.initialized_by.items():
        if kind in true:
            status.put(f"initialization.{goal}", True)
    if rules.more is not None:
        rules.more(status)
    if old:
        status.put("deprecated.v1beta1", old)


def _domains(status: Place) -> None:
    found = status.value.get("failureDomains")
    if isinstance(found, dict):
        status.value["failureDomains"] = [
            dict(found[name] if isinstance(found[name], dict) else {}, name=name) for name in sorted(found, key=str)]


def _of_control_plane(status: Place) -> None:
    # Not what v1beta2 means by ready: it is true for good with the first Ready Node.
    status.value.pop("ready", None)
    status.inner("lastRemediation").move("timestamp", "time")


def _of_machine(status: Place) -> None:
    status.move("nodeRef", "nodeRef", lambda _place, _key, value: {"name": value["name"]}
                if isinstance(value, dict) and value.get("name") else None)


def _of_metal3_machine(status: Place) -> None:
    status.value.pop("phase", None)
    _rendered_data(status)


def _rendered_data(status: Place) -> None:
    status.move("renderedData", "renderedData", metal3.object_reference)


def _indexes(status: Place) -> None:
    found = status.value.get("indexes")
    if isinstance(found, dict):
        status.value["indexes"] = sorted(({"name": name, "index": index} for name, index in found.items()),
                                         key=lambda entry: (_number(entry["index"]), str(entry["name"])))


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


# Of kinds that are not here nothing but conditions and failures differs.
BY_KIND = {
    "Cluster": Rules({"controlPlaneReady": "controlPlaneInitialized",
                      "infrastructureReady": "infrastructureProvisioned"},
                     {"ControlPlaneInitialized": "controlPlaneInitialized"}, new=("controlPlane", "workers"),
                     more=_domains),
    "Machine": Rules({"bootstrapReady": "bootstrapDataSecretCreated",
                      "infrastructureReady": "infrastructureProvisioned"}, more=_of_machine),
    "MachineSet": Rules(deprecated=(*_FAILURE, "fullyLabeledReplicas", *_COUNTERS[:2]), new=_COUNTERS),
    "MachineDeployment": Rules(deprecated=("updatedReplicas", "unavailableReplicas", *_COUNTERS[:2]), new=_COUNTERS),
    "KubeadmControlPlane": Rules({"initialized": "controlPlaneInitialized"}, more=_of_control_plane, new=_COUNTERS,
                                 deprecated=(*_FAILURE, "updatedReplicas", "unavailableReplicas", "readyReplicas")),
    "KubeadmConfig": Rules({"ready": "dataSecretCreated"}),
    "Metal3Cluster": Rules({"ready": "provisioned"}, renamed={}, more=_domains),
    "Metal3Machine": Rules({"ready": "provisioned"}, renamed={"AssociateBMH": "AssociateBareMetalHost"},
                           more=_of_metal3_machine),
    "Metal3DataTemplate": Rules(more=_indexes),
    "Metal3DataClaim": Rules(more=_rendered_data),
    "IPAddressClaim": Rules(renamed={}),
}

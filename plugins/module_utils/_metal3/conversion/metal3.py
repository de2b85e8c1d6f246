# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of CAPM3, from v1beta1 to v1beta2; pure.

The rules are those of ``api/v1beta1/conversion.go`` of CAPM3 1.13.
"""
from __future__ import annotations

from typing import Any

from ..._common.options.field_checks import type_name
from .place import Place, named_list, seconds

_POOL_FORMS = ("ipAddresses", "prefixes", "gateways", "dnsServers")


def cluster(spec: Place) -> None:
    """Convert the spec of a Metal3Cluster, and that in a Metal3ClusterTemplate."""
    spec.move("failureDomains", "failureDomains", _domains)
    without = spec.value.pop("noCloudProvider", None)
    if without is None:
        return
    # CAPM3's own conversion drops the older name, and with it what it says.
    if not isinstance(without, bool) or spec.value.get("cloudProviderEnabled") is without:
        spec.refuse("noCloudProvider", without, "true or false, and not what cloudProviderEnabled is")
    spec.put("cloudProviderEnabled", not without)


def machine(spec: Place) -> None:
    """Convert the spec of a Metal3Machine, and that in a Metal3MachineTemplate."""
    spec.inner("image").move("format", "diskFormat")
    spec.move("dataTemplate", "dataTemplate", object_reference)
    with_values(spec)


def with_values(spec: Place) -> None:
    """Give each expression of a Metal3Machine's hostSelector values: both versions' definitions require them."""
    for entry in spec.inner("hostSelector").entries("matchExpressions"):
        if entry.value.get("values") is None:
            entry.value["values"] = []


def data(spec: Place) -> None:
    """Convert the spec of a Metal3Data."""
    spec.lose("templateReference")
    for key in ("claim", "template"):
        spec.move(key, key, object_reference)


def data_claim(spec: Place) -> None:
    """Convert the spec of a Metal3DataClaim."""
    spec.move("template", "template", object_reference)


def remediation(spec: Place) -> None:
    """Convert the spec of a Metal3Remediation."""
    spec.inner("strategy").move("timeout", "timeoutSeconds", seconds)


def data_template(spec: Place) -> None:
    """Convert the spec of a Metal3DataTemplate."""
    spec.lose("templateReference")
    meta_data = spec.inner("metaData")
    for form in _POOL_FORMS:
        meta_data.move(f"{form}FromIPPool", f"{form}FromPool")
    network_data = spec.inner("networkData")
    for bond in network_data.inner("links").entries("bonds"):
        bond.move("parameters", "parameters", named_list)
    for network in network_data.inner("networks").entries("ipv6"):
        # v1beta1 requires it where a reference says more.
        if network.value.get("ipAddressFromIPPool") == "":
            del network.value["ipAddressFromIPPool"]


def remediation_template(spec: Place) -> None:
    """Convert the spec of a Metal3RemediationTemplate."""
    remediation(spec.inner("template.spec"))


def _domains(place: Place, key: str, value: Any) -> Any:
    if not isinstance(value, dict) or not all(isinstance(domain, (dict, type(None))) for domain in value.values()):
        place.refuse(key, type_name(value), "a dictionary of failure domains")
        return None
    return [{"name": name, **(value[name] or {})} for name in sorted(value, key=str)] or None


def object_reference(place: Place, key: str, value: Any) -> Any:
    """Return a reference by name and namespace, which is all that v1beta2 has of it."""
    if not isinstance(value, dict):
        place.refuse(key, type_name(value), "a dictionary")
        return None
    return dict((field, value[field]) for field in ("name", "namespace") if value.get(field))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""clusterctl's inventory where no manifest brings its definition along, as those of a release do not; pure.

Source: ``api/v1alpha3/provider_type.go`` of clusterctl, which creates it on "clusterctl init" when it is missing.
"""
from __future__ import annotations

from typing import Any

from ..parts.catalogue import CLUSTERCTL_LABEL, CORE_LABEL

_GROUP, _VERSION = CLUSTERCTL_LABEL, "v1alpha3"
NAME = f"providers.{_GROUP}"
_TEXT = {"type": "string"}


def definition() -> dict[str, Any]:
    """Return the definition of clusterctl's ``Provider``."""
    fields = dict((name, _TEXT) for name in ("apiVersion", "kind", "providerName", "type", "version",
                                             "watchedNamespace"))
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME, "labels": {CLUSTERCTL_LABEL: "", CORE_LABEL: "inventory"}},
        "spec": {
            "group": _GROUP, "scope": "Namespaced",
            "names": {"kind": "Provider", "listKind": "ProviderList", "plural": "providers", "singular": "provider"},
            "versions": [{
                "name": _VERSION, "served": True, "storage": True,
                "additionalPrinterColumns": [
                    {"name": title, "type": "string", "jsonPath": f".{field}"} for title, field in (
                        ("Type", "type"), ("Provider", "providerName"), ("Version", "version"))],
                "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": dict(fields, metadata={"type": "object"})}}}]}}


def added(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return objects with the definition, unless they have it.

    :param objects: of the part that brings it along
    """
    return objects if any(obj["metadata"].get("name") == NAME for obj in objects) else [definition(), *objects]

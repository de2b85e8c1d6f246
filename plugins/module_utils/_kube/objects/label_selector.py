# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""LabelSelectors as Kubernetes reads them (``LabelSelectorAsSelector`` of apimachinery); pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.documents.tolerant import dict_in, dicts_in


def matches(selector: Any, labels: Mapping[str, Any]) -> bool:
    """Say whether labels satisfy a selector; an empty one is satisfied by all.

    :param selector: ``matchLabels`` and ``matchExpressions``, as stored
    :param labels: of an object
    """
    return all(labels.get(key) == value for key, value in dict_in(selector, "matchLabels").items()) and all(
        _holds(rule, labels) for rule in dicts_in(selector, "matchExpressions"))


def _holds(rule: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    key, values = str(rule.get("key")), rule.get("values") or []
    return {"In": key in labels and labels[key] in values, "NotIn": key not in labels or labels[key] not in values,
            "Exists": key in labels, "DoesNotExist": key not in labels}.get(str(rule.get("operator")), False)


def selects(obj: Any, pod: Mapping[str, Any]) -> bool:
    """Say whether a pod of the same namespace is one of an object's; an object without a selector has none.

    :param obj: a Deployment, or another object with pods
    """
    selector = dict_in(dict_in(obj, "spec"), "selector")
    return bool(selector) and matches(selector, pod["metadata"].get("labels") or {})


def text(selector: Any) -> str:
    """Return a selector as a LIST takes it; empty for one that is satisfied by all.

    :param selector: as for :func:`matches`
    """
    found = [f"{key}={value}" for key, value in sorted(dict_in(selector, "matchLabels").items())]
    for rule in dicts_in(selector, "matchExpressions"):
        key, values = rule.get("key"), ",".join(map(str, rule.get("values") or []))
        found += [words for operator, words in (("In", f"{key} in ({values})"), ("NotIn", f"{key} notin ({values})"),
                                                ("Exists", f"{key}"), ("DoesNotExist", f"!{key}"))
                  if operator == rule.get("operator")]
    return ",".join(found)

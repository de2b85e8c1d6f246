# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a LabelSelector of the Kubernetes API selects (apimachinery, ``LabelSelectorAsSelector``); pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def selects(selector: Mapping[str, Any] | None, obj: Mapping[str, Any]) -> bool:
    """Say whether a LabelSelector selects an object, by its labels alone.

    :param selector: None selects nothing, an empty one everything
    """
    if selector is None:
        return False
    labels = obj["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()) and all(
        _holds(entry, labels) for entry in selector.get("matchExpressions") or [])


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or []
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    return (key in labels) == (operator == "Exists")

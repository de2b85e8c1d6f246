# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of objects, which say in ``status`` what has become of them; pure.

Who may write an object writes what he likes there. What has another type than a condition has is left out.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.documents.object_shape import CONDITION, shaped
from ..._common.documents.tolerant import dict_in, dicts_in

Object = dict[str, Any]


def conditions(obj: Mapping[str, Any] | None) -> list[Object]:
    """Return all conditions of an object, in their order.

    :param obj: the object, or None
    """
    return _entries(dict_in(obj, "status"))


def older_conditions(obj: Mapping[str, Any] | None) -> list[Object]:
    """Return the conditions of v1beta1 that an object of Cluster API has beside those of v1beta2.

    :param obj: the object, or None
    """
    return _entries(dict_in(dict_in(dict_in(obj, "status"), "deprecated"), "v1beta1"))


def condition(obj: Mapping[str, Any] | None, kind: str) -> Object:
    """Return a condition of an object, an empty dict when there is none.

    :param obj: the object, or None
    :param kind: the condition's type, for example ``Ready``
    """
    for entry in dicts_in(dict_in(obj, "status"), "conditions"):
        if entry.get("type") == kind:
            found: Object = shaped(entry, CONDITION)
            return found
    return {}


def is_true(obj: Mapping[str, Any] | None, kind: str) -> bool:
    """Say whether a condition of an object is True."""
    return condition(obj, kind).get("status") == "True"


def is_observed(obj: Mapping[str, Any], kind: str) -> bool:
    """Say whether a condition was made of an object's newest spec."""
    return bool(condition(obj, kind).get("observedGeneration") == obj["metadata"].get("generation"))


def _entries(status: Object) -> list[Object]:
    return [shaped(entry, CONDITION) for entry in dicts_in(status, "conditions")]

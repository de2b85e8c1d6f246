# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is applied to bring an object back to what it was before an apply; pure."""
from __future__ import annotations

from typing import Any

from ..._common.documents.document_text import from_json
from ..parts.fit import VERSION_LABEL

Object = dict[str, Any]


def previous(before: Object, owned_before: Object, owned_after: Object) -> Object:
    """Return the object to apply: what this collection owned, or has taken over, with the values from before.

    An apply removes what its manager owned and no longer names, so that fields which the apply in between has added go,
    too. What others own stays as it is.

    :param before: the object as it was stored
    :param owned_before: the FieldsV1 tree of what this collection owned then
    :param owned_after: the same of the object as it is stored now, after an apply
    """
    names = dict((key, before["metadata"][key]) for key in ("name", "namespace") if before["metadata"].get(key))
    tree = united(owned_before, owned_after)
    result = _projected(before, tree) if tree else {}
    result.pop("status", None)
    return dict(result, apiVersion=before["apiVersion"], kind=before["kind"],
                metadata=dict(result.get("metadata") or {}, **names))


def written_before(found: Object | None, wanted: Object) -> bool:
    """Return whether a Deployment is that of the newer release already, although its part counts as the older one.

    :param found: as it was stored when the upgrade was planned, None when there was none
    :param wanted: as the upgrade writes it
    """
    return found is not None and _release(found) == _release(wanted)


def _release(deployment: Object) -> tuple[list[str], str]:
    """Return what says the release of a Deployment: its images, and the label of one with images of somebody else."""
    pod = deployment["spec"]["template"]["spec"]
    return ([str(container.get("image")) for container in pod.get("containers") or ()],
            str((deployment["metadata"].get("labels") or {}).get(VERSION_LABEL)))


def stored_by_newer(before: Object, after: Object) -> list[str]:
    """Return the versions in which objects of a definition may be stored, and which it did not have before."""
    known = [version["name"] for version in before["spec"]["versions"]]
    return [version for version in (after.get("status") or {}).get("storedVersions") or [] if version not in known]


def united(first: Object, second: Object) -> Object:
    """Return two trees of FieldsV1 as one; a leaf stands for all below it."""
    result = dict(first)
    for mark, below in second.items():
        result[mark] = united(result[mark], below) if result.get(mark) and below else {} if mark in result else below
    return result


def _projected(value: Any, tree: Object) -> Any:
    """Return the part of a value that a tree of FieldsV1 names."""
    if not tree:
        return value
    if isinstance(value, dict):
        return dict((mark[2:], _projected(value[mark[2:]], below)) for mark, below in tree.items()
                    if mark.startswith("f:") and mark[2:] in value)
    if isinstance(value, list):
        return [item for item in (_element(element, tree) for element in value) if item is not None]
    return value


def _element(element: Any, tree: Object) -> Any:
    """Return the part of a list's element that a tree names: of a set by its value, else by its keys."""
    for mark, below in tree.items():
        if mark.startswith("v:") and from_json(mark[2:]) == element:
            return element
        if mark.startswith("k:") and isinstance(element, dict):
            keys = from_json(mark[2:])
            if all(element.get(key) == value for key, value in keys.items()):
                return dict(_projected(element, below), **keys)
    return None

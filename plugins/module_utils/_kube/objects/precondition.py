# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a write says of the object that it rests on, so that the API server refuses it (409) when that has changed.

Kubernetes has no condition of its own for server-side apply and merge patches: an object's ``uid`` and
``resourceVersion`` in the body are compared with what is stored. With a ``uid``, an apply makes no object either.
"""
from __future__ import annotations

from typing import Any

# For ``checked``: there was no object of this name.
ABSENT = object()
# No object has it, for etcd counts from there: an apply then makes an object or is refused.
_OF_NO_OBJECT = "1"


def in_body(body: dict[str, Any], checked: Any) -> dict[str, Any]:
    """Return a body for apply or merge patch with its precondition.

    :param body: the object or merge patch to be sent
    :param checked: the object as it was read, :data:`ABSENT`, or None for no precondition
    """
    if checked is None:
        return body
    condition = {"resourceVersion": _OF_NO_OBJECT} if checked is ABSENT else identity(checked)
    return dict(body, metadata=dict(body.get("metadata") or {}, **condition))


def uid_of(obj: dict[str, Any] | None) -> str | None:
    """Return what distinguishes an object that was read from another one of its name; None without an object."""
    return ((obj or {}).get("metadata") or {}).get("uid")


def identity(obj: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return ``uid`` and ``resourceVersion`` of an object that was read: the preconditions of its deletion."""
    return dict((key, obj["metadata"][key]) for key in ("uid", "resourceVersion") if obj["metadata"].get(key))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that this collection writes beside a part only when its settings ask for them."""
from __future__ import annotations

from typing import Any

from ..._kube.reconcile.plan import Entry, deletion
from ..._kube.responses.errors import KubeError
from . import objects


def deletion_of(client: Any, resource: Any, namespace: str, name: str, may_be_forbidden: bool) -> Entry | None:
    """Return the deletion of an object, None when there is none that this collection has written.

    :param client: a KubeClient
    :param resource: its Resource
    :param may_be_forbidden: whether nothing shows that it was ever asked for, so that there need be no right to read it
    :raises KubeError: when the API server can't be asked
    """
    try:
        obj = client.get(resource, namespace, name)
    except KubeError as exc:
        if exc.status != 403 or not may_be_forbidden:
            raise
        return None
    return deletion(resource, obj) if obj is not None and objects.is_ours(obj) else None

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of kinds that may not be served: without the kind there are none."""
from __future__ import annotations

from typing import Any

from ..responses.errors import KubeError


def listed(client: Any, resource: Any, namespace: str | None = None, label_selector: str | None = None) -> list[Any]:
    """Return the objects of a kind in a namespace, or in all of them; none when its definition is not installed.

    :param client: a KubeClient
    :param resource: the kind's Resource
    :raises KubeError: when the API server can't be asked or refuses
    """
    try:
        found: list[Any] = client.list(resource, namespace, label_selector)[0]
    except KubeError as exc:
        if exc.status == 404:
            return []
        raise
    return found

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How messages name an object; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def title_of(obj: Mapping[str, Any]) -> str:
    """Return kind and name of an object, where all are of one namespace."""
    return f"{obj['kind']} {obj['metadata']['name']}"


def full_title(kind: str, namespace: str | None, name: str) -> str:
    """Return kind, namespace and name, as diffs and errors name the object."""
    return f"{kind} {'/'.join(filter(None, (namespace, name)))}"

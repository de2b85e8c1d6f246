# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as the text of a file of manifests; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


def text_of(objects: Iterable[Any]) -> str:
    """Return objects as YAML documents."""
    return yaml.safe_dump_all(objects, explicit_start=True, sort_keys=True, width=110)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plane's parts manage, as far as the gates of an upgrade ask for it; how it is read says the caller."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..parts.catalogue import BY_NAME
from . import rules as upgrade


def read(listed: Callable[[str, str], list[dict[str, Any]]], due: Iterable[upgrade.Step]) -> upgrade.Managed:
    """Return what the parts of some steps manage, without Deployments.

    :param listed: callable that takes apiVersion and kind and returns the objects of all namespaces
    :param due: from :func:`upgrade.steps`
    """
    due = list(due)
    names = set(step.part.name for step in due)
    return upgrade.Managed(listed(*BY_NAME["bmo"].managed[0]) if names & set(upgrade.ON_HOSTS) else [],
                           listed(*BY_NAME["capm3"].managed[1]) if any(map(upgrade.asks_for_machines, due)) else [],
                           [])

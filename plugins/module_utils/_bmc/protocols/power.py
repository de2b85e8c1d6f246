# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether servers have power, asked of their BMCs by one login each."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from . import redfish_facts
from .gather import Settings, Target, gather
from .redfish import RedfishClient, RedfishError
from .survey import Walk

# What a BMC says of its server; a BMC that nothing was heard of.
ON, OFF, SILENT = "on", "off", "silent"


def states(targets: Sequence[Target], settings: Settings) -> list[str]:
    """Return for each target :data:`ON`, :data:`OFF` or :data:`SILENT`, empty when its BMC has not said it.

    :param targets: list of Target
    :param settings: Settings
    """
    return [_state(facts) for facts in gather(targets, settings._replace(login_only=True), work=_read)]


def _state(facts: dict[str, Any]) -> str:
    if facts["error"]:
        # Without a program, or with a certificate that is not known, nothing is known.
        return SILENT if facts["error"]["stage"] == "reach" else ""
    said = str(facts["ipmi"].get("power") or facts["system"].get("power_state") or "").lower()
    return said if said in (ON, OFF) else ""


def _read(group: Sequence[Target], dummy_settings: Settings, client: RedfishClient, root: dict[str, Any],
          common: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the systems of targets at one BMC that is logged in to, and nothing else."""
    found = []
    for target in group:
        facts = dict(common)
        path = target.address.system or Walk(client.read, root, time.time).only_system()
        if path:
            # Whoever does not answer has not said it.
            with contextlib.suppress(RedfishError):
                facts.update(redfish_facts.facts({"system": client.read(path)}))
        found.append(facts)
    return found

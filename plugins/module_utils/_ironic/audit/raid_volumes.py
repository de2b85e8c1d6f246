# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node has the hardware RAID volumes that its host was prepared with; pure.

Ironic 39 takes the task of a volume that failed at a boot for done (``_raid_config_in_progress`` in redfish/raid.py),
and the Bare Metal Operator makes the host available. What Ironic has read from the BMC afterwards is in the node's
``raid_config``.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..api import states

FIELDS = ("uuid", "provision_state", "reservation", "raid_config")
# Where the operator is done with preparing the host.
_PREPARED = ("available", "ready", "provisioned")
NEXT_STEP = (
    "look at the RAID controller, its drives and Ironic's log of the node; then enrol the host with raid "
    "hardware_raid_volumes [], and with its volumes again once it is available (if it is in use, after it was "
    "deprovisioned): the operator creates no volume again by itself")


def wanted_levels(raid: Any) -> list[str] | None:
    """Return the levels of the hardware volumes that a host was prepared with, None when its volumes stay as they are.

    :param raid: ``status.provisioning.raid`` of a BareMetalHost
    """
    volumes = raid.get("hardwareRAIDVolumes") if isinstance(raid, dict) else None
    if not isinstance(volumes, list):
        return None
    return [str(volume.get("level")) for volume in volumes if isinstance(volume, dict)]


def difference(node: dict[str, Any], state: str, wanted: Any) -> str:
    """Return how the volumes that Ironic has found differ from those that a host was prepared with, empty for not.

    :param node: the host's node with :data:`FIELDS`
    :param state: the host's provisioning state
    :param wanted: what :func:`wanted_levels` has returned
    """
    found = _found_levels(node)
    if state not in _PREPARED or not isinstance(wanted, list) or found is None or _is_busy(node):
        return ""
    missing, left = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    if not missing and not left:
        return ""
    texts = [f"{text} {_volumes(sorted(levels.elements()))}" for text, levels in (
        ("without", missing), ("with", left)) if levels]
    return (f"the host was prepared with {_volumes(wanted)}, and Ironic has found its server {' and '.join(texts)}: "
            "what the RAID controller was to do at a boot has failed, which Ironic takes for done")


def _found_levels(node: dict[str, Any]) -> list[str] | None:
    """Return the levels that Ironic has read from the BMC, None when it has read nothing yet."""
    config = node.get("raid_config")
    if not isinstance(config, dict) or not config.get("last_updated") or not isinstance(
            config.get("logical_disks"), list):
        return None
    return [str(disk.get("raid_level")) for disk in config["logical_disks"] if isinstance(disk, dict)]


def _is_busy(node: dict[str, Any]) -> bool:
    return bool(node.get("reservation")) or node.get("provision_state") not in states.STABLE


def _volumes(levels: Iterable[str]) -> str:
    texts = [f"RAID {level}" for level in levels]
    return f"hardware volumes ({', '.join(texts)})" if texts else "no hardware volume"

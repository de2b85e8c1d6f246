# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an available host has the RAID volumes of its specification; pure.

BMO 0.13 keeps in the status what it has begun to make (saveHostProvisioningSettings), and leaves "available" for
"preparing" when the specification says something else: until it has looked, the state is the one of before.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LISTS = ("hardwareRAIDVolumes", "softwareRAIDVolumes")


def outstanding(bmh: Mapping[str, Any]) -> str:
    """Return what BMO has yet to begin at an available host, empty for nothing.

    :param bmh: the BareMetalHost
    """
    wanted = (bmh.get("spec") or {}).get("raid") or {}
    made = ((bmh.get("status") or {}).get("provisioning") or {}).get("raid") or {}
    if all(wanted.get(name) is None for name in _LISTS):
        # BMO keeps hardware volumes then, and deletes those of software.
        return "BMO has yet to delete its software RAID volumes" if made.get(_LISTS[1]) else ""
    if [_volumes(wanted, name) for name in _LISTS] == [_volumes(made, name) for name in _LISTS]:
        return ""
    return "BMO has yet to begin with the RAID volumes of its specification"


def _volumes(raid, name):
    """Return a list's volumes as BMO writes them: what is empty is left out; None when there is no list."""
    return None if raid.get(name) is None else [_written(volume) for volume in raid[name]]


def _written(value):
    if isinstance(value, Mapping):
        written = dict((key, _written(item)) for key, item in value.items())
        return dict((key, item) for key, item in written.items() if item is False or item)
    return [_written(item) for item in value] if isinstance(value, list) else value

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What BMO does with the power of a server as soon as it works on its host again; pure.

Sources: ``manageHostPower``, ``hasRebootAnnotation`` and ``actionPowerOffBeforeDeleting`` of BMO 0.13,
``baremetalhost_controller.go``.
"""
from __future__ import annotations

from ..._kube.objects.finalizers import deletion_of
from ..description import annotations as host_annotations
from .goals import RUNNING, state_of
from .taken_up import is_deleted_when_taken_up, taken_up


def interruption(bmh):
    """Return why BMO would interrupt what runs on a server once its host is taken up, as a phrase; empty for nothing.

    :param bmh: the stored BareMetalHost, which is paused, detached or without a status, with the status that BMO is to
        go by, be it saved at it
    """
    bmh = taken_up(bmh)
    if state_of(bmh) not in RUNNING or not (bmh.get("status") or {}).get("poweredOn"):
        return ""
    spec = bmh.get("spec") or {}
    # actionPowerOffBeforeDeleting; one that BMO has provisioned itself is deprovisioned, see redeploy.
    if state_of(bmh) != "provisioned" and is_deleted_when_taken_up(bmh) and not spec.get("disablePowerOff"):
        return f"whose server is on, and which is {deletion_of(bmh)}"
    if spec.get("online") is False:
        return "whose server is on, and whose spec has online false"
    reboots = sorted(filter(host_annotations.is_reboot, host_annotations.of(bmh)))
    return f"whose server is on, with the annotation {reboots[0]}" if reboots else ""

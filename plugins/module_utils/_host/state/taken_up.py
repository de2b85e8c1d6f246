# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which status BMO goes when it begins to work on a host; pure.

Source: ``hostHasStatus`` and ``Reconcile`` of BMO 0.13, ``baremetalhost_controller.go``.
"""
from __future__ import annotations

from ..._common.documents.object_shape import of_kind
from ..description import annotations as host_annotations


def has_status(bmh):
    """True when BMO would not rebuild the host's status from the annotation (``hostHasStatus``)."""
    return bool((bmh.get("status") or {}).get("lastUpdated"))


def taken_up(bmh):
    """Return a host with the status that BMO takes it up with: the one saved at it when it has none of its own.

    :param bmh: the stored BareMetalHost; a host that was moved or restored has no status while it is paused
    """
    saved = host_annotations.of(bmh).get(host_annotations.STATUS)
    # Anybody may have written it.
    return bmh if has_status(bmh) or saved is None else of_kind(
        dict(bmh, status=host_annotations.arguments(saved)), "BareMetalHost")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which status BMO goes when it begins to work on a host; pure.

Sources: ``hostHasStatus`` and ``Reconcile`` of BMO 0.13, ``baremetalhost_controller.go``, and
``host_state_machine.go``.
"""
from __future__ import annotations

from ..._common.documents.object_shape import of_kind
from ..._kube.objects.finalizers import is_going
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


def is_deleted_when_taken_up(bmh):
    """True when BMO, once it works on a host, switches its server off or deprovisions it to delete it.

    Not so one that has been detached with ``deleteAction`` ``delete``, which it forgets (``checkInitiateDelete``); the
    annotation alone does not make a host a detached one.

    :param bmh: of :func:`taken_up`
    """
    is_detached = (bmh.get("status") or {}).get("operationalStatus") == "detached"
    return is_going(bmh) and not (is_detached and not host_annotations.delays_deletion(bmh))

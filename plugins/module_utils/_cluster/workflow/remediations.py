# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metal3Remediations: which Machine one is for, how far it is, and whether somebody deletes it; pure.

Source: CAPM3 1.13, ``metal3remediation_controller.go`` and ``api/v1beta2/metal3remediation_types.go``.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Object = dict[str, Any]

# What Cluster API makes from a template has it (``external.FromTemplate``).
_FROM_TEMPLATE = "cluster.x-k8s.io/cloned-from-name"
_USED_UP = "Deleting machine"
_NOBODY_REPLACES = ("no reboot has helped, and CAPM3 1.13 does not tell Cluster API 1.13 to replace the machine: run "
                    "the playbook remediate with remediate=replace")


def remediation_of(machine: Object, remediations: Iterable[Object]) -> Object | None:
    """Return the Metal3Remediation that CAPM3 carries out on a Machine, or None.

    CAPM3 finds the Machine by its owner reference. Cluster API gives its own the name of the Machine, too; one that was
    made by hand may have any.

    :param machine: a Machine
    :param remediations: Metal3Remediations of its namespace
    """
    name = machine["metadata"]["name"]
    found = [item for item in remediations if name in [item["metadata"]["name"], *_machines_of(item)]]
    # One that has ended tells less than one that goes on.
    return min(found, key=lambda item: (reboots_are_used_up(item), item["metadata"]["name"]), default=None)


def _machines_of(remediation: Object) -> list[Any]:
    return [owner.get("name") for owner in remediation["metadata"].get("ownerReferences") or []
            if owner.get("kind") == "Machine"]


def is_by_hand(remediation: Object) -> bool:
    """Say whether no health check has made a Metal3Remediation, so that none deletes it."""
    return _FROM_TEMPLATE not in (remediation["metadata"].get("annotations") or {})


def remediation_text(remediation: Object | None) -> str:
    """Return how far a Metal3Remediation is, in words; empty without one."""
    if remediation is None:
        return ""
    strategy = (remediation.get("spec") or {}).get("strategy") or {}
    status = remediation.get("status") or {}
    text = (f"remediation ({strategy.get('type') or 'Reboot'}), phase {status.get('phase') or '(none yet)'}, "
            f"{status.get('retryCount') or 0} of {strategy.get('retryLimit') or 0} further tries")
    if is_by_hand(remediation):
        text += f"; {deletion_advice(remediation)}"
    return f"{text}; {_NOBODY_REPLACES}" if reboots_are_used_up(remediation) else text


def deletion_advice(remediation: Object) -> str:
    """Return what to do with a Metal3Remediation that was made by hand."""
    return (f"Metal3Remediation {remediation['metadata']['name']} is of no health check: delete it once the node is "
            "Ready, since CAPM3 goes on after its timeout and marks the host unhealthy at the end")


def reboots_are_used_up(remediation: Object | None) -> bool:
    """Return whether CAPM3 has ended a Metal3Remediation without success.

    It notes so in a condition of v1beta1 alone (CAPM3 1.13, ``SetOwnerRemediatedConditionNew``), and Cluster API 1.13
    looks at that of v1beta2 (``util/collections/machine_filters.go``): the owner does not replace the machine.
    """
    return ((remediation or {}).get("status") or {}).get("phase") == _USED_UP

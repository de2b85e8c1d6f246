# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines a change of a cluster's own pools of addresses does not reach; pure.

A pool is named by templates and changes in place, so that nothing of it replaces a machine.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.texts.plain_text import few
from ..._ipam.address_fields import FIELDS, outdated
from ..._ipam.pool import describe
from ..._ipam.usage import usage
from ..._kube.objects.finalizers import is_going

_LIMIT = 6


def address_warnings(entries: Iterable[Any], facts: Any, changes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a warning for each pool whose new gateway, prefix or DNS servers machines do not get.

    :param entries: ``kube.plan.Entry`` list
    :param facts: a preflight Facts, of before
    :param changes: as ``rollout.preview`` returns them: machines that are replaced get all of it
    """
    replaced = set(name for change in changes for name in change["machines"])
    machines = _machines(facts.snapshot)
    result = []
    for entry in entries:
        if entry.resource.kind != "IPPool" or entry.action != "update":
            continue
        allocations = usage(entry.current, facts.addresses, facts.claims)["allocations"]
        found: dict[str, list[str]] = {}
        for allocation, fields in outdated(describe(entry.current), describe(entry.desired), allocations):
            machine = machines.get(allocation["owner"])
            if machine and machine not in replaced:
                found[machine] = fields
        if found:
            changed = " and ".join(field for field in FIELDS if any(field in fields for fields in found.values()))
            result.append(
                f"IPPool {entry.name}: another {changed} counts for new machines: {few(sorted(found), _LIMIT)} "
                f"keep{'s' if len(found) == 1 else ''} that of before until other machines take their place "
                "(rollout_after, or playbook machine_action, replace)")
    return result


def _machines(snapshot: Any) -> dict[str | None, str]:
    """Return the Machines that stay by the Metal3Data that asks for their addresses, as ``usage`` names owners."""
    found: dict[str | None, str] = {}
    for machine in snapshot.mine("Machine"):
        status = (snapshot.metal3_machine(machine) or {}).get("status") or {}
        name = (status.get("renderedData") or {}).get("name")
        if name and not is_going(machine):
            found[f"Metal3Data/{name}"] = machine["metadata"]["name"]
    return found

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Machine that is being deleted waits for: the drain of its Node, then its host; pure.

Sources: Cluster API, ``internal/controllers/machine/machine_controller.go`` and ``drain/drain.go`` (ConditionMessage);
CAPM3, ``baremetal/metal3machine_manager.go`` (Delete), which keeps a Metal3Machine until its host is deprovisioned.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._common.texts.plain_text import plain, shortened
from ..._host.description import annotations as host_annotations
from ..._host.state.goals import AVAILABLE, error_of, state_of
from ..._kube.objects.conditions import condition
from .snapshot import message

Object = Mapping[str, Any]

# BMO's, while Ironic removes the image and cleans the disks.
DEPROVISIONING = "deprovisioning"
_DRAINING = "DrainingNode"
_PODS = re.compile(r"^\* Pods? (?P<pods>[^:]+): (?P<why>.+)$")
# Others may write a condition, with any number.
_OTHERS = re.compile(r"^\* (?P<number>[0-9]{1,6}) Pods? with other issues$")
_LATER = re.compile(r"^After above Pods have been removed from the Node, [^:]+: (?P<pods>.+)$")
_MORE = re.compile(r"^\.\.\. \((?P<number>[0-9]{1,6}) more\)$")
# Cluster API's words for a pod that was evicted and ends.
_ENDS = "deletionTimestamp set"
_LIMIT = 3
_REASON_CHARACTERS = 160


def waits_for(machine: Object, host: Object | None) -> str:
    """Return what a Machine that is being deleted waits for, in words.

    It is the same text for as long as nothing of it has changed.

    :param machine: the Machine
    :param host: its BareMetalHost, None when it has none (any more)
    """
    deleting = condition(machine, "Deleting")
    if deleting.get("reason") == _DRAINING:
        return _drain(deleting.get("message") or "")
    # Cluster API deletes the Metal3Machine when the drain is over; its condition names the kind alone.
    if host is not None and (state_of(host) == DEPROVISIONING or deleting.get("reason") ==
                             "WaitingForInfrastructureDeletion"):
        return _host(host)
    return str(message(deleting, "the machine to be deleted"))


def _drain(text):
    """Return how many pods are left, the first of them, and why they are."""
    names, others, why = [], 0, []
    for line in text.split("\n"):
        stay, more = _PODS.match(line), _OTHERS.match(line)
        found = stay or _LATER.match(line)
        if more:
            others += int(more["number"])
        elif found:
            listed, unnamed = _listed(found["pods"])
            names, others = names + listed, others + unnamed
            if stay and not stay["why"].startswith(_ENDS):
                why.append(shortened(f"{listed[0] if listed else 'a pod'}: {stay['why']}", _REASON_CHARACTERS))
    number = len(names) + others
    if not number:
        return "the drain of its node"
    left = f"the drain of its node: {number} pod{'' if number == 1 else 's'} left"
    unnamed = number - min(len(names), _LIMIT)
    shown = ", ".join([*names[:_LIMIT], *([f"and {unnamed} more"] if unnamed else [])]) if names else ""
    return "; ".join([f"{left} ({shown})" if shown else left, *why[:1]])


def _listed(text):
    """Return the pods of a list, and how many more it only counts (Cluster API, ``util/log``: ListToString)."""
    parts = [plain(part.strip()) for part in text.split(", ") if part.strip()]
    more = _MORE.match(parts[-1]) if parts else None
    return (parts[:-1], int(more["number"])) if more else (parts, 0)


def _host(host):
    name, state = host["metadata"]["name"], state_of(host)
    if state in AVAILABLE:
        text = f"CAPM3 to give host {name} back, in state {state}"
    elif state != DEPROVISIONING:
        text = f"host {name} to be deprovisioned, in state {state}"
    elif (host.get("spec") or {}).get("automatedCleaningMode") == "disabled":
        text = f"host {name}, in state {state} without cleaning"
    else:
        text = f"host {name}, in state {state}: Ironic removes the image and cleans the disks"
    if host_annotations.PAUSED in host_annotations.of(host):
        return f"{text}; it is paused, so that BMO does nothing with it"
    if (host.get("status") or {}).get("operationalStatus") == "detached":
        return f"{text}; it is detached, so that BMO does nothing with it"
    kind, said, _count = error_of(host)
    return f"{text}: {shortened(said, _REASON_CHARACTERS) or kind}" if kind else text

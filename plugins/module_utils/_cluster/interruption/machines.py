# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the objects of a cluster say of machines that stop or go: which others are not ready, time, disks; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.texts.formats import duration, moment
from ..._common.texts.plain_text import few
from ..workflow.steps import machine_steps

Object = Mapping[str, Any]

_LIMIT = 6


def unready(snapshot: Any, without: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the steps of machines that are nodes, are not ready, and are not being deleted.

    :param snapshot: a workflow Snapshot
    :param without: names of Machines that do not count, because they stop or go themselves
    """
    left_out = set(without)
    return [step for step in machine_steps(snapshot) if step["machine"] and step["machine"] not in left_out
            and step["node"] and not step["complete"] and not step["deleting"]]


def unready_line(step: Mapping[str, Any], effect: str) -> str:
    """Return the line about a machine that is not ready.

    :param step: as :func:`unready` returns it
    :param effect: what happens beside it, as a clause
    """
    return (f"Machine {step['machine']} on host {step['host']} is not ready ({step['waits_for']}): {effect}; "
            "bring it back first, or delete the Machine for its owner to make another")


def boot_seconds(snapshot: Any, machine: Object) -> float | None:
    """Return how long a Machine took from its creation until it had a Node, None while nobody knows.

    A Machine that was moved or restored was created again after its host had been deployed. CAPM3's v1beta2 says of a
    Metal3Machine that it is Ready once its meta data is, so its Machine's InfrastructureReady tells nothing of a boot.

    :param snapshot: a workflow Snapshot
    """
    status = machine.get("status") or {}
    made = moment(machine["metadata"].get("creationTimestamp"))
    # Cluster API, Machine v1beta2: the phase is Running once there is a nodeRef, lastUpdated when it has changed.
    ended = moment(status.get("lastUpdated")) if status.get("phase") == "Running" else None
    if made is None or ended is None or ended <= made:
        return None
    host = snapshot.host(snapshot.metal3_machine(machine)) or {}
    history = (host.get("status") or {}).get("operationHistory") or {}
    deployed = moment((history.get("provision") or {}).get("end"))
    return None if deployed is not None and deployed < made else ended - made


def time_texts(snapshot: Any, names: Iterable[str]) -> list[str]:
    """Say how long Machines took: nobody knows better how long the next ones will."""
    machines = [machine for machine in (snapshot.get("Machine", name) for name in names) if machine]
    took = sorted(seconds for machine in machines for seconds in [boot_seconds(snapshot, machine)] if seconds)
    return [f"from its creation to its Node a machine took {span_of(took)}"] if took else []


def span_of(seconds: Iterable[float]) -> str:
    """Return durations as the shortest and the longest of them: ``3 min to 5 min``."""
    found = sorted(seconds)
    return " to ".join(dict.fromkeys([duration(found[0]), duration(found[-1])]))


def disk_texts(snapshot: Any, names: Iterable[str]) -> list[str]:
    """Say what becomes of the disks: CAPM3 gives a host back, and the operator cleans it as its mode says.

    :param names: of the hosts
    """
    hosts = [snapshot.get("BareMetalHost", name) for name in sorted(names)]
    kept = [host["metadata"]["name"] for host in hosts
            if host and (host.get("spec") or {}).get("automatedCleaningMode") == "disabled"]
    wiped = sum(host is not None for host in hosts) - len(kept)
    parts = [f"all disks of {wiped} host{'' if wiped == 1 else 's'} are wiped"] if wiped else []
    return parts + ([f"not cleaned are the disks of {few(kept, _LIMIT)} (automatedCleaningMode disabled), where an "
                     "image is only written over what is there"] if kept else [])


def free_text(number: int) -> str:
    """Say how many hosts are free that machines of an owner could have."""
    return f"{number} host{' that matches is' if number == 1 else 's that match are'} free"

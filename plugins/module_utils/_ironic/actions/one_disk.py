# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Erasing one disk of a node: the node's skip_block_devices has the agent skip all others; pure."""
from __future__ import annotations

import re
from typing import Any

from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from . import per_node

OPTION = "only_disks"
PROPERTY = "skip_block_devices"
STEPS = ("erase_devices", "erase_devices_express", "erase_devices_metadata")
_GIB = 1024 ** 3
# The agent reads hints by a grammar (ironic_python_agent/device_hints.py): none of its operators can be made of these.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+ -]*\Z")
# By what a disk is known, whatever the kernel calls it at the next boot.
_TEXTS = ("serial", "wwn", "model")


def problems(options: dict[str, Any], nodes: list[dict[str, Any]]) -> list[Problem]:
    """Return the Problems of the option: nothing of a node may be erased that was not meant.

    :param options: the module's options
    :param nodes: the nodes of the list that Ironic has, with ``name`` and ``uuid``
    """
    given = options.get(OPTION)
    if given is None:
        return []
    found = per_node.problems("one-disk", OPTION, "disk", options, nodes)
    found += [Problem("one-disk", OPTION, "", show(key), "the serial number of a disk, a text", "correct it")
              for key, value in given.items() if not isinstance(value, str) or not value.strip()]
    found += [Problem("one-disk", f"node {node['name'] or node['uuid']}", OPTION, None,
                      "the serial number of the disk to erase, for each node of the list",
                      "add it, or run this node without the option") for node in nodes
              if not any(key in given for key in (node.get("name"), node["uuid"]) if key)]
    steps = [step.get("step") for step in options.get("steps") or ()]
    if options.get("action") != "clean" or not steps or set(steps) - set(STEPS):
        found.append(Problem("one-disk", "steps", "", show(", ".join(map(str, steps)) or options.get("action")),
                             f"action clean with {' or '.join(STEPS)} and no other step",
                             "other steps do not keep to the disk; run them without the option"))
    if not options.get("wait"):
        found.append(Problem("one-disk", "wait", "", "false", "true",
                             f"properties.{PROPERTY} is put back when the disk is erased"))
    return found


def hints(serial: str, inventory: Any) -> tuple[list[dict[str, str]], str]:
    """Return the entries by which the agent skips all disks but one, and why there are none, empty when there are.

    Each names one thing in which other disks differ: a disk without a serial number is not skipped by that.

    :param serial: the disk's serial number
    :param inventory: the node's inventory, as Ironic has it of the last inspection
    """
    disks = dicts_in(dict_in(inventory, "inventory"), "disks")
    if not disks:
        return [], "Ironic has no disks of it; inspect it first"
    chosen = [disk for disk in disks if disk.get("serial") == serial]
    if len(chosen) != 1:
        return [], (f"{len(chosen) or 'no'} disks of its last inspection have the serial number {show(serial)}, which "
                    "must be one; correct it, or inspect it again")
    disk = chosen[0]
    values = dict((name, disk[name]) for name in _TEXTS if isinstance(disk.get(name), str) and disk[name].strip())
    strange = [name for name, value in values.items() if not _PLAIN.match(value)]
    if "serial" in strange:
        return [], f"the serial number {show(serial)} has characters that the agent's hints cannot tell"
    skipped = [{name: f"s!= {value}"} for name, value in values.items() if name not in strange]
    size = disk.get("size")
    if isinstance(size, int) and size >= _GIB and size % _GIB == 0:
        skipped.append({"size": f"!= {size // _GIB}"})
    return skipped, ""


def around(skipped: list[dict[str, str]], node: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the JSON patches of a node before and after one of its disks is erased.

    What it skips anyway stays skipped; what a run that was killed has left is taken away with the rest.

    :param skipped: see :func:`hints`
    :param node: the node with ``properties``
    """
    there = (node.get("properties") or {}).get(PROPERTY)
    own = [entry for entry in there if entry not in skipped] if isinstance(there, list) else []
    path = f"/properties/{PROPERTY}"
    back = {"op": "add", "path": path, "value": own} if own else {"op": "remove", "path": path}
    return [{"op": "add", "path": path, "value": own + skipped}], [back]


def serial_of(options: dict[str, Any], node: dict[str, Any]) -> str | None:
    """Return the serial number of the disk of a node that is to be erased alone, or None."""
    value = per_node.value_of(options.get(OPTION), node)
    return value if isinstance(value, str) else None

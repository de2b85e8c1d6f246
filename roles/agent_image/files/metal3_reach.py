# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In the agent's ramdisk: asks at each inspection for what the file REACH names; the inventory gets the answers.

A hardware manager and no collector of inspection, whose names are in the kernel's parameters, which are Ironic's.
"""
from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import metal3_questions
from ironic_python_agent import errors, hardware

REACH = "/etc/metal3-reach.json"
# Of the inventory.
FIELD = "metal3_reach"
SECONDS = 5
# Its inventory, which is that of the other managers and more, is taken before theirs.
SUPPORT = 1000
TFTP_PORT = 69


class ReachManager(hardware.HardwareManager):
    """Adds what was reached to the inventory of the other hardware managers."""

    HARDWARE_MANAGER_NAME = "ReachManager"
    HARDWARE_MANAGER_VERSION = "1"

    def evaluate_hardware_support(self):
        return SUPPORT

    def list_hardware_info(self):
        """Return the inventory of the manager that would be asked without this one, with the answers."""
        for manager in hardware.get_managers():
            if manager is self:
                continue
            try:
                found = manager.list_hardware_info()
            except errors.IncompatibleHardwareMethodError:
                continue
            return dict(found, **{FIELD: answers()})
        raise errors.HardwareManagerMethodNotFound("list_hardware_info")


def answers():
    """Return for each question of the file its kind, name and target, what was found, and whether that is wanted."""
    with open(REACH, encoding="utf-8") as stream:
        asked = json.load(stream)
    questions = [(kind, entry) for kind in ("tcp", "tftp") for entry in asked.get(kind) or ()]
    with ThreadPoolExecutor(max_workers=16) as pool:
        return list(pool.map(_answer, questions))


def _answer(question):
    kind, entry = question
    host = entry["host"]
    if kind == "tcp":
        target, answer = f"{host}:{entry['port']}", metal3_questions.tcp(host, entry["port"], SECONDS)
    else:
        target = f"{host}/{entry['path']}"
        answer = metal3_questions.tftp(host, entry.get("port", TFTP_PORT), entry["path"], SECONDS)
    return {"kind": kind, "name": entry.get("name", ""), "target": target, "found": answer["words"],
            "ok": answer["reached"] == entry.get("reachable", True)}

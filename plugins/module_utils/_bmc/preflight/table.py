# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMCs in a few words: a table, and the message of a preflight that found something."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._common.texts import text_table
from .verdict import PROBLEM, RANK, WARNING

COLUMNS = (
    ("NAME", "name"), ("VERDICT", "verdict"), ("SERVER", "server"), ("SERIAL", "serial_number"), ("BMC", "firmware"),
    ("BIOS", "bios_version"), ("POWER", "power"), ("SCHEME", "scheme"), ("LOOK AT", "look_at"),
)


def row(result: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a server's row as texts.

    :param result: what a preflight returns for it, with ``facts``
    """
    ipmi = result["facts"].get("ipmi") or {}
    system, manager = result["facts"].get("system") or ipmi, result["facts"].get("manager") or ipmi
    look_at = [check["check"] for check in result["checks"] if check["status"] in (PROBLEM, WARNING)]
    cells = {
        "name": result["name"],
        "verdict": result["verdict"],
        "server": " ".join(text for text in (system.get("manufacturer"), system.get("model")) if text),
        "serial_number": system.get("serial_number"),
        "firmware": manager.get("firmware_version"),
        "bios_version": system.get("bios_version"),
        "power": (system.get("power_state") or ipmi.get("power") or "").lower(),
        "scheme": result["recommended"].get("scheme"),
        "look_at": ", ".join(look_at),
    }
    return dict((key, text or "-") for key, text in cells.items())


def table(results: Sequence[Mapping[str, Any]], width: int | None = None) -> list[str]:
    """Return the lines of an aligned table.

    :param results: list of what a preflight returns for a server
    :param width: columns of the terminal; None for any number
    """
    rows = [[cells[key] for dummy, key in COLUMNS] for cells in map(row, results)]
    return text_table.lines([title for title, dummy in COLUMNS], rows, width, long=("SERVER", "LOOK AT"),
                            optional=("BIOS", "BMC", "SERIAL", "POWER", "SCHEME", "SERVER"))


def failing_lines(result: Mapping[str, Any], fail_on: str) -> list[str]:
    """Return what makes the preflight of one server fail, the worst first.

    :param result: what a preflight returns for a server
    :param fail_on: as for :func:`failure`
    """
    return [check["text"] for status in (PROBLEM, WARNING) if fail_on in RANK and status in RANK[RANK.index(fail_on):]
            for check in result["checks"] if check["status"] == status]


def failure(results: Sequence[Mapping[str, Any]], fail_on: str) -> str:
    """Return all that makes a preflight fail as one text, empty when nothing does.

    :param results: list of what a preflight returns for a server
    :param fail_on: the least status that is a failure: ``problem``, ``warning``, or ``none`` for never
    """
    if fail_on not in RANK:
        return ""
    failing = RANK[RANK.index(fail_on):]
    lines = [f"- {check['text']}" for status in (PROBLEM, WARNING) if status in failing
             for result in results for check in result["checks"] if check["status"] == status]
    if not lines:
        return ""
    affected = [result for result in results if result["verdict"] in failing]
    heading = (f"{len(lines)} problem{'' if len(lines) == 1 else 's'} at {len(affected)} of {len(results)} servers, "
               "found before anything was written:")
    return "\n".join([heading, *lines])

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the networks of servers that are nodes, and the other plane's Ironic, reach each other."""
from __future__ import annotations

from typing import Any

from ..._bmc.preflight import reach
from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import few
from ..._elsewhere import asking

Object = dict[str, Any]

# Of the kubelet. Its answer, a refusal, too, has come by the server's way to Ironic.
_PORT = 10250
_SHOWN = 8


def warnings(machines: list[Object], asked: asking.Asked) -> tuple[list[str], str]:
    """Return a warning when nobody could ask, and in words how many servers answer.

    CAPM3 gives a Machine the addresses of its host's inspection. A node with an address of a pool has another one, so
    that silence proves nothing and is no warning.

    :param machines: Machines
    :param asked: where the Ironic that takes over runs
    """
    addresses = [(item["metadata"]["name"], _address(item)) for item in machines]
    known = [(name, address) for name, address in addresses if address]
    if not known:
        return [], ""
    try:
        answers = reach.connections([(address, _PORT, "tcp") for _name, address in known], asked)
    except ReportedError as exc:
        return [f"servers: whether they reach Ironic was not asked from {asked.place}: {exc}"], ""
    silent = [f"{name} ({address}: {words})" for (name, address), words in zip(known, answers)
              if words and words != "connection refused"]
    text = f"servers: {len(known) - len(silent)} of {len(known)} nodes answer {asked.place} where they were inspected"
    if silent:
        text += f"; not Machines {few(silent, _SHOWN)}, whose addresses may have changed since"
    return [], text


def _address(machine: Object) -> str | None:
    return next((item["address"] for item in (machine.get("status") or {}).get("addresses") or []
                 if item.get("type") == "InternalIP"), None)

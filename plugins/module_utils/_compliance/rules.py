# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that compare servers with what a site expects of them; pure."""
from __future__ import annotations

from .._lint.rules import ERROR, WARNING, Rule

_HARDWARE = "HardwareData, which BMO's inspection writes"


def _rule(name: str, level: str, summary: str, source: str) -> Rule:
    return Rule(name, level, "host", summary, source)


RULES = (
    _rule("hardware-unknown", ERROR, "A server of which hardware is expected was inspected.", _HARDWARE),
    _rule("hardware-differs", ERROR, "Processors, memory, disks, network cards and maker are those that are expected.",
          _HARDWARE),
    _rule("cabling-unknown", WARNING, "A network card that is expected at a switch has heard from it.",
          f"{_HARDWARE}, LLDP"),
    _rule("cabling-differs", ERROR, "A network card is connected to the port of the switch that is expected.",
          f"{_HARDWARE}, LLDP"),
    _rule("cabling-unlisted", WARNING, "A server, and each of its network cards that has heard from a switch, is in "
          "the cabling file.", f"{_HARDWARE}, LLDP"),
    _rule("firmware-uncatalogued", WARNING, "The catalogue of firmware has the server's model.", _HARDWARE),
    _rule("firmware-unknown", WARNING, "The version of a component of which one is expected is known.",
          "HostFirmwareComponents"),
    _rule("firmware-differs", ERROR, "A component has one of the versions that are expected.",
          "HostFirmwareComponents"),
    _rule("setting-unknown", WARNING, "A BIOS setting of which a value is expected is known.", "HostFirmwareSettings"),
    _rule("setting-differs", ERROR, "A BIOS setting has the value that is expected.", "HostFirmwareSettings"),
)
LEVELS = dict((rule.rule, rule.level) for rule in RULES)

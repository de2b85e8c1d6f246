# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that compare servers with what a site expects of them; pure."""
from __future__ import annotations

from .._lint.rules import ERROR, WARNING, Rule

_HARDWARE = "HardwareData, which BMO's inspection writes"
_BMC = "the BMC itself, by bmc_info"


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
    _rule("certificate-unknown", WARNING, "The certificate of a BMC of which one is expected is known.", _BMC),
    _rule("certificate-differs", ERROR, "The certificate of a BMC is valid for long enough, and its authority's is the "
          "one that is expected.", _BMC),
    _rule("accounts-unknown", WARNING, "The accounts of a BMC of which some are expected are known.", _BMC),
    _rule("accounts-differ", ERROR, "The enabled accounts of a BMC are those that are expected.", _BMC),
)
LEVELS = dict((rule.rule, rule.level) for rule in RULES)

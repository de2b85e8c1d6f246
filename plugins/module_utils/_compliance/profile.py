# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site expects of a server, compared with what is known of it; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .._common.options.field_checks import show, shown, text_of
from .._common.problems.problem import Problem, text
from .._common.texts.formats import GIGABYTE
from .._common.texts.plain_text import few, plain
from .._resources import firmware_names
from . import bmc_expectations

_LIMIT = 6


class Known(NamedTuple):
    """What is known of a server.

    :param hardware: ``spec.hardware`` of its HardwareData, None when it was not inspected
    :param firmware: component to version
    :param settings: BIOS setting to value
    :param bmc: what its BMC has said, an entry of what ``bmc_info`` returns; None when it was not asked
    """

    hardware: Mapping[str, Any] | None
    firmware: Mapping[str, str]
    settings: Mapping[str, str]
    bmc: Mapping[str, Any] | None = None


def profile_options() -> dict[str, dict[str, Any]]:
    """Return the options of what is expected of a server; documented in the module ``host_compliance``."""
    return {
        "architecture": {"type": "str"},
        "cpus_minimum": {"type": "int"},
        "memory_mebibytes_minimum": {"type": "int"},
        "manufacturer": {"type": "str"},
        "product_name": {"type": "str"},
        "disks": {"type": "list", "elements": "dict", "options": {
            "count_minimum": {"type": "int", "default": 1}, "size_gigabytes_minimum": {"type": "int"},
            "rotational": {"type": "bool"}, "model": {"type": "str"}}},
        "nics": {"type": "list", "elements": "dict", "options": {
            "name": {"type": "str", "required": True}, "speed_gigabits_minimum": {"type": "int"},
            "switch": {"type": "str"}, "switch_port": {"type": "str"}}},
        "nics_minimum": {"type": "int"},
        "firmware": {"type": "dict"},
        "settings": {"type": "dict"},
        **bmc_expectations.options(),
    }


def mistakes(subject: str, expected: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with an expectation itself.

    :param subject: what messages call the host
    """
    found = [Problem("compliance-profile", subject, f"expected.firmware.{name}", shown(value),
                     "a version as text, or a list of those that are allowed")
             for name, value in (expected.get("firmware") or {}).items() if not are_versions(value)]
    found += [Problem("compliance-profile", subject, f"expected.settings.{name}", shown(value), "a text or a number")
              for name, value in (expected.get("settings") or {}).items()
              if value is None or isinstance(value, (dict, list))]
    names = [nic["name"] for nic in expected.get("nics") or []]
    found += [Problem("compliance-profile", subject, "expected.nics", f"{name} twice", "each network card once")
              for name in sorted(set(names)) if names.count(name) > 1]
    return found + bmc_expectations.mistakes(subject, expected)


def findings(subject: str, expected: Mapping[str, Any], known: Known, now: float) -> list[Problem]:
    """Return where a server is not what is expected.

    :param subject: what messages call the host
    :param expected: the options of :func:`profile_options`
    :param now: seconds since 1970
    """
    return _hardware(subject, expected, known.hardware) \
        + firmware_findings(subject, expected.get("firmware") or {}, known.firmware) \
        + _settings(subject, expected, known.settings) \
        + bmc_expectations.findings(subject, expected, known.bmc, now)


def _hardware(subject: str, expected: Mapping[str, Any], hardware: Mapping[str, Any] | None) -> list[Problem]:
    wanted = [name for name in profile_options() if name not in ("firmware", "settings", *bmc_expectations.options())
              and expected.get(name) not in (None, [])]
    if not wanted:
        return []
    if hardware is None:
        return [not_inspected(subject, wanted[0])]
    cpu, vendor = hardware.get("cpu") or {}, hardware.get("systemVendor") or {}
    found = []
    for option, actual in (("architecture", cpu.get("arch")), ("manufacturer", vendor.get("manufacturer")),
                           ("product_name", vendor.get("productName"))):
        if expected.get(option) is not None and actual != expected[option]:
            found.append(_differs(subject, option, actual, show(expected[option])))
    for option, actual in (("cpus_minimum", cpu.get("count")), ("memory_mebibytes_minimum",
                                                                hardware.get("ramMebibytes"))):
        if expected.get(option) is not None and (actual or 0) < expected[option]:
            found.append(_differs(subject, option, actual, f"{expected[option]} or more"))
    return found + _disks(subject, expected, hardware.get("storage") or []) + _nics(
        subject, expected, hardware.get("nics") or [])


def not_inspected(subject: str, option: str) -> Problem:
    """Return the finding of a server whose hardware nobody has looked at."""
    return Problem("hardware-unknown", subject, option, None, "what an inspection finds",
                   "inspect the server (playbook inspect)")


def _differs(subject: str, option: str, actual: Any, wanted: str, code: str = "hardware-differs") -> Problem:
    return Problem(code, subject, option, shown(actual), wanted)


def _disks(subject: str, expected: Mapping[str, Any], disks: list[Mapping[str, Any]]) -> list[Problem]:
    wanted = expected.get("disks") or []
    served = _served(wanted, disks)
    return [Problem("hardware-differs", subject, f"disks[{number}]",
                    f"{served[number]} among {_disk_names(disks)}",
                    f"{entry['count_minimum']} or more with {_words(entry)}")
            for number, entry in enumerate(wanted) if served[number] < entry["count_minimum"]]


def _served(wanted: list[Mapping[str, Any]], disks: list[Mapping[str, Any]]) -> list[int]:
    """Return how many disks each entry gets when each disk counts for one entry, and as many as possible are served.

    A matching by augmenting paths: a disk is passed on when its entry finds another one.
    """
    places = [number for number, entry in enumerate(wanted)
              for _count in range(min(entry["count_minimum"], len(disks)))]
    holder: dict[int, int] = {}

    def place(position: int, tried: set[int]) -> bool:
        for number, disk in enumerate(disks):
            if number in tried or not _fits(wanted[places[position]], disk):
                continue
            tried.add(number)
            if number not in holder or place(holder[number], tried):
                holder[number] = position
                return True
        return False

    for position in range(len(places)):
        place(position, set())
    return [sum(places[position] == number for position in holder.values()) for number in range(len(wanted))]


def _fits(entry: Mapping[str, Any], disk: Mapping[str, Any]) -> bool:
    return all((
        entry.get("size_gigabytes_minimum") is None
        or (disk.get("sizeBytes") or 0) >= entry["size_gigabytes_minimum"] * GIGABYTE,
        entry.get("rotational") is None or bool(disk.get("rotational")) == entry["rotational"],
        entry.get("model") is None or disk.get("model") == entry["model"]))


def _disk_names(disks: list[Mapping[str, Any]]) -> str:
    return few([plain(f"{disk.get('name', '?')} ({(disk.get('sizeBytes') or 0) // GIGABYTE} GB)") for disk in disks],
               _LIMIT) or "no disk"


def _words(entry: Mapping[str, Any]) -> str:
    words = [f"{name}: {text_of(value)}" for name, value in sorted(entry.items())
             if name != "count_minimum" and value is not None]
    return ", ".join(words) or "any size"


def _nics(subject: str, expected: Mapping[str, Any], nics: list[Mapping[str, Any]]) -> list[Problem]:
    known = dict((nic.get("name"), nic) for nic in nics)
    found = []
    if expected.get("nics_minimum") is not None and len(known) < expected["nics_minimum"]:
        found.append(_differs(subject, "nics_minimum", len(known), f"{expected['nics_minimum']} or more"))
    for number, entry in enumerate(expected.get("nics") or []):
        field, nic = f"nics[{number}]", known.get(entry["name"])
        if nic is None:
            found.append(_differs(subject, field + ".name", few(sorted(filter(None, known)), _LIMIT) or None,
                                  f"a network card {entry['name']}"))
            continue
        speed = entry.get("speed_gigabits_minimum")
        if speed is not None and (nic.get("speedGbps") or 0) < speed:
            found.append(_differs(subject, f"{field}.speed_gigabits_minimum", nic.get("speedGbps"), f"{speed} or more"))
        found += cabling_findings(subject, field, entry, nic.get("lldp") or {})
    return found


def cabling_findings(subject: str, field: str, entry: Mapping[str, Any],
                     neighbour: Mapping[str, Any]) -> list[Problem]:
    """Return where a network card is not connected as it is expected.

    :param subject: what messages call the host
    :param field: what they call the network card
    :param entry: dict with ``switch`` and ``switch_port``, each a text, or None for any
    :param neighbour: what the card has heard by LLDP, as HardwareData has it
    """
    found = []
    for option, names in (("switch", ("switchSystemName", "switchID")), ("switch_port", ("portID",))):
        wanted = entry.get(option)
        if wanted is None:
            continue
        heard = [neighbour[name] for name in names if neighbour.get(name)]
        if not heard:
            found.append(Problem("cabling-unknown", subject, f"{field}.{option}", None, wanted,
                                 "switch LLDP on at the switch, then inspect the server again"))
        elif wanted not in heard:
            found.append(_differs(subject, f"{field}.{option}", heard[0], wanted, "cabling-differs"))
    return found


def firmware_findings(subject: str, expected: Mapping[str, Any], firmware: Mapping[str, str]) -> list[Problem]:
    """Return where components have another version than is expected.

    :param subject: what messages call the host
    :param expected: component to its version, or to a list of those that are allowed; ALL_CARDS for the network cards
        that are not named themselves
    :param firmware: component to version
    """
    found = []
    for name, value in sorted(each_component(expected, firmware).items()):
        allowed = [text_of(item) for item in _versions(value)]
        if name not in firmware:
            found.append(Problem("firmware-unknown", subject, f"firmware.{name}", None, " or ".join(allowed),
                                 f"known are: {few(sorted(map(plain, firmware)), _LIMIT) or 'none'}"))
        elif firmware[name] not in allowed:
            found.append(_differs(subject, f"firmware.{name}", firmware[name], " or ".join(allowed),
                                  "firmware-differs"))
    return found


def each_component(expected: Mapping[str, Any], firmware: Mapping[str, str]) -> dict[str, Any]:
    """Return what is expected by component, with the network cards that are known in the place of ALL_CARDS.

    :param expected, firmware: as for :func:`firmware_findings`
    """
    cards = [name for name in firmware if firmware_names.is_card(name)]
    if firmware_names.ALL_CARDS not in expected or not cards:
        return dict(expected)
    single = dict(dict.fromkeys(cards, expected[firmware_names.ALL_CARDS]), **expected)
    del single[firmware_names.ALL_CARDS]
    return single


def are_versions(value: Any) -> bool:
    """Say whether a value names a version, or those that are allowed."""
    return bool(_versions(value)) and all(isinstance(item, str) for item in _versions(value))


def _versions(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _settings(subject: str, expected: Mapping[str, Any], settings: Mapping[str, str]) -> list[Problem]:
    found = []
    for name, value in sorted((expected.get("settings") or {}).items()):
        if name not in settings:
            found.append(Problem("setting-unknown", subject, f"settings.{name}", None, text_of(value),
                                 "the server's BIOS has no setting of this name, or was not read yet"))
        elif settings[name] != text_of(value):
            found.append(_differs(subject, f"settings.{name}", settings[name], text_of(value), "setting-differs"))
    return found


def as_findings(problems: Iterable[Problem], levels: Mapping[str, str], name: str,
                place: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return Problems as the findings that reports are made of, see ``_lint.report``.

    :param levels: level of each code
    :param name: of the host
    :param place: ``path``, ``line`` and ``column`` of what is expected of it, None when no file is known
    """
    result = []
    where = dict((part, (place or {}).get(part)) for part in ("path", "line", "column"))
    for problem in problems:
        entry = problem._asdict()
        entry.update(text=text(problem, unset="not known"), level=levels[problem.code], kind="host", names=[name],
                     **where)
        result.append(entry)
    return result

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a site about many servers, a catalogue of firmware and its cabling, compared with what is known; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .._common.options.field_checks import shown
from .._common.problems.problem import Problem
from .._common.texts.plain_text import plain
from . import profile

_CODE = "compliance-file"
_MODEL = ("manufacturer", "product_name")
_CONNECTION = ("switch", "switch_port")
_VERSIONS = "a version as text, or a list of those that are allowed"


class SiteFiles(NamedTuple):
    """What a site's files say.

    :param catalogue: list of dicts ``manufacturer``, ``product_name`` and ``firmware``; None without such a file
    :param cabling: host to network card to ``switch`` and ``switch_port``; None without such a file
    """

    catalogue: list[dict[str, Any]] | None
    cabling: dict[str, dict[str, dict[str, Any]]] | None


NONE = SiteFiles(None, None)


def catalogue_mistakes(document: Any, title: str) -> list[Problem]:
    """Return what is wrong with a catalogue of firmware.

    :param document: as it was read
    :param title: what messages call the file
    """
    if not isinstance(document, list):
        return [_wrong(title, "", document, "a list of entries with manufacturer, product_name and firmware")]
    found: list[Problem] = []
    models = []
    for number, entry in enumerate(document):
        field = f"[{number}]"
        if not isinstance(entry, dict):
            found.append(_wrong(title, field, entry, "an entry with manufacturer, product_name and firmware"))
            continue
        found += _unknown(title, field, entry, (*_MODEL, "firmware"))
        found += [_wrong(title, f"{field}.{name}", entry[name], "a text, as the inspection reports it")
                  for name in _MODEL if entry.get(name) is not None and not isinstance(entry[name], str)]
        if not any(entry.get(name) for name in _MODEL):
            found.append(_wrong(title, field, None, "manufacturer or product_name, or both"))
        firmware = entry.get("firmware")
        if not isinstance(firmware, dict) or not firmware:
            found.append(_wrong(title, f"{field}.firmware", firmware, "component to version, such as bios: 2.4.1"))
        else:
            found += [_wrong(title, f"{field}.firmware.{plain(str(name))}", value, _VERSIONS)
                      for name, value in firmware.items()
                      if not isinstance(name, str) or not profile.are_versions(value)]
        models.append(str([entry.get(name) for name in _MODEL]))
    found += [_wrong(title, f"[{number}]", "the manufacturer and product_name of an entry before", "each model once")
              for number, model in enumerate(models) if model in models[:number]]
    return found


def cabling_mistakes(document: Any, title: str) -> list[Problem]:
    """Return what is wrong with a cabling file.

    :param document, title: as for :func:`catalogue_mistakes`
    """
    if not isinstance(document, dict):
        return [_wrong(title, "", document, "host to network card to switch and switch_port")]
    found: list[Problem] = []
    for host, cards in document.items():
        if not isinstance(host, str) or not isinstance(cards, dict):
            found.append(_wrong(title, plain(str(host)), cards, "network card to switch and switch_port"))
            continue
        for card, connection in cards.items():
            field = plain(f"{host}.{card}")
            if not isinstance(card, str) or not isinstance(connection, dict) or not any(
                    connection.get(name) is not None for name in _CONNECTION):
                found.append(_wrong(title, field, connection, "switch or switch_port, or both"))
                continue
            found += _unknown(title, field, connection, _CONNECTION)
            found += [_wrong(title, f"{field}.{name}", connection[name], "a text or a whole number, as LLDP has it")
                      for name in _CONNECTION if connection.get(name) is not None
                      and (not isinstance(connection[name], (str, int)) or isinstance(connection[name], bool))]
    return found


def findings(name: str, expected: Mapping[str, Any], known: profile.Known, files: SiteFiles) -> list[Problem]:
    """Return where a server is not what a site's files say.

    :param name: of the host
    :param expected: what is expected of the host itself, which goes before the catalogue
    :param known: what is known of it
    """
    found = []
    if files.catalogue is not None:
        found += _by_catalogue(name, expected, known, files.catalogue)
    if files.cabling is not None:
        found += _by_cabling(name, known, files.cabling)
    return found


def _by_catalogue(name: str, expected: Mapping[str, Any], known: profile.Known,
                  catalogue: list[dict[str, Any]]) -> list[Problem]:
    if known.hardware is None:
        return [profile.not_inspected(name, "firmware_catalogue")]
    vendor = known.hardware.get("systemVendor") or {}
    model = dict(zip(_MODEL, (vendor.get("manufacturer"), vendor.get("productName"))))
    fitting = [entry for entry in catalogue
               if all(entry.get(key) in (None, "", model[key]) for key in _MODEL)]
    if not fitting:
        return [Problem("firmware-uncatalogued", name, "firmware_catalogue", shown(" ".join(
            str(value) for value in model.values() if value) or None), "a model of the catalogue",
            "add an entry with its manufacturer and product_name")]
    wanted: dict[str, Any] = {}
    # What is said of a model goes before what is said of all of its maker, and with its maker before without.
    for entry in sorted(fitting, key=lambda item: (bool(item.get("product_name")), bool(item.get("manufacturer")))):
        wanted.update(entry["firmware"])
    own = profile.each_component(expected.get("firmware") or {}, known.firmware)
    return profile.firmware_findings(
        name, dict((key, value) for key, value in profile.each_component(wanted, known.firmware).items()
                   if key not in own), known.firmware)


def _by_cabling(name: str, known: profile.Known, cabling: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    if known.hardware is None:
        return [profile.not_inspected(name, "cabling")]
    if name not in cabling:
        return [Problem("cabling-unlisted", name, "cabling", None, "the server in the cabling file", "add it")]
    cards = dict((nic.get("name"), nic.get("lldp") or {}) for nic in known.hardware.get("nics") or [])
    found = []
    for card, connection in sorted(cabling[name].items()):
        field = f"cabling.{card}"
        if card not in cards:
            found.append(Problem("hardware-differs", name, field, None, f"a network card {card}"))
        else:
            found += profile.cabling_findings(name, field, dict(
                (key, str(value)) for key, value in connection.items() if value is not None), cards[card])
    for card, neighbour in sorted((str(card), neighbour) for card, neighbour in cards.items()):
        heard = neighbour.get("switchSystemName") or neighbour.get("switchID")
        if heard and card not in cabling[name]:
            found.append(Problem(
                "cabling-unlisted", name, f"cabling.{plain(card)}",
                shown(" ".join(filter(None, (str(heard), str(neighbour.get("portID") or ""))))),
                "no switch, since the cabling file has none for this network card", "correct the cable or the file"))
    return found


def _unknown(title: str, field: str, entry: Mapping[Any, Any], names: tuple[str, ...]) -> list[Problem]:
    return [_wrong(title, f"{field}.{plain(str(name))}", "an unknown field", f"one of {', '.join(names)}")
            for name in entry if name not in names]


def _wrong(title: str, field: str, value: Any, expected: str) -> Problem:
    return Problem(_CODE, title, field, shown(value), expected, "correct the file")

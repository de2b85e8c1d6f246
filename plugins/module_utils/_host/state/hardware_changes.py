# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between two inspections of a server; pure.

Hardware is given as the CRD of HardwareData has it (``spec.hardware``). What changes without anybody touching the
server (addresses from DHCP, host name, clock of the CPU at that moment) is left out.
"""
from __future__ import annotations

from ..._common.texts import formats, text_table

# Part: (field of the list, fields that identify an element, fields that are compared, with their names in texts).
_LISTS = (
    ("disk", "storage", ("serialNumber", "wwn", "name"), (
        ("sizeBytes", "size"), ("model", "model"), ("vendor", "vendor"), ("type", "type"), ("name", "name"))),
    ("NIC", "nics", ("mac", "name"), (
        ("name", "name"), ("model", "model"), ("speedGbps", "speed"), ("pxe", "boots"), ("vlanId", "VLAN"))),
)
_SINGLE = (
    ("RAM", ("ramMebibytes",), formats.memory), ("CPUs", ("cpu", "count"), str), ("CPU model", ("cpu", "model"), str),
    ("CPU architecture", ("cpu", "arch"), str), ("manufacturer", ("systemVendor", "manufacturer"), str),
    ("product", ("systemVendor", "productName"), str), ("serial number", ("systemVendor", "serialNumber"), str),
    ("BIOS vendor", ("firmware", "bios", "vendor"), str), ("BIOS version", ("firmware", "bios", "version"), str),
    ("BIOS date", ("firmware", "bios", "date"), str),
)
COLUMNS = (("HOST", "host"), ("WHAT", "what"), ("BEFORE", "before"), ("AFTER", "after"))


def changes(before, after):
    """Return what differs, ``[{"what", "before", "after"}]``, all texts; ``-`` for what is not there.

    :param before: ``spec.hardware`` of the HardwareData, empty when there was none
    :param after: the same after the inspection
    """
    result = []
    for what, path, form in _SINGLE:
        pair = [_at(side, path) for side in (before, after)]
        if pair[0] != pair[1]:
            result.append(_row(what, *(form(value) if value else "-" for value in pair)))
    for part, field, keys, compared in _LISTS:
        sides = [side.get(field) or [] for side in (before, after)]
        shared = set().union(*(_shared(items, keys) for items in sides))
        old, new = (_indexed(items, keys, shared) for items in sides)
        for key in sorted(set(old) | set(new)):
            if key not in old or key not in new:
                item = old.get(key) or new.get(key)
                texts = _text(item, compared), "-"
                result.append(_row(f"{part} {key}", *(texts if key in old else reversed(texts))))
                continue
            for name, word in compared:
                values = [_value(name, side[key].get(name)) for side in (old, new)]
                if values[0] != values[1]:
                    result.append(_row(f"{part} {key}, {word}", *(value or "-" for value in values)))
    return result


def _row(what, before, after):
    return {"what": what, "before": before, "after": after}


def _at(hardware, path):
    for name in path:
        hardware = (hardware or {}).get(name)
    return hardware or ""


def _identity(item, keys):
    return next((str(item[key]) for key in keys if item.get(key)), "?")


def _shared(items, keys):
    """Return the identities that several elements of one list have, such as the paths to one disk."""
    names = {}
    for item in items:
        names.setdefault(_identity(item, keys), set()).add(item.get("name"))
    return set(identity for identity, found in names.items() if len(found) > 1)


def _indexed(items, keys, shared):
    # A NIC is listed once for each of its addresses.
    return dict((f"{identity} {item.get('name') or '?'}" if identity in shared else identity, item)
                for item in items for identity in [_identity(item, keys)])


def _value(name, value):
    if name == "sizeBytes" and value:
        return formats.disk(value)
    if name == "speedGbps" and value:
        return f"{value} Gb/s"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value else ""


def _text(item, compared):
    texts = [_value(name, item.get(name)) for name, dummy in compared if name != "pxe"]
    return ", ".join(filter(None, texts)) or "there"


def table(rows, width=None):
    """Return the lines of an aligned table of changes, with ``host`` in each row.

    :param rows: list of changes
    :param width: columns of the terminal; None for any number
    """
    return text_table.lines([title for title, dummy in COLUMNS], [[str(row[key]) for dummy, key in COLUMNS]
                                                                  for row in rows], width, long=("BEFORE", "AFTER"))


def of_hosts(before, after):
    """Return the changes of all hosts that are in both lists, with ``host`` in each.

    :param before: list of dicts with ``name``, ``namespace`` (the same for all when left out) and ``hardware_data``
    :param after: the same, later
    """
    known = dict((_key(host), host["hardware_data"]) for host in before)
    return [dict(row, host=host["name"]) for host in after if _key(host) in known
            for row in changes(known[_key(host)], host["hardware_data"])]


def _key(host):
    return host.get("namespace"), host["name"]

"""BIOS attributes: what there is, what may be set, and what waits for the next boot.

Names and limits are those of sushy-tools' attribute registry, with one attribute more, for it has no number that may
be written.
"""
from __future__ import annotations

# Attribute → what it is at the factory.
DEFAULTS = {
    "BootMode": "Uefi",
    "EmbeddedSata": "Ahci",
    "L2Cache": "10x256 KB",
    "NicBoot1": "NetworkBoot",
    "PatrolScrubHours": 24,
    "ProcTurboMode": "Enabled",
    "QuietBoot": True,
    "SecureBootStatus": "Disabled",
    "SysPassword": "",
}
# In the place of the registry's, which are of one size of server.
NUMBER_OF_CORES = {"LowerBound": 1, "UpperBound": 512}
PATROL_SCRUB = {
    "AttributeName": "PatrolScrubHours", "DisplayName": "Memory patrol scrub interval", "CurrentValue": None,
    "HelpText": "Hours between two checks of the whole memory.", "ReadOnly": False, "Type": "Integer",
    "LowerBound": 0, "UpperBound": 24, "IsSystemUniqueProperty": False,
}


class BiosError(Exception):
    """A BMC would refuse the settings."""


def registry(known):
    """Return sushy-tools' attribute registry with this BIOS's own attributes.

    :param known: the registry as sushy-tools serves it
    """
    entries = [dict(entry, **NUMBER_OF_CORES) if entry["AttributeName"] == "NumCores" else entry
               for entry in known["RegistryEntries"]["Attributes"]]
    return dict(known, RegistryEntries=dict(known["RegistryEntries"], Attributes=entries + [PATROL_SCRUB]))


def attributes(server, pending=False):
    """Return a server's attributes as a mapping.

    :param pending: as they will be after the next boot
    """
    found = dict(DEFAULTS, NumCores=server.spec["cpus"], SerialNumber=server.spec["serial"])
    found.update(server.bios)
    if pending:
        found.update(server.bios_pending)
    return found


def check(entries, wanted):
    """Check settings against the registry's entries.

    :param entries: the registry's ``Attributes``
    :param wanted: mapping attribute → value
    :raises BiosError: with every mistake
    """
    table = dict((entry["AttributeName"], entry) for entry in entries)
    faults = [(name, _fault(table.get(name), value)) for name, value in sorted(wanted.items())]
    named = [f"{name}: {fault}" for name, fault in faults if fault]
    if named:
        raise BiosError("; ".join(named))


def _fault(entry, value):
    if entry is None:
        return "no such attribute"
    if entry.get("ReadOnly"):
        return "read-only"
    kind = entry["Type"]
    if kind == "Enumeration":
        names = [item["ValueName"] for item in entry["Value"]]
        return None if value in names else f"expected one of {', '.join(names)}"
    if kind == "Boolean":
        return None if isinstance(value, bool) else "expected true or false"
    if kind == "Integer":
        whole = isinstance(value, int) and not isinstance(value, bool)
        fits = whole and entry["LowerBound"] <= value <= entry["UpperBound"]
        return None if fits else f"expected {entry['LowerBound']} to {entry['UpperBound']}"
    fits = isinstance(value, str) and entry.get("MinLength", 0) <= len(value) <= entry.get("MaxLength", 255)
    return None if fits else f"expected a text of at most {entry.get('MaxLength', 255)} characters"

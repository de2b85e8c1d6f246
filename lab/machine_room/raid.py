"""What a RAID controller makes of drives: which volumes are possible, and how large they may be; pure."""
from __future__ import annotations

from collections import namedtuple

GIB = 1024 ** 3
NAME_LENGTH = 64

# least, most: how many drives; step: their number is a multiple of it; redundant: how many of them hold no data of
# their own, as a function of their number. Whatever is redundant survives the loss of one drive.
Level = namedtuple("Level", ["least", "most", "step", "redundant"])

# Redfish RAIDType → Level.
LEVELS = {
    "RAID0": Level(1, None, 1, lambda count: 0),
    "RAID1": Level(2, 2, 1, lambda count: 1),
    "RAID5": Level(3, None, 1, lambda count: 1),
    "RAID6": Level(4, None, 1, lambda count: 2),
    "RAID10": Level(4, None, 2, lambda count: count // 2),
    "RAID50": Level(6, None, 2, lambda count: 2),
    "RAID60": Level(8, None, 2, lambda count: 4),
}


class RaidError(Exception):
    """A RAID controller refuses what it was asked."""


def planned(request, drives, taken):
    """Return the volume that a request asks for: ``raid_type``, ``drives``, ``size_gib`` and ``name``.

    :param request: the body of a Redfish request for a new volume, already parsed
    :param drives: mapping path of a drive → its description with ``serial`` and ``size_gib``
    :param taken: serials of the drives that are part of a volume
    :raises RaidError: with the first mistake
    """
    level = LEVELS.get(request.get("RAIDType")) if isinstance(request.get("RAIDType"), str) else None
    if level is None:
        raise RaidError(f"RAIDType {request.get('RAIDType')!r}: expected one of {', '.join(LEVELS)}")
    chosen = _chosen(request.get("Links"), drives, taken)
    _check_count(request["RAIDType"], level, len(chosen))
    name = request.get("Name", "")
    if not isinstance(name, str) or len(name) > NAME_LENGTH:
        raise RaidError(f"Name: expected a text of at most {NAME_LENGTH} characters")
    largest = min(drive["size_gib"] for drive in chosen) * (len(chosen) - level.redundant(len(chosen)))
    return {"raid_type": request["RAIDType"], "drives": [drive["serial"] for drive in chosen],
            "size_gib": _size_gib(request.get("CapacityBytes"), largest), "name": name}


def survives_one(raid_type):
    """Return whether a volume is there without one of its drives."""
    level = LEVELS[raid_type]
    return level.redundant(level.least) > 0


def _chosen(links, drives, taken):
    named = links.get("Drives") if isinstance(links, dict) else None
    paths = [entry.get("@odata.id") for entry in named if isinstance(entry, dict)] if isinstance(named, list) else []
    if not paths or len(paths) != len(named):
        raise RaidError("Links.Drives: expected the paths of at least one drive")
    for path in paths:
        if not isinstance(path, str) or path not in drives:
            raise RaidError(f"Links.Drives {path!r}: expected drives of this controller")
        if drives[path]["serial"] in taken:
            raise RaidError(f"Links.Drives {path}: it is part of another volume")
    if len(set(paths)) != len(paths):
        raise RaidError("Links.Drives: expected each drive once")
    return [drives[path] for path in paths]


def _check_count(raid_type, level, count):
    if count < level.least or (level.most and count > level.most) or count % level.step:
        expected = f"exactly {level.least}" if level.most == level.least else f"at least {level.least}"
        even = " and an even number" if level.step > 1 else ""
        raise RaidError(f"Links.Drives: {raid_type} of {count} drives is not supported, expected {expected}{even}")


def _size_gib(wanted, largest):
    if wanted is None:
        return largest
    whole = isinstance(wanted, int) and not isinstance(wanted, bool)
    if not whole or not GIB <= wanted <= largest * GIB:
        raise RaidError(f"CapacityBytes {wanted!r}: expected {GIB} to {largest * GIB}")
    return wanted // GIB

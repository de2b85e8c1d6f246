# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How durations, times and sizes are printed, in all messages and tables; pure."""
from __future__ import annotations

import calendar
import datetime
import time
from typing import Any

GIGABYTE = 10 ** 9
_MINUTE = 60
_HOUR = 3600
_LONGEST_SECONDS = 10 ** 12
# Up to here whole GiB would hide too much of an amount of memory.
_EXACT_MEBIBYTES = 10 * 1024


def duration(seconds: float) -> str:
    """Return a duration as text: ``47 s``, ``3 min 20 s``, ``1 h 5 min``.

    :param seconds: the duration; a part of a second is left out
    :returns: at most two units, the second one only when it is not zero
    """
    # A server may ask for any pause, for example of 1e400 seconds.
    seconds = max(0, int(min(seconds, _LONGEST_SECONDS)))
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return _two(seconds // _MINUTE, "min", seconds % _MINUTE, "s")
    return _two(seconds // _HOUR, "h", seconds % _HOUR // _MINUTE, "min")


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first} {unit} {second} {smaller}" if second else f"{first} {unit}"


def timestamp(seconds: float) -> str:
    """Return a point in time as RFC 3339 in UTC, for example ``2026-11-22T17:20:00Z``.

    :param seconds: seconds since 1970
    :returns: the text, whole seconds
    """
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str | None) -> int | None:
    """Return a point in time of the Kubernetes API, RFC 3339 in UTC, in seconds since 1970.

    :param text: for example ``2026-11-22T17:20:00Z``
    :returns: the seconds, or None when there is no text, or a time that Python has not: API servers take the year 0
    """
    try:
        return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) if text else None
    except ValueError:
        return None


def moment_of(text: Any) -> int | None:
    """Return a time that anybody may have written in seconds since 1970, None when it is none.

    :param text: RFC 3339 in UTC, whole seconds, for example ``2026-11-25T18:00:00Z``
    """
    return moment(text) if isinstance(text, str) and len(text) == 20 and text.endswith("Z") else None


def memory(mebibytes: int) -> str:
    """Return an amount of memory as text: ``512 MiB``, ``16 GiB``; ``-`` when it is not known.

    :param mebibytes: the amount in MiB, 0 for unknown
    :returns: whole GiB, or MiB for small amounts that are no whole GiB
    """
    if not mebibytes:
        return "-"
    if mebibytes % 1024 and mebibytes < _EXACT_MEBIBYTES:
        return f"{mebibytes} MiB"
    return f"{round(mebibytes / 1024)} GiB"


def disk(size_bytes: int) -> str:
    """Return the size of a disk in the unit that its maker prints on it: ``480 GB``.

    :param size_bytes: the size in bytes
    :returns: whole GB of 10^9 bytes
    """
    return f"{round(size_bytes / GIGABYTE)} GB"

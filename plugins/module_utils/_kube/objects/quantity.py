# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes quantities (apimachinery ``resource.Quantity``): ``16Gi``, ``500m``, ``1e3``."""
from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

_POWERS = ("", "K", "M", "G", "T", "P", "E")
BINARY = dict((letter + "i", 1024 ** power) for power, letter in enumerate(_POWERS) if power)
DECIMAL = dict(("k" if letter == "K" else letter, 1000 ** power) for power, letter in enumerate(_POWERS) if power)
_FRACTIONS = {"n": Decimal(10) ** -9, "u": Decimal(10) ** -6, "m": Decimal(10) ** -3}
_FACTORS = dict(dict(BINARY, **DECIMAL), **_FRACTIONS)
# More than any that Kubernetes writes; numbers of any size, and with any exponent, would fill the memory.
_LONGEST = 64
_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))([EPTGMK]i|[numkMGTPE]|[eE][+-]?\d{1,2})?")


def parse(quantity: Any) -> Any:
    """Return a quantity as a Decimal, in its base unit (bytes, cores).

    :param quantity: text, or a number
    :raises ValueError: when it is not a quantity
    """
    text = "" if isinstance(quantity, bool) else str(quantity)
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if not match:
        shown = quantity if len(text) <= _LONGEST else text[:_LONGEST] + "..."
        raise ValueError(f"quantity: found {shown!r}, expected a number with an optional suffix of "
                         f"{', '.join(list(BINARY) + list(DECIMAL) + list(_FRACTIONS))}, as 16Gi")
    number, suffix = Decimal(match.group(1)), match.group(2) or ""
    if suffix in _FACTORS:
        return number * _FACTORS[suffix]
    return number.scaleb(int(suffix[1:])) if suffix else number


def to_integer(quantity: Any) -> Any:
    """Return a quantity as an integer, rounded up as Kubernetes does (``Quantity.Value``)."""
    return math.ceil(parse(quantity))


def build(number: Any, binary: bool = True) -> Any:
    """Return the shortest quantity that says exactly a number.

    :param number: integer
    :param binary: use Ki, Mi and so on, else k, M and so on
    :raises ValueError: when it is not an integer
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"quantity: found {number!r}, expected an integer")
    for suffix, factor in sorted((BINARY if binary else DECIMAL).items(), key=lambda item: -item[1]):
        if number and number % factor == 0:
            return f"{number // factor}{suffix}"
    return str(number)

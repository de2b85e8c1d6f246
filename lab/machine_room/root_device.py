"""Which disk gets the image: root device hints, as ironic-python-agent evaluates them."""
from __future__ import annotations

import urllib.parse

GIB = 1024 ** 3
MIN_SIZE_BYTES = 4 * GIB
TEXT_HINTS = ("model", "vendor", "serial", "wwn", "wwn_with_extension", "wwn_vendor_extension", "name", "hctl",
              "by_path")
# "s==" and so on; the longer ones first, so that "<=" isn't taken for "<".
OPERATORS = ("<all-in>", "<in>", "<or>", "s==", "s!=", "s<=", "s>=", "s<", "s>", "==", "!=", "<=", ">=", "=", "<", ">")


class NoDevice(Exception):
    """No disk fits."""


def _quoted(text):
    # Lower case and without spaces, because the matcher splits at them.
    return urllib.parse.quote(str(text).strip().lower())


def _expression(hint, value):
    text = str(value).strip()
    operator = next((operator for operator in OPERATORS if text.startswith(operator)), None)
    if operator is None:
        return f"s== {_quoted(text)}" if hint in TEXT_HINTS else f"== {text}"
    if hint not in TEXT_HINTS:
        return text
    if operator == "<or>":
        return " ".join(f"<or> {_quoted(part)}" for part in text.split("<or>") if part.strip())
    return f"{operator} {_quoted(text[len(operator):])}"


def _matches(disk, hint, wanted):
    # Only in the services' environment; without hints it isn't needed, and unit tests do without.
    from oslo_utils import specs_matcher, strutils
    value = disk.get(hint)
    if hint == "rotational":
        return bool(value) == strutils.bool_from_string(wanted, strict=True)
    if value in (None, ""):
        return False
    if hint == "size":
        value = value / GIB
    elif hint in TEXT_HINTS:
        value = _quoted(value)
    else:
        raise ValueError(f"unknown root device hint {hint}")
    return specs_matcher.match(value, _expression(hint, wanted))


def choose(disks, hints):
    """Return the first disk that all hints fit; without hints the smallest one of at least MIN_SIZE_BYTES.

    :param disks: list of mappings, what hardware.disks() returns
    :param hints: mapping hint → value with an optional operator, from the node; ``size`` in GiB
    :raises NoDevice: if none fits
    """
    if not hints:
        fitting = sorted((disk["size"], disk["name"]) for disk in disks if disk["size"] >= MIN_SIZE_BYTES)
        if not fitting:
            raise NoDevice("No suitable device was found for deployment - root device hints were not provided and all "
                           f"found block devices are smaller than {MIN_SIZE_BYTES}B.")
        return next(disk for disk in disks if disk["name"] == fitting[0][1])
    for disk in disks:
        if all(_matches(disk, hint, wanted) for hint, wanted in hints.items()):
            return disk
    raise NoDevice(f"No suitable device was found for deployment using these hints {hints}")

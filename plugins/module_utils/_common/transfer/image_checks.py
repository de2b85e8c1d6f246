# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be said of an image by its checksum, by its checksum file, and by asking its server; pure."""
from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..options.field_checks import show
from ..problems.problem import Problem
from ..redaction.redaction import redacted

# Hexadecimal digits of each type.
CHECKSUM_LENGTHS = {"md5": 32, "sha256": 64, "sha512": 128}
_HEX = re.compile(r"^[0-9a-fA-F]+\Z")
_LARGEST_CHECKSUM_FILE_BYTES = 2 ** 20


def url_parts(url: str) -> SplitResult:
    """Return the parts of a URL, empty ones when it can't be read."""
    try:
        return urlsplit(url)
    except ValueError:
        # A bracket without its partner: no scheme is what is reported.
        return urlsplit("")


def is_url(checksum: str) -> bool:
    """Say whether a checksum is the URL of a checksum file."""
    return "://" in checksum


def literal_problems(subject: str, field: str, checksum: str, kind: str | None, source: str = "") -> list[Problem]:
    """Return the problems of a checksum that is no URL.

    :param kind: its type, None when it is not set
    :param source: where it comes from, for messages
    """
    lengths = dict((length, name) for name, length in CHECKSUM_LENGTHS.items())
    if not _HEX.match(checksum) or len(checksum) not in lengths:
        return [Problem(
            "cluster-image", subject, field + ".checksum" + source, show(checksum),
            "a URL, or 32, 64 or 128 hexadecimal digits",
            "take it from who publishes the image, or make it by sha256sum")]
    # Without a type, and with BMO's type auto, Ironic goes by the length.
    actual = lengths[len(checksum)]
    if kind and kind not in ("auto", actual):
        return [Problem(
            "cluster-image", subject, field + ".checksum_type" + source, show(kind),
            f"{actual}, by the length of the checksum", "set checksum_type to it, or leave it out")]
    return []


def checksum_in_file(text: str, url: str) -> str | None:
    """Return the checksum that Ironic takes of a checksum file for an image, the first one, or None.

    :param text: the file's text
    :param url: the image's URL, whose last part names the file
    """
    return next(iter(checksums_in_file(text, url)), None)


def checksums_in_file(text: str, url: str) -> list[str]:
    """Return the checksums that a checksum file has for an image; some files have one of each type.

    The forms are those of Ironic (``common/checksum_utils``): ``<sum>``, ``<sum>  <file>``, ``<sum> *<file>`` and
    ``SHA256 (<file>) = <sum>``.

    :param text: the file's text
    :param url: the image's URL, whose last part names the file
    """
    wanted = posixpath.basename(url_parts(url).path)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) == 1 and len(lines[0].split()) == 1:
        return lines if _HEX.match(lines[0]) else []
    found = []
    for line in lines:
        tagged = re.match(r"^[A-Za-z0-9-]+ \((.+)\) = ([0-9a-fA-F]+)$", line)
        plain = re.match(r"^([0-9a-fA-F]+)\s+\*?(.+)$", line)
        name, value = (tagged.group(1), tagged.group(2)) if tagged else (plain.group(2), plain.group(1)) if plain \
            else (None, None)
        if name and value and posixpath.basename(name) == wanted:
            found.append(value)
    return found


# With the option that leaves the question out.
_ADVICE = "look at the image server and the URL, or set %s to false when only Ironic can reach it"


def reachability_problems(subject: str, field: str, image: Mapping[str, Any],
                          fetch: Callable[[str, int], bytes], option: str = "check_images") -> list[Problem]:
    """Ask the image's server whether the image is there and its checksum file speaks of it.

    :param fetch: callable ``(url, limit)`` that returns the first ``limit`` bytes (none for 0) or raises OSError with a
        message for the user
    :param option: of the module, by which nobody is asked
    """
    advice = _ADVICE % option
    if url_parts(image["url"]).scheme not in ("http", "https"):
        return []
    found = []
    try:
        fetch(image["url"], 0)
    except OSError as exc:
        found.append(Problem(
            "cluster-image", subject, field + ".url", f"{image['url']}: {exc}", "an image that can be downloaded",
            advice))
    checksum = image.get("checksum") or ""
    if url_parts(checksum).scheme not in ("http", "https"):
        return found
    try:
        content = fetch(checksum, _LARGEST_CHECKSUM_FILE_BYTES + 1)
    except OSError as exc:
        return found + [Problem("cluster-image", subject, field + ".checksum", f"{checksum}: {exc}",
                                "a checksum file that can be downloaded", advice)]
    if len(content) > _LARGEST_CHECKSUM_FILE_BYTES:
        return found + [Problem(
            "cluster-image", subject, field + ".checksum", f"{checksum}, larger than 1 MiB", "a checksum file",
            "look at what the URL leads to")]
    value = checksum_in_file(content.decode("utf-8", "replace"), image["url"])
    if value is None:
        return found + [Problem("cluster-image", subject, field + ".checksum", "%s without %s" % (
            checksum, posixpath.basename(url_parts(image["url"]).path)), "a line for the image",
            "create the checksum file again, for example with sha256sum")]
    return found + literal_problems(subject, field, value, image.get("checksum_type"), f" ({redacted(checksum)})")

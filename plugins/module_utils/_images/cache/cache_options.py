# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of an image cache: what is refused, checksums, and names of versions; pure."""
from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import redacted
from ..._common.transfer.image_checks import CHECKSUM_LENGTHS, checksums_in_file, is_url, url_parts
from ..disks import disk_facts

AS_IS = "as_is"
FORMATS = (AS_IS, disk_facts.QCOW2, disk_facts.RAW)
CHECKSUM_TYPES = ("sha256", "sha512")
VERSION_DIGITS = 12
LARGEST_CHECKSUM_FILE_BYTES = 2 ** 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}")
_VERSION = re.compile(r"\.[0-9a-f]{%d}(\.|$)" % VERSION_DIGITS)
# Of the files beside an image.
_RESERVED = (".sha256", ".json")
# What a name says of a file's format.
_DISK_NAMES = {".qcow2": disk_facts.QCOW2, ".raw": disk_facts.RAW}
_EXPECTED_CHECKSUM = ("sha256: or sha512: and as many hexadecimal digits, or the URL of a checksum file with https")


def problems(images: Sequence[Any], field: str = "images") -> list[Problem]:
    """Return what is wrong with the descriptions of images.

    :param images: each with ``name``, and maybe ``url``, ``path``, ``checksum``, ``checksum_type``, ``format`` and
        ``state``
    :param field: the option, for the problems
    """
    found: list[Problem] = []
    names: list[Any] = []
    for number, image in enumerate(images):
        where = f"{field}[{number}]"
        if not isinstance(image, Mapping):
            found.append(_wrong("", where, show(image), "a dictionary with name, and url or path"))
            continue
        name = image.get("name")
        found += _name_problems(name, f"{where}.name")
        if name in names:
            found.append(Problem("image-name", str(name), f"{where}.name", show(name), "a name that no other one has",
                                 "remove one of both"))
        names.append(name)
        if image.get("state", "present") != "absent":
            found += _source_problems(image, where) + _format_problems(image, where)
    return found


def _name_problems(name: Any, field: str) -> list[Problem]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return [Problem("image-name", "", field, None if name is None else show(name),
                        "a file name of letters, digits, '-', '_', '+' and '.'",
                        "set it, for example to debian-13.qcow2")]
    if name.endswith(_RESERVED) or _VERSION.search(name):
        return [Problem("image-name", name, field, show(name),
                        "no name of a checksum, a description or a version of an image", "choose another one")]
    return []


def _source_problems(image: Mapping[str, Any], where: str) -> list[Problem]:
    name, url, path = str(image.get("name")), image.get("url"), image.get("path")
    found = []
    if bool(url) == bool(path):
        found.append(Problem("image-source", name, where, "url and path" if url else None, "one of url and path",
                             "say where the image comes from"))
    if url and not _is_http(str(url), ("http", "https")):
        found.append(Problem("image-url", name, f"{where}.url", show(redacted(str(url))),
                             "an address with http or https", "correct it, or give path for a file of this machine"))
    if path and not str(path).startswith("/"):
        found.append(Problem("image-path", name, f"{where}.path", show(path), "an absolute path",
                             "write it from / on, or give url for a file that is downloaded"))
    return found + _checksum_problems(image, where)


def _checksum_problems(image: Mapping[str, Any], where: str) -> list[Problem]:
    name, field = str(image.get("name")), f"{where}.checksum"
    checksum, kind = image.get("checksum"), image.get("checksum_type")
    found = []
    if kind and kind not in CHECKSUM_TYPES:
        found.append(Problem("image-checksum", name, f"{where}.checksum_type", show(kind), " or ".join(CHECKSUM_TYPES),
                             "correct it"))
    if not checksum:
        return found + ([Problem("image-checksum", name, field, None, _EXPECTED_CHECKSUM,
                                 "take it from who published the file")] if image.get("url") else [])
    if is_url(str(checksum)):
        # Whoever can change it on its way decides what is published.
        return found + ([] if _is_http(str(checksum), ("https",)) else [
            Problem("image-checksum", name, field, show(redacted(str(checksum))), _EXPECTED_CHECKSUM,
                    "give the checksum itself when its file is not served by https")])
    if read_checksum(str(checksum), kind) is None:
        found.append(Problem("image-checksum", name, field, show(checksum),
                             f"{kind}, as checksum_type says" if kind in CHECKSUM_TYPES else _EXPECTED_CHECKSUM,
                             "take it from who published the file"))
    return found


def _format_problems(image: Mapping[str, Any], where: str) -> list[Problem]:
    name, wanted = str(image.get("name")), image.get("format") or AS_IS
    if wanted not in FORMATS:
        return [Problem("image-format", name, f"{where}.format", show(wanted), " or ".join(FORMATS), "correct it")]
    said = _DISK_NAMES.get(posixpath.splitext(name)[1])
    if said and wanted not in (AS_IS, said):
        return [Problem("image-format", name, f"{where}.name", show(name), f"a name that does not end with .{said}",
                        f"the file will be {wanted}: name it so")]
    return []


def is_disk(name: str, wanted: str, header: bytes) -> bool:
    """Return whether a file must be a disk image: by its name, by what is wanted of it, or because it is one.

    :param name: of the image
    :param wanted: one of :data:`FORMATS`
    :param header: the file's first bytes
    """
    ending, found = posixpath.splitext(name)[1], disk_facts.disk_format(header)
    # Ramdisks are named .img as well as disks; ISO images, too, have a partition table.
    return wanted != AS_IS or ending in _DISK_NAMES or found == disk_facts.QCOW2 or (ending == ".img" and bool(found))


def read_checksum(text: str, kind: str | None = None) -> str | None:
    """Return a checksum as type, colon and lower case digits, or None when it is none that is taken.

    :param text: with or without its type before it
    :param kind: the type that it must have; None for any that is taken
    """
    said, colon, digits = text.strip().rpartition(":")
    digits = digits.lower()
    for name in CHECKSUM_TYPES:
        if (len(digits) == CHECKSUM_LENGTHS[name] and re.fullmatch("[0-9a-f]+", digits)
                and (not colon or said.lower() == name) and kind in (None, "", name)):
            return f"{name}:{digits}"
    return None


def checksum_of_file(text: str, image: Mapping[str, Any], where: str) -> tuple[str, list[Problem]]:
    """Return the checksum that a checksum file has for an image, and why it is not taken.

    :param text: the file's text
    :param image: with ``name``, ``url`` or ``path``, ``checksum``, ``checksum_type``
    :param where: of the image in the options
    """
    source = str(image.get("url") or image.get("path"))
    values = checksums_in_file(text, source)
    name, field = image["name"], f"{where}.checksum"
    file = redacted(str(image["checksum"]))
    if not values:
        missing = posixpath.basename(url_parts(source).path)
        return "", [Problem("image-checksum", name, field, f"{file} without {missing}", "a line for the image",
                            "name another checksum file, or the checksum itself")]
    found = next(filter(None, (read_checksum(value, image.get("checksum_type")) for value in values)), None)
    if found is None:
        expected = image.get("checksum_type") or " or ".join(CHECKSUM_TYPES)
        return "", [Problem("image-checksum", name, field, f"{file} with {show(values[0])}",
                            f"a checksum of type {expected}",
                            "name another checksum file, or the checksum itself")]
    return found, []


def version_name(name: str, sha256: str) -> str:
    """Return the name that an image keeps when another one gets its own.

    :param name: of the image
    :param sha256: of the file
    """
    stem, ending = posixpath.splitext(name)
    return f"{stem}.{sha256[:VERSION_DIGITS]}{ending}"


def versions_in(names: Sequence[str], name: str) -> list[str]:
    """Return which names of a folder are those of an image's versions.

    :param names: of the folder's files
    :param name: of the image
    """
    stem, ending = posixpath.splitext(name)
    wanted = re.compile(f"{re.escape(stem)}\\.[0-9a-f]{{{VERSION_DIGITS}}}{re.escape(ending)}")
    return sorted(item for item in names if wanted.fullmatch(item))


def _is_http(url: str, schemes: Sequence[str]) -> bool:
    parts = url_parts(url)
    return parts.scheme in schemes and bool(parts.netloc)


def _wrong(subject: str, field: str, actual: str, expected: str) -> Problem:
    return Problem("image-option", subject, field, actual, expected, "correct it")

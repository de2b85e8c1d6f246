# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be said of a node image: by its description, by its checksum file, and by asking its server."""
from __future__ import annotations

import posixpath
import re
from urllib.parse import urlsplit

from ..._common.problem import Problem
from ..._common.redaction import redacted
from ..._host.rules.image import CHECKSUM_LENGTHS
from ..spec import IMAGE_FORMATS

# BMO, pkg/hardwareutils and its CRD.
URL_SCHEMES = ("http", "https", "ftp", "gopher", "oci")
_HEX = re.compile(r"^[0-9a-fA-F]+\Z")
_LARGEST_CHECKSUM_FILE_BYTES = 2 ** 20
_LONGEST_SHOWN = 140
# Ends of a URL that tell the format; .img and .iso are used for several.
_FORMATS = {".qcow2": "qcow2", ".raw": "raw", ".vdi": "vdi", ".vmdk": "vmdk"}


def _parts(url):
    try:
        return urlsplit(url)
    except ValueError:
        # A bracket without its partner: it is reported as a URL without a scheme.
        return urlsplit("")


def image_format(image):
    """Return the format of an image, the one that is named, else by its URL; None when neither tells.

    :param image: dict with ``url`` and ``format``
    """
    parts = _parts(image["url"])
    # What stands at the end of an OCI reference is a tag.
    suffix = "" if parts.scheme == "oci" else posixpath.splitext(parts.path)[1]
    return image.get("format") or _FORMATS.get(suffix.lower())


def image_problems(subject, field, image):
    """Return the mistakes of one image description.

    :param image: dict with ``url``, ``checksum``, ``checksum_type``, ``format``
    """
    found = []
    if _parts(image["url"]).scheme not in URL_SCHEMES:
        found.append(Problem(
            "cluster-image", subject, field + ".url", image["url"], f"a URL with one of {', '.join(URL_SCHEMES)}"))
    if image_format(image) is None:
        found.append(Problem(
            "cluster-image", subject, field + ".format", None,
            "one of %s, which the URL does not tell" % ", ".join(IMAGE_FORMATS),
            "CAPM3 would give the host an empty format, which BMO's CRD refuses"))
    if image.get("format") == "live-iso":
        return found
    checksum, kind = image.get("checksum"), image.get("checksum_type")
    if not checksum:
        found.append(Problem(
            "cluster-image", subject, field + ".checksum", None, "a checksum or the URL of a checksum file",
            "CAPM3 refuses an image without one, also one of a registry"))
    elif not is_url(checksum):
        found += _literal(subject, field, checksum, kind)
    elif _parts(checksum).scheme not in URL_SCHEMES:
        found.append(Problem(
            "cluster-image", subject, field + ".checksum", checksum,
            "a checksum, or a URL with one of %s" % ", ".join(URL_SCHEMES)))
    return found


def is_url(checksum):
    """Say whether a checksum is the URL of a checksum file."""
    return "://" in checksum


def _literal(subject, field, checksum, kind, source=""):
    lengths = dict((length, name) for name, length in CHECKSUM_LENGTHS.items())
    if not _HEX.match(checksum) or len(checksum) not in lengths:
        shown = checksum if len(checksum) <= _LONGEST_SHOWN else checksum[:_LONGEST_SHOWN - 3] + "..."
        return [Problem(
            "cluster-image", subject, field + ".checksum" + source, shown,
            "a URL, or 32, 64 or 128 hexadecimal digits")]
    # Without a type, and with BMO's type auto, Ironic goes by the length.
    actual = lengths[len(checksum)]
    if kind and kind not in ("auto", actual):
        return [Problem(
            "cluster-image", subject, field + ".checksum_type" + source, kind,
            f"{actual}, by the length of the checksum")]
    return []


def checksum_in_file(text, url):
    """Return the checksum that a checksum file has for an image, or None.

    The forms are those of Ironic (``common/checksum_utils``): ``<sum>``, ``<sum>  <file>``, ``<sum> *<file>`` and
    ``SHA256 (<file>) = <sum>``.

    :param text: the file's text
    :param url: the image's URL, whose last part names the file
    """
    wanted = posixpath.basename(_parts(url).path)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) == 1 and len(lines[0].split()) == 1:
        return lines[0] if _HEX.match(lines[0]) else None
    for line in lines:
        tagged = re.match(r"^[A-Za-z0-9-]+ \((.+)\) = ([0-9a-fA-F]+)$", line)
        plain = re.match(r"^([0-9a-fA-F]+)\s+\*?(.+)$", line)
        name, value = (tagged.group(1), tagged.group(2)) if tagged else (plain.group(2), plain.group(1)) if plain \
            else (None, None)
        if name and posixpath.basename(name) == wanted:
            return value
    return None


_ADVICE = ("look at the image server and the URL, or set hosts_check_images to false when only Ironic can reach it "
           "(check_images or check_network of the modules)")


def reachability_problems(subject, field, image, fetch):
    """Ask the image's server whether the image is there and its checksum file speaks of it.

    :param fetch: callable ``(url, limit)`` that returns the first ``limit`` bytes (none for 0) or raises OSError with a
        text for users
    """
    if _parts(image["url"]).scheme not in ("http", "https"):
        return []
    found = []
    try:
        fetch(image["url"], 0)
    except OSError as exc:
        found.append(Problem(
            "cluster-image", subject, field + ".url", f"{image['url']}: {exc}", "an image that can be downloaded",
            _ADVICE))
    checksum = image.get("checksum") or ""
    if _parts(checksum).scheme not in ("http", "https"):
        return found
    try:
        content = fetch(checksum, _LARGEST_CHECKSUM_FILE_BYTES + 1)
    except OSError as exc:
        return found + [Problem("cluster-image", subject, field + ".checksum", f"{checksum}: {exc}",
                                "a checksum file that can be downloaded", _ADVICE)]
    if len(content) > _LARGEST_CHECKSUM_FILE_BYTES:
        return found + [Problem(
            "cluster-image", subject, field + ".checksum", f"{checksum}, larger than 1 MiB", "a checksum file",
            "look at what the URL leads to")]
    value = checksum_in_file(content.decode("utf-8", "replace"), image["url"])
    if value is None:
        return found + [Problem("cluster-image", subject, field + ".checksum", "%s without %s" % (
            checksum, posixpath.basename(_parts(image["url"]).path)), "a line for the image",
            "create the checksum file again, for example with sha256sum")]
    return found + _literal(subject, field, value, image.get("checksum_type"), f" ({redacted(checksum)})")

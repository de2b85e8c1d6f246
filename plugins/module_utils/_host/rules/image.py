# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image that a host is given: its URL, its checksum, and what goes with it; pure."""
from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..._bmc.addresses import address as bmc_address
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.transfer.image_checks import CHECKSUM_LENGTHS

_HEX = re.compile(r"^[0-9A-Fa-f]+$")
_IMAGE_SCHEMES = ("http", "https", "ftp", "gopher", "oci", "file")


def check(label, host):
    """Return the Problems of an entry's ``image``, and of what does not go with it.

    :param label: name of the entry, for messages
    :param host: dict with ``image`` and ``custom_deploy``, each may be missing
    """
    image = host.get("image")
    problems = []
    if not image or not any(value is not None for value in image.values()):
        return problems
    url = image.get("url") or ""
    parts = _url_parts(url)
    if not url:
        problems.append(Problem("image", label, "image.url", None, "the image's URL",
                                "set image.url, or give an empty image to remove it"))
    elif parts is None or parts.scheme not in _IMAGE_SCHEMES or not (parts.netloc or parts.scheme == "file"):
        problems.append(Problem("image", label, "image.url", show(bmc_address.redacted(url)),
                                f"a URL with one of the schemes {', '.join(_IMAGE_SCHEMES)}", "correct image.url"))
    elif parts.username is not None:
        problems.append(Problem(
            "image", label, "image.url", show(bmc_address.redacted(url)), "a URL without credentials",
            "serve the image where the provisioning network may read it"))
    oci = url.lower().startswith("oci://")
    if image.get("oci_auth_secret_name") and not oci:
        problems.append(Problem("image", label, "image.oci_auth_secret_name", show(image["oci_auth_secret_name"]),
                                "nothing, since image.url is no oci:// reference", "remove it"))
    problems += _check_checksum(label, image, oci)
    if host.get("custom_deploy") and (host["custom_deploy"].get("method")) and image.get("format") == "live-iso":
        problems.append(Problem("image", label, "custom_deploy.method", show(host["custom_deploy"]["method"]),
                                "nothing with a live-iso image", "remove custom_deploy or choose another format"))
    return problems


def _url_parts(url):
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port else None
    except ValueError:
        return None


def _check_checksum(label, image, oci):
    checksum, kind = image.get("checksum"), image.get("checksum_type")
    if image.get("format") == "live-iso" or (oci and not checksum):
        return []
    if not checksum:
        return [Problem("image", label, "image.checksum", None,
                        "a checksum or the URL of a checksum file (only live-iso and oci images need none)",
                        "set image.checksum and image.checksum_type")]
    if re.match(r"^[a-z]+://", checksum):
        parts = _url_parts(checksum)
        if parts is None or parts.scheme not in ("http", "https", "file") or not (parts.netloc or parts.path):
            return [Problem("image", label, "image.checksum", show(checksum), "the http(s) URL of a checksum file",
                            "correct image.checksum")]
        if parts.username is not None:
            return [Problem("image", label, "image.checksum", show(checksum), "a URL without credentials",
                            "serve the checksum file where the provisioning network may read it")]
        return []
    if not _HEX.match(checksum):
        return [Problem(
            "image", label, "image.checksum", show(checksum), "hexadecimal digits or the URL of a checksum file",
            "correct image.checksum")]
    lengths = CHECKSUM_LENGTHS if kind in (None, "auto") else {kind: CHECKSUM_LENGTHS[kind]}
    if len(checksum) not in lengths.values():
        return [Problem("image", label, "image.checksum", f"{len(checksum)} digits",
                        " or ".join(f"{length} ({name})" for name, length in sorted(lengths.items())),
                        "correct image.checksum or image.checksum_type")]
    return []

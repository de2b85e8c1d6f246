# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be said of a node image by its description; pure."""
from __future__ import annotations

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..._common.transfer.image_checks import is_url, literal_problems, url_parts
from ..description.image_format import image_format
from ..description.spec import IMAGE_FORMATS

# BMO, pkg/hardwareutils and its CRD.
URL_SCHEMES = ("http", "https", "ftp", "gopher", "oci")


def image_problems(subject, field, image):
    """Return the mistakes of one image description.

    :param image: dict with ``url``, ``checksum``, ``checksum_type``, ``format``
    """
    found = []
    if url_parts(image["url"]).scheme not in URL_SCHEMES:
        found.append(Problem(
            "cluster-image", subject, field + ".url", shown(image["url"]),
            f"a URL with one of {', '.join(URL_SCHEMES)}"))
    if image_format(image) is None:
        found.append(Problem(
            "cluster-image", subject, field + ".format", None,
            f"one of {', '.join(IMAGE_FORMATS)}, which the URL does not show",
            "CAPM3 would give the host an empty format, which BMO's CRD refuses"))
    if image.get("format") == "live-iso":
        return found
    checksum, kind = image.get("checksum"), image.get("checksum_type")
    if not checksum:
        found.append(Problem(
            "cluster-image", subject, field + ".checksum", None, "a checksum or the URL of a checksum file",
            "CAPM3 refuses an image without one, also one of a registry"))
    elif not is_url(checksum):
        found += literal_problems(subject, field, checksum, kind)
    elif url_parts(checksum).scheme not in URL_SCHEMES:
        found.append(Problem(
            "cluster-image", subject, field + ".checksum", shown(checksum),
            f"a checksum, or a URL with one of {', '.join(URL_SCHEMES)}"))
    return found

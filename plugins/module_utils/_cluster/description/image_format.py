# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which format a node image has, by its description; pure."""
from __future__ import annotations

import posixpath

from ..._common.transfer.image_checks import url_parts

# Ends of a URL that show the format; .img and .iso are used for several.
_FORMATS = {".qcow2": "qcow2", ".raw": "raw", ".vdi": "vdi", ".vmdk": "vmdk"}


def image_format(image):
    """Return the format of an image, the one that is named, else by its URL; None when neither says.

    :param image: dict with ``url`` and ``format``
    """
    parts = url_parts(image["url"])
    # What stands at the end of an OCI reference is a tag.
    suffix = "" if parts.scheme == "oci" else posixpath.splitext(parts.path)[1]
    return image.get("format") or _FORMATS.get(suffix.lower())

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of a version as Kubernetes and Cluster API write theirs; pure."""
from __future__ import annotations

import re

VERSION_RULE = re.compile(r"^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z")


def parse(version):
    """Return ``(major, minor, patch)`` of a version such as ``v1.35.4``, or None."""
    found = VERSION_RULE.match(version or "")
    return tuple(int(part) for part in found.groups()[:3]) if found else None

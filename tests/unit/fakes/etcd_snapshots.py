# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of etcd, and what it is of."""
from __future__ import annotations

import base64
import hashlib

from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.snapshot import About

ABOUT = About("2026-11-25T12:00:00Z", "metal3", "prod", "uid", "ab" * 32, "v1.35.4", "3.6.16", 184223)
# The beginning of a database, and something.
DATABASE = bytes(16) + bytes.fromhex("edda0ced") + bytes(range(256)) * 255 + bytes(236)
SNAPSHOT = DATABASE + hashlib.sha256(DATABASE).digest()


def messages(content=SNAPSHOT, size=20000, more=0):
    """Yield messages as etcd sends them, the digest in one of its own."""
    parts = [content[at:min(at + size, len(DATABASE))] for at in range(0, len(DATABASE), size)]
    sent = 0
    for part in [*parts, content[len(DATABASE):]]:
        sent += len(part)
        yield {"blob": base64.b64encode(part).decode(), "remaining_bytes": str(max(0, len(DATABASE) + more - sent))}

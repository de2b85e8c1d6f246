# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A request for one node, and whether it may be sent again when its answer is lost; pure."""
from __future__ import annotations

from collections import namedtuple

# SAFE: carrying it out twice is the same as once. GUARDED: Ironic refuses it a second time, because it leads away from
# the states in which it is taken. ONCE: each request does it again, a reboot for example.
SAFE, GUARDED, ONCE = "safe", "guarded", "once"
# path: below /nodes/<uuid>. goal: what to wait for before the next request, None when the answer is the end of it.
# resend: whether it may be sent again when its answer is lost, see delivery.py.
Request = namedtuple("Request", ["method", "path", "body", "goal", "resend"])

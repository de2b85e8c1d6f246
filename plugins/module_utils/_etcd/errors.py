# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of this room; pure."""
from __future__ import annotations

from .._common.problems.errors import ReportedError


class EtcdError(ReportedError):
    """etcd can't be asked, or what it has sent can't be used."""

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name under which the logs of image servers and BMCs have this collection, which uses the libraries of Ironic."""
from __future__ import annotations

USER_AGENT = "metal3.baremetal"

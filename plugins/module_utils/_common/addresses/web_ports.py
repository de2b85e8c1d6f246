# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports of web servers whose URLs name none."""
from __future__ import annotations

BY_SCHEME = {"http": 80, "https": 443}

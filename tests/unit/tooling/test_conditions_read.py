# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of objects are read in one place, which expects anything there."""
from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "plugins"
READING = re.compile(r"""\.get\(\s*["']conditions["']""")


def test_conditions_are_read_by_kube_conditions():
    found = [f"{path.relative_to(ROOT)}: {line.strip()}" for path in sorted(ROOT.rglob("*.py"))
             for line in path.read_text(encoding="utf-8").splitlines() if READING.search(line)]
    assert found == [], "use conditions.py of module_utils/_kube"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which plane roles ask: after a pivot all of them the one that has the hosts then."""
from __future__ import annotations

from pathlib import Path

import yaml

ROLES = Path(__file__).resolve().parents[3] / "roles"


def test_all_roles_ask_the_plane_that_manages():
    found = {}
    for path in sorted(ROLES.glob("*/defaults/main.yml")):
        found.update((name, value) for name, value in (yaml.safe_load(path.read_text()) or {}).items()
                     if "metal3_kubeconfig" in str(value))
    others = [name for name, value in found.items() if "metal3.baremetal.management_kubeconfig" not in value]
    assert len(found) > 5 and others == []

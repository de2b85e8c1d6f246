# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How playbooks refer to each other."""
from __future__ import annotations

from pathlib import Path

import yaml

PLAYBOOKS = Path(__file__).resolve().parents[3] / "playbooks"


def test_playbooks_are_imported_by_file_name():
    """galaxy-importer's ansible-lint doesn't find those that are imported by full name: "Failed to find playbook"."""
    imported = [(path.name, play["import_playbook"]) for path in sorted(PLAYBOOKS.glob("*.yml"))
                for play in yaml.safe_load(path.read_text()) if "import_playbook" in play]
    assert len(imported) >= 5
    for importer, name in imported:
        assert (PLAYBOOKS / name).is_file(), f"{importer} imports {name}"

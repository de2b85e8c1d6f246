# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of the guides that the lab does not run say which test runs them."""
from __future__ import annotations

import re

from tooling.guide_blocks import PAGES, SHELL
from tooling.pages import GUIDES, ROOT, typed

# How many blocks of a page are not run. A new block is run, unless this number is raised with its comment.
NOT_RUN = {"README": 2, "first_steps": 5, "clusters": 4, "day2": 6, "lifecycle": 11, "troubleshooting": 2,
           "existing_metal3": 3, "own_servers": 1, "bootstrap_plane": 4, "provisioning_network": 3,
           "unknown_machines": 3, "images": 1, "air_gap": 6, "awx": 1, "first_cluster": 1, "pivot": 11,
           "plane_in_cluster": 4}


def test_every_guide_has_its_blocks_here():
    assert sorted(PAGES[1:]) == GUIDES
    # Also what this file's reader would overlook.
    assert len(SHELL) == sum(path.read_text().count(f".. code-block:: {language}\n") for path in GUIDES
                             for language in ("shell", "console")) + 2
    assert [block for block in SHELL if not block.text.strip()] == []


def test_what_is_not_run_says_why():
    left = [block for block in SHELL if block.kind == "not run"]
    assert dict((page, len([block for block in left if block.page == page]))
                for page in set(block.page for block in left)) == NOT_RUN
    for block in left:
        named = re.findall(r"tests/[\w./-]+", block.reason)
        assert named, block
        assert [path for path in named if not (ROOT / path.rstrip(".,;")).exists()] == []


def test_what_another_test_runs_is_what_it_reads():
    others = [block for block in SHELL if block.kind == "run by"]
    assert others
    for page, test in sorted(set((block.page, block.reason) for block in others)):
        text = (ROOT / test).read_text()
        # So that it gets each block of the page, a new one too.
        assert f'"{page}"' in text and "run_by(" in text, test


def test_prompts_are_not_typed():
    text = "# make lab \\\n    LAB=a\nLab a runs\n\n$ ls | head\nlab.json\n"
    assert typed(text) == "make lab \\\n    LAB=a\nls | head\n"

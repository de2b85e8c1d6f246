# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of the guides that the lab does not run say which test runs them."""
from __future__ import annotations

import re

from tooling.guide_blocks import PAGES, SHELL
from tooling.pages import GUIDES, ROOT

# How many blocks of a page are not run. A new block is run, unless this number is raised with its comment.
NOT_RUN = {"README": 2, "first_steps": 5, "clusters": 4, "day2": 6, "lifecycle": 9, "troubleshooting": 2,
           "existing_metal3": 2, "bootstrap_plane": 3, "provisioning_network": 3, "unknown_machines": 3,
           "images": 1}


def test_every_guide_has_its_blocks_here():
    assert sorted(PAGES[1:]) == GUIDES
    # Also what this file's reader would overlook.
    assert len(SHELL) == sum(path.read_text().count(".. code-block:: shell") for path in GUIDES) + 2


def test_what_is_not_run_says_why():
    left = [block for block in SHELL if block.kind == "not run"]
    assert dict((page, len([block for block in left if block.page == page]))
                for page in set(block.page for block in left)) == NOT_RUN
    for block in left:
        named = re.findall(r"tests/[\w./-]+", block.reason)
        assert named, block
        assert [path for path in named if not (ROOT / path.rstrip(".,;")).exists()] == []

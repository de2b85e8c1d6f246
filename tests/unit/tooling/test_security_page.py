# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that name tests as their proof: each test is there."""
from __future__ import annotations

import pathlib
import re

import pytest

REPOSITORY = pathlib.Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/proofs.md", "docs/rbac/README.md"])
def test_the_tests_that_a_page_names_are_there(page):
    named = set(re.findall(r"`((?:tests|extensions)/[^`\s]+)`", (REPOSITORY / page).read_text()))
    assert named
    missing = sorted(path for path in named if not (REPOSITORY / path.partition("::")[0]).exists())
    assert missing == []

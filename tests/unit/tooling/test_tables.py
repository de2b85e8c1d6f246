# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of Markdown pages are shown as tables: each begins with its head, and no blank line is in one."""
from __future__ import annotations

import re

import pytest
from tooling import pages

_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")


def headless(text: str) -> list[str]:
    """Return the first row of each run of rows that no head stands above, outside of code blocks."""
    found, before, is_code = [], "", False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        is_code ^= line.startswith("```")
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("|") and not before.startswith("|") and not is_code and not _RULE.fullmatch(follows):
            found.append(line)
        before = line
    return found


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_every_table_has_its_head(page):
    assert headless(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text, found", [
    ("| a |\n|---|\n| b |\n", []),
    ("| a | b |\n|---|:--|\n| c | d |\n\n| e | f |\n", ["| e | f |"]),
    ("| a |\n", ["| a |"]),
    ("```\n| a |\n```\n", [])])
def test_rows_without_a_head_are_found(text, found):
    assert headless(text) == found

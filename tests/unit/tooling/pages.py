# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages that users read: README, documents and guides, and the code blocks in them."""
from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
GUIDES = sorted((ROOT / "docs" / "docsite" / "rst").glob("*.rst"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md",
         *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "roles").glob("*/README.md"))]
# Of root and of others, in blocks of the language console.
_PROMPTS = ("# ", "$ ")


def typed(text):
    """Return what is typed in a console block: lines with a prompt, without it, and those that continue them."""
    lines, goes_on = [], False
    for line in text.splitlines(keepends=True):
        if goes_on or line.startswith(_PROMPTS):
            lines.append(line if goes_on else line[2:])
            goes_on = line.endswith("\\\n")
    return "".join(lines)


def blocks(path):
    """Yield ``(language, text)`` of the code blocks of a page."""
    text = path.read_text()
    if path.suffix == ".md":
        yield from re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        return
    pattern = r"^\.\. code-block:: (\S+)\n\n((?:(?:   .*)?\n)+)"
    for language, body in re.findall(pattern, text + "\n", re.MULTILINE):
        yield language, "".join(line[3:] or "\n" for line in body.splitlines(keepends=True))

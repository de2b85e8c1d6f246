# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The code blocks of the README and the guides, in the order of the pages, and which of them are run.

tests/lab/test_guides.py runs a block unless a comment stands before it (in reStructuredText ``.. not run: reason``, in
Markdown ``<!-- not run: reason -->``): ``not run``, or ``run by`` with the test that does it. Of a block after
``refused: …`` each command must be refused, with the number to confirm.
"""
from __future__ import annotations

import re
from collections import namedtuple

import yaml
from tooling.pages import ROOT, typed

DOCSITE = ROOT / "docs" / "docsite"
ORDER = [name for section in yaml.safe_load((DOCSITE / "extra-docs.yml").read_text())["sections"]
         for name in section["toctree"]]
PAGES = [ROOT / "README.md"] + [DOCSITE / "rst" / f"{name}.rst" for name in ORDER]
_COMMENT = re.compile(r"^(?:\.\.|<!--) (not run|run by|refused): (.+?)(?: -->)?$")
_COMMAND = re.compile(r"^(?:[a-z-]+ |make\b)")

# kind: "run", "not run", "run by" or "refused"; reason: what the comment says.
Block = namedtuple("Block", ["page", "kind", "reason", "language", "text"])


def blocks(path):
    """Return the code blocks of a page as Blocks, those in shell and YAML."""
    lines, found, comment = path.read_text().splitlines(), [], None
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        opened = re.match(r"^(?:\.\. code-block:: |```)(\S*)$", line)
        comment = _COMMENT.match(line) or (comment if not line.strip() or opened else None)
        if not opened:
            continue
        body = []
        inside = (lambda text: not text or text.startswith("   ")) if path.suffix == ".rst" else "```".__ne__
        while at < len(lines) and inside(lines[at]):
            body.append(lines[at][3:] if path.suffix == ".rst" else lines[at])
            at += 1
        at += path.suffix == ".md"
        text = "\n".join(body).strip() + "\n"
        language = opened[1]
        if language == "console":
            language, text = "shell", typed(text)
        elif language in ("", "bash"):
            language = "shell" if _COMMAND.match(text) else ""
        if language in ("shell", "yaml"):
            kind, reason = comment.groups() if comment else ("run", "")
            found.append(Block(path.stem, kind, reason, language, text))
        comment = None
    return found


SHELL = [block for path in PAGES for block in blocks(path) if block.language == "shell"]


def run_by(test, page):
    """Return the texts of the blocks of a page that a test runs, in their order.

    :param test: path of its file in the repository
    """
    return [block.text for block in SHELL if (block.page, block.kind, block.reason) == (page, "run by", test)]

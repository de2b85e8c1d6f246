# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts for users and maintainers have none of the words that docs/style.md replaces."""
from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
PLACES = ("plugins", "roles", "playbooks", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md")
SUFFIXES = {".py", ".yml", ".yaml", ".md", ".rst", ".j2"}
# Those of the page's left column that have no other meaning in this project.
WORDS = re.compile(
    r"\b(told|strangers?|judg(?:e|es|ed|ing|ement)|unseen|anew|afresh|amiss|in vain|in so far|[Ss]ee that|whom to tell|"
    r"for people|let be)\b")
BAD = ["it is told", "a stranger's host", "judged by", "takes it unseen", "made anew", "nothing amiss", "is in vain",
       "See that it is meant", "a text for people"]
GOOD = ["it is reported", "a controller's host", "seen", "foresee that", "people", "new", "letter be", "tell()"]


def texts() -> list[Path]:
    """Return the files that are checked: all but the page that lists the words."""
    found = []
    for place in PLACES:
        root = REPOSITORY / place
        found += [root] if root.is_file() else sorted(root.rglob("*"))
    return [path for path in found if path.is_file() and path.suffix in SUFFIXES
            and path != REPOSITORY / "docs" / "style.md"]


def lines(path: Path) -> list[tuple[int, str]]:
    """Return number and text of a file's lines; of Python only comments and literals, whose names are not prose."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return list(enumerate(text.splitlines(), 1))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    return [(token.start[0] + number, line) for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type in kinds for number, line in enumerate(token.string.splitlines())]


def test_no_text_has_a_word_that_the_style_replaces():
    # Few files have one of them anywhere, so few are taken apart.
    suspected = [path for path in texts() if WORDS.search(path.read_text(encoding="utf-8"))]
    found = [f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()[:100]}" for path in suspected
             for number, line in lines(path) if WORDS.search(line)]
    assert not found, "docs/style.md says what to write instead:\n" + "\n".join(found)


@pytest.mark.parametrize("text", BAD)
def test_the_words_are_found(text):
    assert WORDS.search(text)


@pytest.mark.parametrize("text", GOOD)
def test_other_words_are_not_found(text):
    assert not WORDS.search(text)


def test_no_name_of_a_test_has_a_word_that_the_style_replaces():
    found = [f"{path.relative_to(REPOSITORY)}: {name}" for path in sorted((REPOSITORY / "tests").rglob("test_*.py"))
             for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
             if WORDS.search(name.replace("_", " "))]
    assert not found, "docs/style.md says what to write instead:\n" + "\n".join(found)

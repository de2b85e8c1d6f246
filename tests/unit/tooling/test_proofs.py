# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/proofs.md says of each file of tests/lab which make target runs it, where that is not make test."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROWS = [line for line in (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "tests/lab/" in line]
# ``marker: why; make test-x runs them``, as tests/lab/conftest.py registers them.
TARGETS = dict(re.findall(r'"markers", "(\w+): [^"]*; (make test-[a-z-]+) runs them"',
                          (ROOT / "tests" / "lab" / "conftest.py").read_text(encoding="utf-8")))
_FILE = re.compile(r"tests/lab/(test_\w+\.py)")


def targets(source: str) -> set[str]:
    """Return the targets by which all tests of a file run; empty when make test runs them."""
    marks = re.search(r"^pytestmark = (.*(?:\n .*)*)", source, re.MULTILINE)
    names = re.findall(r"pytest\.mark\.(\w+)", marks[1]) if marks else []
    return {TARGETS[name] for name in names if name in TARGETS}


def missing(row: str, sources: dict[str, str]) -> list[str]:
    """Return the files of a row whose target it does not name.

    :param sources: name of a file → its text
    """
    return [name for name in _FILE.findall(row) for own in [targets(sources[name])]
            if own and not any(re.search(rf"{target}(?![\w-])", row) for target in own)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: _FILE.search(row)[1])
def test_a_row_names_the_target_that_runs_its_files(row):
    names = set(_FILE.findall(row))
    sources = {name: (ROOT / "tests" / "lab" / name).read_text(encoding="utf-8") for name in names}
    assert missing(row, sources) == []


def test_a_row_without_the_target_is_found():
    sources = {"test_a.py": "pytestmark = [pytest.mark.nodes, pytest.mark.plane]\n", "test_b.py": "import os\n"}
    assert missing("| a | `tests/lab/test_a.py`, `tests/lab/test_b.py` |", sources) == ["test_a.py"]
    assert missing("| a | `tests/lab/test_a.py`: `make test-plane-upgrade` |", sources) == ["test_a.py"]
    assert missing("| a | `tests/lab/test_a.py`: `make test-plane` |", sources) == []
    assert len(TARGETS) > 10

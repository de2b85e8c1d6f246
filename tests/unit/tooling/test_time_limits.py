# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No unit test fails because the machine was busy: limits of time are those of fakes/time_limits.py."""
from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest
from fakes.time_limits import ATTEMPTS, ends, within_processor_time

UNIT_TESTS = Path(__file__).resolve().parents[1]
CLOCKS = {"monotonic", "perf_counter", "process_time", "time"}
SHORTER = (ast.Lt, ast.LtE)


def read_clock(node: ast.expr) -> bool:
    return (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Call)
            and ast.unparse(node.left.func).rpartition(".")[2] in CLOCKS)


def own_limits(source: str) -> list[int]:
    """Return the lines of assertions that a time has been shorter than something."""
    return [node.lineno for assertion in ast.walk(ast.parse(source)) if isinstance(assertion, ast.Assert)
            for node in ast.walk(assertion)
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], SHORTER) and read_clock(node.left)]


def test_no_unit_test_has_a_limit_of_its_own():
    found = [f"{path.relative_to(UNIT_TESTS)}:{line}" for path in sorted(UNIT_TESTS.rglob("*.py"))
             for line in own_limits(path.read_text(encoding="utf-8"))]
    assert not found, "use ends() or within_processor_time() of fakes/time_limits.py: " + ", ".join(found)


@pytest.mark.parametrize(("source", "lines"), [
    ("assert time.monotonic() - began < 5", [1]), ("\nassert a and process_time() - began <= 5", [2]),
    ("assert time.monotonic() - began >= 5", []), ("while time.monotonic() - began < 5: pass", [])])
def test_limits_are_found(source, lines):
    assert own_limits(source) == lines


def test_what_does_not_end_fails():
    before = time.monotonic()
    with pytest.raises(pytest.fail.Exception, match=r"did not end within 0\.1 s"), ends(0.1):
        time.sleep(3600)
    assert time.monotonic() - before >= 0.1


def test_the_least_of_several_attempts_counts():
    calls = []

    def busy(text):
        calls.append(text)
        end = time.process_time() + (0 if len(calls) % ATTEMPTS == 0 else 0.02)
        while time.process_time() < end:
            pass
        return text
    assert within_processor_time(0.01, busy, "a") == "a" and len(calls) == ATTEMPTS
    with pytest.raises(pytest.fail.Exception, match=r"needed at least 0\.0 s of a processor for \('b',\)"):
        within_processor_time(0, busy, "b")

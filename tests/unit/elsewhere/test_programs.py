# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are sent as programs: they need nothing but Python, and a module finds their source in its archive."""
from __future__ import annotations

import inspect
import subprocess
import sys
import zipfile

import pytest
from tooling import layers

from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import (
    answered,
    asking,
    etcd_receiver,
    questions,
    trust,
)

PROGRAMS = [etcd_receiver, questions, trust]
HERE = asking.by_command([sys.executable, "-"], "this machine")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_imports_nothing_of_the_collection(program):
    name = "module_utils/_elsewhere/" + program.__name__.rpartition(".")[2]
    wanted = [item for item in layers.imports(name) if not item.guarded]
    assert wanted and [item.target for item in wanted
                       if item.own or item.target.partition(".")[0] not in sys.stdlib_module_names] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_its_source_is_found_in_the_archive_that_a_module_runs_from(tmp_path, program):
    archive = tmp_path / "payload.zip"
    with zipfile.ZipFile(archive, "w") as stream:
        stream.write(inspect.getsourcefile(program), "program.py")
    code = "import inspect, program, sys; sys.stdout.write(inspect.getsource(program))"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(archive)}, check=True,
                          capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout == inspect.getsource(program) and "def main(" in done.stdout


def test_an_error_without_words_has_its_name():
    assert questions.reason(ConnectionError(), 1) == "connectionerror"


@pytest.mark.parametrize("printed", [b"", b"[]", b"[1]", b'{"reached": true}', b"[" * 5000, b"\xff", b"[{}, {}]"])
def test_what_is_no_answer_is_none(printed):
    assert answered.read(printed, 1) is None


def test_answers_are_behind_what_others_have_printed_and_steer_no_terminal():
    found, = answered.read(b'a warning\n[{"words": "\\u001b[31mred"}]\n', 1)
    assert answered.unreached(found) == answered.words(found) == "\\x1b[31mred"
    assert answered.unreached({}) != "" and answered.unreached({"reached": True, "words": "x"}) == ""


def test_questions_are_answered_in_order_by_another_python():
    asked = [["tcp", "127.0.0.1", 1, 1], ["holder", "127.0.0.1", [], 1]]
    assert [item["words"] for item in asking.ask(asked, HERE)] == ["connection refused", "here"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks where the collection is not: from a pod, in Ironic's container, or by a process of this machine."""
from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from .._common import bounded_run
from .._common.problems.errors import ReportedError
from .._common.texts.plain_text import cut, plain
from . import answered, questions

LIMIT_SECONDS = 300
_WORDS_LIMIT = 300


class Printed(NamedTuple):
    """What a program has printed.

    :ivar output: on its standard output
    :ivar errors: on its standard error
    :ivar code: its exit code
    """

    output: bytes
    errors: bytes
    code: int


class Asked(NamedTuple):
    """Where it is asked from.

    :ivar run: callable that runs a program in the Python that is there, and returns what it has printed as Printed;
        raises ReportedError when it can't
    :ivar place: the same for a reader
    """

    run: Callable[[bytes], Printed]
    place: str


def from_here() -> Asked:
    """Return that it is asked from this machine."""
    return by_command([sys.executable or "python3", "-"], "this machine")


def by_command(command: list[str], place: str) -> Asked:
    """Return that it is asked by a process of this machine.

    :param command: program and arguments that run Python with a program on standard input
    :param place: as of Asked
    """
    def run(program: bytes) -> Printed:
        try:
            done = bounded_run.run(command, input=program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                   timeout=LIMIT_SECONDS, env=dict(os.environ))
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise ReportedError(f"{type(exc).__name__}: {cut(str(exc), _WORDS_LIMIT)}") from exc
        return Printed(done.stdout, done.stderr, done.returncode)

    return Asked(run, place)


def command(asked: Sequence[Any]) -> list[str]:
    """Return the command of a container with Python that prints the answers to questions.

    :param asked: as of :mod:`questions`; an argument and no part of the program, because others write addresses
    """
    return ["python3", "-c", f"{inspect.getsource(questions)}\n\nmain(json.loads(sys.argv[1]))\n", json.dumps(asked)]


def ask(asked: Sequence[Any], where: Asked, program: ModuleType = questions) -> list[dict[str, Any]]:
    """Return the answer to each question.

    :param asked: as of :mod:`questions`, or the program's own
    :param where: in whose Python the program runs
    :param program: a file of this room that defines ``main``
    :raises ReportedError: when nobody could be asked
    """
    # A literal of a literal: nothing of the data is Python.
    text = f"{inspect.getsource(program)}\n\nmain(json.loads({json.dumps(asked)!r}))\n"
    done = where.run(text.encode())
    found = answered.read(done.output, len(asked))
    if done.code or found is None:
        words = plain(" ".join(done.errors.decode(errors="replace").split()))
        raise ReportedError(f"no answer (code {done.code}): {cut(words, _WORDS_LIMIT)}")
    return found

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
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from .._common import bounded_run
from .._common.errors import ReportedError
from .._common.plain_text import cut, plain
from . import answered, questions

_LIMIT_SECONDS = 300
_WORDS_LIMIT = 300

# Options of modules that ask in Ironic's container; documented in the fragment ``ironic_pod``.
POD_OPTIONS = {
    "kubeconfig": {"type": "path", "required": True},
    "context": {"type": "str"},
    "namespace": {"type": "str", "default": "baremetal-operator-system"},
    "deployment": {"type": "str", "default": "ironic"},
    "kubectl": {"type": "path", "default": "kubectl"}}


class Asked(NamedTuple):
    """Where it is asked from.

    :ivar command: program and arguments that run Python with a program on standard input
    :ivar place: the same for a reader
    """

    command: list[str]
    place: str


def from_here() -> Asked:
    """Return that it is asked from this machine."""
    return Asked([sys.executable or "python3", "-"], "this machine")


def from_pod(kubectl: str, kubeconfig: str, context: str | None, namespace: str, deployment: str) -> Asked:
    """Return that it is asked from the pod of a Deployment.

    :param kubectl: path of kubectl
    :param kubeconfig: path of the kubeconfig
    :param context: context in it, or None
    :param namespace: of the Deployment
    :param deployment: its name
    """
    chosen = [f"--context={context}"] if context else []
    return Asked([kubectl, f"--kubeconfig={kubeconfig}", *chosen, f"--namespace={namespace}", "exec", "--stdin",
                  f"deployment/{deployment}", "--", "python3", "-"], f"Deployment {namespace}/{deployment}")


def of_options(pod: Mapping[str, Any] | None) -> Asked | None:
    """Return where it is asked by a module's option ``ironic_pod``, None without it."""
    return from_pod(pod["kubectl"], pod["kubeconfig"], pod["context"], pod["namespace"],
                    pod["deployment"]) if pod else None


def command(asked: Sequence[Any]) -> list[str]:
    """Return the command of a container with Python that prints the answers to questions.

    :param asked: as of :mod:`questions`; an argument and no part of the program, because others write addresses
    """
    return ["python3", "-c", f"{inspect.getsource(questions)}\n\nmain(json.loads(sys.argv[1]))\n", json.dumps(asked)]


def ask(asked: Sequence[Any], where: Asked, run: Callable[..., Any] = bounded_run.run,
        program: ModuleType = questions) -> list[dict[str, Any]]:
    """Return the answer to each question.

    :param asked: as of :mod:`questions`, or the program's own
    :param where: in whose Python the program runs
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    :param program: a file of this room that defines ``main``
    :raises ReportedError: when nobody could be asked
    """
    # A literal of a literal: nothing of the data is Python.
    text = f"{inspect.getsource(program)}\n\nmain(json.loads({json.dumps(asked)!r}))\n"
    try:
        done = run(where.command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                   timeout=_LIMIT_SECONDS, env=dict(os.environ))
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise ReportedError(f"{type(exc).__name__}: {cut(str(exc), _WORDS_LIMIT)}") from exc
    found = answered.read(done.stdout, len(asked))
    if done.returncode or found is None:
        words = plain(" ".join(done.stderr.decode(errors="replace").split()))
        raise ReportedError(f"no answer (code {done.returncode}): {cut(words, _WORDS_LIMIT)}")
    return found

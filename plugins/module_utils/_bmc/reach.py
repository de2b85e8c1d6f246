# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from where an Ironic runs whether it reaches BMCs."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .._common import bounded_run, printed_json
from .._common.errors import ReportedError
from .._common.plain_text import cut, plain
from . import address as bmc_address
from .verdict import PROBLEM, WARNING, Finding, Verdict, ok

# Name of the item of a preflight.
ITEM = "ironic_reach"
ADVICE = "look at the routes and firewalls between the two, or correct the address"

_LIMIT_SECONDS = 300
_WORDS_LIMIT = 300

# Runs in the container of Ironic, which has Python and this collection not. It gets the questions as its last line:
# never as a part of the program, because others write the addresses of BMCs.
_PROGRAM = r'''
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
SECONDS = 5
# Get Channel Authentication Capabilities, which a BMC answers without a login (IPMI 2.0, section 22.13).
IPMI = bytes.fromhex("0600ff07000000000000000000092018c88100388e04b5")
def ask(question):
    host, port, transport = question
    try:
        if transport != "udp":
            socket.create_connection((host, port), SECONDS).close()
            return ""
        family, kind, protocol, _name, target = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as wire:
            wire.settimeout(SECONDS / 2)
            wire.connect(target)
            for attempt in (1, 2):
                wire.send(IPMI)
                try:
                    wire.recv(512)
                    return ""
                except socket.timeout:
                    if attempt == 2:
                        raise
    except socket.timeout:
        return "no answer within %d s" % SECONDS
    except socket.gaierror:
        return "no address for that name"
    except OSError as exc:
        return (exc.strerror or str(exc)).lower()
def main(questions):
    with ThreadPoolExecutor(max_workers=32) as pool:
        print(json.dumps(list(pool.map(ask, questions))))
'''


# Options of modules that ask from a pod; documented in the fragment ``ironic_pod``.
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


class Answer(NamedTuple):
    """What was found about a BMC.

    :ivar target: ``host:port/transport``
    :ivar words: why it is not reached; empty when it is
    """

    target: str
    words: str


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


def answers(addresses: Sequence[str | None], asked: Asked,
            run: Callable[..., Any] = bounded_run.run) -> list[Answer | None]:
    """Return an answer for each BMC, None for one without an address that can be read.

    :param addresses: addresses of BMCs as hosts have them
    :param asked: where it is asked from
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    :raises ReportedError: when nobody could be asked, which proves nothing about the BMCs
    """
    targets = [target_of(address) for address in addresses]
    questions = sorted(set(target for target in targets if target is not None))
    found = dict(zip(questions, connections(questions, asked, run))) if questions else {}
    return [None if target is None else Answer("%s:%d/%s" % target, found[target]) for target in targets]


def verdicts(addresses: Mapping[str, str | None], asked: Asked,
             run: Callable[..., Any] = bounded_run.run) -> dict[str, Verdict]:
    """Return the verdict of a preflight on each server whose BMC was asked for.

    :param addresses: address of the BMC by the server's name
    :param asked: where Ironic runs
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    """
    try:
        found = dict(zip(addresses, answers(list(addresses.values()), asked, run)))
    except ReportedError as exc:
        reason = Finding(WARNING, "bmc.address", f"not asked from {asked.place}: {exc}",
                         "a BMC that Ironic reaches", "check that Ironic's pod runs and that kubectl may exec in it")
        return dict((name, Verdict(ITEM, name, *reason)) for name in addresses)
    return dict((name, Verdict(ITEM, name, *_finding(answer, asked))) for name, answer in found.items() if answer)


def _finding(answer: Answer, asked: Asked) -> Finding:
    if not answer.words:
        return ok(f"reached from {asked.place}")
    return Finding(PROBLEM, "bmc.address", f"{answer.words} at {answer.target}, asked from {asked.place}",
                   "a BMC that Ironic reaches", ADVICE)


def target_of(text: str | None) -> tuple[str, int, str] | None:
    """Return the host, port and transport (``tcp`` or ``udp``) of a BMC's address, None when it can't be read."""
    parts = bmc_address.readable(text)
    if parts is None:
        return None
    return parts.host, parts.effective_port, "udp" if parts.scheme.transport == "udp" else "tcp"


def connections(targets: Sequence[tuple[str, int, str]], asked: Asked,
                run: Callable[..., Any] = bounded_run.run) -> list[str]:
    """Return for each host, port and transport (``tcp`` or ``udp``) why it is not reached, or an empty text.

    :raises ReportedError: when nobody could be asked
    """
    return texts(_PROGRAM, targets, asked, run)


def asking(targets: Sequence[tuple[str, int, str]]) -> list[str]:
    """Return the command of a container with Python that asks as :func:`connections` does."""
    return ["python3", "-c", f"{_PROGRAM}main(json.loads(sys.argv[1]))", json.dumps(targets)]


def answered(printed: bytes, count: int) -> list[str] | None:
    """Return what such a program has answered, one text for each question; None when that is no answer.

    :param printed: what it has printed
    :param count: of questions
    """
    answers = printed_json.last_line(printed)
    if not isinstance(answers, list) or len(answers) != count:
        return None
    return [cut(plain(str(answer)), _WORDS_LIMIT) for answer in answers]


def texts(program: str, questions: Sequence[Any], asked: Asked, run: Callable[..., Any] = bounded_run.run) -> list[str]:
    """Return what a program of Python answers where Ironic runs, one text for each question.

    :param program: it defines ``main``, which prints a JSON list, and needs no more than Python has
    :param questions: plain data, the argument of ``main``
    :param asked: where it runs
    :param run: as ``subprocess.run``, :func:`bounded_run.run` by default
    :raises ReportedError: when nobody could be asked
    """
    # A literal of a literal: nothing of the data is Python.
    program = f"{program}main(json.loads({json.dumps(questions)!r}))\n"
    try:
        done = run(asked.command, input=program.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                   timeout=_LIMIT_SECONDS, env=dict(os.environ))
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise ReportedError(f"{type(exc).__name__}: {cut(str(exc), _WORDS_LIMIT)}") from exc
    answers = answered(done.stdout, len(questions))
    if done.returncode or answers is None:
        words = plain(" ".join(done.stderr.decode(errors="replace").split()))
        raise ReportedError(f"no answer (code {done.returncode}): {cut(words, _WORDS_LIMIT)}")
    return answers

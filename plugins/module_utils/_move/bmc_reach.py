# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from where the other plane's Ironic runs whether it reaches the BMCs of hosts."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .._bmc import address as bmc_address
from .._common.errors import ReportedError
from .._common.plain_text import cut, plain
from .._common.problem import Problem
from .._kube.resources import KNOWN

Object = dict[str, Any]

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


def has_deployment(client: Any, namespace: str, name: str) -> bool:
    """Say whether there is a Deployment with an available pod.

    :raises KubeError: when the API server can't be asked
    """
    found = client.get(KNOWN["Deployment"], namespace, name)
    return found is not None and bool((found.get("status") or {}).get("availableReplicas"))


def from_where(there: Any, hosts: list[Object], params: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Return problems with BMCs that the other plane's Ironic does not reach, and a warning when nobody was asked.

    :param there: a KubeClient of the plane that takes over
    :param hosts: BareMetalHosts
    :param params: ``reach_from``, ``kubectl``, ``to_kubeconfig``, ``to_context``, ``ironic_namespace`` and
        ``ironic_deployment``, see the module ``plane_move``
    """
    if params["reach_from"] == "none":
        return [], []
    if params["reach_from"] == "here":
        return problems(hosts, from_here())
    where = (params["ironic_namespace"], params["ironic_deployment"])
    if not params["kubectl"] or not has_deployment(there, *where):
        return [], ["BMCs: whether the other plane's Ironic reaches them was not asked: no Deployment "
                    f"{'/'.join(where)} with an available pod over there, or no kubectl; set reach_from to here when "
                    "it runs on this machine"]
    return problems(hosts, from_pod(params["kubectl"], params["to_kubeconfig"], params["to_context"], *where))


def problems(hosts: Iterable[Object], asked: Asked,
             run: Callable[..., Any] = subprocess.run) -> tuple[list[Problem], list[str]]:
    """Return a problem for each host whose BMC is not reached, and a warning when nobody could be asked.

    :param hosts: BareMetalHosts; those without a BMC, and with an address that nobody can read, are left out
    :param asked: where it is asked from
    :param run: as ``subprocess.run``
    """
    targets: dict[tuple[str, int, str], list[str]] = {}
    for host in hosts:
        target = _target(host)
        if target is not None:
            targets.setdefault(target, []).append(host["metadata"]["name"])
    if not targets:
        return [], []
    questions = sorted(targets)
    try:
        answers = _answers(questions, asked, run)
    except ReportedError as exc:
        # No proof that they are not reached.
        return [], [f"BMCs: whether they are reached was not asked from {asked.place}: {exc}"]
    return [Problem("move-reach", f"BareMetalHost {name}", "spec.bmc.address",
                    f"{answer} at {host}:{port}/{transport}, asked from {asked.place}",
                    "a BMC that the other plane's Ironic reaches",
                    "look at the routes and firewalls between the two, or correct the address")
            for (host, port, transport), answer in zip(questions, answers) if answer
            for name in targets[host, port, transport]], []


def _target(host: Object) -> tuple[str, int, str] | None:
    text = ((host.get("spec") or {}).get("bmc") or {}).get("address")
    if not text:
        return None
    try:
        parts = bmc_address.parse(text)
    except bmc_address.AddressError:
        return None
    return parts.host, parts.effective_port, "udp" if parts.scheme.transport == "udp" else "tcp"


def _answers(questions: list[tuple[str, int, str]], asked: Asked, run: Callable[..., Any]) -> list[str]:
    # A literal of a literal: nothing of the data is Python.
    program = f"{_PROGRAM}main(json.loads({json.dumps(questions)!r}))\n"
    try:
        done = run(asked.command, input=program.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                   timeout=_LIMIT_SECONDS, env=dict(os.environ))
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise ReportedError(f"{type(exc).__name__}: {cut(str(exc), _WORDS_LIMIT)}") from exc
    try:
        answers = json.loads(done.stdout.decode(errors="replace").strip().rpartition("\n")[2])
    except ValueError:
        answers = None
    if done.returncode or not isinstance(answers, list) or len(answers) != len(questions):
        words = plain(" ".join(done.stderr.decode(errors="replace").split()))
        raise ReportedError(f"no answer (code {done.returncode}): {cut(words, _WORDS_LIMIT)}")
    return [cut(plain(str(answer)), _WORDS_LIMIT) for answer in answers]

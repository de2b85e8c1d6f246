# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from where an Ironic runs whether it reaches BMCs."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._common.problems.errors import ReportedError
from ..._elsewhere import answered, asking
from ..addresses import address as bmc_address
from .verdict import PROBLEM, WARNING, Finding, Verdict, ok

# Name of the item of a preflight.
ITEM = "ironic_reach"
ADVICE = "look at the routes and firewalls between the two, or correct the address"

_SECONDS = 5


class Answer(NamedTuple):
    """What was found about a BMC.

    :ivar target: ``host:port/transport``
    :ivar words: why it is not reached; empty when it is
    """

    target: str
    words: str


def answers(addresses: Sequence[str | None], asked: asking.Asked) -> list[Answer | None]:
    """Return an answer for each BMC, None for one without an address that can be read.

    :param addresses: addresses of BMCs as hosts have them
    :param asked: where it is asked from
    :raises ReportedError: when nobody could be asked, which proves nothing about the BMCs
    """
    targets = [target_of(address) for address in addresses]
    wanted = sorted(set(target for target in targets if target is not None))
    found = dict(zip(wanted, connections(wanted, asked))) if wanted else {}
    return [None if target is None else Answer("%s:%d/%s" % target, found[target]) for target in targets]


def verdicts(addresses: Mapping[str, str | None], asked: asking.Asked) -> dict[str, Verdict]:
    """Return the verdict of a preflight on each server whose BMC was asked for.

    :param addresses: address of the BMC by the server's name
    :param asked: where Ironic runs
    """
    try:
        found = dict(zip(addresses, answers(list(addresses.values()), asked)))
    except ReportedError as exc:
        reason = Finding(WARNING, "bmc.address", f"not asked from {asked.place}: {exc}",
                         "a BMC that Ironic reaches",
                         "check that Ironic's pod runs, and that the kubeconfig may get and create pods/exec there")
        return dict((name, Verdict(ITEM, name, *reason)) for name in addresses)
    return dict((name, Verdict(ITEM, name, *_finding(answer, asked))) for name, answer in found.items() if answer)


def _finding(answer: Answer, asked: asking.Asked) -> Finding:
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


def connections(targets: Sequence[tuple[str, int, str]], asked: asking.Asked) -> list[str]:
    """Return for each host, port and transport (``tcp`` or ``udp``) why it is not reached, or an empty text.

    :raises ReportedError: when nobody could be asked
    """
    return [answered.unreached(answer) for answer in asking.ask(questions(targets), asked)]


def questions(targets: Iterable[tuple[str, int, str]]) -> list[list[Any]]:
    """Return the questions of :func:`connections`."""
    return [["ipmi" if transport == "udp" else "tcp", host, port, _SECONDS] for host, port, transport in targets]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking from this machine what it must reach: TCP ports, files by HTTP and TFTP, a wire's DHCP servers and routers."""
from __future__ import annotations

import functools
import hashlib
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from .._common.problems.errors import ReportedError
from .._common.problems.problem import Problem
from .._common.transfer.image_server import image_fetcher
from .._common.waiting import parallel
from .._elsewhere import questions
from . import dhcp_questions, other_servers, own_interface, reach_answers, servers_probe
from .wire_probe import ProbeError

_WORKERS = 32
Entry = tuple[str, Mapping[str, Any]]


def check(wanted: Mapping[str, Any], probe: Callable[..., other_servers.Answers] = servers_probe.ask,
          interfaces: Any = own_interface) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Ask all at once and return ``(checks, problems)``.

    :param wanted: ``tcp`` (dicts with ``host``, ``port``, ``reachable``), ``tftp`` (``host``, ``path``, ``port``),
        ``http`` (``url``, ``sha256``, ``ca_file``),
        ``dhcp`` (``interface``, ``mac``, ``ipv6``, ``allowed_servers``, ``allowed_routers``, ``expected_servers``,
        ``seconds``), ``timeout_seconds``
    :param probe: as :func:`servers_probe.ask`
    :param interfaces: what this machine's interfaces have, see :mod:`own_interface`
    :returns: a dict with ``kind``, ``target``, ``ok`` and ``found`` for each question, in order
    """
    seconds = wanted["timeout_seconds"]
    asked: list[tuple[Entry, Callable[[], tuple[str, list[Problem]]]]] = []
    for kind, given in reach_answers.entries(wanted):
        asked.append(((kind, given), functools.partial(_ASKED[kind], given, seconds)))
    for given in wanted.get("dhcp") or ():
        asked.append((("dhcp", given), functools.partial(_dhcp, given, probe, interfaces)))
    outcomes = parallel.run([ask for _entry, ask in asked], _WORKERS, ReportedError)
    checks, found = [], []
    for (entry, _ask), outcome in zip(asked, outcomes):
        if outcome.error is not None:
            raise outcome.error
        text, wrong = outcome.value
        checks.append(reach_answers.shown(entry, text, wrong))
        found += wrong
    return checks, found


def _tcp(entry: Mapping[str, Any], seconds: float) -> tuple[str, list[Problem]]:
    return reach_answers.of_tcp(entry, questions.tcp(entry["host"], entry["port"], seconds))


def _tftp(entry: Mapping[str, Any], seconds: float) -> tuple[str, list[Problem]]:
    return reach_answers.of_tftp(entry, questions.tftp(entry["host"], entry["port"], entry["path"], seconds))


def _http(entry: Mapping[str, Any], seconds: float) -> tuple[str, list[Problem]]:
    limit = reach_answers.bytes_to_read(entry)
    try:
        # With the login of the URL, which a pod is not given.
        body = image_fetcher(entry.get("ca_file"), seconds)(entry["url"], limit)
    except OSError as exc:
        return reach_answers.of_http(entry, {"reached": False, "words": questions.reason(exc, seconds)})
    return reach_answers.of_http(entry, {
        "reached": True, "words": "an answer", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()})


_ASKED = {"tcp": _tcp, "tftp": _tftp, "http": _http}


def _dhcp(entry: Mapping[str, Any], probe: Callable[..., other_servers.Answers],
          interfaces: Any) -> tuple[str, list[Problem]]:
    mac = entry.get("mac") or "02:%s" % ":".join(f"{byte:02x}" for byte in secrets.token_bytes(5))
    interface = entry["interface"]
    expected = list(entry.get("expected_servers") or ())
    try:
        own = interfaces.card(interface)
        with_ipv6 = dhcp_questions.is_ipv6_asked(entry, interfaces.has_ipv6(interface))
        # Of the client alone: an expected server must answer to that one.
        found = other_servers.without_own(probe(interface, [mac.lower()], entry["seconds"], with_ipv6), own)
    except ProbeError as exc:
        return str(exc), [Problem("unreachable", f"interface {interface}", "dhcp", str(exc),
                                  "an interface on which DHCP servers can be asked", "correct it, then run again")]
    wrong = other_servers.problems(interface, found, expected + list(entry.get("allowed_servers") or ()),
                                   list(entry.get("allowed_routers") or ()))
    wrong += dhcp_questions.missing_servers(interface, mac, found, expected)
    return dhcp_questions.found_text(found), wrong

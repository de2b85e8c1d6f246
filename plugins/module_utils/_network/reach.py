# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking from this machine what it must reach: TCP ports, files by HTTP and TFTP, the DHCP servers of a wire."""
from __future__ import annotations

import functools
import hashlib
import re
import secrets
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from .._common import parallel
from .._common.errors import ReportedError
from .._common.field_checks import show
from .._common.image_server import image_fetcher
from .._common.mac_address import mac_error
from .._common.problem import Problem
from .._common.redaction import before_query, redacted
from .dhcp_probe import DhcpProbeError, offers
from .dhcp_service import server_problems

# RFC 1350.
_TFTP_PORT, _READ, _DATA, _ERROR = 69, 1, 3, 5
_REPEAT_SECONDS = 1.0
_WORKERS = 32
_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")
_SCHEMES = ("http", "https")
# Of a file that is compared; one that is larger is no file to ask a network by.
LARGEST_BYTES = 64 * 1024 ** 2


def problems(wanted: Mapping[str, Any]) -> list[Problem]:
    """Return the mistakes of what is to be asked, see :func:`check`."""
    found = [Problem("value", f"{kind}[{position}]", "port", show(entry["port"]), "a number from 1 to 65535")
             for kind in ("tcp", "tftp") for position, entry in enumerate(wanted.get(kind) or ())
             if not 1 <= entry["port"] <= 65535]
    for position, entry in enumerate(wanted.get("tftp") or ()):
        if not entry["path"].isprintable() or not entry["path"].isascii():
            found.append(Problem("value", f"tftp[{position}]", "path", show(entry["path"]), "printable ASCII"))
    for position, entry in enumerate(wanted.get("http") or ()):
        if _scheme(entry["url"]) not in _SCHEMES:
            found.append(Problem("value", f"http[{position}]", "url", show(_shown(entry["url"])),
                                 "a URL with http or https"))
        if entry.get("sha256") and not _SHA256.match(entry["sha256"]):
            found.append(Problem("value", f"http[{position}]", "sha256", show(entry["sha256"]),
                                 "64 hexadecimal digits"))
    for position, entry in enumerate(wanted.get("dhcp") or ()):
        wrong = mac_error(entry["mac"]) if entry.get("mac") else None
        if wrong:
            found.append(Problem("value", f"dhcp[{position}]", "mac", show(entry["mac"]), wrong))
        if entry["seconds"] < 1:
            found.append(Problem("value", f"dhcp[{position}]", "seconds", entry["seconds"], "at least 1 second"))
    if wanted["timeout_seconds"] < 1:
        found.append(Problem("value", "network_check", "timeout_seconds", wanted["timeout_seconds"],
                             "at least 1 second"))
    return found


def _shown(url: str) -> str:
    return redacted(before_query(url))


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def check(wanted: Mapping[str, Any],
          dhcp_probe: Callable[..., Any] = offers) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Ask all at once and return ``(checks, problems)``.

    :param wanted: ``tcp`` (dicts with ``host``, ``port``, ``reachable``), ``tftp`` (``host``, ``path``, ``port``),
        ``http`` (``url``, ``sha256``, ``ca_file``),
        ``dhcp`` (``interface``, ``mac``, ``allowed_servers``, ``expected_servers``, ``seconds``), ``timeout_seconds``
    :returns: a dict with ``kind``, ``target``, ``ok`` and ``found`` for each question, in order
    """
    seconds = wanted["timeout_seconds"]
    questions: list[tuple[str, str, str, Callable[[], tuple[str, list[Problem]]]]] = []
    for entry in wanted.get("tcp") or ():
        target = f"{entry['host']}:{entry['port']}"
        questions.append(("tcp", target, entry.get("name") or "", functools.partial(_tcp, entry, seconds)))
    for entry in wanted.get("tftp") or ():
        target = f"{entry['host']}/{entry['path']}"
        questions.append(("tftp", target, entry.get("name") or "", functools.partial(_tftp, entry, seconds)))
    for entry in wanted.get("http") or ():
        questions.append(("http", _shown(entry["url"]), entry.get("name") or "",
                          functools.partial(_http, entry, seconds)))
    for entry in wanted.get("dhcp") or ():
        questions.append(("dhcp", entry["interface"], entry.get("name") or "",
                          functools.partial(_dhcp, entry, dhcp_probe)))
    outcomes = parallel.run([question[3] for question in questions], _WORKERS, ReportedError)
    checks, found = [], []
    for (kind, target, name, _ask), outcome in zip(questions, outcomes):
        if outcome.error is not None:
            raise outcome.error
        text, wrong = outcome.value
        checks.append({"kind": kind, "target": target, "name": name, "ok": not wrong, "found": text})
        found += wrong
    return checks, found


def _tcp(entry: Mapping[str, Any], seconds: float) -> tuple[str, list[Problem]]:
    target = f"{entry['host']}:{entry['port']}"
    try:
        with socket.create_connection((entry["host"], entry["port"]), seconds):
            text, reached = "a connection", True
    except OSError as exc:
        text, reached = _reason(exc, seconds), False
    if reached == entry["reachable"]:
        return text, []
    title = f"{entry['name']} ({target})" if entry.get("name") else target
    expected = "a connection" if entry["reachable"] else "no connection"
    hint = "look at the service, and at the firewalls between" if entry["reachable"] else \
        "close the port to this network"
    return text, [Problem("unreachable" if entry["reachable"] else "reachable", title, "tcp", text, expected, hint)]


def _reason(exc: OSError, seconds: float) -> str:
    if isinstance(exc, TimeoutError):
        return f"no answer within {seconds} s"
    if isinstance(exc, socket.gaierror):
        return "no address for that name"
    return (exc.strerror or str(exc)).lower()


def _tftp(entry: Mapping[str, Any], seconds: float) -> tuple[str, list[Problem]]:
    target = f"{entry['host']}/{entry['path']}"
    text, came = _first_block(entry, seconds)
    return text, [] if came else [Problem(
        "unreachable", f"{entry['name']} ({target})" if entry.get("name") else target, "tftp", text,
        "the file's first block", "look at the TFTP server, its folder, and UDP port 69 on the way; an answer comes "
        "from another port, which a firewall must know")]


def _first_block(entry: Mapping[str, Any], seconds: float) -> tuple[str, bool]:
    request = struct.pack("!H", _READ) + entry["path"].encode() + b"\0octet\0"
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(
            entry["host"], entry.get("port") or _TFTP_PORT, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as wire:
            # Not connected: the answer comes from a port of its own.
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                wire.sendto(request, address)
                wire.settimeout(max(0.05, min(_REPEAT_SECONDS, until - time.monotonic())))
                try:
                    answer, sender = wire.recvfrom(65535)
                except TimeoutError:
                    continue
                if sender[0] == address[0] and len(answer) >= 4:
                    return _block(wire, answer, sender)
    except OSError as exc:
        return _reason(exc, seconds), False
    return f"no answer within {seconds} s", False


def _block(wire: socket.socket, answer: bytes, sender: Any) -> tuple[str, bool]:
    operation, number = struct.unpack("!HH", answer[:4])
    if operation == _ERROR:
        said = show(answer[4:].split(b"\0")[0].decode("ascii", "replace"))
        return f"error {number}, {said}", False
    if operation != _DATA:
        return f"a message of kind {operation}", False
    # The server need not repeat the block until it gives up: the transfer ends here.
    wire.sendto(struct.pack("!HH", _ERROR, 0) + b"checked\0", sender)
    return f"{len(answer) - 4} bytes", True


def _http(entry: Mapping[str, Any], seconds: float) -> tuple[str, list[Problem]]:
    """Read a file; another one may come from a portal, a proxy or a machine with the same address."""
    target, digest = _shown(entry["url"]), entry.get("sha256")
    title = f"{entry['name']} ({target})" if entry.get("name") else target
    try:
        # A byte shows that there is an answer.
        body = image_fetcher(entry.get("ca_file"), seconds)(entry["url"], LARGEST_BYTES + 1 if digest else 1)
    except OSError as exc:
        text = _reason(exc, seconds)
        return text, [Problem("unreachable", title, "http", text, "the file",
                              "look at the web server, at its certificate and ca_file, and at the firewalls between")]
    if not digest:
        return "an answer" if body else "an empty answer", [] if body else [
            Problem("unreachable", title, "http", "an empty answer", "the file", "look at the web server")]
    if len(body) > LARGEST_BYTES:
        text = f"more than {LARGEST_BYTES // 1024 ** 2} MiB"
        return text, [Problem("value", title, "http", text, "a smaller file to compare",
                              "name another one, or leave out sha256")]
    found = hashlib.sha256(body).hexdigest()
    if found == digest.lower():
        return f"{len(body)} bytes, the right ones", []
    return f"{len(body)} bytes, others", [Problem(
        "other-answer", title, "http", f"{len(body)} bytes with the SHA-256 {found}", digest.lower(),
        "find out who answers: a proxy, a portal, another machine with that address, or a file that was changed")]


def _dhcp(entry: Mapping[str, Any], probe: Callable[..., Any]) -> tuple[str, list[Problem]]:
    mac = entry.get("mac") or "02:%s" % ":".join(f"{byte:02x}" for byte in secrets.token_bytes(5))
    interface = entry["interface"]
    expected = list(entry.get("expected_servers") or ())
    allowed = expected + list(entry.get("allowed_servers") or ())
    try:
        found = probe(interface, mac, entry["seconds"])
    except DhcpProbeError as exc:
        return str(exc), [Problem("unreachable", f"interface {interface}", "dhcp", str(exc), "DHCP can be asked")]
    wrong = server_problems(interface, found, allowed)
    there = {offer.server for offer in found}
    wrong += [Problem("unreachable", f"interface {interface}", "dhcp", f"no offer from {server}",
                      f"an offer for {mac}", "look at that DHCP server, at its relay, and whether it knows the client")
              for server in expected if server not in there]
    return ", ".join(f"{offer.server} offers {offer.address}" for offer in found) or "no offer", wrong

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks for ports and files, here or, as a program of its own, in a pod: needs no more than Python 3.9 has.

Its first argument there is a JSON list of questions, each the name of a function here and its arguments; it prints the
list of answers.
"""
from __future__ import annotations

import hashlib
import http.client
import json
import socket
import ssl
import struct
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# RFC 1350.
_READ, _DATA, _ERROR = 1, 3, 5
_REPEAT_SECONDS = 1.0
_WORKERS = 32


def tcp(host: str, port: int, seconds: float) -> dict[str, object]:
    """Return whether a port can be connected to: ``reached``, and in ``words`` what came of it."""
    try:
        with socket.create_connection((host, port), seconds):
            return {"reached": True, "words": "a connection"}
    except OSError as exc:
        return {"reached": False, "words": reason(exc, seconds)}


def tftp(host: str, port: int, path: str, seconds: float) -> dict[str, object]:
    """Return whether a file's first block can be read, as :func:`tcp`; ``said`` is what the server says of an error."""
    request = struct.pack("!H", _READ) + path.encode() + b"\0octet\0"
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as wire:
            # Not connected: the answer comes from a port of its own.
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                wire.sendto(request, address)
                wire.settimeout(max(0.05, min(_REPEAT_SECONDS, until - time.monotonic())))
                try:
                    answer, sender = wire.recvfrom(65535)
                # The name of TimeoutError before Python 3.10.
                except socket.timeout:
                    continue
                if sender[0] == address[0] and len(answer) >= 4:
                    return _block(wire, answer, sender)
    except OSError as exc:
        return {"reached": False, "words": reason(exc, seconds)}
    return {"reached": False, "words": f"no answer within {seconds} s"}


def _block(wire: socket.socket, answer: bytes, sender: Any) -> dict[str, object]:
    operation, number = struct.unpack("!HH", answer[:4])
    if operation == _ERROR:
        return {"reached": False, "words": f"error {number}",
                "said": answer[4:].split(b"\0")[0].decode("ascii", "replace")}
    if operation != _DATA:
        return {"reached": False, "words": f"a message of kind {operation}"}
    # The server need not repeat the block until it gives up: the transfer ends here.
    wire.sendto(struct.pack("!HH", _ERROR, 0) + b"checked\0", sender)
    return {"reached": True, "words": f"{len(answer) - 4} bytes"}


def web(url: str, authority: str, limit: int, seconds: float) -> dict[str, object]:
    """Return whether a file can be read by HTTP, as :func:`tcp`; with its ``bytes`` and their ``sha256``.

    :param authority: certificates that the server's is verified by, in PEM; empty for those of the system
    :param limit: how many bytes are read
    """
    try:
        # Neither files nor FTP, wherever a server redirects to.
        opener = urllib.request.OpenerDirector()
        for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler(
                context=ssl.create_default_context(cadata=authority or None)), urllib.request.HTTPRedirectHandler(),
                urllib.request.HTTPDefaultErrorHandler(), urllib.request.HTTPErrorProcessor()):
            opener.add_handler(handler)
        with opener.open(url, timeout=seconds) as answer:
            body = answer.read(limit)
    except (OSError, http.client.HTTPException, ValueError) as exc:
        inner = getattr(exc, "reason", None)
        return {"reached": False, "words": reason(inner if isinstance(inner, OSError) else exc, seconds)}
    return {"reached": True, "words": "an answer", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def reason(exc: Exception, seconds: float) -> str:
    """Return in words why something was not reached.

    :param seconds: how long was waited
    """
    # The name of TimeoutError before Python 3.10.
    if isinstance(exc, socket.timeout):
        return f"no answer within {seconds} s"
    if isinstance(exc, socket.gaierror):
        return "no address for that name"
    if isinstance(exc, ssl.SSLCertVerificationError):
        return f"a certificate that is not verified ({exc.verify_message})"
    return str(getattr(exc, "strerror", None) or exc or type(exc).__name__).lower()


def main(questions: list[list[object]]) -> None:
    """Print the answers to questions."""
    known: dict[str, Callable[..., dict[str, object]]] = {"tcp": tcp, "tftp": tftp, "web": web}
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        answers = pool.map(lambda question: known[str(question[0])](*question[1:]), questions)
        sys.stdout.write(json.dumps(list(answers)) + "\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

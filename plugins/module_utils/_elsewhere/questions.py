# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks what is reached: ports, BMCs, files, Ironic's API, image servers; needs no more than Python 3.9 has.

It is imported here and, as a file of its own, in the agent's ramdisk; pods and Ironic's container run its source
(:mod:`asking`). A question is the name of a function and its arguments; an answer says in ``words`` what came of it.
"""
from __future__ import annotations

import errno
import hashlib
import http.client
import json
import socket
import ssl
import struct
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# RFC 1350.
_READ, _DATA, _ERROR = 1, 3, 5
_REPEAT_SECONDS = 1.0
# Get Channel Authentication Capabilities, which a BMC answers without a login (IPMI 2.0, section 22.13).
_IPMI = bytes.fromhex("0600ff07000000000000000000092018c88100388e04b5")
_IPMI_ATTEMPTS = 2
# What a proxy says of a server that it does not reach, and what a server says of a file that it does not have.
_UNREACHED, _MISSING = (502, 503, 504), (404, 410)
_WORKERS = 32


def tcp(host: str, port: int, seconds: float) -> dict[str, object]:
    """Return whether a port can be connected to: ``reached``, and in ``words`` what came of it."""
    try:
        with socket.create_connection((host, port), seconds):
            return {"reached": True, "words": "a connection"}
    except (OSError, UnicodeError) as exc:
        return {"reached": False, "words": reason(exc, seconds)}


def ipmi(host: str, port: int, seconds: float) -> dict[str, object]:
    """Return whether a BMC answers IPMI, as :func:`tcp`."""
    try:
        family, kind, protocol, _name, target = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as wire:
            wire.settimeout(seconds / _IPMI_ATTEMPTS)
            wire.connect(target)
            for _attempt in range(_IPMI_ATTEMPTS):
                wire.send(_IPMI)
                try:
                    wire.recv(512)
                    return {"reached": True, "words": "an answer"}
                # The name of TimeoutError before Python 3.10.
                except socket.timeout:
                    continue
    except (OSError, UnicodeError) as exc:
        return {"reached": False, "words": reason(exc, seconds)}
    return {"reached": False, "words": f"no answer within {seconds} s"}


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
    except (OSError, UnicodeError) as exc:
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
        return {"reached": False, "words": reason(exc, seconds)}
    return {"reached": True, "words": "an answer", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def status(host: str, port: int, path: str, tls: bool, authority: str, verify: bool,
           seconds: float) -> dict[str, object]:
    """Return with which ``status`` a server answers a GET, as :func:`tcp`.

    :param authority: certificates that the server's is verified by, in PEM; empty for those of the system
    :param verify: whether it is verified
    """
    try:
        if tls:
            context = ssl.create_default_context(cadata=authority or None)
            if not verify:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=seconds, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=seconds)
        connection.request("GET", path)
        found = connection.getresponse().status
    except (OSError, UnicodeError, http.client.HTTPException) as exc:
        return {"reached": False, "words": reason(exc, seconds)}
    return {"reached": True, "words": f"HTTP {found}", "status": found}


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a redirection is an answer."""

    def redirect_request(self, *_given: Any) -> None:
        return None


def image(url: str, is_whole: bool, seconds: float) -> dict[str, object]:
    """Return whether an image server answers, through a proxy where Ironic asks it through one; as :func:`tcp`.

    What its certificate is worth is no question here: the URL has neither a login nor a query.

    :param is_whole: whether a file that the server does not have at this URL is none for Ironic, too
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _Stay)
    try:
        opener.open(urllib.request.Request(url, method="HEAD"), timeout=seconds).close()
    except urllib.error.HTTPError as exc:
        exc.close()
        return {"reached": not (exc.code in _UNREACHED or (is_whole and exc.code in _MISSING)),
                "words": f"HTTP {exc.code}"}
    except (OSError, http.client.HTTPException, ValueError) as exc:
        return {"reached": False, "words": reason(exc, seconds)}
    return {"reached": True, "words": "an answer"}


def holder(address: str, ports: list[int], seconds: float) -> dict[str, object]:
    """Return in ``words`` whether an IP address is ``here``, ``elsewhere``, or ``nobody`` answers.

    :param ports: what is asked for, in turn; who refuses a connection is there, too
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as wire:
        try:
            wire.bind((address, 0))
            return {"words": "here"}
        except OSError as exc:
            if exc.errno != errno.EADDRNOTAVAIL:
                raise
    for port in ports:
        try:
            socket.create_connection((address, port), seconds).close()
            return {"words": "elsewhere"}
        except ConnectionRefusedError:
            return {"words": "elsewhere"}
        except OSError:
            pass
    return {"words": "nobody"}


def reason(exc: Exception, seconds: float) -> str:
    """Return in words why something was not reached.

    :param seconds: how long was waited
    """
    if isinstance(exc, urllib.error.URLError) and isinstance(exc.reason, OSError):
        exc = exc.reason
    # The name of TimeoutError before Python 3.10.
    if isinstance(exc, socket.timeout):
        return f"no answer within {seconds} s"
    # A label of more than 63 letters is refused before anybody is asked.
    if isinstance(exc, (socket.gaierror, UnicodeError)):
        return "no address for that name"
    if isinstance(exc, ssl.SSLCertVerificationError):
        return f"a certificate that is not verified ({exc.verify_message})"
    return str(getattr(exc, "strerror", None) or str(exc) or type(exc).__name__).lower()


def main(questions: list[list[object]]) -> None:
    """Print the answers to questions."""
    known: dict[str, Callable[..., dict[str, object]]] = {
        "tcp": tcp, "ipmi": ipmi, "tftp": tftp, "web": web, "status": status, "image": image, "holder": holder}
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        answers = pool.map(lambda question: known[str(question[0])](*question[1:]), questions)
        sys.stdout.write(json.dumps(list(answers)) + "\n")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy for HTTPS that writes down who has asked it for what; all that is asked for leads to one place."""
from __future__ import annotations

import contextlib
import socket

from forwarder import Forwarder, both_ways

LONGEST_REQUEST_BYTES = 8192


class ConnectProxy(Forwarder):
    """Answers ``CONNECT`` (RFC 9110, 9.3.6).

    :param address: to listen on
    :param behind: host and port of what is asked for, as it is reached from here
    """

    def __init__(self, address, behind):
        # Client's address and what it has asked for.
        self.asked = set()
        super().__init__(address, behind)
        self.url = f"http://{address}:{self.port}"

    def handle(self, connection):
        with contextlib.suppress(OSError), connection:
            request = b""
            while b"\r\n\r\n" not in request and len(request) < LONGEST_REQUEST_BYTES:
                chunk = connection.recv(1024)
                if not chunk:
                    return
                request += chunk
            method, asked_for = request.decode("ascii", "replace").split()[:2]
            self.asked.add((connection.getpeername()[0], asked_for))
            if method != "CONNECT":
                connection.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
                return
            with socket.create_connection(self.behind) as far:
                connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                both_ways(connection, far)

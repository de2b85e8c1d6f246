# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS and HTTP inside a tunnel to a pod, which is no socket of the operating system."""
from __future__ import annotations

import http.client
import io
import ssl
from typing import Any

_PIECE_BYTES = 256 * 1024


class TlsTunnel:
    """As much of a socket as ``http.client`` takes.

    :param tunnel: a Tunnel
    :param context: an SSLContext
    :param server_hostname: a name that the other side's certificate has
    :raises OSError: when the other side is not trusted
    :raises KubeError: when the connection is lost
    """

    def __init__(self, tunnel: Any, context: ssl.SSLContext, server_hostname: str) -> None:
        self._tunnel = tunnel
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_hostname)
        self._until_done(self._tls.do_handshake)

    def _until_done(self, step: Any) -> Any:
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self._flush()
                content = self._tunnel.receive()
                if content:
                    self._incoming.write(content)
                else:
                    self._incoming.write_eof()
            finally:
                self._flush()

    def _flush(self) -> None:
        content = self._outgoing.read()
        if content:
            self._tunnel.send(content)

    def sendall(self, data: bytes) -> None:
        """Send bytes."""
        view, sent = memoryview(data), 0
        while sent < len(view):
            sent += self._until_done(lambda part=view[sent:sent + _PIECE_BYTES]: self._tls.write(part))

    def receive_into(self, buffer: Any) -> int:
        """Fill a buffer with what comes next and return how much it is, 0 at the end."""
        try:
            return self._until_done(lambda: self._tls.read(len(buffer), buffer))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            # A truncated answer is one that HTTP notices.
            return 0

    def makefile(self, _mode: str) -> Any:
        """Return what the other side sends, as a file."""
        return io.BufferedReader(_Incoming(self), _PIECE_BYTES)

    def close(self) -> None:
        """Do nothing: the tunnel belongs to who has opened it, and its answer may still be read."""


class _Incoming(io.RawIOBase):

    def __init__(self, stream: TlsTunnel) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.receive_into(buffer)


def post(stream: TlsTunnel, host: str, path: str, body: bytes) -> http.client.HTTPResponse:
    """Send one request and return the answer, whose content is still to be read.

    :param host: for the header
    :param path: URL path
    :param body: JSON
    :raises http.client.HTTPException: when the answer is none of HTTP
    """
    connection: Any = http.client.HTTPConnection(host)
    connection.sock = stream
    connection.request("POST", path, body, {"Content-Type": "application/json", "Connection": "close"})
    return connection.getresponse()

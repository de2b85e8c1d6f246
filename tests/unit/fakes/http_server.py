# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP server of the fakes, and what they have in common that answer by it."""
from __future__ import annotations

import contextlib
import http.server
import socket
import sys
import threading


class HttpServer(http.server.ThreadingHTTPServer):
    """A server with a thread for each connection, which ends with the server though its client keeps it."""

    daemon_threads = True

    def __init__(self, address, handler):
        super().__init__(address, handler)
        self._connections = set()

    def process_request(self, request, client_address):
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self):
        super().server_close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, client_address):
        """Report what a handler failed by, unless the client has hung up, as one whose time is over does."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """A handler that logs nothing and takes it that the client may hang up; connections are kept."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *dummy):
        """Say nothing."""

    def handle_one_request(self):
        """Answer, unless the client has gone meanwhile."""
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()


class Served:
    """A fake on a free port of loopback, which answers within a ``with`` statement.

    :ivar poll_seconds: how often its thread looks whether it is to end
    """

    poll_seconds = 0.01

    def serve(self, handler, host="127.0.0.1", port=0):
        """Listen; requests are answered from the beginning of the ``with`` on.

        :param handler: class of the handler of requests
        :param port: its port, 0 for a free one
        """
        self._server = HttpServer((host, port), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": self.poll_seconds}, daemon=True)

    @property
    def port(self):
        return self._server.server_address[1]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *dummy):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server of one folder, which says what it was asked for."""
from __future__ import annotations

import contextlib
import ssl
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


@contextlib.contextmanager
def running(folder, address, certificate=None):
    """Serve a folder: ``url``, and ``requested``, a list of pairs of a file's name and the code of the answer.

    :param address: where nodes reach it
    :param certificate: paths of a certificate for the address and of its key; None for plain HTTP
    """
    requested = []

    class Handler(SimpleHTTPRequestHandler):
        """Takes note of requests in place of a log."""

        def log_request(self, code="-", size="-"):
            requested.append((self.path.rpartition("/")[2], int(code)))

        def log_error(self, *_arguments):
            """Clients that go in the middle of an answer are none."""

    with ThreadingHTTPServer((address, 0), partial(Handler, directory=str(folder))) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield SimpleNamespace(url="http%s://%s:%d" % ("s" if certificate else "", *server.server_address),
                                  requested=requested)
        finally:
            server.shutdown()

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP server of the fakes."""
from __future__ import annotations

import http.server
import sys


class HttpServer(http.server.ThreadingHTTPServer):
    """A server with a thread for each connection, none of which outlives the tests."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        """Report what a handler failed by, unless the client has hung up, as one whose time is over does."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

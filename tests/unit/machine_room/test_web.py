# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP as agents speak it: credentials reach the server they are for."""
from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from fakes.http_server import HttpServer
from machine_room.web import Web


@pytest.fixture
def serve():
    """Return a function which starts a server that sends /from to a URL and notes the Authorization of /to."""
    with contextlib.ExitStack() as servers:
        def start(target=None):
            seen = []

            class Handler(BaseHTTPRequestHandler):
                def log_message(self, *_arguments):
                    """Quiet."""

                def do_GET(self):
                    if self.path == "/from":
                        self.send_response(302)
                        self.send_header("Location", target or "/to")
                    else:
                        seen.append(self.headers.get("Authorization"))
                        self.send_response(200)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            server = servers.enter_context(HttpServer(("127.0.0.1", 0), Handler))
            threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
            servers.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}", seen
        yield start


def follow(server):
    with Web(None).open(server + "/from", headers={"Authorization": "Basic secret"}) as answer:
        assert answer.status == 200


def test_another_server_gets_no_credentials(serve):
    other, seen = serve()
    server, _seen = serve(other + "/to")
    follow(server)
    assert seen == [None]


def test_the_same_server_is(serve):
    server, seen = serve()
    follow(server)
    assert seen == ["Basic secret"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP as agents speak it: credentials reach the server they are for."""
from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from bmc_certificates import issue
from fakes.http_server import HttpServer
from fakes.redfish import FakeRedfish
from machine_room.web import Unreachable, Web


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


def test_a_proxy_of_the_environment_is_asked_for_nothing(serve, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    url, seen = serve()
    with Web(None).open(url + "/to") as answer:
        assert answer.status == 200 and seen == [None]


def test_what_is_trusted_beside_the_file_is_an_authority_more(tmp_path):
    pairs = [issue(tmp_path, name)[0] for name in ("lab", "other")]
    with contextlib.ExitStack() as servers:
        urls = []
        for pair in pairs:
            server = FakeRedfish({"/redfish/v1": {}}, certificate=pair)
            servers.enter_context(server)
            urls.append(f"https://127.0.0.1:{server.port}/redfish/v1")
        lab, other = urls
        assert Web(pairs[0][0]).request(lab).status == 200
        with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
            Web(pairs[0][0]).request(other)
        both = Web(pairs[0][0], Path(pairs[1][0]).read_text())
        assert both.request(lab).status == both.request(other).status == 200


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

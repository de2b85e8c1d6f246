# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server whose BMC speaks HTTP without TLS: its address has ``+http``.

The lab's BMCs speak TLS alone: the test puts one of its own before them, which forwards all requests.
"""
from __future__ import annotations

import ssl
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support import only

# Two minutes, and the scheme is all that differs from test_enroll.py and test_provision.py.
pytestmark = pytest.mark.long

NAME = "server-04"
NOT_FORWARDED = {"host", "connection", "transfer-encoding", "content-length"}


class PlainBmc:
    """An HTTP server that forwards to the lab's BMCs.

    :ivar requests: methods and paths it was asked for
    """

    def __init__(self, url, ca_file):
        requests, context = [], ssl.create_default_context(cafile=ca_file)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self):
                requests.append((self.command, self.path))
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = urllib.request.Request(
                    url + self.path, data=body or None, method=self.command,
                    headers=dict((name, value) for name, value in self.headers.items()
                                 if name.lower() not in NOT_FORWARDED))
                try:
                    with urllib.request.urlopen(request, context=context, timeout=60) as answer:
                        self.answer(answer.status, answer.headers, answer.read())
                except urllib.error.HTTPError as refused:
                    self.answer(refused.code, refused.headers, refused.read())

            def answer(self, status, headers, body):
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() not in NOT_FORWARDED:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = forward

            def log_message(self, *_arguments):
                """Quiet."""

        self.requests = requests
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.netloc = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def plain(lab):
    made = PlainBmc(lab.figures["urls"]["redfish"], str(lab.dir / "pki" / "ca.crt"))
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("scheme", ["redfish-virtualmedia", "redfish"])
def test_a_server_behind_a_bmc_without_tls_is_inspected_and_provisioned(lab, plain, scheme):
    path = lab.servers[NAME]["bmc"]["address"].partition("/redfish/")[2]
    image = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    inventory = lab.inventory({NAME: {
        "bmc_address": f"{scheme}+http://{plain.netloc}/redfish/{path}",
        "bmh_image": {"url": image, "checksum": image + ".sha256", "checksum_type": "sha256", "format": "raw"}}})
    lab.remove_hosts(NAME)
    try:
        lab.playbook("enroll", "-i", inventory, *only(NAME)).ok()
        assert lab.state(NAME) == "available"
        assert lab.nodes()[NAME].driver_info["redfish_address"].startswith(f"http://{plain.netloc}")
        lab.playbook("provision", "-i", inventory, *only(NAME)).ok()
        assert lab.state(NAME) == "provisioned"
        assert any(method == "POST" and item.endswith("ComputerSystem.Reset") for method, item in plain.requests)
        inserted = any("InsertMedia" in item for dummy, item in plain.requests)
        assert inserted == (scheme == "redfish-virtualmedia")
    finally:
        lab.remove_hosts(NAME)
        lab.playbook("enroll", *only(NAME)).ok()
    assert lab.state(NAME) == "available"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions of network_check to servers on loopback, and what DHCP servers of a wire are reported as."""
from __future__ import annotations

import hashlib
import http.server
import socket
import struct
import threading

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import reach, reach_answers
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcp_message import Offer
from ansible_collections.metal3.baremetal.plugins.module_utils._network.wire_probe import ProbeError

OFFER = Offer("172.22.0.99", "02:00:00:00:00:99", "172.22.0.50", "evil.efi\x1b[2J", "", ())


def ask(**wanted):
    probe = wanted.pop("probe", lambda *arguments: [])
    checks, found = reach.check(dict({"timeout_seconds": 2}, **wanted), probe)
    return [(entry["ok"], entry["found"]) for entry in checks], [str(problem) for problem in found]


def test_ports_that_must_and_must_not_answer(listener, closed):
    tcp = [{"host": "127.0.0.1", "port": listener, "reachable": True},
           {"host": "127.0.0.1", "port": closed, "reachable": False},
           {"name": "Ironic", "host": "127.0.0.1", "port": closed, "reachable": True},
           {"host": "127.0.0.1", "port": listener, "reachable": False}]
    checks, found = ask(tcp=tcp)
    assert checks == [(True, "a connection"), (True, "connection refused"), (False, "connection refused"),
                      (False, "a connection")]
    assert found[0].startswith(f"Ironic (127.0.0.1:{closed}): tcp: found connection refused, expected a connection")
    assert "found a connection, expected no connection" in found[1]


@pytest.mark.parametrize(("answer", "result"), [
    (struct.pack("!HH", 3, 1) + b"x" * 512, (True, "512 bytes")),
    (struct.pack("!HH", 5, 1) + b"no\x1b[2J such file\0", (False, 'error 1, "no\\x1b[2J such file"')),
    (struct.pack("!HH", 9, 1), (False, "a message of kind 9")),
    (None, (False, "no answer within 1 s"))], ids=["data", "error", "other", "silent"])
def test_a_file_by_tftp(answer, result):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve():
            request, client = server.recvfrom(1000)
            assert request == b"\0\1snponly.efi\0octet\0"
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as transfer:
                if answer:
                    transfer.sendto(answer, client)

        threading.Thread(target=serve, daemon=True).start()
        port = server.getsockname()[1]
        checks, _found = ask(tftp=[{"host": "127.0.0.1", "port": port, "path": "snponly.efi"}], timeout_seconds=1)
    assert checks == [result]


@pytest.fixture
def files():
    """URL of a web server whose files are 5 bytes each, but for one that is empty and one that is not there."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0]
            body = b"" if path == "/empty" else b"known"
            self.send_response(404 if path == "/none" else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *dummy):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


KNOWN = hashlib.sha256(b"known").hexdigest()


def test_a_file_by_http_is_the_right_one(files, closed):
    checks, found = ask(http=[
        {"url": f"http://{files}/known"}, {"url": f"http://{files}/known", "sha256": KNOWN.upper()},
        {"name": "images", "url": f"http://admin:secret-word@{files}/known?token=secret-word", "sha256": "0" * 64},
        {"url": f"http://{files}/none"}, {"url": f"http://{files}/empty"}, {"url": f"http://127.0.0.1:{closed}/known"}])
    assert checks[:-1] == [(True, "an answer"), (True, "5 bytes, the right ones"), (False, "5 bytes, others"),
                           (False, "http 404 not found"), (False, "an empty answer")]
    assert checks[-1] == (False, found[3].partition("found ")[2].partition(", expected")[0])
    assert found[0].startswith("images (") and f"5 bytes with the SHA-256 {KNOWN}" in found[0]
    assert "find out who answers" in found[0] and "secret-word" not in "".join(found)
    assert "refused" in found[3] and len(found) == 4


def test_what_is_too_large_to_compare_is_not_read_to_its_end(files, monkeypatch):
    monkeypatch.setattr(reach_answers, "LARGEST_BYTES", 4)
    assert ask(http=[{"url": f"http://{files}/known", "sha256": KNOWN}])[0] == [(False, "more than 0 MiB")]


def test_dhcp_servers_that_are_missing_or_somebody_elses():
    entry = {"interface": "prov", "mac": "00:5c:52:31:3a:01", "seconds": 1}
    checks, found = ask(dhcp=[dict(entry, expected_servers=["172.22.0.1"])], probe=lambda *arguments: [OFFER])
    assert checks == [(False, "172.22.0.99 offers 172.22.0.50")]
    assert "a DHCP server 172.22.0.99 (card 02:00:00:00:00:99) that offers 172.22.0.50 and boots evil.efi" in found[0]
    assert "\x1b" not in "".join(found) and "no offer from 172.22.0.1" in found[1]
    assert ask(dhcp=[dict(entry, allowed_servers=["172.22.0.99"])], probe=lambda *arguments: [OFFER])[1] == []
    assert ask(dhcp=[entry]) == ([(True, "no offer")], [])

    def down(*_arguments):
        raise ProbeError("interface prov: network is down")
    assert ask(dhcp=[entry], probe=down)[0] == [(False, "interface prov: network is down")]


def test_mistakes_are_found_before_anything_is_asked():
    wrong = reach_answers.problems({
        "tcp": [{"port": 0}], "tftp": [{"port": 69, "path": "a\nb"}], "timeout_seconds": 0,
        "dhcp": [{"mac": "x", "seconds": 0}],
        "http": [{"url": "ftp://192.0.2.1/a"}, {"url": "http://[/", "sha256": "short"}]})
    assert [(problem.subject, problem.field) for problem in wrong] == [
        ("tcp[0]", "port"), ("tftp[0]", "path"), ("http[0]", "url"), ("http[1]", "url"),
        ("http[1]", "sha256"), ("dhcp[0]", "mac"), ("dhcp[0]", "seconds"),
        ("network_check", "timeout_seconds")]

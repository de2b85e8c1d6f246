# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions of network_check to servers on loopback, and what DHCP servers of a wire are reported as."""
from __future__ import annotations

import socket
import struct
import threading

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import reach
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcp_message import Offer
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcp_probe import DhcpProbeError

OFFER = Offer("172.22.0.99", "02:00:00:00:00:99", "172.22.0.50", "evil.efi\x1b[2J", "", ())


def ask(**wanted):
    probe = wanted.pop("probe", lambda *arguments: [])
    checks, found = reach.check(dict({"timeout_seconds": 2}, **wanted), probe)
    return [(entry["ok"], entry["found"]) for entry in checks], [str(problem) for problem in found]


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound, and nobody listens.
        yield taken.getsockname()[1]


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


def test_dhcp_servers_that_are_missing_or_somebody_elses():
    entry = {"interface": "prov", "mac": "00:5c:52:31:3a:01", "seconds": 1}
    checks, found = ask(dhcp=[dict(entry, expected_servers=["172.22.0.1"])], probe=lambda *arguments: [OFFER])
    assert checks == [(False, "172.22.0.99 offers 172.22.0.50")]
    assert "a DHCP server 172.22.0.99 (card 02:00:00:00:00:99) that offers 172.22.0.50 and boots evil.efi" in found[0]
    assert "\x1b" not in "".join(found) and "no offer from 172.22.0.1" in found[1]
    assert ask(dhcp=[dict(entry, allowed_servers=["172.22.0.99"])], probe=lambda *arguments: [OFFER])[1] == []
    assert ask(dhcp=[entry]) == ([(True, "no offer")], [])

    def down(*_arguments):
        raise DhcpProbeError("interface prov: network is down")
    assert ask(dhcp=[entry], probe=down)[0] == [(False, "interface prov: network is down")]


def test_mistakes_are_found_before_anything_is_asked():
    wrong = reach.problems({"tcp": [{"port": 0}], "tftp": [{"port": 69, "path": "a\nb"}], "timeout_seconds": 0,
                            "dhcp": [{"mac": "x", "seconds": 0}]})
    assert [(problem.subject, problem.field) for problem in wrong] == [
        ("tcp[0]", "port"), ("tftp[0]", "path"), ("dhcp[0]", "mac"), ("dhcp[0]", "seconds"),
        ("network_check", "timeout_seconds")]

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
import types

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._network import reach, reach_answers
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcp_message import Offer
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcpv6_message import Advertisement
from ansible_collections.metal3.baremetal.plugins.module_utils._network.neighbor_message import Router
from ansible_collections.metal3.baremetal.plugins.module_utils._network.other_servers import Answers
from ansible_collections.metal3.baremetal.plugins.module_utils._network.wire_probe import ProbeError

OFFER = Offer("172.22.0.99", "02:00:00:00:00:99", "172.22.0.50", "evil.efi\x1b[2J", "", ())
OWN = "02:00:00:00:00:01"
DUID = "00:03:00:01:02:00:00:00:00:99"
SERVER6 = Advertisement(DUID, "fe80::99", "02:00:00:00:00:99", "fd00:22::50", "")
ROUTER = Router("fe80::98", "02:00:00:00:00:98", 1800, False, ("fd00:98::/64",))
ENTRY = {"interface": "prov", "mac": "00:5C:52:31:3A:01", "seconds": 1}


def ask(**wanted):
    probe = wanted.pop("probe", lambda *arguments: Answers([], [], []))
    interfaces = types.SimpleNamespace(card=lambda name: OWN, has_ipv6=lambda name: False)
    checks, found = reach.check(dict({"timeout_seconds": 2}, **wanted), probe, wanted.pop("interfaces", interfaces))
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
    def answers(*_arguments):
        return Answers([OFFER], [], [])
    checks, found = ask(dhcp=[dict(ENTRY, expected_servers=["172.22.0.1"])], probe=answers)
    assert checks == [(False, "172.22.0.99 offers 172.22.0.50")]
    assert "a DHCP server 172.22.0.99 (card 02:00:00:00:00:99) that offers 172.22.0.50 and boots evil.efi" in found[0]
    assert "\x1b" not in "".join(found) and "no offer from 172.22.0.1" in found[1]
    assert ask(dhcp=[dict(ENTRY, allowed_servers=["172.22.0.99"])], probe=answers)[1] == []
    assert ask(dhcp=[ENTRY]) == ([(True, "no offer")], [])

    def down(*_arguments):
        raise ProbeError("interface prov: network is down")
    assert ask(dhcp=[ENTRY], probe=down)[0] == [(False, "interface prov: network is down")]


def of_both(*_arguments):
    return Answers([], [SERVER6, SERVER6._replace(server_mac=OWN, server="00:03:00:01:" + OWN)],
                   [ROUTER, ROUTER._replace(mac=OWN)])


def test_servers_and_routers_of_ipv6_are_reported_as_those_of_ipv4():
    checks, found = ask(dhcp=[ENTRY], probe=of_both)
    assert checks == [(False, "fe80::99 offers fd00:22::50, router fe80::98 advertises fd00:98::/64")]
    server, router = found
    assert server.startswith(f"interface prov: found a DHCPv6 server with the DUID {DUID} at fe80::99 (card "
                             "02:00:00:00:00:99) that offers fd00:22::50, expected none; ")
    assert router.startswith("interface prov: found router advertisements of fe80::98 (card 02:00:00:00:00:98) with a "
                             "default route for 1800 s")


@pytest.mark.parametrize(("named", "count"), [
    ({"expected_servers": [DUID.upper()], "allowed_routers": ["FE80:0::98"]}, 0),
    ({"expected_servers": ["fe80::99"], "allowed_routers": ["fe80::98"]}, 0),
    ({"allowed_servers": ["fe80::99"], "allowed_routers": ["fe80::98"]}, 0),
    # Who may lend addresses need not route.
    ({"allowed_servers": ["fe80::98", "fe80::99"]}, 1),
    ({"expected_servers": ["fe80::99", "fe80::97"], "allowed_routers": ["fe80::98"]}, 1)],
    ids=["by DUID", "by address", "allowed", "no router", "a server that is missing"])
def test_servers_and_routers_of_ipv6_are_named_as_for_the_role(named, count):
    assert len(ask(dhcp=[dict(ENTRY, **named)], probe=of_both)[1]) == count


def test_this_machines_own_server_of_ipv6_is_not_the_expected_one():
    found = ask(dhcp=[dict(ENTRY, expected_servers=["00:03:00:01:" + OWN], allowed_routers=["fe80::98"],
                           allowed_servers=[DUID])], probe=of_both)[1]
    assert len(found) == 1 and f"no offer from 00:03:00:01:{OWN}, expected an offer for {ENTRY['mac']}" in found[0]


@pytest.mark.parametrize(("given", "has_ipv6", "asked"), [
    ({}, False, False), ({}, True, True), ({"ipv6": False}, True, False), ({"ipv6": True}, False, True),
    ({"expected_servers": ["172.22.0.1"]}, False, False), ({"expected_servers": [DUID]}, False, True),
    ({"allowed_routers": ["fe80::98"]}, False, True), ({"allowed_servers": ["fe80::99"]}, False, True)],
    ids=["nothing", "an address", "off", "on", "IPv4", "DUID", "router", "server"])
def test_ipv6_is_asked_where_the_interface_has_it_or_the_question_names_it(given, has_ipv6, asked):
    questions = []

    def probe(*arguments):
        questions.append(arguments)
        return Answers([], [], [])
    interfaces = types.SimpleNamespace(card=lambda name: OWN, has_ipv6=lambda name: has_ipv6)
    reach.check({"timeout_seconds": 2, "dhcp": [dict(ENTRY, **given)]}, probe, interfaces)
    assert questions == [("prov", [ENTRY["mac"].lower()], 1, asked)]


def test_names_that_no_server_or_router_can_have_are_refused():
    wrong = reach_answers.problems({"timeout_seconds": 1, "dhcp": [
        dict(ENTRY, expected_servers=["dhcp.example.org", "172.22.0.1", DUID, "fe80::1"],
             allowed_servers=["fe80::1%eno2"], allowed_routers=["fd00::1", "169.254.0.1", "fe80::1"]),
        dict(ENTRY, ipv6=False, expected_servers=["fe80::1"])]})
    assert [(problem.subject, problem.field, problem.actual) for problem in wrong] == [
        ("dhcp[0]", "expected_servers", '"dhcp.example.org"'), ("dhcp[0]", "allowed_servers", '"fe80::1%eno2"'),
        ("dhcp[0]", "allowed_routers", '"fd00::1"'), ("dhcp[0]", "allowed_routers", '"169.254.0.1"'),
        ("dhcp[1]", "expected_servers", '"fe80::1"')]


def test_mistakes_are_found_before_anything_is_asked():
    wrong = reach_answers.problems({
        "tcp": [{"port": 0}], "tftp": [{"port": 69, "path": "a\nb"}], "timeout_seconds": 0,
        "dhcp": [{"mac": "x", "seconds": 0}],
        "http": [{"url": "ftp://192.0.2.1/a"}, {"url": "http://[/", "sha256": "short"}]})
    assert [(problem.subject, problem.field) for problem in wrong] == [
        ("tcp[0]", "port"), ("tftp[0]", "path"), ("http[0]", "url"), ("http[1]", "url"),
        ("http[1]", "sha256"), ("dhcp[0]", "mac"), ("dhcp[0]", "seconds"),
        ("network_check", "timeout_seconds")]

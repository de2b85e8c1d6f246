# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports that are taken, and who has them."""
from __future__ import annotations

import errno
import os
import socket

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import ports, site_figures, site_service

FIGURES = {"name": "lab", "index": 0, "dir": "/nowhere/lab", "ports": {"ironic": 21010}}


def test_a_process_that_ends_during_the_search_is_not_reported(monkeypatch):
    looks = [{"ironic": FIGURES["ports"]["ironic"]}] * 2
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses: looks.pop() if looks else {})
    monkeypatch.setattr(ports, "holders_of", dict.fromkeys)
    assert ports.foreign(FIGURES) == []


def test_a_port_that_stays_taken_by_an_unknown_process_is_named(monkeypatch):
    monkeypatch.setattr(ports, "_END_SECONDS", 0.1)
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses: {"ironic": FIGURES["ports"]["ironic"]})
    monkeypatch.setattr(ports, "holders_of", dict.fromkeys)
    text, = ports.foreign(FIGURES)
    assert text == f"port {FIGURES['ports']['ironic']} (ironic) is taken by a process of another user"


def test_a_port_on_which_this_process_listens_is_taken():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
        assert ports.taken({"ironic": port}) == {"ironic": port}
        assert ports.holders("127.0.0.1", port) == {os.getpid()}
    assert ports.taken({"ironic": port}) == {}


@pytest.mark.parametrize("listens, asked, is_found", [
    ("127.0.0.1", "127.0.0.1", True), ("127.0.0.1", "127.0.0.2", False), ("0.0.0.0", "127.0.0.2", True),
    ("0.0.0.0", "::1", False), ("::", "::1", True), ("::", "127.0.0.2", True), ("::1", "127.0.0.1", False),
    ("127.0.0.1", "0.0.0.0", True), ("::1", "0.0.0.0", False), ("::1", "::", True), ("127.0.0.1", "::", False)])
def test_who_listens_is_known_by_address_and_port(listens, asked, is_found):
    """Two programs may have one port at two addresses of the machine."""
    family = socket.AF_INET6 if ":" in listens else socket.AF_INET
    with socket.create_server((listens, 0), family=family) as listener:
        port = listener.getsockname()[1]
        assert ports.holders(asked, port) == ({os.getpid()} if is_found else None)
    assert ports.holders(asked, port) is None


@pytest.mark.parametrize("address, others", [
    ("192.0.2.1", []), ("192.0.2.2", [("ironic", "pid 22 (?)")]), ("192.0.2.3", [("ironic", "pid 33 (?)")])])
def test_another_plane_has_the_same_port_at_another_address(monkeypatch, address, others):
    """The second run of the first one would be refused, because of the second one."""
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses: wanted)
    monkeypatch.setattr(ports, "_sockets", lambda proc: [
        ports.Socket(f"socket:[{number}]", ports.ipaddress.ip_address(f"192.0.2.{number}"), 6385)
        for number in (1, 2, 3)])
    monkeypatch.setattr(ports, "_links", lambda proc: [("socket:[3]", 33), ("socket:[1]", 11), ("socket:[2]", 22)])
    monkeypatch.setattr(ports, "program", lambda pid: "?")
    monkeypatch.setattr(ports.orphans, "processes", lambda directory: [11])
    figures = dict(FIGURES, ports={"ironic": 6385}, listens_on={"ironic": address})
    assert ports.owners_of(figures) == others


@pytest.mark.parametrize("error, owner", [
    (errno.EACCES, None), (errno.EADDRINUSE, "pid 22 (x)"), (errno.EACCES, "pid 22 (x)")])
def test_a_port_that_only_root_may_have_is_not_said_to_be_taken(monkeypatch, tmp_path, error, owner):
    """Nobody would find the process that is to be stopped."""
    monkeypatch.setattr(ports, "_END_SECONDS", 0)
    monkeypatch.setattr(ports, "is_here", lambda address: True)
    monkeypatch.setattr(ports, "listen_error", lambda address, port: error)
    monkeypatch.setattr(ports, "holders_of", lambda places: dict.fromkeys(places, {22} if owner else None))
    monkeypatch.setattr(ports, "program", lambda pid: "x")
    problem, = site_service.machine_problems({
        "name": "p", "mode": "process", "service": "none", "dir": str(tmp_path), "address": "192.0.2.1",
        "kubernetes_address": "127.0.0.1", "ports": {"image_server": 443}, "listens_on": {"image_server": "192.0.2.1"}})
    assert problem.field == "management_plane.ports.image_server"
    assert problem.actual == (f"443, taken by {owner}" if owner
                              else f"443, on which user {os.geteuid()} may not listen")


@pytest.mark.parametrize("address, is_separate, is_taken", [
    ("0.0.0.0", True, True), ("127.78.32.2", True, True), ("0.0.0.0", False, False), ("127.0.0.1", True, False)])
def test_the_port_of_conductors_is_looked_at_where_they_are_processes(monkeypatch, tmp_path, address, is_separate,
                                                                      is_taken):
    """Ironic's former database had been deleted when the first of them could not listen."""
    plane = {"name": "mysite", "address": "127.0.0.1", "dir": str(tmp_path), "ironic_separate": is_separate}
    with socket.create_server((address, 0)) as listener:
        port = listener.getsockname()[1]
        monkeypatch.setattr(ports.ironic_rpc, "PORT", port)
        figures = dict(site_figures.compute(plane, {}, str(tmp_path)), ports={}, service="none")
        found = site_service.machine_problems(figures)
        foreign = ports.foreign(figures)
    assert bool(foreign) is is_taken
    if not is_taken:
        assert found == []
        return
    # One, although a listener at all addresses stands in the way of all four.
    problem, = found
    assert problem.field == "ironic_processes"
    assert problem.actual.startswith(f"separate, whose conductors need port {port} of loopback addresses, which at ")
    assert problem.actual.endswith(f" is taken by pid {os.getpid()} ({ports.program(os.getpid())})")
    assert problem.expected.startswith(f"port {port} free at 127.78.32.1, ")


def test_the_planes_own_conductors_are_nobody_elses(monkeypatch):
    figures = dict(FIGURES, ports={}, conductor_addresses=["127.78.32.1", "127.78.32.2"])
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses: wanted)
    monkeypatch.setattr(ports, "_sockets", lambda proc: [
        ports.Socket(f"socket:[{number}]", ports.ipaddress.ip_address(f"127.78.32.{number}"), 8089)
        for number in (1, 2)])
    monkeypatch.setattr(ports, "_links", lambda proc: [("socket:[1]", 11), ("socket:[2]", 22)])
    monkeypatch.setattr(ports, "program", lambda pid: "?")
    monkeypatch.setattr(ports.orphans, "processes", lambda directory: [11])
    assert ports.owners_of(figures) == [("ironic_conductor_2", "pid 22 (?)")]


def test_a_connection_that_ends_during_the_search_hides_no_other_one(tmp_path):
    """A program with many connections would be taken for one of another user, and the run be refused."""
    listens = "  sl  local_address rem_address   st\n   0: 0100007F:{:04X} 00000000:0000 0A 0 0 0 0 0 77\n"
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(listens.format(6385))
    (tmp_path / "4711" / "fd").mkdir(parents=True)
    for number in range(3, 20):
        # What has ended is no link any more.
        (tmp_path / "4711" / "fd" / str(number)).write_text("")
    (tmp_path / "4711" / "fd" / "20").symlink_to("socket:[77]")
    assert ports.holders("127.0.0.1", 6385, str(tmp_path)) == {4711}


def test_all_addresses_of_ipv6_are_free_where_all_of_ipv4_are_taken():
    """nginx has both beside each other."""
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        assert ports.listen_error("::", port) == 0
        assert ports.listen_error("0.0.0.0", port) == ports.listen_error("127.0.0.1", port) == errno.EADDRINUSE


def test_which_addresses_are_this_machines():
    assert ports.is_here("127.0.0.1") and not ports.is_here("192.0.2.1")

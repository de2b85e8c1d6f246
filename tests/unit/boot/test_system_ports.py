# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems are asked from when they are provisioned until they answer, and what is known of their boot is said."""
from __future__ import annotations

import socket
import threading

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._boot import system_ports
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.system_ports import SystemPorts


class Connection:
    """Takes note of who was asked, and answers or refuses."""

    def __init__(self, *outcomes):
        self.outcomes, self.asked = list(outcomes), []

    def __call__(self, address, timeout):
        self.asked.append(address)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        return self

    def close(self):
        """Do nothing."""


def test_a_system_is_waited_for_until_it_answers_and_is_not_asked_again():
    times, connection = [100], Connection(TimeoutError(), ConnectionRefusedError(), None)
    systems = SystemPorts(22, {"h1": "192.0.2.11"}, lambda: times[0], connection)
    systems.look()
    assert connection.asked == []
    assert systems.lacking("h1") == "port 22 of 192.0.2.11 was not asked yet (0 s)"
    systems.look()
    times[0] += 40
    assert systems.lacking("h1", lambda seconds: f"booting for {seconds}") == (
        "booting for 40; port 22 of 192.0.2.11 does not answer yet (40 s)")
    systems.look()
    assert systems.lacking("h1") == (
        "port 22 of 192.0.2.11 refuses connections: the system runs, and nothing listens there yet (40 s)")
    systems.look()
    assert systems.lacking("h1") == ""
    systems.look()
    assert connection.asked == [("192.0.2.11", 22)] * 3


@pytest.mark.parametrize("error", [socket.gaierror(-2, "unknown"), UnicodeError("label too long")])
def test_a_host_without_an_address_is_asked_by_its_name(error):
    connection = Connection(error)
    systems = SystemPorts(22, {"h1": ""}, lambda: 0, connection)
    systems.lacking("h1")
    systems.look()
    assert connection.asked == [("h1", 22)]
    assert systems.lacking("h1") == "port 22 of h1 is no address that can be resolved (0 s)"


def test_without_a_port_nothing_is_waited_for():
    before = threading.active_count()
    with SystemPorts(0, {}) as systems:
        assert systems.lacking("h1") == "" and threading.active_count() == before


def test_it_asks_real_ports_in_the_background(monkeypatch):
    monkeypatch.setattr(system_ports, "INTERVAL_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener, SystemPorts(
            listener.getsockname()[1], {"h1": "127.0.0.1"}) as systems:
        systems.lacking("h1")
        with listener.accept()[0] as asked:
            assert asked.recv(1) == b""
        while systems.lacking("h1"):
            pass
    systems._thread.join(10)
    assert not systems._thread.is_alive()

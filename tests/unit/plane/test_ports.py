# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports that are taken, and who has them."""
from __future__ import annotations

import os
import socket

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import ports

FIGURES = {"name": "lab", "index": 0, "dir": "/nowhere/lab", "ports": {"ironic": 21010}}


def test_a_process_that_ends_during_the_search_is_not_reported(monkeypatch):
    looks = [{"ironic": FIGURES["ports"]["ironic"]}] * 2
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses: looks.pop() if looks else {})
    monkeypatch.setattr(ports, "listeners", dict)
    assert ports.foreign(FIGURES) == []


def test_a_port_that_stays_taken_by_an_unknown_process_is_named(monkeypatch):
    monkeypatch.setattr(ports, "_END_SECONDS", 0.1)
    monkeypatch.setattr(ports, "taken", lambda wanted, addresses: {"ironic": FIGURES["ports"]["ironic"]})
    monkeypatch.setattr(ports, "listeners", dict)
    text, = ports.foreign(FIGURES)
    assert text == f"port {FIGURES['ports']['ironic']} (ironic) is taken by a process of another user"


def test_a_port_on_which_this_process_listens_is_taken():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
        assert ports.taken({"ironic": port}) == {"ironic": port}
        assert ports.listeners()[port] == os.getpid()
    assert ports.taken({"ironic": port}) == {}

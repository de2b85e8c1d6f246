# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IPMI: login, privilege level and power, asked by ipmitool of a BMC on loopback that counts logins."""
from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery.discover import Scan, discover
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import service as bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import ipmi
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings

# Enough for a BMC on a busy machine. Where no answer is what a test is about, ipmitool waits for several times as long.
SETTINGS = Settings(None, 5, 5, 8)
IMPATIENT = SETTINGS._replace(connect_timeout_seconds=2)


@pytest.fixture
def silent_port():
    """A UDP port that nobody else gets, and where nobody answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def closed_port():
    """A TCP port that nobody else gets, and that refuses connections."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@contextlib.contextmanager
def fake_bmc():
    """Yield the port of a BMC and the list of what it printed, which is complete when the block has ended."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("fake_ipmi.py"))], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    try:
        yield int(process.stdout.readline()), lines
    finally:
        process.kill()
        lines += process.communicate(timeout=10)[0].splitlines()


def preflight(port, username="admin", password="right", query="", settings=SETTINGS):
    host = {"name": "a", "bmc": {"address": f"ipmi://127.0.0.1:{port}{query}", "username": username,
                                 "password": password}}
    result, = bmc_service.preflight([host], settings, 30, 120)
    return result, dict((check["check"], check["status"]) for check in result["checks"])


def test_login_level_and_power():
    with fake_bmc() as (port, lines):
        result, statuses = preflight(port)
    assert statuses == dict.fromkeys(["reach", "login", "privileges", "power", "scheme"], "ok")
    assert result["facts"]["ipmi"]["power"] == "on"
    assert result["facts"]["ipmi"]["firmware_version"] == "1.00"
    assert lines == ["login admin"]


def test_a_wrong_password_is_tried_once():
    with fake_bmc() as (port, lines):
        result, statuses = preflight(port, password="wrong")
    assert statuses["reach"] == "ok"
    assert statuses["login"] == "problem"
    assert statuses["power"] == "unknown"
    assert "wrong" not in str(result)
    assert lines == ["login admin"]


def test_the_level_of_the_account_is_too_low():
    with fake_bmc() as (port, dummy):
        statuses = preflight(port, "operator")[1]
        lower = preflight(port, "operator", query="?privilegelevel=OPERATOR")[1]
    assert (statuses["privileges"], statuses["login"]) == ("problem", "ok")
    assert set(lower.values()) == {"ok"}


def test_nobody_answers(silent_port):
    statuses = preflight(silent_port, settings=IMPATIENT)[1]
    assert statuses["reach"] == "problem"
    assert statuses["login"] == "unknown"


def test_without_the_program_nothing_is_known(monkeypatch, silent_port):
    monkeypatch.setattr(ipmi, "PROGRAM", "ipmitool-that-is-not-there")
    statuses = preflight(silent_port)[1]
    assert statuses["login"] == "unknown"


@pytest.mark.parametrize(("username", "found", "settings"), [("admin", 1, SETTINGS), ("nobody", 0, IMPATIENT)])
def test_discovery_falls_back_to_ipmi(username, found, settings, closed_port):
    with fake_bmc() as (port, dummy):
        servers, refusals, silent = discover(
            [Scan(["127.0.0.1"], [closed_port], ["https"], username, "right", False, port)], [], settings)
    assert [server["address"] for server in servers] == [f"ipmi://127.0.0.1:{port}"] * found
    assert [refusal["stage"] for refusal in refusals] == ["login"] * (1 - found)
    assert silent == 0

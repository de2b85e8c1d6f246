# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of an image server: another program's is refused, whether the server is there or not; its own is not."""
from __future__ import annotations

import os
import socket

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._images.cache import server_ports

UNIT = "metal3-image-server-images.service"


@pytest.fixture(name="port")
def _port():
    """A port of 127.0.0.1 on which this process listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        yield listening.getsockname()[1]


@pytest.mark.parametrize("unit", [None, UNIT])
def test_a_port_of_another_program_is_refused_at_each_address(port, unit):
    with pytest.raises(RefusedError) as caught:
        server_ports.check(["127.0.0.1", "127.0.0.2", "0.0.0.0"], port, unit)
    assert [problem.actual.partition(" (")[0] for problem in caught.value.problems] == [
        f"{port}, taken at {address} by pid {os.getpid()}" for address in ("127.0.0.1", "0.0.0.0")]


def test_what_the_server_itself_listens_on_is_not_taken(port, monkeypatch):
    monkeypatch.setattr(server_ports, "is_of", lambda pid, unit: (pid, unit) == (os.getpid(), UNIT))
    server_ports.check(["127.0.0.1", "0.0.0.0"], port, UNIT)
    with pytest.raises(RefusedError):
        server_ports.check(["127.0.0.1"], port, "other.service")


def test_a_port_of_nobody_that_can_be_named_is_refused(port, monkeypatch):
    monkeypatch.setattr(server_ports.ports, "holders", lambda address, port: set())
    with pytest.raises(RefusedError, match="by a process that is not known"):
        server_ports.check(["127.0.0.1"], port, UNIT)


@pytest.mark.parametrize("text, expected", [
    (f"0::/system.slice/{UNIT}\n", True), (f"12:pids:/a\n1:name=systemd:/system.slice/{UNIT}\n", True),
    (f"0::/system.slice/{UNIT}/worker\n", True), (f"0::/system.slice/other-{UNIT}\n", False), ("0::/\n", False),
    (None, False)])
def test_a_process_is_of_the_unit_of_its_control_group(tmp_path, text, expected):
    if text is not None:
        (tmp_path / "7").mkdir()
        (tmp_path / "7" / "cgroup").write_text(text)
    assert server_ports.is_of(7, UNIT, str(tmp_path)) is expected

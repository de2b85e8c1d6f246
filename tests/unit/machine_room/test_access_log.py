# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a BMC's log has of a request, and what it must not have."""
from __future__ import annotations

import json
import os
import re

import pytest
from machine_room import access_log, bounded_log, ipmi
from machine_room.access_log import AccessLog

CLIENT = ("198.18.0.20", 40000)


@pytest.fixture
def log(tmp_path):
    return AccessLog(str(tmp_path / access_log.FILE))


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_a_request_has_its_moment_client_and_answer(log):
    log.begin(CLIENT, "GET", "/redfish/v1/Systems/1", "python-requests/2").end(200)
    line, = lines(log.path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("moment"))
    assert line == {"address": "198.18.0.20", "port": 40000, "method": "GET", "path": "/redfish/v1/Systems/1",
                    "status": 200, "user_agent": "python-requests/2"}


def test_its_moment_is_that_of_its_arrival(log, monkeypatch):
    monkeypatch.setattr(access_log, "now", iter("12").__next__)
    first, second = (log.begin(CLIENT, "GET", path) for path in ("/1", "/2"))
    second.end(200)
    first.end(None)
    assert [(line["moment"], line["path"], line["status"]) for line in lines(log.path)] == [
        ("2", "/2", 200), ("1", "/1", None)]


def test_texts_of_others_stay_in_their_line_and_end(log):
    log.begin(CLIENT, "GET" * 999, "/redfish\n\x1b[31m?token=canary" + "x" * 9999, "y" * 9999).end(404)
    line, = lines(log.path)
    assert line["path"] == "/redfish\n\x1b[31m" and len(line["user_agent"]) == len(line["method"]) == 300
    with open(log.path, encoding="ascii") as file:
        text = file.read()
    assert text.count("\n") == 1 and "\x1b" not in text and "canary" not in text


def test_it_begins_again_before_it_is_too_long(log, monkeypatch):
    monkeypatch.setattr(bounded_log, "LIMIT_BYTES", 1000)
    for number in range(100):
        log.begin(CLIENT, "GET", f"/{number}").end(200)
    kept = lines(log.path + ".1") + lines(log.path)
    assert [line["path"] for line in kept] == [f"/{number}" for number in range(100 - len(kept), 100)]
    assert all(os.path.getsize(path) < 1500 for path in (log.path, log.path + ".1"))


class Session:
    """As much of a session of pyghmi as a BMC uses."""

    sockaddr = (*CLIENT, 0, 0)

    def __init__(self):
        self.answers = []

    def send_ipmi_response(self, data=(), code=0):
        self.answers.append((list(data), code))


class TestIpmi:
    @pytest.fixture
    def bmc(self, server):
        # Without a port.
        found = object.__new__(ipmi.Bmc)
        found._server = server
        return found

    @pytest.mark.parametrize("knob, code", [(None, 0), ("bmc_unavailable", ipmi.NODE_BUSY), ("bmc_unreachable", None)])
    def test_requests_of_a_session(self, bmc, server, knob, code):
        server.knobs.set({knob: True} if knob else {})
        session = Session()
        # Get Chassis Status.
        bmc.handle_raw_request({"netfn": 0, "command": 1, "data": b"canary"}, session)
        line, = lines(server.access.path)
        del line["moment"]
        assert line == {"address": CLIENT[0], "port": CLIENT[1], "method": "IPMI", "path": "/netfn/0x00/command/0x01",
                        "status": code, "user_agent": ""}
        assert [answer for dummy, answer in session.answers] == ([] if code is None else [code])

    def test_what_switches_a_server_is_known_by_its_path(self, bmc, server):
        bmc.handle_raw_request({"netfn": 0, "command": 2, "data": bytes([1])}, Session())
        assert [line["path"] for line in lines(server.access.path)] == [access_log.CHASSIS_CONTROL]

    def test_what_begins_a_session(self, bmc, server):
        # Too short to be answered.
        bmc.sessionless_data(b"\x06", CLIENT)
        line, = lines(server.access.path)
        assert (line["path"], line["status"]) == (access_log.SESSIONLESS, None)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of the lab's BMCs: read, and compared for two Ironics that have power over one host."""
from __future__ import annotations

import itertools
from types import SimpleNamespace

import bmc_requests
import pytest
from bmc_requests import BmcLogs, Request
from machine_room import access_log, bounded_log

HERE, POD = "198.18.0.1", "198.18.0.80"
SYSTEM = "/redfish/v1/Systems/1"
RESET = SYSTEM + "/Actions/ComputerSystem.Reset"
IRONIC, COLLECTION = "python-requests/2.32.5", "metal3.baremetal"


def moment(second):
    return f"2026-05-01T10:00:{second:06.3f}Z"


def asked(second, address, method="GET", path=SYSTEM, agent=IRONIC):
    return Request(moment(second), "server-01", address, 40000, method, path, 200, agent)


CLEAN = [asked(1, HERE), asked(12, HERE), asked(20, POD), asked(30, POD, "POST", SYSTEM + "/VirtualMedia")]


def mistakes(*more, requests=None):
    logged = [*more, *(CLEAN if requests is None else requests)]
    return bmc_requests.mistakes(logged, moment(10), {HERE, "127.0.0.1"}, {POD})


def test_one_ironic_after_the_other_passes():
    assert mistakes() == []


@pytest.mark.parametrize("second", [20, 20.001, 40])
def test_a_former_ironic_that_goes_on_asking_is_named(second):
    mistake, = mistakes(asked(second, "127.0.0.1", path="/redfish/v1"))
    assert mistake.startswith(f"both ask: {moment(second)} server-01: GET /redfish/v1 by 127.0.0.1") and POD in mistake


def test_what_others_ask_from_the_same_machine_is_none_of_ironics():
    assert mistakes(asked(40, HERE, agent=COLLECTION), asked(40, HERE, agent=""),
                    asked(40, HERE, access_log.IPMI, access_log.SESSIONLESS, "")) == []


def test_an_ironic_that_has_taken_over_before_the_handover_does_not_count():
    """Of a move there and back, the one elsewhere has asked before this one has let go."""
    assert mistakes(asked(5, POD)) == []


@pytest.mark.parametrize("requests", [[], CLEAN[:2], CLEAN[2:]], ids=["none", "of the former", "of the new"])
def test_an_empty_log_or_half_of_one_proves_nothing(requests):
    found = mistakes(requests=requests)
    assert [text.split(":")[0].split(" since")[0] for text in found] == [text for text, is_missing in (
        ("the Ironic that lets go is in no log", CLEAN[0] not in requests),
        ("the Ironic that takes over has asked no BMC", CLEAN[2] not in requests)) if is_missing]


@pytest.mark.parametrize("request_", [
    asked(25, POD, "POST", RESET), asked(11, HERE, "POST", RESET), asked(25, "198.18.0.99", "POST", RESET, COLLECTION),
    asked(25, POD, "PUT", RESET), asked(25, POD, access_log.IPMI, access_log.CHASSIS_CONTROL, "")])
def test_a_server_that_anybody_switches_meanwhile_is_named(request_):
    mistake, = mistakes(request_)
    assert mistake == f"switched: {request_}"


def test_who_switched_a_server_before_is_of_no_interest():
    assert mistakes(asked(9, HERE, "POST", RESET)) == []


@pytest.fixture
def lab(tmp_path, monkeypatch):
    seconds = itertools.count()
    for module in (bmc_requests, access_log):
        monkeypatch.setattr(module, "now", lambda: moment(next(seconds)))
    for folder in ("machines/server-01", "redfish"):
        (tmp_path / folder).mkdir(parents=True)
    return SimpleNamespace(dir=tmp_path, servers={"server-01": {}}, figures={"bridge": {"address": HERE + "/23"}})


def ask(lab, folder, address, path=SYSTEM):
    access_log.AccessLog(str(lab.dir / folder / access_log.FILE)).begin((address, 1), "GET", path, IRONIC).end(200)


def test_the_logs_of_all_bmcs_count_and_those_of_none(lab):
    ask(lab, "machines/server-01", HERE)
    logs = BmcLogs(lab)
    assert logs.mistakes() == [f"the Ironic that takes over has asked no BMC since {logs.since}"]
    ask(lab, "machines/server-01", POD)
    assert logs.mistakes() == []
    # Who begins with the root, which is every BMC's.
    ask(lab, "redfish", HERE, "/redfish/v1/")
    mistake, = logs.mistakes()
    assert "no server: GET /redfish/v1/ by " + HERE in mistake
    assert logs.mistakes(back=True) == []


def test_a_log_that_does_not_reach_back_proves_nothing(lab, monkeypatch):
    monkeypatch.setattr(bounded_log, "LIMIT_BYTES", 1)
    before = BmcLogs(lab)
    ask(lab, "machines/server-01", HERE)
    logs = BmcLogs(lab)
    ask(lab, "machines/server-01", HERE)
    assert len(logs.requests()) == 2
    with pytest.raises(AssertionError, match="does not reach back"):
        before.requests()

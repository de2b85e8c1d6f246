# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine room of the running lab, from outside: Redfish as sushy speaks it, its API, its end and return."""
from __future__ import annotations

import os
import signal

import pytest
import sushy
from bmc_requests import BmcLogs, by_ironic
from bmc_system import system
from machine_room.client import MachineRoomClient, MachineRoomError
from machine_room.web import Unreachable
from support import eventually


@pytest.fixture(scope="module")
def room(lab):
    return MachineRoomClient.of_lab(str(lab.dir))


@pytest.fixture
def server(lab, room):
    """The last server, with all knobs off afterwards."""
    name = sorted(lab.servers)[-1]
    yield lab.servers[name]
    room.clear_knobs(name)


def test_the_bmc_reports_the_hardware_of_the_inventory(lab, server):
    found = system(lab, server)
    assert found.manufacturer == server["vendor"] and found.serial_number == server["serial"]
    assert found.json["Model"] == server["model"]
    assert found.json["MemorySummary"]["TotalSystemMemoryGiB"] == server["memory_mib"] // 1024
    assert sorted(found.ethernet_interfaces.summary) == sorted(nic["mac"] for nic in server["nics"])


def test_a_bmc_logs_who_asks(lab, room, server):
    logs = BmcLogs(lab)
    assert system(lab, server).power_state
    found = [item for item in logs.requests() if item.server == server["name"] and item.moment >= logs.since
             and by_ironic(item) and item.path.endswith(server["uuid"])]
    assert found and {(item.address, item.method, item.status) for item in found} == {("127.0.0.1", "GET", 200)}
    assert all(item.port for item in found)
    assert server["name"] in room.server(server["name"])["access_log"]


def test_a_certificate_of_another_authority_is_not_trusted(lab, server):
    with pytest.raises(sushy.exceptions.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
        system(lab, server, verify=True)


def test_every_server_has_credentials_of_its_own(lab, server):
    other = lab.servers[sorted(lab.servers)[0]]
    with pytest.raises(sushy.exceptions.AccessError):
        system(lab, server, credentials_of=other)


@pytest.mark.parametrize("knob, error", [
    ("bmc_unauthorized", sushy.exceptions.AccessError),
    ("bmc_unavailable", sushy.exceptions.ServerSideError),
    ("bmc_unreachable", sushy.exceptions.ConnectionError),
])
def test_bmc_knobs(lab, room, server, knob, error):
    room.set_knobs(server["name"], **{knob: True})
    with pytest.raises(error):
        system(lab, server)
    room.clear_knobs(server["name"])
    assert system(lab, server).power_state


def test_other_bmcs_answer_while_one_is_unreachable(lab, room, server):
    room.set_knobs(server["name"], bmc_unreachable=True)
    assert system(lab, lab.servers[sorted(lab.servers)[0]]).power_state


def test_the_api_needs_the_labs_token(lab):
    stranger = MachineRoomClient(lab.figures["urls"]["machine_room"], "wrong", str(lab.dir / "pki" / "ca.crt"))
    with pytest.raises(MachineRoomError, match="401"):
        stranger.servers()


def test_unknown_knobs_are_refused(room, server):
    with pytest.raises(MachineRoomError, match="unknown knob bmc_on_fire"):
        room.set_knobs(server["name"], bmc_on_fire=True)


def test_secrets_are_their_owners(lab):
    assert lab.dir.stat().st_mode & 0o077 == 0
    secrets = [path for path in (lab.dir / "secrets").rglob("*") if path.is_file()]
    names = set(str(path.relative_to(lab.dir / "secrets")) for path in secrets)
    assert {"ironic_password", "machine_room_token"} <= names
    assert set(f"bmc/{name}/{part}" for name in lab.servers for part in ("username", "password")) <= names
    for path in secrets + [lab.dir / "clouds.yaml", lab.dir / "ironic" / "htpasswd"]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_killed_machine_room_returns_with_its_servers_as_they_were(lab, room):
    kept = ("name", "power", "runs", "boots", "boot_device", "node", "knobs")
    before = [{key: server[key] for key in kept} for server in room.servers()]
    pid = lab.pid("machine-room")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: lab.pid("machine-room") not in (None, pid), 90, "a new machine room")

    def answer():
        try:
            return room.servers()
        except Unreachable:
            return None

    after = eventually(answer, 90, "the machine room's answer")
    assert [{key: server[key] for key in kept} for server in after] == before

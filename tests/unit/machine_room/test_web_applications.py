# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The WSGI applications: BMC access, the agents' API, the machine room's API."""
from __future__ import annotations

import base64
import io
import json

import pytest
from fakes.machine_room import TOKEN
from machine_room.access_log import AccessLog
from machine_room.account import Account
from machine_room.agent_api import AgentApi
from machine_room.api import Api
from machine_room.bmc_access import BmcAccess
from machine_room.wsgi import NoAnswer, answer


def call(application, method, path, body=None, **headers):
    """Return status and decoded body of a request."""
    data = b"" if body is None else json.dumps(body).encode()
    path, query = (path.split("?") + [""])[:2]
    environ = dict({"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query,
                    "CONTENT_LENGTH": str(len(data)), "wsgi.input": io.BytesIO(data)}, **headers)
    statuses = []
    answered = b"".join(application(environ, lambda status, _headers: statuses.append(int(status.split()[0]))))
    return statuses[0], json.loads(answered) if answered else None


def basic(username, password):
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


class TestBmcAccess:
    @pytest.fixture
    def servers(self, make_server):
        return [make_server(1), make_server(2)]

    @pytest.fixture
    def others(self, tmp_path):
        return AccessLog(str(tmp_path / "others.log"))

    @pytest.fixture
    def bmc(self, servers, others):
        def redfish(_environ, start_response):
            return answer(start_response, 200, {"ok": True})
        for server in servers:
            server.bmc_account = Account(server, "user-" + server.name, "password")
        return BmcAccess(redfish, servers, others)

    @staticmethod
    def system(server):
        return f"/redfish/v1/Systems/{server.uuid}"

    def test_own_credentials(self, bmc, servers):
        for server in servers:
            assert call(bmc, "GET", self.system(server),
                        HTTP_AUTHORIZATION=basic("user-" + server.name, "password"))[0] == 200

    def test_another_servers_credentials(self, bmc, servers):
        assert call(bmc, "GET", self.system(servers[0]),
                    HTTP_AUTHORIZATION=basic("user-server-02", "password"))[0] == 401

    @pytest.mark.parametrize("authorization", ["", "Basic", "Basic %%%", "Bearer x", basic("user-server-01", "wrong")])
    def test_wrong_credentials(self, bmc, servers, authorization):
        assert call(bmc, "GET", self.system(servers[0]), HTTP_AUTHORIZATION=authorization)[0] == 401

    @pytest.mark.parametrize("path", ["/redfish", "/redfish/v1", "/redfish/v1/"])
    def test_the_root_is_public(self, bmc, path):
        assert call(bmc, "GET", path)[0] == 200

    def test_other_paths_need_any_servers_credentials(self, bmc):
        assert call(bmc, "GET", "/redfish/v1/Systems")[0] == 401
        assert call(bmc, "GET", "/redfish/v1/Systems",
                    HTTP_AUTHORIZATION=basic("user-server-02", "password"))[0] == 200

    @pytest.mark.parametrize("knob, status", [("bmc_unauthorized", 401), ("bmc_unavailable", 503)])
    def test_knobs_that_refuse(self, bmc, servers, knob, status):
        servers[0].knobs.set({knob: True})
        mine = {"HTTP_AUTHORIZATION": basic("user-server-01", "password")}
        assert call(bmc, "GET", self.system(servers[0]), **mine)[0] == status
        assert call(bmc, "GET", self.system(servers[1]),
                    HTTP_AUTHORIZATION=basic("user-server-02", "password"))[0] == 200
        servers[0].knobs.clear()
        assert call(bmc, "GET", self.system(servers[0]), **mine)[0] == 200

    def test_unreachable(self, bmc, servers):
        servers[0].knobs.set({"bmc_unreachable": True})
        with pytest.raises(NoAnswer):
            call(bmc, "GET", self.system(servers[0]), HTTP_AUTHORIZATION=basic("user-server-01", "password"))

    def test_each_request_is_in_the_log_of_the_server_that_it_names(self, bmc, servers, others):
        """Those that were refused or not answered, too; by its path, else by the name of its account."""
        client = {"REMOTE_ADDR": "198.18.0.20", "REMOTE_PORT": "40000", "HTTP_USER_AGENT": "python-requests/2"}
        accounts = [basic("user-" + server.name, "password") for server in servers]
        action = self.system(servers[0]) + "/Actions/ComputerSystem.Reset"
        call(bmc, "POST", action + "?a=canary", {"ResetType": "canary"}, HTTP_AUTHORIZATION=accounts[0], **client)
        call(bmc, "GET", self.system(servers[0]), HTTP_AUTHORIZATION=accounts[1], **client)
        call(bmc, "GET", "/redfish/v1/Systems", HTTP_AUTHORIZATION=accounts[1], **client)
        call(bmc, "GET", "/redfish/v1/", **client)
        call(bmc, "GET", "/redfish/v1/Systems/unknown")
        servers[1].knobs.set({"bmc_unreachable": True})
        with pytest.raises(NoAnswer):
            call(bmc, "PATCH", self.system(servers[1]), {}, HTTP_AUTHORIZATION=accounts[1], **client)
        found = []
        for log in (servers[0].access, servers[1].access, others):
            with open(log.path, encoding="utf-8") as file:
                text = file.read()
            assert "canary" not in text and all(account not in text for account in accounts)
            found.append([json.loads(line) for line in text.splitlines()])
        assert [[(line["method"], line["path"], line["status"]) for line in log] for log in found] == [
            [("POST", action, 200), ("GET", self.system(servers[0]), 401)],
            [("GET", "/redfish/v1/Systems", 200), ("PATCH", self.system(servers[1]), None)],
            [("GET", "/redfish/v1/", 200), ("GET", "/redfish/v1/Systems/unknown", 401)]]
        assert (found[0][0]["address"], found[0][0]["port"], found[0][0]["user_agent"]) == (
            "198.18.0.20", 40000, "python-requests/2")


class TestAgentApi:
    @pytest.fixture
    def api(self, server):
        return AgentApi({server.name: server})

    def test_commands_need_the_token(self, api, agent):
        assert call(api, "GET", "/agents/server-01/v1/commands/")[0] == 401
        assert call(api, "GET", "/agents/server-01/v1/commands/?agent_token=wrong")[0] == 401
        assert call(api, "GET", "/agents/server-01/v1/commands/?agent_token=" + TOKEN) == (200, {"commands": []})

    def test_running_a_command(self, api, agent):
        path = "/agents/server-01/v1/commands/?wait=true&agent_token=" + TOKEN
        status, result = call(api, "POST", path, {"name": "standby.get_partition_uuids", "params": {}})
        assert status == 200 and result["command_result"] == {}
        path = f"/agents/server-01/v1/commands/{result['id']}?agent_token={TOKEN}"
        assert call(api, "GET", path) == (200, result)

    @pytest.mark.parametrize("body, status", [({"name": "standby.sync"}, 400), (None, 400),
                                              ({"name": "a.b", "params": {}}, 400)])
    def test_bad_requests(self, api, agent, body, status):
        found, fault = call(api, "POST", "/agents/server-01/v1/commands/?agent_token=" + TOKEN, body)
        assert found == status and fault["faultstring"]

    def test_busy(self, api, agent):
        agent.commands._results.append({"id": "1", "command_name": "sync", "command_status": "RUNNING"})
        status, fault = call(api, "POST", "/agents/server-01/v1/commands/?agent_token=" + TOKEN,
                             {"name": "standby.sync", "params": {}})
        # Ironic looks for these words.
        assert status == 409 and "agent is busy" in fault["faultstring"].lower()

    def test_nobody_answers_for_a_machine_without_agent(self, api, server):
        with pytest.raises(NoAnswer):
            call(api, "GET", "/agents/server-01/v1/commands/")
        with pytest.raises(NoAnswer):
            call(api, "GET", "/agents/server-99/v1/commands/")


class TestApi:
    TOKEN = {"HTTP_AUTHORIZATION": "Bearer secret"}

    @pytest.fixture
    def api(self, server):
        return Api({server.name: server}, "secret")

    def test_status_needs_no_token(self, api):
        assert call(api, "GET", "/v1/status") == (200, {"servers": 1})

    def test_all_else_does(self, api):
        assert call(api, "GET", "/v1/servers")[0] == 401
        assert call(api, "GET", "/v1/servers", HTTP_AUTHORIZATION="Bearer wrong")[0] == 401

    def test_servers(self, api):
        assert call(api, "GET", "/v1/servers", **self.TOKEN)[1]["servers"][0]["power"] == "Off"
        assert call(api, "GET", "/v1/servers/server-01", **self.TOKEN)[1]["name"] == "server-01"
        assert call(api, "GET", "/v1/servers/server-99", **self.TOKEN)[0] == 404

    def test_knobs(self, api, server):
        path = "/v1/servers/server-01/knobs"
        assert call(api, "PUT", path, {"slow_power": 2}, **self.TOKEN)[1]["knobs"] == {"slow_power": 2}
        assert call(api, "PUT", path, {"fast_power": 2}, **self.TOKEN)[0] == 400
        assert server.knobs.get("slow_power") == 2
        assert call(api, "DELETE", path, **self.TOKEN)[1]["knobs"] == {}

    def test_power(self, api, server):
        path = "/v1/servers/server-01/power"
        assert call(api, "POST", path, {"action": "power_on"}, **self.TOKEN)[1]["power"] == "On"
        assert call(api, "POST", path, {"action": "power_off"}, **self.TOKEN)[1]["power"] == "Off"
        assert call(api, "POST", path, {"action": "explode"}, **self.TOKEN)[0] == 400

    def test_console(self, api, server):
        server.console.print("line %d", 1)
        server.console.print("100%")
        lines = call(api, "GET", "/v1/servers/server-01/console?lines=1", **self.TOKEN)[1]["lines"]
        assert len(lines) == 1 and lines[0].endswith("100%")

    def test_disk(self, api, server):
        server.disks[0].ensure()
        server.disks[0].write([b"abc"])
        path = "/v1/servers/server-01/disks/sda?algorithm=md5&length=3"
        found = call(api, "GET", path, **self.TOKEN)[1]
        assert found["digest"] == "900150983cd24fb0d6963f7d28e17f72" and found["partitions"] == []
        assert call(api, "GET", "/v1/servers/server-01/disks/sdz", **self.TOKEN)[0] == 404

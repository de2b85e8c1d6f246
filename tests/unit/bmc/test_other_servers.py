# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BMC that names another server: nothing is sent there, with or without credentials; two servers on loopback."""
from __future__ import annotations

import json

import pytest
from fakes.redfish import FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery.discover import Scan, discover
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings, Target, gather

SETTINGS = Settings(None, 2, 5, 8)
SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
SESSIONS = "/redfish/v1/SessionService/Sessions"


@pytest.fixture
def other():
    """The server that must not be asked; it would take any path."""
    with FakeRedfish(tree("dell")) as server:
        yield server
        assert (server.requests, server.credentials) == ([], [])


@pytest.fixture
def bmc():
    with FakeRedfish(tree("dell")) as server:
        yield server


def ask(bmc, path=SYSTEM):
    address = bmc_address.parse(f"redfish+http://127.0.0.1:{bmc.port}{path}")
    facts, = gather([Target("a", address, "admin", "right", False)], SETTINGS)
    return facts


def ways(other, path):
    """Return three spellings of a place on the other server."""
    authority = f"127.0.0.1:{other.port}"
    return [f"http://{authority}{path}", f"//{authority}{path}", f"HTTP://admin@{authority}{path}"]


@pytest.mark.parametrize("way", range(3))
def test_links_to_another_server_are_not_followed(bmc, other, way):
    """Each kind of link that is gone along: systems, a part of a system, manager, account, a member of a collection."""
    resources = bmc.resources

    def elsewhere(path):
        return {"@odata.id": ways(other, path)[way]}

    resources[SYSTEM]["Bios"] = elsewhere(SYSTEM + "/Bios")
    resources[SYSTEM]["Links"]["ManagedBy"] = [elsewhere("/redfish/v1/Managers/iDRAC.Embedded.1")]
    resources["/redfish/v1"]["AccountService"] = elsewhere("/redfish/v1/AccountService")
    resources[SYSTEM + "/EthernetInterfaces"]["Members"].insert(0, elsewhere(SYSTEM + "/EthernetInterfaces/1"))
    resources["/redfish/v1/Systems"]["Members"].append(elsewhere(SYSTEM))
    facts = ask(bmc)
    assert facts["login"]["ok"] and facts["system"]["path"] == SYSTEM
    for part in ("bios", "manager", "account_service"):
        assert "expected a path of its own" in facts["unread"][part], part
        assert f"127.0.0.1:{other.port}" in facts["unread"][part]
    assert len(facts["nics"]) == 2


@pytest.mark.parametrize("way", range(3))
def test_a_password_is_not_sent_to_a_session_service_elsewhere(bmc, other, way):
    bmc.resources["/redfish/v1"]["Links"]["Sessions"] = {"@odata.id": ways(other, SESSIONS)[way]}
    facts = ask(bmc)
    assert (facts["error"]["stage"], facts["error"]["kind"]) == ("login", "malformed")
    assert "expected a path of its own" in facts["error"]["text"]
    assert bmc.logins == []


@pytest.mark.parametrize("way", range(3))
def test_a_basic_login_does_not_follow_a_link_elsewhere(other, way):
    with FakeRedfish(tree("lenovo")) as bmc:
        bmc.resources["/redfish/v1"]["Systems"] = {"@odata.id": ways(other, "/redfish/v1/Systems")[way]}
        facts = ask(bmc, "")
        assert (facts["error"]["stage"], bmc.logins) == ("login", [])


@pytest.mark.parametrize("way", range(2))
def test_discovery_refuses_a_system_elsewhere(bmc, other, way):
    where = ways(other, SYSTEM)[way]
    bmc.resources["/redfish/v1/Systems"]["Members"] = [{"@odata.id": where}]
    servers, refusals, silent = discover(
        [Scan(["127.0.0.1"], [bmc.port], ["http"], "admin", "right", False, None)], [], SETTINGS)
    assert (servers, silent) == ([], 0)
    assert [refusal["stage"] for refusal in refusals] == ["system"]
    assert where in refusals[0]["text"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("path", ["/redfish/v1", "/redfish/v1/Systems", SYSTEM])
@pytest.mark.parametrize("way", range(2))
def test_redirects_to_another_server_are_not_followed(bmc, other, status, path, way):
    bmc.redirects[path] = (status, ways(other, path)[way])
    facts = ask(bmc)
    text = facts["error"].get("text") or facts["unread"].get("systems") or facts["unread"].get("system")
    assert "a redirect of GET to" in text and "which is not followed" in text
    assert f"credentials go to http://127.0.0.1:{bmc.port} only" in text


@pytest.mark.parametrize("status", [302, 307, 308])
def test_the_login_is_not_sent_again_where_it_is_redirected_to(bmc, other, status):
    bmc.redirects[SESSIONS] = (status, ways(other, SESSIONS)[0])
    facts = ask(bmc)
    assert facts["error"]["stage"] == "login"
    assert "a redirect of POST to" in facts["error"]["text"]
    assert [kind for kind, dummy in bmc.credentials] == ["body"]


@pytest.mark.parametrize("spelling", ["path", "url"])
def test_a_redirect_to_another_path_of_the_bmc_is_followed(bmc, spelling):
    """Some BMCs want a slash at the end of collections."""
    bmc.resources["/redfish/v1/Systems/All"] = bmc.resources["/redfish/v1/Systems"]
    prefix = {"path": "", "url": f"http://127.0.0.1:{bmc.port}"}[spelling]
    bmc.redirects["/redfish/v1/Systems"] = (308, prefix + "/redfish/v1/Systems/All")
    facts = ask(bmc, "")
    assert facts["system"]["path"] == SYSTEM


def test_redirects_in_a_circle_end(bmc):
    bmc.redirects["/redfish/v1/Systems"] = (301, "/redfish/v1/Systems")
    assert "more than 5 redirects" in ask(bmc)["unread"]["systems"]


@pytest.mark.parametrize("way", range(2))
def test_a_session_is_ended_at_the_bmc_wherever_its_location_leads(bmc, other, way):
    bmc.session_location = ways(other, SESSIONS + "/1")[way]
    assert ask(bmc)["login"]["ok"]
    assert ("DELETE", SESSIONS + "/1") in bmc.requests
    assert bmc.open_sessions == 0


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_gets_no_credentials(bmc, other, monkeypatch, variable):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, f"http://127.0.0.1:{other.port}")
    assert ask(bmc)["login"]["ok"]


def test_a_netrc_of_the_user_is_not_for_bmcs(bmc, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password not-for-bmcs\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    assert ask(bmc)["login"]["ok"]
    assert [kind for kind, dummy in bmc.credentials if kind == "Authorization"] == []


@pytest.mark.parametrize("body", [
    b"[]", b'"text"', b"null", b"\xff\xfe", b"[" * 200000, b"{" * 200000, b'{"a": ' + b"9" * 9000 + b"}", b""],
    ids=["list", "text", "null", "no UTF-8", "deep", "broken", "long number", "empty"])
def test_an_answer_that_is_no_resource(bmc, body):
    bmc.bodies[SYSTEM] = body
    facts = ask(bmc)
    assert facts["unread"]["system"] == f"{SYSTEM} is no JSON object"
    assert facts["system"] == {}


def test_an_answer_without_end_is_not_read_to_its_end(bmc):
    bmc.bodies[SYSTEM] = json.dumps({"Model": "x" * (17 * 1024 ** 2)}).encode()
    assert ask(bmc)["unread"]["system"] == "an answer of more than 16 MiB"

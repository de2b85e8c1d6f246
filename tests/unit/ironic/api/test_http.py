# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each module against each answer that an Ironic, or what is before it, can give to each kind of request."""
from __future__ import annotations

import base64
import json
import re
import socket
from collections import Counter

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args
from fakes import http_ironic
from fakes.http_ironic import ALL, HALF, HANG, LOST, REDIRECT, RESET, HttpIronic
from fakes.time_limits import ends

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting import parallel
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic import module as ironic_module
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import bulk
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import delivery

MAC, LOST_PORT = "00:5c:52:00:00:01", "00:5c:52:00:00:02"
PASSWORD = "canary-b01c"
# Of each module of the action group what it is to do; all but the one that reads write something.
MODULES = {
    "ironic_node": {"nodes": [
        {"name": "new", "driver": "redfish", "driver_info": {"redfish_address": "https://192.0.2.9"}},
        {"name": "a", "description": "x"}]},
    "ironic_port": {"ports": [{"address": MAC, "node": "a"}]},
    "ironic_node_action": {"nodes": ["a"], "action": "reboot", "poll_interval_seconds": 0.05,
                           "wait_timeout_seconds": 60, "confirm": "1"},
    "ironic_node_info": {"ports": True},
    "ironic_check": {"auth_type": "none", "validate_certs": False},
    "ironic_discovery": {"state": "absent", "nodes": ["uuid-unknown"]},
    "ironic_audit": {"repair": ["port_without_node"], "confirm": "1"},
}
READING = ("ironic_check", "ironic_node_info")
# To these it is as good when somebody else was first.
DELETING = ("ironic_audit", "ironic_discovery")
NEXT_STEP = re.compile(r"check |run again|look at|look whether|start it|set endpoint|use another user")


@pytest.fixture
def ironic(monkeypatch):
    monkeypatch.setattr(parallel, "RETRY_DELAYS_SECONDS", (0, 0))
    monkeypatch.setattr(delivery, "LOOKS_AFTER_SECONDS", (0, 0))
    for name in ("OS_CLOUD", "OS_ENDPOINT", "OS_USERNAME", "OS_PASSWORD", "OS_AUTH_TYPE"):
        monkeypatch.delenv(name, raising=False)
    with HttpIronic() as server:
        server.ironic.add("a", "active", power_state="power on")
        server.ironic.nodes[server.ironic.add("unknown")]["name"] = None
        server.ironic.answers["GET", "/nodes/uuid-unknown/inventory"] = {
            "inventory": {}, "plugin_data": {"auto_discovered": True}}
        server.ironic.ports["p"] = {"uuid": "p", "address": LOST_PORT, "node_uuid": "gone"}
        yield server


@pytest.fixture
def run(ironic, capsys):
    """Run a module and return its result."""
    def call(module, **params):
        options = dict({"endpoint": ironic.url, "username": "admin", "password": PASSWORD,
                        "request_timeout_seconds": 1}, **dict(MODULES[module], **params))
        with patch_module_args(options), ends(), pytest.raises(SystemExit):
            getattr(ironic_module, "run_" + module)()
        text = capsys.readouterr().out
        assert PASSWORD not in text
        return json.loads(text)
    return call


def written_twice(ironic):
    return [what for what, count in Counter(ironic.carried_out).items() if count > 1]


def test_each_module_of_the_action_group_is_tried():
    with open("meta/runtime.yml", encoding="utf-8") as stream:
        assert sorted(MODULES) == sorted(yaml.safe_load(stream)["action_groups"]["ironic"])


@pytest.mark.parametrize("module", sorted(MODULES))
def test_each_module_does_its_work_when_nothing_is_wrong(ironic, run, module):
    result = run(module)
    assert "failed" not in result, result
    assert bool(ironic.carried_out) is (module not in READING)
    assert written_twice(ironic) == []


def test_neither_a_login_of_netrc_nor_a_proxy_for_this_machine_is_taken_of_the_environment(
        ironic, run, monkeypatch, tmp_path):
    """The library sends a login for any server in place of the one that was given."""
    (tmp_path / "netrc").write_text("default login netrc-user password netrc-word\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert "failed" not in run("ironic_node_info")
    login = "Basic " + base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
    assert set(authorization for _method, _path, authorization in ironic.requests) == {login}
    ironic.requests.clear()
    assert "failed" not in run("ironic_node_info", username=None, password=None)
    assert set(authorization for _method, _path, authorization in ironic.requests) == {None}


@pytest.mark.parametrize("answer", ALL)
@pytest.mark.parametrize("kind", ["version", "read", "write"])
@pytest.mark.parametrize("module", sorted(MODULES))
def test_each_answer_ends_in_time_with_a_next_step(ironic, run, module, kind, answer):
    if kind == "version" and answer in ("list", "deep", "html", "text"):
        # Only its headers count.
        answer = "404"
    with HttpIronic() as elsewhere:
        ironic.redirect_to = elsewhere.url
        ironic.kind, ironic.answer = kind, answer
        result = run(module)
        # Neither login nor anything else goes where Ironic has not been said to be.
        assert elsewhere.requests == []
    assert written_twice(ironic) == []
    if kind == "write" and module in READING:
        assert "failed" not in result
        return
    if "failed" not in result:
        # What was to be done was done or gone, which the module has found out; or nobody reads the answer.
        assert kind == "write" and (answer in (*LOST, "list") or (module in DELETING and answer == "404"))
        return
    message = "\n".join([result["msg"]] + [finding["error"] for finding in result.get("findings", [])])
    assert NEXT_STEP.search(message), message
    assert "Traceback" not in message and len(message) < 3000


@pytest.mark.parametrize("stops", [0, 1, 2])
@pytest.mark.parametrize("module", sorted(set(MODULES) - set(READING)))
def test_a_run_that_fails_half_way_says_what_it_has_written(ironic, run, module, stops):
    ironic.stops = stops
    result = run(module)
    assert "failed" in result or stops
    if "failed" in result:
        assert result["changed"] is bool(ironic.carried_out)
        assert len(result.get("written", [])) == len(ironic.carried_out)


@pytest.mark.parametrize("answer", sorted(set(LOST) | {"429", "503"}))
@pytest.mark.parametrize("module", sorted(set(MODULES) - set(READING)))
def test_one_bad_answer_to_a_write_is_got_over_or_reported_and_nothing_is_done_twice(ironic, run, module, answer):
    ironic.kind, ironic.answer, ironic.times = "write", answer, 1
    result = run(module)
    assert written_twice(ironic) == []
    if "failed" not in result:
        assert ironic.carried_out
    elif module in DELETING:
        # Deleted, and reported as it was answered: with something that is no answer of Ironic's.
        assert answer in ("html", "text") and "no JSON" in json.dumps(result)
    else:
        # A restart leaves no sign at a node that is on before and after.
        assert module == "ironic_node_action" and answer in LOST
        assert "it is not sent a second time" in result["msg"]
        assert ironic.carried_out == [("PUT", "/nodes/uuid-a/states/power")]


@pytest.mark.parametrize("answer", [HALF, HANG, RESET, "502"])
def test_a_verb_whose_answer_is_lost_is_followed_to_its_end(ironic, run, answer):
    ironic.ironic.nodes["uuid-a"]["provision_state"] = "manageable"
    ironic.kind, ironic.answer, ironic.times = "write", answer, 1
    result = run("ironic_node_action", action="provide", wait_timeout_seconds=20)
    assert result["nodes"][0]["provision_state"] == "available"
    assert ironic.carried_out == [("PUT", "/nodes/uuid-a/states/provision")]


def test_a_redirect_names_where_it_leads_without_the_login(ironic, run):
    ironic.kind, ironic.answer, ironic.redirect_to = "read", REDIRECT, "http://u:secret-of-the-link@192.0.2.7"
    message = run("ironic_node_info")["msg"]
    assert "redirects to http://***@192.0.2.7/v1/nodes" in message and "is not followed" in message
    assert "secret-of-the-link" not in message


@pytest.mark.parametrize(("asked", "kept"), [
    ("7", 7), ("86400", 30), ("0", 1), ("-1", 1), ("tomorrow", 1), ("9" * 400, 1)])
def test_the_pause_that_ironic_asks_for_is_kept_within_bounds(ironic, monkeypatch, asked, kept):
    pauses = []
    monkeypatch.setattr(parallel, "RETRY_DELAYS_SECONDS", (1, 2, 4))
    monkeypatch.setitem(http_ironic.ANSWERS, "429", (429, {"Retry-After": asked}, b"{}"))
    ironic.kind, ironic.answer, ironic.times = "write", "429", 1
    client = ironic_module.IronicClient({"endpoint": ironic.url, "request_timeout_seconds": 5})
    outcome, = bulk.persist([lambda: client.request("PUT", "/nodes/uuid-a/traits", body={"traits": []})],
                            lambda text: None, pauses.append)
    assert (outcome.error, pauses) == (None, [kept])


def test_a_request_that_was_never_sent_is_sent_again_whatever_it_is(ironic):
    client = ironic_module.IronicClient({"endpoint": ironic.url, "request_timeout_seconds": 5})
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        client._adapter.endpoint_override = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with pytest.raises(IronicError) as refusal:
        client.request("PUT", "/nodes/uuid-a/states/power", body={"target": "rebooting"})
    assert refusal.value.retriable and not refusal.value.lost
    assert "does not answer; start it, or correct the endpoint" in refusal.value.message

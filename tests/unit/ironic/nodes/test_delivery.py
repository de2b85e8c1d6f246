# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that are lost: what is looked up, what is sent again, and what is not."""
from __future__ import annotations

import pytest
from fakes.clock import Clock
from fakes.ironic import FakeIronic
from fakes.ironic_nodes import MAC, option, port, redfish
from fakes.ironic_nodes import act as run
from fakes.ironic_nodes import run as register
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import states
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import path_of
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError, lost_answer
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import diff as node_diff
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.port_service import PortService

STEPS = [{"interface": "deploy", "step": "erase_devices"}]


class Forgetful(FakeIronic):
    """Loses answers to requests that may not be repeated.

    :param method: method of the requests whose answer is lost
    :param does_it: whether it carries them out
    :param times: how many answers are lost
    """

    def __init__(self, method, does_it, times=1):
        super().__init__()
        self.method, self.does_it, self.times = method, does_it, times
        self.done = []

    def request(self, method, path, query=None, body=None, subject=None, repeatable=None):
        lose = self.times > 0 and method == self.method and repeatable is False
        answer = None
        if not lose or self.does_it:
            answer = super().request(method, path, query, body, subject)
            self.done.append((method, path))
            if path.endswith("/states/provision"):
                self.nodes[path.split("/")[2]]["provision_updated_at"] = str(len(self.done))
        if lose:
            self.times -= 1
            raise lost_answer(subject, "timed out")
        return answer


def forgetful(method, does_it, state="active", times=1, **values):
    client = Forgetful(method, does_it, times)
    client.add("a", state, **dict({"power_state": "power on"}, **values))
    return client


@pytest.mark.parametrize("does_it", [True, False])
def test_a_reboot_whose_answer_is_lost_is_not_repeated(does_it):
    client = forgetful("PUT", does_it)
    node, = run(client, "reboot", confirm="1")["nodes"]
    if does_it:
        # The node shows that it restarts.
        assert node["error"] == ""
    else:
        assert "it is not sent a second time, because that could do it twice; look at the server" in node["error"]
    assert client.done == [("PUT", "/nodes/uuid-a/states/power")] * does_it


@pytest.mark.parametrize(("action", "state"), [
    ("inspect", "manageable"), ("clean", "manageable"), ("service", "active"), ("rebuild", "active")])
@pytest.mark.parametrize("does_it", [True, False])
def test_what_acts_each_time_is_not_repeated(action, state, does_it):
    client = forgetful("PUT", does_it, state)
    node, = run(client, action, steps=STEPS, confirm="1")["nodes"]
    assert len(client.done) == does_it
    assert (node["error"] == "") is does_it


@pytest.mark.parametrize(("action", "state"), [
    ("manage", "available"), ("provide", "manageable"), ("deploy", "available"), ("undeploy", "active"),
    ("adopt", "manageable"), ("unrescue", "rescue")])
@pytest.mark.parametrize("does_it", [True, False])
def test_what_ironic_refuses_a_second_time_goes_on(action, state, does_it):
    client = forgetful("PUT", does_it, state)
    node, = run(client, action, confirm="1")["nodes"]
    assert (node["error"], node["provision_state"]) == ("", states.VERBS[action].goal)
    assert len(client.done) == 1


def test_a_node_that_can_not_be_read_after_a_lost_answer_gets_nothing_more():
    client = forgetful("PUT", False, "manageable")
    real = client.request

    def request(method, *arguments, **options):
        client.refusals["GET", "/nodes/uuid-a"] = [IronicError("no answer", reason="Unreachable")] * 9
        return real(method, *arguments, **options)
    client.request = request
    node, = run(client, "provide")["nodes"]
    assert "the node could not be read; it is not sent a second time" in node["error"]
    assert client.done == []


def test_a_request_that_arrives_late_is_found_when_ironic_refuses_the_second():
    client = forgetful("PUT", False, "manageable")
    real, sent = client.request, []

    def request(method, path, query=None, body=None, subject=None, repeatable=None):
        sent.append(method)
        if len(sent) == 2:
            # The first one gets through at last.
            FakeIronic.request(client, method, path, query, body, subject)
            raise IronicError("provide can not be performed in state cleaning", 400)
        return real(method, path, query, body, subject, repeatable)
    client.request = request
    node, = run(client, "provide")["nodes"]
    assert (node["error"], node["provision_state"], sent) == ("", "available", ["PUT", "PUT"])


@pytest.mark.parametrize("does_it", [True, False])
def test_a_node_and_a_port_are_made_once(does_it):
    client = Forgetful("POST", does_it, times=2)
    result = register(client, redfish(ports=[port()]))
    assert (result["counts"]["created"], result["counts"]["failed"]) == (1, 0)
    assert (len(client.nodes), len(client.ports)) == (1, 1)
    assert [path for method, path in client.done if method == "POST"] == ["/nodes", "/ports"]


@pytest.mark.parametrize("does_it", [True, False])
def test_a_change_that_removes_something_is_made_once(does_it):
    client = forgetful("PATCH", does_it, "manageable", description="x", properties={"gone": 1, "kept": 2})
    result = register(client, option("a", description="", properties={"gone": None}))
    assert result["nodes"][0]["error"] == ""
    assert client.nodes["uuid-a"]["properties"] == {"kept": 2} and not client.nodes["uuid-a"].get("description")
    assert [method for method, dummy in client.done] == ["PATCH"]


@pytest.mark.parametrize("does_it", [True, False])
def test_a_port_that_moves_is_made_once(does_it):
    client = forgetful("POST", does_it)
    client.add("b")
    client.ports["port-" + MAC] = {"uuid": "port-" + MAC, "address": MAC, "node_uuid": "uuid-a"}
    options = [dict(port(), node="b", state="present", move=True)]
    clock = Clock()
    result = PortService(client, {"ports": options, "force_nodes": []}, False, Reports(), sleep=clock.sleep).run()
    assert result["counts"]["failed"] == 0
    assert client.ports["port-" + MAC]["node_uuid"] == "uuid-b"
    assert [method for method, dummy in client.done] == ["DELETE", "POST"]


@pytest.mark.parametrize(("operations", "current", "wanted"), [
    ([{"op": "add", "path": "/a", "value": 1}], {"a": 1}, True),
    ([{"op": "add", "path": "/a", "value": 1}], {"a": 2}, False),
    ([{"op": "add", "path": "/d/x~1y~0", "value": 1}], {"d": {"x/y~": 1}}, True),
    ([{"op": "add", "path": "/d/password", "value": "p"}], {"d": {"password": "******"}}, True),
    ([{"op": "remove", "path": "/d/x"}], {"d": {}}, True),
    ([{"op": "remove", "path": "/d/x"}], {"d": {"x": 0}}, False),
    ([{"op": "remove", "path": "/d/x"}], {"d": None}, True),
    ([{"op": "remove", "path": "/a"}, {"op": "add", "path": "/b", "value": 1}], {"a": None, "b": 2}, False),
])
def test_whether_a_patch_is_in_effect(operations, current, wanted):
    assert node_diff.in_effect(operations, current) is wanted


@pytest.mark.parametrize(("uuid", "path"), [
    ("1-2", "/nodes/1-2/x"), ("../../v1/drivers", "/nodes/..%2F..%2Fv1%2Fdrivers/x"), ("..", "/nodes/-/x"),
    ("a?b#c", "/nodes/a%3Fb%23c/x"), ("//h/", "/nodes/%2F%2Fh%2F/x"), ("\u00fc", "/nodes/%C3%BC/x"),
])
def test_what_ironic_returns_as_a_uuid_leads_to_no_other_path(uuid, path):
    assert path_of("nodes", uuid, "/x") == path

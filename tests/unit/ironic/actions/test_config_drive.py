# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Config drives: what is refused before any write, whose drive is whose, and that nothing is shown of them."""
from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.clock import Clock
from fakes.ironic import FakeIronic
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic import module as ironic_module
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import config_drive
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions.service import ActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import error_from_answer

SECRET = "canary-93af"
UUID = "1be26c0b-03f2-4d2e-ae87-c02d7f33c123"
IMAGE = {"source": "http://192.0.2.1/a.raw", "checksum": "http://192.0.2.1/a.sum"}
# As Ironic 39.0 answers, with jsonschema's error as a whole.
ANSWERS = [
    "Invalid configdrive format: Additional properties are not allowed ('userdata' was unexpected)\n\nFailed "
    "validating 'additionalProperties' in schema[0]:\n    {'type': 'object'}\n\nOn instance:\n"
    f"    {{'userdata': '#cloud-config\\npassword: {SECRET}'}}",
    f"Invalid configdrive format: 'password: {SECRET}' is not of type 'object'\n\nOn instance['meta_data']:\n    "
    f"'{SECRET}'",
    f"Expected types NoneType, dict, str for configdrive: ['{SECRET}']",
    f"Invalid input for field/attribute configdrive. Value: '{SECRET}'. x",
]


def with_nodes(*names):
    client = FakeIronic()
    for name in names:
        client.add(name, "available")
    return client


def deploy(client, *nodes, check=False, **options):
    params = dict({"action": "deploy", "nodes": list(nodes), "image": IMAGE, "wait": True, "wait_timeout_seconds": 600,
                   "poll_interval_seconds": 2, "force_nodes": [],
                   "confirm_among": []}, **options)
    clock = Clock()
    return ActionService(client, params, check, Reports(), clock, clock.sleep).run()


def drives(client):
    return dict((path.split("/")[2], body.get("configdrive")) for method, path, body in client.requests()
                if method == "PUT")


@pytest.mark.parametrize(("drive", "texts"), [
    ({"userdata": SECRET}, ["config_drives.a.userdata: found an unknown option", "perhaps user_data is meant"]),
    ({"meta_data": "name: " + SECRET}, ["config_drives.a.meta_data: found a text, expected a dictionary"]),
    ({"network_data": [SECRET]}, ["config_drives.a.network_data: found a list, expected a dictionary"]),
    ({"network_data": {"links": [{"id": "a", "type": "phy", "ethernet_mac_address": SECRET}], "networks": [
        {"id": SECRET, "link": "b", "type": "ipv4"}]}},
     ['node a: config_drives.a.network_data.networks[0].link: found "b", expected one of a; correct it, or describe']),
    ({"vendor_data": SECRET}, ["config_drives.a.vendor_data: found a text, expected a dictionary"]),
    ({"user_data": 17}, ["config_drives.a.user_data: found a number, expected a text, a dictionary or a list"]),
    ({"user_data": True}, ["config_drives.a.user_data: found true or false, expected a text"]),
    ({"iso": {"secret": SECRET}}, ["config_drives.a.iso: found a dictionary, expected a text"]),
    ({"iso": f"{{{SECRET}}}"}, ["config_drives.a.iso: found (hidden)", "expected a URL, or gzip in base64"]),
    ({"iso": "http://192.0.2.1/a", "user_data": SECRET}, ["config_drives.a.iso: found user_data beside it"]),
    ([SECRET], ["config_drives.a: found a list, expected a dictionary"]),
    (SECRET, ["config_drives.a: found a text, expected a dictionary"]),
])
def test_a_drive_that_ironic_would_refuse_is_refused_before_anything_is_written(drive, texts):
    client = with_nodes("a", "b")
    with pytest.raises(RefusedError) as refusal:
        deploy(client, "a", "b", config_drives={"a": drive})
    for text in texts:
        assert text in str(refusal.value)
    assert SECRET not in str(refusal.value)
    assert client.sent == []


@pytest.mark.parametrize(("drive", "text"), [
    ({"iso": "http://192.0.2.1/a", "user_data": SECRET}, "config_drive.iso: found user_data beside it"),
    ({"iso": "not base64!", "user_data": None}, r"config_drive.iso: found \(hidden\)"),
    ({"user_data": 17}, "config_drive.user_data: found a number"),
    ({"network_data": {"links": [{"id": "a", "mtu": 1500}, {"id": "b", "type": "vlan", "vlan_link": "a",
                                                            "mtu": 9000}]}},
     r'config_drive.network_data.links\[1\].mtu: found 9000, expected at most 1500, the MTU of "a" below it'),
])
def test_the_drive_of_all_nodes_is_checked_alike(drive, text):
    client = with_nodes("a")
    with pytest.raises(RefusedError, match=text):
        deploy(client, "a", config_drive=drive)
    assert client.sent == []


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(RefusedError) as refusal:
        deploy(with_nodes("a"), "a", "gone", config_drive={"user_data": 1},
               config_drives={"a": {"userdata": "x", "meta_data": "x"}, "b": {}})
    assert len(refusal.value.problems) == 5


@pytest.mark.parametrize(("named", "key"), [("a", "a"), ("uuid-a", "uuid-a"), ("uuid-a", "a"), ("a", "uuid-a")])
def test_a_node_and_its_drive_may_be_named_in_either_way(named, key):
    client = with_nodes("a", "b")
    deploy(client, named, "b", config_drive={"user_data": "all"}, config_drives={key: {"user_data": SECRET}})
    assert drives(client) == {"uuid-a": {"user_data": SECRET}, "uuid-b": {"user_data": "all"}}


def test_a_node_without_a_name_has_a_drive_too():
    client = with_nodes("a")
    client.nodes["uuid-a"]["name"] = None
    deploy(client, "uuid-a", config_drives={"uuid-a": {"user_data": SECRET}})
    assert drives(client) == {"uuid-a": {"user_data": SECRET}}


@pytest.mark.parametrize(("given", "texts"), [
    ({"c": {"user_data": SECRET}}, ["config_drives: found \"c\", expected names or UUIDs of nodes of the list"]),
    # There, but not asked for.
    ({"b": {"user_data": SECRET}}, ["config_drives: found \"b\", expected names or UUIDs of nodes of the list"]),
    ({"a": {"user_data": SECRET}, "uuid-a": {}}, ["config_drives: found a, uuid-a, expected one drive for node a"]),
])
def test_a_drive_that_is_nobodys_is_refused(given, texts):
    client = with_nodes("a", "b")
    with pytest.raises(RefusedError) as refusal:
        deploy(client, "a", config_drives=given)
    for text in texts:
        assert text in str(refusal.value)
    assert SECRET not in str(refusal.value)
    assert client.sent == []


@pytest.mark.parametrize(("common", "own", "sent"), [
    ({"user_data": "all", "meta_data": {"a": 1}}, {"user_data": "own"}, {"user_data": "own", "meta_data": {"a": 1}}),
    ({"user_data": "all", "iso": None}, {"iso": "http://192.0.2.1/a"}, "http://192.0.2.1/a"),
    ({"iso": "http://192.0.2.1/all"}, {"user_data": "own"}, {"user_data": "own"}),
    ({"iso": "http://192.0.2.1/all"}, None, "http://192.0.2.1/all"),
    ({"user_data": "all"}, {"user_data": None}, {"user_data": "all"}),
    (None, {"iso": "H4sI+/AA==\n"}, "H4sI+/AA==\n"),
    (None, {}, None),
])
def test_what_is_a_nodes_own_wins(common, own, sent):
    client = with_nodes("a")
    deploy(client, "a", config_drive=common, config_drives={"a": own})
    assert drives(client) == {"uuid-a": sent}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_ironic_quotes_of_a_drive_is_left_out(answer):
    body = json.dumps({"error_message": json.dumps({"faultstring": answer})})
    message = error_from_answer(400, body, "node a: deploy").message
    assert message.startswith("node a: deploy: ") and "configdrive" in message
    assert SECRET not in message


def test_what_quotes_nothing_is_reported_as_a_whole():
    text = "Providing vendor_data in configdrive is only supported starting with API version 1.59"
    assert error_from_answer(400, json.dumps({"error_message": text}), "a").message == "a: " + text


def test_the_texts_of_all_drives_are_hidden_wherever_they_turn_up():
    text = "#cloud-config\npassword: " + SECRET
    with patch_module_args({
            "nodes": ["rack1-01", UUID], "action": "deploy",
            "config_drive": {"user_data": text, "meta_data": {"deep": [{"key": SECRET + "-1"}], "pin": 12345678}},
            "config_drives": {"rack1-01": {"user_data": {"chpasswd": {"users": [SECRET + "-2"]}}}}}):
        module = ironic_module.action_module()
    assert {text, " ".join(text.split()), repr(text)[1:-1], SECRET + "-1", SECRET + "-2", "12345678"} <= (
        module.no_log_values)


def test_what_results_are_made_of_stays_readable():
    """Names, UUIDs and states may be in drives too; a result without them would be of no use."""
    hidden = config_drive.texts({
        "nodes": ["rack1-01", UUID], "config_drive": {
            "meta_data": {"name": "rack1-01", "rack": "rack1-", "uuid": UUID}, "user_data": {"state": "available"}},
        "config_drives": {"rack1-01": {"meta_data": {"short": "eno1", "flag": True, "other": SECRET}}}})
    assert hidden == {SECRET}

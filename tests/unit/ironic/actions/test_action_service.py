# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One action on many nodes, against an Ironic in memory: what is sent, what is waited for, what ends the wait."""
from __future__ import annotations

import re

import pytest
from fakes.ironic import FakeIronic
from fakes.ironic_nodes import act as run
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import plan as action_plan
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions.service import failure
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError

IMAGE = {"source": "http://192.0.2.1/a.raw", "checksum": "http://192.0.2.1/a.sum", "disk_format": "raw"}
STEPS = [{"interface": "deploy", "step": "erase_devices"}]


def bodies(client):
    return [body for dummy, dummy, body in client.requests()]


def with_node(state="available", **values):
    client = FakeIronic()
    client.add("a", state, **values)
    return client


def test_many_nodes_go_their_own_ways_with_one_request_at_an_interval():
    client = FakeIronic()
    for number in range(30):
        client.add(f"n{number}", ["enroll", "manageable", "available"][number % 3])
    names = [f"n{number}" for number in range(30)]
    result = run(client, "provide", *names)
    assert set(node["provision_state"] for node in result["nodes"]) == {"available"}
    assert [node["changed"] for node in result["nodes"]] == [True, True, False] * 10
    assert sorted(body["target"] for body in bodies(client)) == ["manage"] * 10 + ["provide"] * 20
    assert client.lists < 10
    assert run(client, "provide", *names)["changed"] is False


def test_check_mode_plans_all_and_sends_nothing():
    client = FakeIronic()
    client.add("a", "enroll")
    client.add("b", "available")
    result = run(client, "inspect", "a", "b", check=True)
    assert (client.requests(), [node["changed"] for node in result["nodes"]]) == ([], [True, True])
    assert result["diff"][0]["before"] == {"provision_state": "enroll"}
    assert result["diff"][0]["after"] == {"provision_state": "manageable"}


def test_a_failure_ends_one_nodes_wait_and_not_the_others():
    client = FakeIronic()
    client.add("a", "manageable")
    client.add("b", "manageable")
    real = client._state

    def state(method, node, rest, body):
        real(method, node, rest, body)
        if node["name"] == "a":
            client._left[node["uuid"]] = [("clean failed", "no agent")]
    client._state = state
    result = run(client, "clean", "a", "b", steps=STEPS)
    first, second = result["nodes"]
    assert (first["failed"], second["failed"], second["provision_state"]) == (True, False, "manageable")
    assert "no agent" in first["error"]
    assert "- a (clean failed): it is clean failed; last_error: no agent" in failure(result["nodes"], "clean")


def test_a_timeout_names_each_nodes_last_state():
    client = with_node("manageable")
    client.ways["inspect"] = ["inspecting"] + ["inspect wait"] * 1000
    node, = run(client, "inspect", wait_timeout_seconds=60)["nodes"]
    assert node["failed"]
    assert "not manageable within 1 min: still inspect wait after" in node["error"]


def test_a_lost_ironic_is_waited_for():
    client, reports = with_node("manageable"), Reports()
    real = client.request

    def request(*arguments, **options):
        client.lost = 2
        return real(*arguments, **options)
    client.request = request
    assert run(client, "provide", reports=reports)["nodes"][0]["provision_state"] == "available"
    assert [line for line in reports.lines if "answers again" in line]


def test_an_ironic_that_stays_away_is_an_error():
    client = with_node("manageable")
    real = client.request

    def request(*arguments, **options):
        client.lost = 10 ** 6
        return real(*arguments, **options)
    client.request = request
    result = run(client, "provide", wait_timeout_seconds=30)
    node, = result["nodes"]
    assert node["failed"] and result["changed"]
    # Of the node nothing has been read since the request.
    assert re.fullmatch(
        r"not available within 30 s: Ironic https://198.18.0.1:6385/v1 has not answered for \d+ s, until the end of "
        r"wait_timeout_seconds: no answer; run again when it answers; raise .*", node["error"])
    assert result["warnings"] == ["the states of nodes are those that were read last: no answer"]


def test_what_was_read_of_nodes_is_reported_when_ironic_is_away_at_the_deadline():
    client = with_node("manageable")
    client.add("b", "manageable")
    client.add("c", "manageable")
    client.ways["inspect"] = ["inspecting"] + ["inspect wait"] * 1000
    real, looks = client.list_nodes, []

    def list_nodes(*arguments, **options):
        looks.append(None)
        client.lost = 10 ** 6 if len(looks) > 5 else 0
        found = real(*arguments, **options)
        for node in found:
            if node["name"] == "b" and len(looks) > 3:
                node.update(provision_state="inspect failed", last_error="no DHCP")
            elif node["name"] == "c" and len(looks) > 3:
                node.update(provision_state="manageable")
        return found
    client.list_nodes = list_nodes
    result = run(client, "inspect", "a", "b", "c", wait_timeout_seconds=60)
    first, second, third = result["nodes"]
    assert "not manageable within 1 min: still inspect wait after" in first["error"]
    assert "last_error: none; Ironic https://198.18.0.1:6385/v1 has not answered for" in first["error"]
    assert first["provision_state"] == "inspect wait"
    assert (second["provision_state"], second["last_error"]) == ("inspect failed", "no DHCP")
    assert "no DHCP" in second["error"] and "has not answered" not in second["error"]
    assert not third["failed"] and third["provision_state"] == "manageable"


def test_all_reasons_for_a_refusal_are_reported_at_once():
    client = with_node("manageable")
    client.add("metal3~x", "available")
    client.add("b", "active", instance_info={"image_source": "other"})
    with pytest.raises(RefusedError) as refusal:
        run(client, "deploy", "a", "unknown", "metal3~x", image=IMAGE)
    for text in ("unknown: not set", "BareMetalHost metal3/x"):
        assert text in str(refusal.value)
    with pytest.raises(RefusedError) as refusal:
        run(client, "deploy", "a", "b", image=IMAGE)
    for text in ("provide it first", "with other, which differs in", "use rebuild"):
        assert text in str(refusal.value)
    assert client.sent == []


def test_a_forced_node_may_be_named_by_its_uuid():
    client = FakeIronic()
    client.add("metal3~x", "available")
    result = run(client, "manage", "uuid-metal3~x", force_nodes=["uuid-metal3~x"])
    assert result["nodes"][0]["provision_state"] == "manageable"


def test_a_deployment_sets_the_image_first_and_is_not_repeated():
    client = with_node("available", instance_info={"image_os_hash_value": "old", "capabilities": {}})
    drive = {"user_data": "#cloud-config", "iso": None}
    own = {"a": {"meta_data": {"local-hostname": "a"}}}
    run(client, "deploy", image=IMAGE, config_drive=drive, config_drives=own)
    patch, deploy = bodies(client)
    assert {"op": "add", "path": "/instance_info/image_source", "value": IMAGE["source"]} in patch
    assert {"op": "remove", "path": "/instance_info/image_os_hash_value"} in patch
    assert deploy == {"target": "active", "configdrive": {"user_data": "#cloud-config",
                                                          "meta_data": {"local-hostname": "a"}}}
    # Ironic computes a digest of its own while it deploys.
    client.nodes["uuid-a"]["instance_info"]["image_os_hash_value"] = "computed"
    assert run(client, "deploy", image=IMAGE)["changed"] is False
    run(client, "rebuild", image=IMAGE, confirm="1")
    assert bodies(client)[-1] == {"target": "rebuild"}


def test_without_wait_the_verb_is_sent_and_a_longer_way_is_refused():
    client = with_node("manageable")
    assert run(client, "inspect", wait=False)["nodes"][0]["provision_state"] == "inspecting"
    with pytest.raises(RefusedError, match="2 requests, one after the other"):
        run(with_node("enroll"), "provide", wait=False)


@pytest.mark.parametrize(("action", "state", "options", "body"), [
    ("clean", "manageable", {"steps": STEPS, "disable_ramdisk": True},
     {"target": "clean", "clean_steps": STEPS, "disable_ramdisk": True}),
    ("clean", "manageable", {"runbook": "wipe"}, {"target": "clean", "runbook": "wipe"}),
    ("service", "active", {"steps": STEPS}, {"target": "service", "service_steps": STEPS}),
    ("rescue", "active", {"rescue_password": "x"}, {"target": "rescue", "rescue_password": "x"}),
    ("unrescue", "rescue", {}, {"target": "unrescue"}),
    ("adopt", "manageable", {}, {"target": "adopt"}),
    ("undeploy", "active", {"confirm": "a"}, {"target": "deleted"}),
    ("deploy", "available", {"steps": STEPS, "config_drive": {"iso": "http://192.0.2.1/c.iso"}},
     {"target": "active", "configdrive": "http://192.0.2.1/c.iso", "deploy_steps": STEPS}),
    ("power_on", "active", {"power_timeout_seconds": 9}, {"target": "power on", "timeout": 9}),
    ("boot_mode", "active", {"boot_mode": "bios"}, {"target": "bios"}),
    ("secure_boot", "active", {"secure_boot": True}, {"target": True}),
    ("maintenance_on", "active", {"maintenance_reason": "why"}, {"reason": "why"}),
    ("traits", "active", {"traits": ["CUSTOM_B", "CUSTOM_A"]}, {"traits": ["CUSTOM_A", "CUSTOM_B"]}),
    ("raid", "manageable", {"raid": {"logical_disks": [{"size_gb": "MAX", "raid_level": "1"}]}},
     {"logical_disks": [{"size_gb": "MAX", "raid_level": "1"}]}),
])
def test_what_is_sent(action, state, options, body):
    client = with_node(state)
    result = run(client, action, **options)
    assert result["changed"]
    assert failure(result["nodes"], action) == ""
    assert bodies(client) == [body]


@pytest.mark.parametrize(("action", "values", "options"), [
    ("power_on", {"power_state": "power on"}, {}), ("power_off", {}, {}), ("boot_mode", {}, {"boot_mode": "uefi"}),
    ("secure_boot", {"secure_boot": True}, {"secure_boot": True}), ("maintenance_off", {}, {}),
    ("maintenance_on", {"maintenance": True, "maintenance_reason": "why"}, {"maintenance_reason": "why"}),
    ("traits", {"traits": ["CUSTOM_A"]}, {"traits": ["CUSTOM_A"]}),
    ("traits", {"traits": ["CUSTOM_A", "CUSTOM_B"]}, {"traits": ["CUSTOM_A"], "traits_mode": "add"}),
    ("traits", {"traits": ["CUSTOM_A"]}, {"traits": ["CUSTOM_B"], "traits_mode": "remove"}),
    ("raid", {}, {"raid": {"logical_disks": []}}), ("unhold", {}, {}), ("abort", {}, {}),
])
def test_nothing_is_sent_when_it_is_so_already(action, values, options):
    client = with_node("manageable", **values)
    assert run(client, action, **options)["changed"] is False
    assert client.requests() == []


@pytest.mark.parametrize(("action", "values", "options", "text"), [
    ("rescue", {"rescue_interface": "no-rescue"}, {"rescue_password": "x"}, "no-rescue; .* ironic_rescue"),
    ("rescue", {"boot_interface": "redfish-https"}, {"rescue_password": "x"}, "redfish-https, by which"),
    ("raid", {"raid_interface": "no-raid"}, {"raid": {"logical_disks": [{}]}}, "no-raid"),
    ("power_off", {"power_state": "power on", "target_power_state": "power on"}, {}, "on its way to power on"),
    ("reboot", {"target_power_state": "power off"}, {}, "on its way to power off"),
])
def test_what_is_refused(action, values, options, text):
    with pytest.raises(RefusedError, match=text):
        run(with_node("active", **values), action, **options)


def test_versions_that_options_need():
    client = FakeIronic(minor=90)
    client.add("a", "active")
    with pytest.raises(RefusedError, match=r"runbook needs API version 1\.92"):
        run(client, "service", runbook="x")
    with pytest.raises(RefusedError, match=r"1\.108"):
        run(client, "service", steps=STEPS, disable_ramdisk=True)


def test_a_reboot_acts_each_time_and_may_be_soft():
    client = with_node("active", power_state="power on")
    run(client, "reboot", confirm="1")
    run(client, "reboot", soft=True, confirm="1")
    run(client, "power_off", soft=True, confirm="1")
    assert [body["target"] for body in bodies(client)] == ["rebooting", "soft rebooting", "soft power off"]


def test_the_boot_device_is_read_before_it_is_set():
    client = with_node("active")
    client.answers["GET", "/nodes/uuid-a/management/boot_device"] = {"boot_device": "disk", "persistent": True}
    assert run(client, "boot_device", boot_device="disk", persistent=True)["changed"] is False
    run(client, "boot_device", boot_device="pxe", persistent=False)
    assert bodies(client) == [{"boot_device": "pxe", "persistent": False}]


def test_vendor_methods_are_only_read_also_of_the_operators_nodes():
    client = FakeIronic()
    client.add("metal3~x", "active")
    path = "/nodes/uuid-metal3~x/vendor_passthru?method=get_subscription&id=1"
    client.answers["GET", path] = {"Id": 1}
    result = run(client, "vendor_passthru", "metal3~x", vendor_method="get_subscription", vendor_arguments={"id": 1})
    assert (result["changed"], result["nodes"][0]["answer"]) == (False, {"Id": 1})
    client.refusals["GET", "/nodes/uuid-metal3~x/vendor_passthru/methods"] = [IronicError("node x: no", 400)]
    with pytest.raises(IronicError, match="node x: no"):
        run(client, "vendor_passthru", "metal3~x")


def test_a_hold_is_the_goal_of_steps_that_end_in_one():
    client = with_node("manageable")
    client.ways["clean"] = ["cleaning", "clean hold"]
    assert run(client, "hold")["nodes"][0]["provision_state"] == "clean hold"
    assert bodies(client) == [{"target": "clean", "clean_steps": [action_plan.HOLD_STEP]}]
    assert run(client, "hold")["changed"] is False
    serving = with_node("active")
    serving.ways["service"] = ["servicing", "service hold"]
    steps = STEPS + [action_plan.HOLD_STEP]
    assert run(serving, "service", steps=steps)["nodes"][0]["provision_state"] == "service hold"


def test_a_refused_second_request_fails_that_node():
    client = with_node("enroll")
    real = client.request

    def request(method, path, query=None, body=None, subject=None, repeatable=None):
        if body == {"target": "provide"}:
            raise IronicError("node a: provide: no", 400)
        return real(method, path, query, body, subject)
    client.request = request
    node, = run(client, "provide")["nodes"]
    assert (node["failed"], node["error"]) == (True, "node a: provide: no")


@pytest.mark.parametrize(("action", "state", "values", "reason"), [
    ("undeploy", "active", {}, "it is active"),
    ("rebuild", "active", {}, "it is active"),
    ("undeploy", "rescue failed", {}, "it is rescue failed"),
    ("provide", "manageable", {"instance_uuid": "i-1"}, "it has the instance i-1"),
    ("provide", "clean failed", {"instance_info": {"image_source": "http://u:p@192.0.2.1/a.raw"}},
     "names the image http://***@192.0.2.1/a.raw"),
    ("clean", "manageable", {"instance_info": {"boot_iso": "http://192.0.2.1/a.iso"}}, "names the image"),
    ("manage", "adopt failed", {}, "its adoption failed"),
])
def test_what_a_node_may_carry_is_given_up_only_when_the_number_is_repeated(action, state, values, reason):
    client = with_node(state, **values)
    client.add("b", state, **values)
    client.add("c", "manageable")
    names = ["a", "b", "c"] if action in ("provide", "clean") else ["a", "b"]
    for wrong in (None, "", "1", "3", "a", "true"):
        with pytest.raises(RefusedError) as refusal:
            run(client, action, *names, confirm=wrong, steps=STEPS)
        for text in ("confirm", "2 (how many they are) or a,b", reason, "a (", "b (",
                     "to continue set metal3_confirm=2 (module option confirm)"):
            assert text in str(refusal.value)
        tried = run(client, action, *names, confirm=wrong, steps=STEPS, check=True)
        assert tried["changed"] and ["metal3_confirm=2" in line for line in tried["warnings"]] == [True]
    assert client.requests() == []
    for right in ("2", "b, a"):
        tried = run(client, action, *names, confirm=right, steps=STEPS, check=True)
        assert tried["changed"] is True and tried["warnings"] == []
    run(client, action, *names, confirm="2", steps=STEPS)
    assert len(client.requests()) >= len(names)


@pytest.mark.parametrize("action", ["power_off", "reboot", "rescue", "service", "hold"])
@pytest.mark.parametrize(("state", "power", "asks"), [
    ("active", "power on", True), ("active", None, True), ("active", "power off", False), ("rescue", "power on", True),
    ("available", "power on", False), ("manageable", "power on", False)])
def test_what_runs_on_a_node_is_interrupted_only_when_the_number_is_repeated(action, state, power, asks):
    client = with_node(state, power_state=power)
    options = {"rescue_password": "x", "steps": STEPS, "check": True}
    try:
        run(client, action, confirm="1", **options)
    except RefusedError:
        # Ironic would not take it in this state.
        return
    warnings = run(client, action, **options)["warnings"]
    due = asks and action_plan.plan(action, options, client.nodes["uuid-a"], 109).requests
    assert len(warnings) == bool(due), warnings
    if not due:
        return
    for wrong in (None, "2", "b"):
        with pytest.raises(RefusedError, match=rf"{action} interrupts what may run on a \(it is {state}\); to cont"):
            run(client, action, confirm=wrong, **dict(options, check=False))
    assert client.sent == []


@pytest.mark.parametrize("state, power, more, asks", [
    ("manageable", "power on", {"instance_uuid": "i"}, True),
    ("manageable", "power off", {"instance_uuid": "i"}, False),
    ("manageable", "power on", {}, False), ("inspect failed", "power on", {"instance_uuid": "i"}, True)])
def test_an_inspection_of_a_node_with_an_instance_wants_its_number(state, power, more, asks):
    client = with_node(state, power_state=power, **more)
    assert bool(run(client, "inspect", check=True)["warnings"]) is asks
    if asks:
        with pytest.raises(RefusedError, match=r"inspect interrupts what may run on a \(it has the instance i\)"):
            run(client, "inspect")
        assert client.sent == []
    run(client, "inspect", confirm="1")
    assert client.sent


def test_a_number_does_not_count_for_one_of_several_tasks():
    client = with_node("active")
    client.add("b", "active")
    among = ["a", "b", "c", "d"]
    for wrong in (None, "2", "a", "a,b,e"):
        with pytest.raises(RefusedError) as refusal:
            run(client, "undeploy", "a", "b", confirm=wrong, confirm_among=among)
        for text in ("expected names with a,b among them", "metal3_confirm=a,b,c,d"):
            assert text in str(refusal.value)
    assert client.requests() == []
    run(client, "undeploy", "a", "b", confirm="d,b,a", confirm_among=among)
    assert len(client.requests()) == 2


@pytest.mark.parametrize("action", ["provide", "clean", "inspect"])
def test_a_node_whose_adoption_failed_is_never_managed_on_the_way_to_something_else(action):
    client = with_node("adopt failed", last_error="no image")
    for confirm in (None, "1", "a"):
        with pytest.raises(RefusedError, match=r"correct the cause .* and adopt it again"):
            run(client, action, steps=STEPS, confirm=confirm)
    assert client.requests() == []
    assert run(client, "adopt")["nodes"][0]["provision_state"] == "active"


def test_a_failed_adoption_is_reported_with_what_to_do():
    client = with_node("manageable")
    client.ways["adopt"] = ["adopting", ("adopt failed", "no image")]
    node, = run(client, "adopt")["nodes"]
    assert "it is adopt failed; last_error: no image; correct the cause, then adopt it again" in node["error"]
    assert "manage" not in node["error"]


@pytest.mark.parametrize(("names", "text"), [
    (["a", "a"], "a 2 times"), (["a", "uuid-a"], "a and uuid-a, which are one node"),
])
def test_a_node_is_listed_once_by_whichever_name(names, text):
    client = with_node("active", power_state="power on")
    with pytest.raises(RefusedError, match=text):
        run(client, "reboot", *names)
    assert client.sent == []


def test_nodes_get_images_of_their_own():
    client = with_node()
    client.add("b", "available")
    run(client, "deploy", "a", "b", image=IMAGE, images={"uuid-b": {"boot_iso": "http://192.0.2.1/b.iso"}})
    assert client.nodes["uuid-a"]["instance_info"]["image_source"] == IMAGE["source"]
    assert client.nodes["uuid-b"]["instance_info"] == {"boot_iso": "http://192.0.2.1/b.iso"}
    assert run(client, "deploy", "a", "b", image=IMAGE,
               images={"b": {"boot_iso": "http://192.0.2.1/b.iso"}})["changed"] is False


@pytest.mark.parametrize(("images", "text"), [
    ({"a": IMAGE, "uuid-a": IMAGE}, "images: found a, uuid-a, expected one image for node a"),
    ({"a": {"source": 7}}, "node a: images.a.source: found no text, expected a text"),
])
def test_images_that_cannot_be_meant_are_refused(images, text):
    client = with_node()
    with pytest.raises(RefusedError) as refusal:
        run(client, "deploy", images=images)
    assert text in str(refusal.value) and client.requests() == []


def test_another_image_is_deployed_after_an_undeployment_that_was_confirmed():
    old = {"image_source": "http://192.0.2.1/old.raw", "image_os_hash_value": "old"}
    client = with_node("active", instance_info=dict(old))
    client.add("b", "available")
    client.add("c", "active", instance_info={"image_source": IMAGE["source"], "image_checksum": IMAGE["checksum"],
                                             "image_disk_format": "raw"})
    options = {"image": IMAGE, "redeploy": True}
    for wrong in (None, "2", "b"):
        with pytest.raises(RefusedError, match=r"deploy gives up .* a \(it is active\); .*metal3_confirm=1 "):
            run(client, "deploy", "a", "b", "c", confirm=wrong, **options)
    with pytest.raises(RefusedError, match="wait, or run undeploy first"):
        run(client, "deploy", "a", confirm="1", wait=False, **options)
    checked = run(client, "deploy", "a", "b", "c", confirm="1", check=True, **options)
    assert client.requests() == [] and [node["changed"] for node in checked["nodes"]] == [True, True, False]
    assert checked["diff"][0]["before"]["instance_info"] == old
    result = run(client, "deploy", "a", "b", "c", confirm="1", **options)
    assert [node["provision_state"] for node in result["nodes"]] == ["active"] * 3
    assert [body["target"] for method, path, body in client.requests() if method == "PUT" and "uuid-a" in path] == [
        "deleted", "active"]
    assert client.nodes["uuid-a"]["instance_info"] == client.nodes["uuid-b"]["instance_info"]
    assert run(client, "deploy", "a", "b", "c", **options)["changed"] is False


@pytest.mark.parametrize("action", ["undeploy", "rebuild", "deploy"])
def test_a_protected_node_is_refused_before_anything_is_sent(action):
    client = with_node("active")
    client.add("b", "active", protected=True)
    with pytest.raises(RefusedError, match=r"node b: .*it is protected; set protected to false"):
        run(client, action, "a", "b", image=IMAGE, redeploy=True, confirm="2")
    assert client.requests() == []

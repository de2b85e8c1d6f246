# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each action writes, when it is done, and when it is refused, as BMO's source has it."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.redaction import redaction
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions import action_request, interruptions
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions import action_rules as host_action_rules
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions import actions as host_actions
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.actions import Change, Request
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations

PAUSED = {"baremetalhost.metal3.io/paused": ""}
DETACHED = {"baremetalhost.metal3.io/detached": ""}
CONSUMER = {"consumerRef": {"kind": "Metal3Machine", "namespace": "metal3", "name": "m"}}
DEPLOYED = {"provisioning": {"state": "provisioned", "image": {"url": "http://i"}}}
BEGUN = {"metal3.baremetal/reboot-begun": "2026-01-01T00:00:00Z"}
HARDWARE = {"cpu": {"arch": "x86_64", "count": 4}, "nics": [{"name": "eno1", "mac": "00:5c:52:00:00:01"}]}


def bmh(state="available", on=True, online=True, annotations=None, spec=None, metadata=None, **status):
    return {
        "metadata": dict({"name": "h1", "namespace": "metal3", "uid": "u1", "annotations": dict(annotations or {})},
                         **(metadata or {})),
        "spec": dict({"online": online, "bmc": {"address": "ipmi://192.0.2.1"}}, **(spec or {})),
        "status": dict({"operationalStatus": "OK", "lastUpdated": "t", "poweredOn": on,
                        "provisioning": {"state": state, "ID": "n1"}}, **status)}


def request(action, **options):
    return Request("h1", action, now="2026-01-01T00:00:00Z", **options)


def plan(action, obj, **options):
    return host_actions.ACTIONS[action].plan(obj, request(action, **options))


def reached(action, obj, baseline=None, **options):
    return host_actions.ACTIONS[action].reached(baseline or obj, obj, request(action, **options))


def refused(action, obj, hardware_data=None, forced=(), **options):
    return host_action_rules.check_hosts(
        [request(action, **options)], {"h1": obj}, {("metal3", "h1"): hardware_data}, "metal3", forced)


# What is written ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("action, obj, options, change", [
    ("power_on", bmh(online=False), {}, Change({}, True)),
    ("power_on", bmh(), {}, Change({})),
    ("power_off", bmh(), {}, Change({}, False)),
    ("power_off", bmh(online=False), {}, Change({})),
    ("reboot", bmh("provisioned"), {}, Change({"reboot.metal3.io": '{"mode":"soft"}'})),
    ("reboot", bmh("provisioned"), {"mode": "hard"}, Change({"reboot.metal3.io": '{"mode":"hard"}'})),
    ("reboot", bmh(), {"force": True}, Change({"reboot.metal3.io": '{"force":true,"mode":"soft"}'})),
    ("reboot", bmh(annotations={"reboot.metal3.io": '{"mode":"soft"}'}), {}, Change({})),
    ("reboot", bmh("provisioned"), {"once": True}, Change(dict(BEGUN, **{"reboot.metal3.io": '{"mode":"soft"}'}))),
    ("reboot", bmh("provisioned", annotations=BEGUN), {}, Change({"reboot.metal3.io": '{"mode":"soft"}'})),
    ("reboot", bmh("provisioned", annotations=BEGUN), {"once": True}, Change({})),
    ("reboot", bmh("provisioned", annotations=dict(BEGUN, **{"reboot.metal3.io": '{"mode":"soft"}'})),
     {"once": True, "mode": "hard"}, Change({"reboot.metal3.io": '{"mode":"hard"}'})),
    ("reboot", bmh("provisioned", annotations={"reboot.metal3.io": '{"mode":"soft"}'}), {"once": True}, Change(BEGUN)),
    ("reboot_hold", bmh(), {"key": "me"}, Change({"reboot.metal3.io/me": '{"mode":"soft"}'})),
    ("reboot_release", bmh(annotations={"reboot.metal3.io/me": ""}), {"key": "me"},
     Change({"reboot.metal3.io/me": None})),
    ("reboot_release", bmh(annotations={"reboot.metal3.io/me": ""}), {"key": "you"}, Change({})),
    ("inspect", bmh(), {}, Change({"inspect.metal3.io": ""})),
    ("inspect", bmh("inspecting"), {}, Change({})),
    ("inspect", bmh(annotations={"inspect.metal3.io": ""}), {}, Change({})),
    ("pause", bmh(), {}, Change(PAUSED)),
    ("pause", bmh(), {"reason": "disks"}, Change({"baremetalhost.metal3.io/paused": "disks"})),
    ("pause", bmh(annotations={"baremetalhost.metal3.io/paused": "metal3.io/capm3"}), {}, Change({})),
    ("pause", bmh(annotations={"baremetalhost.metal3.io/paused": "disks"}), {"reason": "fan"},
     Change({"baremetalhost.metal3.io/paused": "fan"})),
    ("resume", bmh(annotations=PAUSED), {}, Change({"baremetalhost.metal3.io/paused": None})),
    ("resume", bmh(), {}, Change({})),
    ("detach", bmh(), {}, Change(DETACHED)),
    ("detach", bmh(), {"delete_action": "delay", "force": True},
     Change({"baremetalhost.metal3.io/detached": '{"deleteAction":"delay","force":true}'})),
    ("detach", bmh(annotations={"baremetalhost.metal3.io/detached": "any text"}), {}, Change({})),
    ("detach", bmh(annotations={"baremetalhost.metal3.io/detached": "any text"}), {"delete_action": "delete"},
     Change({"baremetalhost.metal3.io/detached": '{"deleteAction":"delete"}'})),
    ("attach", bmh(annotations=DETACHED), {}, Change({"baremetalhost.metal3.io/detached": None})),
    ("attach", bmh(), {}, Change({})),
    ("mark_unhealthy", bmh(), {"reason": "fan"}, Change({"capm3.metal3.io/unhealthy": "fan"})),
    ("mark_unhealthy", bmh(annotations={"capm3.metal3.io/unhealthy": "fan"}), {}, Change({})),
    ("mark_unhealthy", bmh(annotations={"capm3.metal3.io/unhealthy": "fan"}), {"reason": "disk"},
     Change({"capm3.metal3.io/unhealthy": "disk"})),
    ("mark_healthy", bmh(annotations={"capm3.metal3.io/unhealthy": "", "capi.metal3.io/unhealthy": "", "x": ""}), {},
     Change({"capm3.metal3.io/unhealthy": None, "capi.metal3.io/unhealthy": None})),
    ("retry", bmh(), {}, Change({})),
    ("retry", bmh(operationalStatus="error", errorType="inspection error", errorCount=2), {},
     Change({"metal3.baremetal/retry": "2026-01-01T00:00:00Z"})),
    ("set_hardware", bmh(), {"hardware": HARDWARE},
     Change({"inspect.metal3.io/hardwaredetails": json.dumps(HARDWARE, sort_keys=True, separators=(",", ":"))})),
    ("set_hardware", bmh(hardware=dict(HARDWARE, ramMebibytes=0, hostname="")),
     {"hardware": dict(HARDWARE, hostname="")}, Change({})),
])
def test_what_is_written(action, obj, options, change):
    assert plan(action, obj, **options) == change


def test_a_saved_status_is_restored():
    paused = bmh("provisioned", annotations=PAUSED)
    saved = plan("save_status", paused).annotations["baremetalhost.metal3.io/status"]
    assert json.loads(saved) == paused["status"]
    paused["metadata"]["annotations"]["baremetalhost.metal3.io/status"] = saved
    assert plan("save_status", paused) == Change({})

    new = dict(bmh(annotations=PAUSED), status={})
    status = json.loads(saved)
    assert plan("restore_status", new, status=status) == Change(
        {"baremetalhost.metal3.io/status": saved, "baremetalhost.metal3.io/paused": None})
    assert not reached("restore_status", new, status=status)
    assert reached("restore_status", bmh("provisioned"), status=status)
    assert plan("restore_status", bmh("provisioned"), status=status) == Change({})


@pytest.mark.parametrize("url", ["https://store/a.raw?sig=abc", "https://me:word@store/a.raw", "https://store/a.raw"])
def test_a_status_is_restored_as_a_result_has_shown_it(url):
    """Without the image's own URL BMO would deprovision the server."""
    image = {"url": url, "checksum": f"{url}.sha256?sig=abc"}
    paused = bmh("provisioned", annotations=PAUSED, provisioning={"state": "provisioned", "ID": "n1", "image": image})
    saved = plan("save_status", paused).annotations["baremetalhost.metal3.io/status"]
    shown = json.loads(redaction.without_url_secrets(saved))
    new = dict(bmh(annotations=PAUSED, spec={"image": image}), status={})
    assert refused("restore_status", new, status=shown) == []
    written = plan("restore_status", new, status=shown).annotations["baremetalhost.metal3.io/status"]
    assert json.loads(written) == paused["status"] and "hidden" not in written
    # Another image is another one, whatever is hidden of it.
    other = dict(new, spec=dict(new["spec"], image={"url": "https://store/b.raw?sig=abc"}))
    assert "which the status says is deployed" in str(refused("restore_status", other, status=shown)[0])


def test_a_status_that_came_to_another_ironic_is_known_by_its_inspection():
    def of(node, start):
        return {"lastUpdated": "t", "provisioning": {"state": "provisioned", "ID": node},
                "operationHistory": {"inspect": {"start": start}}}

    assert reached("restore_status", bmh("provisioned", **of("new", "early")), status=of("old", "early"))
    assert not reached("restore_status", bmh("provisioned", **of("new", "late")), status=of("old", "early"))
    assert not reached("restore_status", bmh("provisioned", **of("new", None)), status=of("old", None))


def test_a_patch_holds_nothing_but_the_change():
    assert host_actions.patch(Change({"a": None}, False)) == {
        "metadata": {"annotations": {"a": None}}, "spec": {"online": False}}
    assert host_actions.patch(Change({}, True)) == {"spec": {"online": True}}


def test_a_diff_has_what_is_at_stake():
    assert host_actions.difference(bmh(annotations={"a": "1", "b": "2"}), Change({"a": None, "c": "3"}, False)) == (
        {"annotations": {"a": "1"}, "online": True}, {"annotations": {"c": "3"}, "online": False})
    assert host_actions.difference(bmh(), Change({"a": "1"})) == ({}, {"annotations": {"a": "1"}})


# When it is done ----------------------------------------------------------------------------------------------------

INSPECTED = {"operationHistory": {"inspect": {"start": "1", "end": "2"}}}
ANEW = {"operationHistory": {"inspect": {"start": "3", "end": "4"}}}
SERVICED = {"operationalStatus": "servicing"}
SERVICE_FAILED = {"operationalStatus": "error", "errorType": "servicing error"}


@pytest.mark.parametrize("action, obj, baseline, options, done", [
    ("power_on", bmh(on=False), None, {}, False),
    ("power_on", bmh(), None, {}, True),
    ("power_off", bmh(online=False), None, {}, False),
    ("power_off", bmh(online=False, on=False), None, {}, True),
    ("reboot", bmh(annotations={"reboot.metal3.io": ""}), None, {}, False),
    ("reboot", bmh(on=False), None, {}, False),
    ("reboot", bmh(), None, {}, True),
    ("reboot", bmh("provisioned", on=False, annotations=BEGUN), None, {"once": True}, False),
    ("reboot", bmh("provisioned", annotations=BEGUN), None, {"once": True}, True),
    ("reboot", bmh("inspecting", on=False), bmh("inspecting", on=False), {}, True),
    ("reboot_hold", bmh(annotations={"reboot.metal3.io/me": ""}), None, {"key": "me"}, False),
    ("reboot_hold", bmh(on=False, annotations={"reboot.metal3.io/me": ""}), None, {"key": "me"}, True),
    ("reboot_release", bmh("provisioned", on=False), None, {"key": "me"}, False),
    ("reboot_release", bmh("provisioned"), None, {"key": "me"}, True),
    ("reboot_release", bmh("provisioned", on=False, online=False), None, {"key": "me"}, True),
    ("reboot_release", bmh("provisioned", on=False, annotations={"reboot.metal3.io/you": ""}), None, {"key": "me"},
     True),
    # While Ironic changes its firmware the server is switched off and on, and runs something else than its system.
    ("power_on", bmh("provisioned", **SERVICED), None, {}, False),
    ("power_on", bmh("provisioned", **SERVICE_FAILED), None, {}, False),
    ("power_off", bmh("provisioned", on=False, online=False, **SERVICED), None, {}, False),
    ("reboot", bmh("provisioned", **SERVICED), None, {}, False),
    ("reboot", bmh("provisioned", **SERVICE_FAILED), None, {}, False),
    ("reboot", bmh("provisioned", annotations=BEGUN, **SERVICED), None, {"once": True}, False),
    ("reboot_hold", bmh("provisioned", on=False, annotations={"reboot.metal3.io/me": ""}, **SERVICED), None,
     {"key": "me"}, False),
    ("reboot_release", bmh("provisioned", **SERVICED), None, {"key": "me"}, False),
    ("inspect", bmh(annotations={"inspect.metal3.io": ""}, **ANEW), bmh(**INSPECTED), {}, False),
    ("inspect", bmh(**INSPECTED), bmh(**INSPECTED), {}, False),
    ("inspect", bmh("inspecting", **ANEW), bmh(**INSPECTED), {}, False),
    ("inspect", bmh(**ANEW), bmh(**INSPECTED), {}, True),
    ("inspect", bmh(operationalStatus="error", **ANEW), bmh(**INSPECTED), {}, False),
    ("inspect", bmh(**INSPECTED), bmh("inspecting", **INSPECTED), {}, True),
    ("pause", bmh(annotations=PAUSED), None, {}, True),
    ("resume", bmh(annotations=PAUSED), None, {}, False),
    ("detach", bmh(annotations=DETACHED), None, {}, False),
    ("detach", bmh(annotations=DETACHED, operationalStatus="detached"), None, {}, True),
    ("attach", bmh(operationalStatus="detached"), None, {}, False),
    ("attach", bmh(), bmh(operationalStatus="detached"), {}, False),
    ("attach", bmh(provisioning={"state": "available", "ID": "n2"}), bmh(operationalStatus="detached"), {}, True),
    ("attach", bmh(provisioning={"state": "available", "ID": "n2"}, operationalStatus="error"),
     bmh(operationalStatus="detached"), {}, False),
    ("attach", bmh(), bmh(annotations=DETACHED), {}, True),
    ("mark_unhealthy", bmh(annotations={"capm3.metal3.io/unhealthy": ""}), None, {}, True),
    ("mark_healthy", bmh(annotations={"capi.metal3.io/unhealthy": ""}), None, {}, False),
    ("retry", bmh(operationalStatus="error"), None, {}, False),
    ("retry", bmh("inspecting"), None, {}, False),
    ("retry", bmh("provisioned"), None, {}, True),
    ("set_hardware", bmh(hardware=HARDWARE, annotations={"inspect.metal3.io/hardwaredetails": "{}"}), None,
     {"hardware": HARDWARE}, False),
    ("set_hardware", bmh(hardware={"nics": []}), None, {"hardware": HARDWARE}, False),
    ("set_hardware", bmh(hardware=HARDWARE), None, {"hardware": HARDWARE}, True),
])
def test_when_it_is_done(action, obj, baseline, options, done):
    assert reached(action, obj, baseline, **options) is done


# When it is refused -------------------------------------------------------------------------------------------------

DISABLED = {"inspectionMode": "disabled"}
DATA = {"spec": {"hardware": HARDWARE}}


@pytest.mark.parametrize("action, obj, options, message", [
    ("power_off", bmh("inspecting"), {}, "state inspecting"),
    ("power_off", bmh("unmanaged"), {}, "state unmanaged"),
    ("power_off", bmh(spec={"disablePowerOff": True}), {}, "disable_power_off"),
    ("power_on", bmh(online=False, on=False, spec={"image": {"url": "http://i"}}), {}, "write the image"),
    ("power_on", bmh(online=False, on=False, spec={"customDeploy": {"method": "m"}}), {}, "custom_deploy"),
    ("power_on", bmh("provisioned", on=False, annotations={"reboot.metal3.io/me": ""}), {}, "reboot_release, key me"),
    ("power_off", bmh(annotations=PAUSED), {}, "resume it first"),
    ("power_off", bmh(annotations=DETACHED), {}, "attach it first"),
    ("power_off", bmh(operationalStatus="detached"), {}, "attach it first"),
    ("power_off", bmh(metadata={"deletionTimestamp": "t"}), {}, "being deleted"),
    ("power_off", bmh(spec=CONSUMER), {}, "a host of Metal3Machine m"),
    ("power_off", bmh(spec=CONSUMER), {"forced": ("h1",)}, "CAPM3 switches it on again; hold it powered off (action"),
    ("power_off", bmh(spec={"consumerRef": {"kind": "Other", "name": "o"}}), {}, "in use by Other /o"),
    ("reboot_hold", bmh("provisioned", spec=CONSUMER), {"key": "a"}, "in use by Metal3Machine metal3/m"),
    ("reboot", bmh(spec=CONSUMER), {}, "force_hosts"),
    ("reboot", bmh(), {}, "set force"),
    ("reboot", bmh("inspecting"), {}, "starts the deploy ramdisk again"),
    ("reboot", bmh("preparing"), {"force": True}, "state preparing"),
    ("reboot", bmh("provisioned", on=False), {}, "powered off"),
    ("reboot", bmh("provisioned", on=False), {"once": True}, "powered off"),
    ("reboot", bmh("provisioned", on=False, annotations=BEGUN), {}, "powered off"),
    ("reboot", bmh("provisioned", on=False, online=False, annotations=BEGUN), {"once": True}, "power_on"),
    ("reboot", bmh("provisioned", online=False), {}, "power_on"),
    ("reboot", bmh("provisioned", on=True, annotations={"reboot.metal3.io/me": ""}), {}, "release it first"),
    ("reboot_hold", bmh("provisioned", spec={"disablePowerOff": True}), {"key": "me"}, "again and again"),
    ("reboot_hold", bmh("inspecting"), {"key": "me", "force": True}, "state inspecting"),
    ("reboot_hold", bmh(), {"key": "me"}, "set force"),
    ("inspect", bmh("provisioned"), {}, "by surprise"),
    ("inspect", bmh(spec=DISABLED), {}, "without end"),
    ("inspect", bmh(annotations={"inspect.metal3.io": "disabled"}), {}, "inspection is disabled"),
    ("inspect", bmh(on=False, annotations={"reboot.metal3.io/me": ""}), {}, "reboot.metal3.io/me"),
    ("inspect", bmh(on=False, annotations={"reboot.metal3.io/me": ""}), {}, "action reboot_release, key me"),
    ("inspect", bmh(on=False, annotations={"reboot.metal3.io/me": '{"force":true}'}), {}, "in force_hosts"),
    ("resume", bmh(annotations={"baremetalhost.metal3.io/paused": "metal3.io/capm3"}), {}, "resume the Cluster"),
    ("detach", bmh("inspecting"), {}, "set force"),
    ("detach", bmh("deleting"), {"force": True}, "state deleting"),
    ("detach", bmh("provisioned", spec=CONSUMER), {}, "in use by"),
    ("attach", bmh(annotations=dict(DETACHED, **PAUSED), operationalStatus="detached"), {}, "resume it first"),
    ("save_status", bmh(), {}, "removes the annotation at once"),
    ("save_status", bmh(annotations=PAUSED, operationalStatus="servicing"), {}, '"servicing"'),
    ("save_status", bmh(annotations=PAUSED, operationalStatus="error", errorType="servicing error"), {},
     "servicing error"),
    ("save_status", dict(bmh(annotations=PAUSED), status={}), {}, "without status"),
    ("restore_status", bmh(), {"status": {"provisioning": {"state": "provisioned", "ID": "other"}}},
     "drop the annotation"),
    ("restore_status", dict(bmh(annotations=PAUSED), status={}), {"status": DEPLOYED}, "set the host's image first"),
    ("restore_status", dict(bmh(annotations=PAUSED, spec={"image": {"url": "http://j"}}), status={}),
     {"status": DEPLOYED}, '"http://i", which the status says is deployed'),
    ("restore_status", dict(bmh(annotations=PAUSED, spec={"image": {"url": "http://i"}}), status={}),
     {"status": {"provisioning": {"state": "provisioned", "customDeploy": {"method": "a"}}}}, "custom_deploy none"),
    ("restore_status", dict(bmh(annotations=PAUSED, spec={"image": {"url": "http://i"}}), status={}),
     {"status": {"provisioning": {"state": "externally provisioned"}}}, "not externally provisioned"),
    ("set_hardware", bmh(), {"hardware": HARDWARE}, "inspection_mode disabled"),
    ("set_hardware", bmh(spec=DISABLED), {"hardware": HARDWARE, "hardware_data": DATA}, "delete the HardwareData"),
    ("retry", bmh(annotations=PAUSED, operationalStatus="error"), {}, "resume it first"),
    ("retry", bmh("preparing"), {}, "a host in state preparing without an error"),
    ("pause", bmh(annotations={"baremetalhost.metal3.io/paused": "metal3.io/capm3"}), {"reason": "x"},
     "leave out the reason, or pause the Cluster"),
])
def test_what_is_refused(action, obj, options, message):
    problems = refused(action, obj, **options)
    assert problems and message in " ".join(str(problem) for problem in problems), problems
    assert all(problem.subject == "h1" and problem.hint for problem in problems)


def test_each_hold_that_an_inspection_would_end_is_reported():
    held = bmh(annotations={"reboot.metal3.io/me": "", "reboot.metal3.io/you": ""})
    first, second = refused("inspect", held)
    assert "key me)" in first.hint and "key you)" in second.hint


@pytest.mark.parametrize("action, obj, options", [
    ("power_off", bmh(), {}),
    ("power_on", bmh("provisioned", online=False, on=False, spec={"image": {"url": "http://i"}}), {}),
    ("power_on", bmh(online=False, on=False, annotations={"reboot.metal3.io/me": ""}), {}),
    ("power_off", bmh(spec={"consumerRef": {"kind": "Other", "name": "o"}}), {"forced": ("h1",)}),
    ("reboot_hold", bmh("provisioned", spec=CONSUMER), {"forced": ("h1",), "key": "a"}),
    ("power_off", bmh(online=False, on=False, spec=CONSUMER), {}),
    ("power_on", bmh(annotations=PAUSED), {}),
    ("reboot", bmh("externally provisioned"), {}),
    ("reboot", bmh("provisioned", on=False, annotations=BEGUN), {"once": True}),
    ("reboot", bmh(), {"force": True}),
    ("reboot", bmh("inspecting"), {"force": True}),
    ("inspect", bmh(), {}),
    ("inspect", bmh(annotations={"reboot.metal3.io": ""}), {}),
    ("inspect", bmh("inspecting", annotations={"reboot.metal3.io/me": ""}), {}),
    ("inspect", bmh(on=False, annotations={"reboot.metal3.io/me": ""}), {"forced": ("h1",)}),
    ("detach", bmh("inspecting"), {"force": True}),
    ("detach", bmh("deprovisioning", metadata={"deletionTimestamp": "t"}), {"force": True}),
    ("pause", bmh("inspecting", spec=CONSUMER, metadata={"deletionTimestamp": "t"}), {}),
    ("mark_unhealthy", bmh(annotations=PAUSED, spec=CONSUMER), {}),
    ("save_status", bmh(annotations=PAUSED), {}),
    ("restore_status", dict(bmh(annotations=PAUSED), status={}), {"status": {"provisioning": {"state": "available"}}}),
    ("restore_status", dict(bmh(annotations=PAUSED, spec={"image": {"url": "http://i"}}), status={}),
     {"status": DEPLOYED}),
    ("restore_status", dict(bmh(annotations=PAUSED, spec={"externallyProvisioned": True}), status={}),
     {"status": {"provisioning": {"state": "externally provisioned"}}}),
    ("set_hardware", bmh(spec=DISABLED), {"hardware": HARDWARE}),
])
def test_what_is_not_refused(action, obj, options):
    assert refused(action, obj, **options) == []


LEAVING = {"baremetalhost.metal3.io/detached": '{"metal3.baremetal/to-plane":"uid"}',
           "capm3.metal3.io/unhealthy": "metal3.baremetal/host-move"}
HELD = {"baremetalhost.metal3.io/paused": "metal3.baremetal/move"}
ARRIVING = {"baremetalhost.metal3.io/paused": "metal3.baremetal/host-move"}


@pytest.mark.parametrize("action, obj, options, message", [
    ("attach", bmh(annotations=LEAVING, operationalStatus="detached"), {}, "the playbook move_hosts keeps"),
    ("detach", bmh(annotations=LEAVING, operationalStatus="detached"), {"delete_action": "delay"}, "move_hosts keeps"),
    ("mark_healthy", bmh(annotations=LEAVING), {}, "move_hosts keeps"),
    ("mark_unhealthy", bmh(annotations=LEAVING), {"reason": "fan"}, "move_hosts keeps"),
    ("resume", bmh(annotations=HELD), {}, "the playbook pivot keeps"),
    ("resume", bmh(annotations=ARRIVING), {}, "the playbook move_hosts keeps"),
    ("pause", bmh(annotations=HELD), {"reason": "fan"}, "pivot keeps"),
    ("restore_status", dict(bmh(annotations=HELD), status={}), {"status": {"provisioning": {"state": "available"}}},
     "pivot keeps")])
def test_what_keeps_a_host_on_its_way_to_another_plane_stays(action, obj, options, message):
    problem, = refused(action, obj, **options)
    assert message in str(problem) and "in force_hosts if no other plane has its server" in problem.hint
    assert refused(action, obj, forced=("h1",), **options) == []


@pytest.mark.parametrize("action, obj, options", [
    ("detach", bmh(annotations=LEAVING), {}), ("mark_unhealthy", bmh(annotations=LEAVING), {}),
    ("pause", bmh(annotations=HELD), {}), ("lock", bmh(annotations=HELD), {"reason": "fan", "until": "2026-01-02"}),
    ("attach", bmh(annotations=DETACHED, operationalStatus="detached"), {}),
    ("resume", bmh(annotations={"baremetalhost.metal3.io/paused": "mine"}), {})])
def test_what_leaves_a_move_as_it_is_is_not_refused(action, obj, options):
    assert refused(action, obj, **options) == []


def deployed(url, method=None, **spec):
    """Return status and spec of a provisioned host, on which an image, or a method of its own, is deployed."""
    provisioning = {"state": "provisioned", "ID": "n1", "image": {"url": url}, "customDeploy": {"method": method}}
    return dict({"spec": spec}, provisioning=provisioning)


@pytest.mark.parametrize("state, change, message", [
    ("provisioned", {"online": False}, "online false"), ("externally provisioned", {"online": False}, "online false"),
    ("provisioned", {"annotations": {"reboot.metal3.io": ""}}, "the annotation reboot.metal3.io"),
    ("provisioned", {"annotations": {"reboot.metal3.io/me": ""}}, "the annotation reboot.metal3.io/me"),
    ("provisioned", {}, ""), ("provisioned", {"online": False, "on": False}, ""), ("available", {"online": False}, ""),
    ("provisioned", {"on": False, "annotations": {"reboot.metal3.io/me": ""}}, ""),
])
@pytest.mark.parametrize("action, mark, status", [
    ("resume", PAUSED, {}), ("attach", DETACHED, {"operationalStatus": "detached"}), ("restore_status", PAUSED, {})])
def test_a_server_that_would_be_switched_off_at_once_is_not_given_to_the_operator_again(
        action, mark, status, state, change, message):
    """A power-off or a reboot that was recorded while a host was paused or detached takes effect when it is not."""
    image = {} if state == "externally provisioned" else {"url": "http://i"}
    host = bmh(**dict(change, annotations=dict(change.get("annotations", {}), **mark)), **status,
               spec={"image": image, "externallyProvisioned": not image},
               provisioning={"state": state, "ID": "n1", "image": image})
    options = {}
    if action == "restore_status":
        options, host["status"] = {"status": host["status"]}, {}
    found = refused(action, host, **options)
    assert len(found) == bool(message) and all(message in problem.actual for problem in found)
    assert refused(action, host, forced=("h1",), **options) == []


@pytest.mark.parametrize("action, mark", [
    ("resume", {"annotations": PAUSED}), ("attach", {"annotations": DETACHED, "operationalStatus": "detached"})])
@pytest.mark.parametrize("host, is_lost", [
    (deployed("http://i", image={"url": "http://i"}), False), (deployed("http://i", image={"url": "http://j"}), True),
    (deployed("http://i"), True), (deployed("", "m", customDeploy={"method": "m"}), False),
    (deployed("", "m", customDeploy={"method": "n"}), True), (deployed("", "m", image={"url": "http://i"}), True),
    (deployed("", None, image={"url": "http://i"}), False), (dict(deployed("http://i"), provisioning={
        "state": "available"}), False)])
def test_a_host_whose_system_would_be_lost_is_not_given_to_the_operator_again(action, mark, host, is_lost):
    """What is changed while a host is paused or detached takes effect when it is not any more."""
    found = refused(action, bmh(**host, **mark))
    assert [problem.code for problem in found] == (["host-action"] if is_lost else [])
    assert all("what is on its disks would be lost" in problem.expected for problem in found)
    assert refused(action, bmh(**host, **mark), forced=("h1",)) == []
    # One that the operator works on already is not held up.
    assert refused(action, bmh(**host)) == []


def test_a_host_that_is_not_there():
    problem = host_action_rules.check_hosts([request("pause")], {}, {}, "elsewhere")[0]
    assert (problem.actual, problem.expected) == ("no BareMetalHost", "one in namespace elsewhere")


@pytest.mark.parametrize("requests, field, message", [
    ([Request("h1", None)], "action", "not set"),
    ([request("pause"), request("pause")], "name", "named twice"),
    ([request("reboot_hold")], "key", "reboot_hold needs"),
    ([request("reboot_release", key="not a key")], "key", "letters"),
    ([request("restore_status")], "status", "needs"),
    ([request("restore_status", status={"provisioning": {"state": "x"}, "nic": 1})], "status.nic", "strictly"),
    ([request("restore_status", status={"errorCount": 1})], "status.provisioning.state", "whole status"),
    ([request("restore_status", status={"provisioning": {"state": "x"}, "operationalStatus": "servicing"})],
     "status.operationalStatus", "servicing"),
    ([request("set_hardware")], "hardware", "needs"),
    ([request("set_hardware", hardware={"ram": 1})], "hardware.ram", "ramMebibytes"),
])
def test_faulty_requests(requests, field, message):
    problems = action_request.check_requests(requests)
    assert [problem.field for problem in problems] == [field]
    assert message in str(problems[0])


def test_each_option_is_refused_where_it_says_nothing():
    for option, actions in action_request.USED_BY.items():
        for action in host_actions.ACTIONS:
            value = {"key": "k", "force": True, "mode": "hard", "delete_action": "delay"}.get(option, {"x": 1})
            fields = [problem.field for problem in action_request.check_unused(request(action, **{option: value}))]
            assert fields == ([] if action in actions else [option])


def test_annotations_are_read_as_bmo_reads_them():
    assert host_annotations.arguments("no json") == host_annotations.arguments(None) == {}
    assert host_annotations.arguments("[1]") == {}
    held = bmh(annotations={"reboot.metal3.io/b": "", "reboot.metal3.io/a": '{"force":true}', "reboot.metal3.io": ""})
    assert host_annotations.held_by(held) == ["a", "b"]
    assert host_annotations.held_by(held, forced_only=True) == ["a"]
    assert not host_annotations.is_reboot("reboot.metal3.iox")


@pytest.mark.parametrize("spec, change, words", [
    ({"image": {"url": "http://j"}}, {}, '"http://i" is deployed'), ({}, {}, '"http://i" is deployed'),
    ({"image": {"url": "http://i"}}, {"online": False}, "online false"), ({"image": {"url": "http://i"}}, {}, None)])
def test_of_a_paused_host_without_a_status_the_saved_one_counts(spec, change, words):
    """As a restore brings a host that somebody had paused: the operator takes its status from the annotation."""
    saved = dict(bmh("provisioned")["status"], **DEPLOYED)
    host = dict(bmh(annotations=dict(PAUSED, **{host_annotations.STATUS: json.dumps(saved)}), spec=spec, **change),
                status={})
    found = refused("resume", host)
    assert len(found) == (words is not None) and all(words in problem.actual for problem in found)
    assert refused("resume", host, forced=("h1",)) == []


@pytest.mark.parametrize("saved", ['"x"', '{"provisioning":"x","poweredOn":[]}', "{"])
def test_a_saved_status_that_is_none_tells_nothing(saved):
    assert refused("resume", dict(bmh(annotations=dict(PAUSED, **{host_annotations.STATUS: saved})), status={})) == []


@pytest.mark.parametrize("marks, status, lost", [
    (PAUSED, "OK", True), (dict(PAUSED, **{host_annotations.DETACHED: '{"deleteAction":"delay"}'}), "detached", True),
    # BMO has not seen the annotation: such a host is none that it has detached.
    (dict(PAUSED, **DETACHED), "OK", True), (dict(PAUSED, **DETACHED), "detached", False)])
def test_a_deletion_that_waits_for_a_pause_to_end_costs_the_system(marks, status, lost):
    """Who resumes the host need not know of it; one that is detached goes, and its server runs on."""
    host = bmh(annotations=marks, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]},
               operationalStatus=status, **deployed("http://i", image={"url": "http://i"}))
    found = refused("resume", host)
    assert [problem.code for problem in found] == ["host-action"] * lost
    assert all("and which is being deleted since 2026-01-01" in problem.actual for problem in found)
    assert refused("resume", host, forced=("h1",)) == []


@pytest.mark.parametrize("change, interrupts", [
    ({}, True), ({"on": False}, False), ({"spec": {"externallyProvisioned": True, "disablePowerOff": True}}, False),
    ({"annotations": dict(PAUSED, **DETACHED), "operationalStatus": "detached"}, False)])
def test_a_deletion_that_waits_switches_off_a_server_that_is_provisioned_otherwise(change, interrupts):
    options = dict({"spec": {"externallyProvisioned": True}, "annotations": PAUSED}, **change)
    host = bmh("externally provisioned", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, **options)
    found = refused("resume", host)
    assert [problem.actual.startswith("a host whose server is on, and which is being deleted") for problem in found] \
        == [True] * interrupts
    assert refused("resume", host, forced=("h1",)) == []
    assert interruptions.cost(request("resume"), host) == ("what runs on it is interrupted" if interrupts else "")


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("spec, lost", [({"externallyProvisioned": True}, False), ({}, True)])
def test_a_server_with_a_system_of_its_own_is_not_taken_for_one_that_is_to_be_prepared(saved, spec, lost):
    """handleExternallyProvisioned of BMO: without the field the server is inspected and cleaned."""
    host = bmh("externally provisioned", annotations=PAUSED, spec=spec)
    if saved:
        host["metadata"]["annotations"] = dict(PAUSED, **{host_annotations.STATUS: json.dumps(host["status"])})
        host["status"] = {}
    found = refused("resume", host)
    assert ["a system of its own runs" in problem.actual for problem in found] == [True] * lost
    assert interruptions.cost(request("resume"), host) == ("what is on its disks is lost" if lost else "")


@pytest.mark.parametrize("spec, lost", [
    ({"consumerRef": {"kind": "Metal3Machine", "name": "m1"}}, True), ({}, False),
    ({"consumerRef": {"kind": "Metal3Machine", "name": "m1"}, "externallyProvisioned": True}, False)])
def test_a_host_in_use_of_which_no_status_is_left_is_not_begun_with_from_the_start(spec, lost):
    host = dict(bmh(annotations=PAUSED, spec=spec), status={})
    found = refused("resume", host)
    assert ["neither a status nor a saved one" in problem.actual for problem in found] == [True] * lost
    assert refused("resume", host, forced=("h1",)) == []

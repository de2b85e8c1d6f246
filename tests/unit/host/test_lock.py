# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that somebody has locked: what is refused until when, and what goes on."""
from __future__ import annotations

import pytest
from fakes.kubernetes import Server, host
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions import action_request
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions import action_rules as host_action_rules
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.actions import ACTIONS, Request
from ansible_collections.metal3.baremetal.plugins.module_utils._host.service import HostService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock

# 2026-01-01T00:00:00Z
NOW = 1767225600
BEFORE, AFTER = "2025-12-31T23:59:59Z", "2026-01-01T00:00:01Z"
MOVING = {"power_on", "power_off", "reboot", "reboot_hold", "reboot_release", "inspect", "detach", "attach", "retry",
          "resume", "restore_status"}


def bmh(value=None, state="provisioned", **spec):
    annotations = {} if value is None else {host_lock.LOCKED: value}
    return {"metadata": {"name": "h1", "namespace": "metal3", "uid": "u1", "annotations": annotations},
            "spec": dict({"online": True}, **spec),
            "status": {"operationalStatus": "OK", "poweredOn": True, "provisioning": {"state": state}}}


@pytest.mark.parametrize("value, lock", [
    (None, None),
    (host_lock.value("RMA 4711", AFTER), ("RMA 4711", AFTER)),
    (host_lock.value("RMA 4711", BEFORE), None),
    ("by hand", ("by hand", "")),
    ('{"reason": "no end"}', ("no end", "")),
    ('{"reason": 1, "until": "tomorrow"}', ('{"reason": 1, "until": "tomorrow"}', "")),
    ('{"reason": "a\\u001b[2J", "until": "%s"}' % AFTER, ("a\\x1b[2J", AFTER)),
    ("", ("", "")),
])
def test_a_lock_counts_until_its_end_and_one_without_an_end_until_it_is_removed(value, lock):
    found = host_lock.lock_of(bmh(value), NOW)
    assert found == lock or (found and "\x1b" not in found.reason and found.until == lock[1])


def refused(action, obj, now="2026-01-01T00:00:00Z", **options):
    request = Request("h1", action, now=now, **options)
    of_itself = action_request.check_requests([request]) or action_request.check_ends([request])
    return [*of_itself, *host_action_rules.check_hosts([request], {"h1": obj}, {}, "metal3", ("h1",))]


def test_actions_that_move_a_server_are_refused_and_no_others():
    locked = bmh(host_lock.value("RMA 4711", AFTER))
    options = {"reboot_hold": {"key": "k"}, "reboot_release": {"key": "k"}, "restore_status": {"status": {}},
               "set_hardware": {"hardware": {}}}
    with_lock = dict((action, [problem for problem in refused(action, locked, **options.get(action, {}))
                               if "RMA 4711" in str(problem)]) for action in ACTIONS if action != "lock")
    # What is done already is not asked for: a server that is on, not held and attached.
    assert {action for action, found in with_lock.items() if found} == MOVING - {
        "power_on", "reboot_release", "attach", "retry", "resume"}
    assert {name for name, action in ACTIONS.items() if action.guarded or action.moves} == MOVING
    assert str(with_lock["reboot"][0]) == (
        f'h1: reboot: found host h1 locked until {AFTER}: "RMA 4711", expected a host that nobody works on; ask '
        "whoever locked it; when the work is done unlock it (playbook host_action, action unlock)")
    assert not refused("reboot", bmh(host_lock.value("RMA 4711", BEFORE)))


def test_a_server_that_is_worked_on_while_it_is_off_is_not_switched_on_by_a_resume():
    """BMO does that at once: the host is to be on."""
    locked = bmh(host_lock.value("RMA 4711", AFTER))
    locked["metadata"]["annotations"]["baremetalhost.metal3.io/paused"] = ""
    locked["status"]["poweredOn"] = False
    assert "h1: resume: found host h1 locked until" in str(refused("resume", locked)[0])
    assert not refused("resume", locked, now=AFTER)
    assert not refused("pause", locked) and not refused("unlock", locked)


def test_a_lock_needs_reason_and_end_and_replaces_no_other():
    assert [problem.field for problem in refused("lock", bmh())] == ["reason", "until"]
    assert "a time in UTC" in str(refused("lock", bmh(), reason="r", until="tomorrow")[0])
    assert "a time to come" in str(refused("lock", bmh(), reason="r", until=BEFORE)[0])
    assert not refused("lock", bmh(), reason="r", until=AFTER)
    other = bmh(host_lock.value("RMA 4711", AFTER))
    assert 'locked until 2026-01-01T00:00:01Z: "RMA 4711"' in str(refused("lock", other, reason="r", until=AFTER)[0])
    # Its own is made longer, and one that is over is nobody's.
    assert not refused("lock", other, reason="RMA 4711", until="2027-01-01T00:00:00Z")
    assert not refused("lock", bmh(host_lock.value("RMA 4711", BEFORE)), reason="r", until=AFTER)
    assert refused("reboot", bmh(), until=AFTER)[0].field == "until"


def run(server, hosts, **values):
    params = dict({"namespace": "metal3", "create_namespace": False, "hosts": hosts, "deploy": True, "force_hosts": [],
                   "allow_detach": False, "allow_deprovision": True, "allow_power_off": True, "wait_for": None,
                   "delete_only_detached": False, "refuse_protected": False, "wait_timeout_seconds": 5,
                   "error_limit": 3, "field_names": "options"}, **values)
    return HostService(server, params, False, Reports(), sleep=lambda seconds: None).run()


IMAGE = {"url": "http://192.0.2.9/i.qcow2", "checksum": "a" * 64, "checksum_type": "sha256"}


@pytest.mark.parametrize("change, field", [
    ({"state": "absent"}, "state"),
    ({"online": False}, "online"),
    ({"image": IMAGE}, "image.url"),
    ({"labels": {"rack": "2"}}, None),
])
def test_a_locked_host_is_not_deployed_powered_off_or_deleted(change, field):
    server = Server()
    run(server, [host(1)])
    stored = server.objects["BareMetalHost", "h1"]
    stored["metadata"]["annotations"] = {host_lock.LOCKED: host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")}
    stored["status"] = {"provisioning": {"state": "available"}}
    entry = dict({"name": "h1", "state": "absent"} if "state" in change else host(1), **change)
    if field is None:
        assert run(server, [entry])["changed"]
        return
    writes = len(server.writes())
    with pytest.raises(RefusedError, match=f'h1: {field}: found host h1 locked until 2999-01-01T00:00:00Z: "RMA 4711"'):
        run(server, [entry])
    assert len(server.writes()) == writes
    stored["metadata"]["annotations"] = {host_lock.LOCKED: host_lock.value("RMA 4711", BEFORE)}
    assert run(server, [entry])["changed"]


def test_a_locked_host_is_not_detached_for_another_bmc():
    server = Server()
    run(server, [host(1)])
    stored = server.objects["BareMetalHost", "h1"]
    stored["metadata"]["annotations"] = {host_lock.LOCKED: host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")}
    stored["status"] = {"provisioning": {"state": "available"}}
    entry = host(1)
    entry["bmc"] = dict(entry["bmc"], address=entry["bmc"]["address"] + "0")
    writes = len(server.writes())
    with pytest.raises(RefusedError, match=r'h1: bmc\.address: found host h1 locked until 2999-01-01T00:00:00Z: "RMA'):
        run(server, [entry], allow_detach=True)
    assert len(server.writes()) == writes
    # A run that was killed has left it detached.
    stored["metadata"]["annotations"]["baremetalhost.metal3.io/detached"] = '{"metal3.baremetal/bmc-change":true}'
    with pytest.raises(RefusedError, match=r"h1: bmc\.address: found host h1 locked"):
        run(server, [host(1)], allow_detach=True)
    assert len(server.writes()) == writes


def test_an_image_is_left_to_provisioning_and_locks_nothing():
    server = Server()
    run(server, [host(1)])
    stored = server.objects["BareMetalHost", "h1"]
    stored["metadata"]["annotations"] = {host_lock.LOCKED: host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")}
    stored["status"] = {"provisioning": {"state": "available"}}
    assert not run(server, [dict(host(1), image=IMAGE)], deploy=False)["changed"]

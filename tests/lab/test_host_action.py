# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on hosts: that the operator does what was asked for, and that what it would not do is refused."""
from __future__ import annotations

import json

import pytest
from support import HOST, NAMESPACE, asked_of

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.action_module import (
    host_action_argument_spec,
    requests_of,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_service import HostActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table as host_table
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.goals import state_of
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.usefixtures("as_operator")

HARDWARE_DATA = KNOWN["HardwareData"]
CONSUMER = {"apiVersion": "example.org/v1", "kind": "Somebody", "name": "else", "namespace": NAMESPACE}
STATUS = "baremetalhost.metal3.io/status"
PAUSED = "baremetalhost.metal3.io/paused"


@pytest.fixture(scope="module")
def pair(lab):
    """The names of the lab's first two servers, which are free and run: CAPM3 switches off what a cluster has had."""
    names = sorted(lab.servers)[:2]
    for name in names:
        lab.kube.patch(HOST, NAMESPACE, name, {"spec": {"online": True}})
    for name in names:
        lab.wait_for_host(name, lambda host: state_of(host) == "available" and host["status"].get("poweredOn"),
                          "available and on")
    return names


@pytest.fixture
def act(lab):
    """Take actions and return the results by host; ``hosts`` maps names to the options of each."""
    def run(hosts, **options):
        params = dict((name, spec.get("default")) for name, spec in host_action_argument_spec().items())
        # The module's own wait: Ironic gives one power change 120 s (power_state_change_timeout), a soft one of BMO's
        # 180 s (softPowerOffTimeout), a reboot is two of them, and BMO looks every 10 s (powerRequeueDelay).
        params.update(options, hosts=[dict(given, name=name) for name, given in hosts.items()])
        result = HostActionService(lab.kube, requests_of(params), params, False, Progress()).run()
        assert result["counts"]["failed"] == 0, result["hosts"]
        return dict((facts["name"], facts) for facts in result["hosts"])
    return run


def on(names):
    return "--limit", ",".join(names)


def asked(lab, names):
    return dict((name, asked_of(host)) for name, host in lab.hosts().items() if name in names)


def is_on(room, name):
    return room.server(name)["power"] == "On"


def test_power_off_and_on_by_a_playbook(lab, room, pair):
    given = (*on(pair), "-e", "host_action=power_off")
    lab.playbook("host_action", *given).failed(
        f"This may interrupt what runs on 2 servers ({', '.join(sorted(pair))}).")
    check = lab.playbook("host_action", *given, "-e", "metal3_confirm=2", "--check", "--diff").ok()
    assert check.changed() == 2 and "+online: false" in check.output
    assert all(is_on(room, name) for name in pair)

    lab.playbook("host_action", *given, "-e", "metal3_confirm=2").ok()
    assert not any(is_on(room, name) for name in pair)
    assert not any(lab.host(name)["status"]["poweredOn"] for name in pair)
    assert lab.playbook("host_action", *given, "-e", "metal3_confirm=2").ok().changed() == 0

    lab.playbook("host_action", *on(pair), "-e", "host_action=power_on").ok()
    assert all(is_on(room, name) for name in pair)


def test_reboot_and_hold(lab, room, act, pair):
    first, second = pair
    boots = room.server(first)["boots"]
    done = act({first: {"action": "reboot", "mode": "hard"}, second: {"action": "reboot_hold", "key": "test"}},
               force=True)
    assert done[first]["powered_on"] and room.server(first)["boots"] == boots + 1
    assert not done[second]["powered_on"] and not is_on(room, second)
    with pytest.raises(RefusedError, match=f"{second}: power_on: found a host held .*reboot.metal3.io/test"):
        act({second: {"action": "power_on"}})
    assert act({second: {"action": "reboot_release", "key": "test"}})[second]["powered_on"]
    assert is_on(room, second)


def test_an_inspection_ends_a_hold_and_so_is_refused(lab, act, pair):
    name, held = pair[1], host_annotations.reboot_key("test")
    act({name: {"key": "test"}}, action="reboot_hold", force=True)
    with pytest.raises(RefusedError, match=f"{name}: inspect: found a host held .*{held}.* key test"):
        act({name: {}}, action="inspect")
    act({name: {}}, action="inspect", force_hosts=[name])
    assert held not in host_annotations.of(lab.host(name))
    lab.wait_for_host(name, lambda host: host["status"]["poweredOn"], "on again")


def test_what_the_operator_would_not_do_is_refused(lab, act, pair):
    first, second = pair
    try:
        lab.kube.patch(HOST, NAMESPACE, first, {"spec": {"consumerRef": CONSUMER}})
        act({second: {"action": "pause", "reason": "test"}})
        before = asked(lab, pair)
        run = lab.playbook("host_action", *on(pair), "-e", "host_action=power_off", "-e", "metal3_confirm=2")
        run.failed("nothing was changed")
        assert f"in use by Somebody {NAMESPACE}/else" in "\n".join(run.output_of(first))
        assert "a paused host" in "\n".join(run.output_of(second))
        with pytest.raises(RefusedError) as refused:
            act({first: {"action": "reboot"}, second: {"action": "inspect"}, "no-such-host": {"action": "pause"}},
                force_hosts=[first])
        assert sorted(set(problem.subject for problem in refused.value.problems)) == sorted(["no-such-host", *pair])
        assert asked(lab, pair) == before
    finally:
        act({second: {"action": "resume"}})
        lab.kube.patch(HOST, NAMESPACE, first, {"spec": {"consumerRef": None}})


def test_marks_are_set_and_taken_away(lab, act, pair):
    marked = act({pair[0]: {"reason": "fan"}}, action="mark_unhealthy")[pair[0]]
    assert marked["annotations"]["capm3.metal3.io/unhealthy"] == "fan"
    lab.kube.patch(HOST, NAMESPACE, pair[0], {"metadata": {"annotations": {"capi.metal3.io/unhealthy": "older"}}})
    cleared = act({pair[0]: {}}, action="mark_healthy")[pair[0]]
    assert not [key for key in cleared["annotations"] if key.endswith("unhealthy")]


SERIAL = """\
- hosts: baremetal
  gather_facts: false
  serial: 1
  tasks:
    - include_role: {name: metal3.baremetal.hosts, tasks_from: action}
      vars: {hosts_action: pause}
      run_once: true
"""


def test_serial_counts_and_a_second_reason_is_kept(lab, pair, tmp_path):
    play = tmp_path / "serial.yml"
    play.write_text(SERIAL)
    try:
        paused = lab.playbook(play, *on(pair), "-e", "hosts_action_reason=first").ok()
        assert paused.output.count("writing 1 of 1 hosts") == 2 and paused.changed() == 2
        lab.playbook("host_action", *on(pair), "-e", "host_action=pause", "-e", "hosts_action_reason=second").ok()
        assert [host_annotations.of(lab.host(name))[PAUSED] for name in pair] == ["second"] * 2
    finally:
        lab.playbook("host_action", *on(pair), "-e", "host_action=resume").ok()
    assert not [name for name in pair if PAUSED in host_annotations.of(lab.host(name))]


def test_a_detached_host_has_no_node_and_an_attached_one_a_new_node(lab, room, act, pair):
    name = pair[1]
    node = lab.nodes()[name].id
    assert act({name: {"delete_action": "delay"}}, action="detach")[name]["operational_status"] == "detached"
    assert name not in lab.nodes() and is_on(room, name)
    with pytest.raises(RefusedError, match="attach it first"):
        act({name: {}}, action="power_off")
    attached = act({name: {}}, action="attach")[name]
    assert attached["operational_status"] == "OK" and attached["node_id"] not in ("", node)
    assert lab.nodes()[name].id == attached["node_id"]


def test_a_host_moves_with_its_status(lab, act, pair, tmp_path):
    """As clusterctl moves it: paused, its object created again without its node in Ironic noticing."""
    name = pair[0]
    act({name: {}}, action="pause")
    folder = ("-e", f"hosts_action_status_dir={tmp_path / 'saved'}")
    lab.playbook("host_action", *on([name]), "-e", "host_action=save_status", *folder).ok()
    kept = tmp_path / "saved" / (f"{name}.json")
    saved, old = kept.read_text(), lab.host(name)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(saved) == old["status"] == json.loads(host_annotations.of(old)[STATUS])
    try:
        lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"finalizers": None}})
        # Orphans: the Secrets, HardwareData and settings stay, as they move by themselves.
        lab.kube.delete(HOST, NAMESPACE, name, propagation="Orphan")
        lab.wait_for_host(name, lambda host: host is None, "gone")
    finally:
        lab.kube.apply(HOST, NAMESPACE, {
            "apiVersion": old["apiVersion"], "kind": old["kind"], "spec": old["spec"],
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": old["metadata"].get("labels") or {},
                         "annotations": {PAUSED: "moved"}}})
        lab.playbook("host_action", *on([name]), "-e", "host_action=restore_status", *folder).ok()
    restored = host_table.summary(lab.host(name))
    assert restored["uid"] != old["metadata"]["uid"] and not restored["paused"]
    assert restored["state"] == "available" and restored["node_id"] == old["status"]["provisioning"]["ID"]
    host = lab.wait_for_host(name, lambda host: host["metadata"].get("finalizers"), "taken over")
    # Registered once more, because the Secret's owner changes with the object; inspected not.
    assert host["status"]["operationHistory"]["inspect"] == old["status"]["operationHistory"]["inspect"]
    assert lab.nodes()[name].id == restored["node_id"]
    with pytest.raises(RefusedError, match="a host that has a status"):
        act({name: {"status": json.dumps({"provisioning": {"state": "available", "ID": "other"}})}},
            action="restore_status")


def test_a_status_does_not_come_to_a_host_that_does_not_name_what_is_deployed(lab, act):
    """The operator would deprovision the server, and so wipe it."""
    lab.kube.create(HOST, NAMESPACE, {"apiVersion": HOST.api_version, "kind": HOST.kind, "spec": {"online": True},
                                      "metadata": {"name": "without-image", "annotations": {PAUSED: "moved"}}})
    try:
        before = asked(lab, ["without-image"])
        saved = lab.host("server-03")["status"]
        assert saved["provisioning"]["state"] == "provisioned"
        with pytest.raises(RefusedError, match=r"image none.*BMO would deprovision the server"):
            act({"without-image": {"status": json.dumps(saved)}}, action="restore_status")
        assert asked(lab, ["without-image"]) == before != {}
    finally:
        lab.kube.delete(HOST, NAMESPACE, "without-image")


def test_an_inspection_shows_what_changed(lab, pair):
    lab.kube.patch(HARDWARE_DATA, NAMESPACE, pair[0], {"spec": {"hardware": {"ramMebibytes": 1}}})
    made = lab.kube.get(HARDWARE_DATA, NAMESPACE, pair[0])["metadata"]["uid"]
    run = lab.playbook("inspect", *on(pair[:1])).ok()
    assert run.changed() == 1
    assert f"{pair[0]}  RAM   1 MiB   {lab.servers[pair[0]]['memory_mib'] // 1024} GiB" in run.output
    again = lab.kube.get(HARDWARE_DATA, NAMESPACE, pair[0])["metadata"]
    assert again["uid"] != made and again["ownerReferences"][0]["uid"] == lab.host(pair[0])["metadata"]["uid"]


def test_hosts_come_and_go_and_the_server_runs_on(lab, room, act, pair):
    name = pair[1]
    boots = room.server(name)["boots"]
    try:
        lab.playbook("unenroll", *on([name]), "-e", "metal3_confirm=1", "-e", "hosts_remove_by=detach").ok()
        assert lab.host(name) is None and name not in lab.nodes()
        assert is_on(room, name) and room.server(name)["boots"] == boots

        # An error that passes: the operator would wait for minutes before it tries again.
        room.set_knobs(name, bmc_unauthorized=True)
        lab.playbook("enroll", *on([name]), "-e", "bmh_externally_provisioned=true",
                     "-e", "enroll_preflight=none").failed("refused the credentials")
        room.clear_knobs(name)
        act({name: {}}, action="retry")
        assert lab.state(name) == "externally provisioned" and room.server(name)["boots"] == boots
        with pytest.raises(RefusedError, match="by surprise"):
            act({name: {}}, action="inspect")
        lab.playbook("unenroll", *on([name]), "-e", "metal3_confirm=1", "-e", "hosts_remove_by=detach").ok()
        assert is_on(room, name) and room.server(name)["boots"] == boots

        lab.playbook("enroll", *on([name]), "-e", "bmh_inspection_mode=disabled").ok()

        details = {"cpu": {"arch": "x86_64", "count": 3}, "ramMebibytes": 4096,
                   "nics": [{"name": "eno1", "mac": lab.servers[name]["boot_mac"]}]}
        with pytest.raises(RefusedError, match=r"a change that the API server refuses.*speed"):
            act({name: {"hardware": dict(details, nics=[{"speed": 1}])}}, action="set_hardware")
        assert act({name: {"hardware": details}}, action="set_hardware")[name]["hardware"]["cpu"]["count"] == 3
        assert not act({name: {"hardware": details}}, action="set_hardware")[name]["changed"]
        with pytest.raises(RefusedError, match="inspection is disabled"):
            act({name: {}}, action="inspect")
    finally:
        room.clear_knobs(name)
        lab.playbook("enroll", *on([name]), "-e", "bmh_inspection_mode=").ok()
    # Asked for by somebody else: it is waited for, and not asked for twice.
    lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {host_annotations.INSPECT: ""}}})
    assert not act({name: {}}, action="inspect")[name]["changed"]
    with pytest.raises(RefusedError, match="inspection_mode disabled"):
        act({name: {"hardware": details}}, action="set_hardware")
    assert lab.host(name)["status"]["hardware"]["cpu"]["count"] == lab.servers[name]["cpus"]


def test_a_locked_server_is_not_interrupted_by_any_playbook(lab, room, pair):
    """Refused as a whole, with the reason, before anything is written; a lock that is over counts no more."""
    locked = pair[0]
    lock = {"host_action": "lock", "hosts_action_reason": "RMA 4711", "hosts_action_until": "2999-01-01T00:00:00Z"}
    lab.playbook("host_action", *on([locked]), extra=dict(lock, hosts_action_until="tomorrow")).failed(
        'hosts_action_until: found "tomorrow", expected a time in UTC')
    assert lab.playbook("host_action", *on([locked]), extra=lock).ok().changed() == 1
    assert lab.playbook("host_action", *on([locked]), extra=lock).ok().changed() == 0
    reason = f'host {locked} locked until 2999-01-01T00:00:00Z: "RMA 4711"'
    lab.playbook("host_action", *on([locked]), extra=dict(lock, hosts_action_reason="mine")).failed("RMA 4711")
    versions = lab.versions()
    for playbook, extra in (("host_action", {"host_action": "power_off", "metal3_confirm": "2"}),
                            ("inspect", {}), ("unenroll", {"metal3_confirm": "2"}),
                            ("maintain", {"maintain": "reboot", "maintain_serial": 2, "metal3_confirm": "2"})):
        lab.playbook(playbook, *on(pair), extra=extra).failed(reason)
    assert lab.versions() == versions and all(is_on(room, name) for name in pair)
    # What does not touch the server goes on.
    assert lab.playbook("enroll", *on(pair)).ok().changed() == 0
    assert lab.playbook("host_action", *on([locked]), extra={"host_action": "unlock"}).ok().changed() == 1
    over = json.dumps({"reason": "RMA 4711", "until": "2026-01-01T00:00:00Z"})
    lab.kube.patch(HOST, NAMESPACE, locked, {"metadata": {"annotations": {"metal3.baremetal/lock": over}}})
    lab.playbook("inspect", *on([locked])).ok()
    assert lab.playbook("host_action", *on([locked]), extra={"host_action": "unlock"}).ok().changed() == 1

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on a list of hosts, against an API server in memory on which BMO acts."""
from __future__ import annotations

import copy
import threading
import time

import pytest
from fakes.api_server import WRITE, ApiServer, status
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import timestamp
from ansible_collections.metal3.baremetal.plugins.module_utils._host.action_module import requests_of
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_rules import identity_of
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.action_service import HostActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects import precondition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError


class Server:
    """As much of an API server as actions need: LIST, merge patches, and an operator that obeys ``online``."""

    server = "https://198.18.0.1:6443"

    def __init__(self, *names, obeys=True):
        self.obeys = obeys
        self.requests = []
        self.refusals = {}
        # What others do before a write is stored, and after one whose answer is lost.
        self.meanwhile, self.lost = {}, {}
        self.lock = threading.Lock()
        self.hosts = dict((name, {
            "metadata": {"name": name, "namespace": "metal3", "uid": "uid-" + name, "resourceVersion": "1"},
            "spec": {"online": True, "bmc": {"address": "ipmi://192.0.2.1"}},
            "status": {"operationalStatus": "OK", "poweredOn": True, "lastUpdated": "t",
                       "provisioning": {"state": "available", "ID": "n1"}}}) for name in names)

    def list(self, resource, namespace=None, label_selector=None):
        self.requests.append(("LIST", resource.kind))
        if resource.kind != "BareMetalHost":
            return [], "1"
        if self.obeys:
            for host in self.hosts.values():
                host["status"]["poweredOn"] = host["spec"]["online"]
        return copy.deepcopy(list(self.hosts.values())), "1"

    def get(self, resource, namespace, name):
        return copy.deepcopy(self.hosts.get(name))

    def touch(self, name, **spec):
        """Do what another client does to a host: its version is another one afterwards."""
        metadata = self.hosts[name]["metadata"]
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)
        self.hosts[name]["spec"].update(spec)

    def patch(self, resource, namespace, name, body, dry_run=False, checked=None):
        with self.lock:
            self.requests.append(("TRY" if dry_run else "PATCH", name))
        if name in self.refusals:
            raise KubeError(self.refusals[name], 422)
        self.meanwhile.pop(name, lambda: None)()
        host = self.hosts[name] if not dry_run else copy.deepcopy(self.hosts[name])
        if precondition.identity(checked) != precondition.identity(host):
            raise KubeError(f"BareMetalHost metal3/{name}: the object has been modified", 409)
        host["spec"].update(body.get("spec", {}))
        annotations = host["metadata"].setdefault("annotations", {})
        for key, value in body.get("metadata", {}).get("annotations", {}).items():
            if value is None:
                annotations.pop(key, None)
            else:
                annotations[key] = value
        if not dry_run:
            self.touch(name)
            if name in self.lost:
                self.lost.pop(name)()
                raise KubeError("no answer", reason="Unreachable")
        return copy.deepcopy(host)

    def watch(self, resource, namespace, resource_version, timeout_seconds=60, label_selector=None):
        return iter(())

    def writes(self):
        return sorted(request for request in self.requests if request[0] != "LIST")


def given(**values):
    params = dict.fromkeys((
        "names", "hosts", "action", "mode", "key", "force", "once", "delete_action", "reason", "until"))
    params.update(namespace="metal3", force_hosts=[], confirm=None, confirm_among=[], wait=True, wait_timeout_seconds=5,
                  error_limit=2)
    return dict(params, **values)


def run(server, check_mode=False, **values):
    params, reports = given(**values), Reports()
    service = HostActionService(server, requests_of(params), params, check_mode, reports,
                                sleep=lambda seconds: None)
    return service.run(), reports.lines


def test_many_hosts_by_one_list_and_a_patch_each():
    server = Server("h1", "h2", "h3")
    server.hosts["h3"]["spec"]["online"] = False
    result, lines = run(server, names=["h1", "h2", "h3"], action="power_off")
    assert server.writes() == [("PATCH", "h1"), ("PATCH", "h2")]
    assert [facts["changed"] for facts in result["hosts"]] == [True, True, False]
    assert not any(facts["powered_on"] or facts["failed"] for facts in result["hosts"])
    assert result["counts"] == {"total": 3, "changed": 2, "failed": 0}
    assert lines[0] == "writing 2 of 3 hosts" and "3/3 powered off" in lines[-1]
    server.requests.clear()
    again, dummy = run(server, names=["h1", "h2", "h3"], action="power_off")
    assert not again["changed"] and server.requests == [("LIST", "BareMetalHost")]


def test_a_host_s_own_options_go_before_those_of_the_task():
    server = Server("h1", "h2")
    result, dummy = run(server, names=["h1"], hosts=[{"name": "h2", "action": "pause", "reason": "disks"}],
                        action="power_off")
    assert [facts["action"] for facts in result["hosts"]] == ["power_off", "pause"]
    assert result["hosts"][1]["annotations"] == {"baremetalhost.metal3.io/paused": "disks"}


def test_options_of_the_task_are_for_the_actions_that_know_them():
    params = given(names=["h1"], hosts=[{"name": "h2", "action": "reboot", "mode": "hard"}], action="pause", reason="x",
                   force=True)
    pause, reboot = requests_of(params)
    assert (pause.reason, pause.force, reboot.reason, reboot.force, reboot.mode) == ("x", False, None, True, "hard")
    lost = requests_of(given(names=["h1"], action="resume", key="k"))
    assert lost[0].key == "k"


def condition(kind, status="True", generation=2):
    return {"type": kind, "status": status, "observedGeneration": generation}


def settings(wanted="Disabled", changed="True", valid="True", generation=2):
    return {"metadata": {"name": "h1", "namespace": "metal3", "generation": 2},
            "spec": {"settings": {"ProcTurbo": wanted}},
            "status": {"settings": {"ProcTurbo": "Enabled"}, "conditions": [
                condition("ChangeDetected", changed, generation), condition("Valid", valid, generation)]}}


def components(url="http://192.0.2.9/bios-2", done=()):
    return {"metadata": {"name": "h1", "namespace": "metal3", "generation": 2},
            "spec": {"updates": [{"component": "bios", "url": url}]},
            "status": {"updates": [{"component": "bios", "url": item} for item in done],
                       "conditions": [condition("ChangeDetected"), condition("Valid")]}}


class Firmware(Server):
    """A provisioned server that is off as soon as it is held, and of which firmware is pending.

    :param policy: spec of its HostUpdatePolicy
    :param objects: ``{kind: object}``
    :param error: by which the API server refuses the policies
    """

    def __init__(self, policy, objects, error=None, **spec):
        super().__init__("h1")
        self.policy, self.objects, self.error, self.serves = policy, objects, error, 0
        self.hosts["h1"]["status"]["provisioning"]["state"] = "externally provisioned"
        self.hosts["h1"]["spec"].update(spec)

    def list(self, resource, namespace=None, label_selector=None):
        if resource.kind == "HostUpdatePolicy":
            self.requests.append(("LIST", resource.kind))
            if self.error:
                raise self.error
            return [{"metadata": {"name": "h1", "namespace": "metal3"}, "spec": self.policy}], "1"
        host = self.hosts["h1"]
        if "reboot.metal3.io/disks" in (host["metadata"].get("annotations") or {}):
            host["status"]["poweredOn"] = False
        return copy.deepcopy(list(self.hosts.values())), "1"

    def get(self, resource, namespace, name):
        if resource.kind == "BareMetalHost":
            return super().get(resource, namespace, name)
        self.requests.append(("GET", resource.kind))
        return copy.deepcopy(self.objects.get(resource.kind))


ON_REBOOT = {"firmwareSettings": "onReboot", "firmwareUpdates": "onReboot"}


def hold(server, **values):
    return run(server, hosts=[{"name": "h1", "action": "reboot_hold", "key": "disks"}], confirm="1",
               wait_timeout_seconds=1, **values)[0]


@pytest.mark.parametrize("policy, objects, kind", [
    (ON_REBOOT, {"HostFirmwareSettings": settings()}, "HostFirmwareSettings"),
    # BMO has not looked at it yet, and does nothing before it has.
    (ON_REBOOT, {"HostFirmwareSettings": settings(generation=1)}, "HostFirmwareSettings"),
    ({"firmwareUpdates": "onReboot"}, {"HostFirmwareSettings": settings(), "HostFirmwareComponents": components()},
     "HostFirmwareComponents")])
def test_a_server_is_not_held_before_its_firmware_is_changed_for_which_bmo_switches_it_on(policy, objects, kind):
    """Whoever waits for that would have the server start under his hands."""
    result = hold(Firmware(policy, objects))
    assert result["hosts"][0]["failed"]
    assert f"BMO has yet to change what its {kind} asks for, and switches the server on for that" in \
        result["hosts"][0]["error"]


@pytest.mark.parametrize("policy, objects, spec", [
    ({"firmwareSettings": "onPreparing"}, {"HostFirmwareSettings": settings()}, {}),
    ({"firmwareUpdates": "onReboot"}, {"HostFirmwareSettings": settings()}, {}),
    (ON_REBOOT, {}, {}),
    (ON_REBOOT, {"HostFirmwareSettings": settings(wanted="Enabled")}, {}),
    (ON_REBOOT, {"HostFirmwareSettings": settings(valid="False")}, {}),
    (ON_REBOOT, {"HostFirmwareSettings": settings(changed="False")}, {}),
    (ON_REBOOT, {"HostFirmwareComponents": components(done=["http://192.0.2.9/bios-2"])}, {}),
    # It is to be off: BMO changes it when it is to be on again.
    (ON_REBOOT, {"HostFirmwareSettings": settings()}, {"online": False})])
def test_a_server_of_which_no_firmware_is_changed_is_held_when_it_is_off(policy, objects, spec):
    result = hold(Firmware(policy, objects, **spec))
    assert not result["hosts"][0]["failed"] and result["warnings"] == []


def test_a_hold_ends_well_when_the_firmware_is_changed():
    server = Firmware(ON_REBOOT, {"HostFirmwareSettings": settings()})
    asked = server.get

    def get(resource, namespace, name):
        found = asked(resource, namespace, name)
        if resource.kind == "HostFirmwareSettings":
            server.objects = {"HostFirmwareSettings": settings(wanted="Enabled", changed="False")}
        return found
    server.get = get
    result = run(server, hosts=[{"name": "h1", "action": "reboot_hold", "key": "disks"}], confirm="1",
                 wait_timeout_seconds=20)[0]
    assert not result["hosts"][0]["failed"]
    assert server.requests.count(("GET", "HostFirmwareSettings")) == 2


@pytest.mark.parametrize("error, warned", [(KubeError("forbidden", 403), True), (KubeError("not found", 404), False)])
def test_a_hold_does_not_need_to_read_the_firmware(error, warned):
    result = hold(Firmware(ON_REBOOT, {"HostFirmwareSettings": settings()}, error))
    assert not result["hosts"][0]["failed"]
    assert [("was not looked at: forbidden" in text) for text in result["warnings"]] == [True] * warned


def test_one_refusal_stops_all():
    server = Server("h1", "h2")
    server.hosts["h2"]["spec"]["consumerRef"] = {"kind": "Other", "name": "m", "namespace": "metal3"}
    with pytest.raises(RefusedError, match=r"(?s)1 problem, nothing was changed:.*h2: power_off: .*force_hosts"):
        run(server, names=["h1", "h2"], action="power_off")
    assert server.writes() == []
    result, dummy = run(server, names=["h1", "h2"], action="power_off", force_hosts=["h2"])
    assert result["counts"]["changed"] == 2


def test_check_mode_only_tries():
    server = Server("h1")
    result, lines = run(server, check_mode=True, names=["h1"], action="power_off")
    assert server.writes() == [("TRY", "h1")] and result["changed"]
    assert result["diff"] == [{"before_header": "BareMetalHost metal3/h1", "after_header": "BareMetalHost metal3/h1",
                               "before": {"online": True}, "after": {"online": False}, "host": "h1"}]
    assert result["hosts"][0]["online"] is True
    assert lines == ["checking changes to 1 of 1 hosts"]


def test_structures_are_tried_before_anything_is_written():
    server = Server("h1", "h2")
    for host in server.hosts.values():
        host["spec"]["inspectionMode"] = "disabled"
    server.refusals["h2"] = "json: unknown field nic"
    with pytest.raises(RefusedError, match="unknown field nic"):
        run(server, hosts=[{"name": name, "hardware": {"cpu": {"count": 1}}} for name in ("h1", "h2")],
            action="set_hardware")
    assert server.writes() == [("TRY", "h1"), ("TRY", "h2")]
    assert ("LIST", "HardwareData") in server.requests


def test_a_refused_patch_fails_its_host_only():
    server = Server("h1", "h2")
    server.refusals["h2"] = "denied"
    result, dummy = run(server, names=["h1", "h2"], action="power_off")
    assert [(facts["failed"], facts["error"]) for facts in result["hosts"]] == [(False, ""), (True, "denied")]


def test_a_wait_that_comes_to_nothing_tells_the_state():
    server = Server("h1", obeys=False)
    result, dummy = run(server, names=["h1"], action="power_off", wait_timeout_seconds=1)
    assert "not powered off within 1 s: still available" in result["hosts"][0]["error"]
    result, dummy = run(Server("h1", obeys=False), names=["h1"], action="power_off", wait=False)
    assert not result["hosts"][0]["failed"]


def test_a_status_that_is_no_object():
    with pytest.raises(RefusedError, match="h1: status: found text that is no JSON object"):
        requests_of(given(hosts=[{"name": "h1", "status": "[1]"}], action="restore_status"))


CONSUMER = {"kind": "Metal3Machine", "name": "m", "namespace": "metal3"}


def test_a_host_that_gets_a_consumer_meanwhile_is_not_powered_off():
    server = Server("h1", "h2")
    server.meanwhile["h1"] = lambda: server.touch("h1", consumerRef=CONSUMER)
    result, dummy = run(server, names=["h1", "h2"], action="power_off")
    assert [server.hosts[name]["spec"]["online"] for name in ("h1", "h2")] == [True, False]
    assert "changed by somebody else during this run: power_off: found a host of Metal3Machine m" in \
        result["hosts"][0]["error"]
    assert [facts["failed"] for facts in result["hosts"]] == [True, False]


def test_a_host_that_changes_meanwhile_in_what_does_not_count_is_acted_on():
    server = Server("h1")
    server.meanwhile["h1"] = lambda: server.touch("h1", description="new")
    result, dummy = run(server, names=["h1"], action="power_off")
    assert server.hosts["h1"]["spec"]["online"] is False and not result["hosts"][0]["failed"]


@pytest.mark.parametrize("action", ["reboot", "power_off"])
def test_a_host_that_another_one_replaced_is_left_alone(action):
    """It was planned again, and the request went to another server."""
    server = Server("h1")
    server.meanwhile["h1"] = lambda: server.hosts["h1"]["metadata"].update(uid="another", resourceVersion="9")
    result, dummy = run(server, names=["h1"], action=action, force=action == "reboot")
    assert "found another object of this name than the one that was checked" in result["hosts"][0]["error"]
    assert "annotations" not in server.hosts["h1"]["metadata"] and server.hosts["h1"]["spec"]["online"] is True


def test_a_reboot_whose_answer_was_lost_is_not_asked_for_twice():
    server = Server("h1")

    def operate():
        # BMO has seen the request and is done with it.
        server.hosts["h1"]["metadata"]["annotations"] = {}
        server.touch("h1")

    server.lost["h1"] = operate
    result, dummy = run(server, names=["h1"], action="reboot", force=True)
    assert "it may be that the request was stored" in result["hosts"][0]["error"]
    assert server.hosts["h1"]["metadata"]["annotations"] == {}
    # Where the request is still there, it was this run's.
    server.lost["h1"] = lambda: None
    result, dummy = run(server, names=["h1"], action="reboot", force=True, wait=False)
    assert result["changed"] and not result["hosts"][0]["failed"]


def test_a_reboot_that_a_killed_run_has_begun_is_finished_and_not_done_again():
    server = Server("h1", obeys=False)
    server.hosts["h1"]["status"]["provisioning"]["state"] = "provisioned"
    reboot = {"names": ["h1"], "action": "reboot", "once": True, "wait": False, "confirm": "1"}
    assert run(server, **reboot)[0]["changed"]
    host, requests = server.hosts["h1"], len(server.writes())
    assert "reboot.metal3.io" in host["metadata"]["annotations"]
    # BMO has found the server off: where the run was killed, the next one was refused.
    del host["metadata"]["annotations"]["reboot.metal3.io"]
    host["status"]["poweredOn"] = False
    result, lines = run(server, **reboot)
    assert not result["changed"] and "h1: not rebooted again, since a run before has begun it" in lines
    host["status"]["poweredOn"] = True
    result = run(server, **{**reboot, "wait": True})[0]
    assert not result["changed"] and not result["hosts"][0]["failed"] and len(server.writes()) == requests
    # One without the option asks for another.
    assert run(server, **{**reboot, "once": None})[0]["changed"]


@pytest.mark.parametrize("retry_after", [{}, {"Retry-After": "1"}], ids=["", "Retry-After"])
def test_a_reboot_is_stored_once_whatever_pause_a_5xx_asks_for(retry_after):
    """With Retry-After the client sent it again by itself, and the service took the 409 for the change of another."""
    host = dict(copy.deepcopy(Server("h1").hosts["h1"]), apiVersion="metal3.io/v1alpha1", kind="BareMetalHost")
    host["status"]["provisioning"]["state"] = "provisioned"
    writes = []

    def fault(request):
        if request.kind != WRITE:
            return None
        writes.append(request)
        if len(writes) > 1:
            # BMO has acted on the first one.
            server.annotate(request.path)
            return None
        return status(503, "ServiceUnavailable", "etcdserver: request timed out")._replace(
            headers=retry_after, form="stored")

    with ApiServer([host], fault) as server:
        params = given(names=["h1"], action="reboot", confirm="1", wait=False)
        result = HostActionService(KubeClient({"host": server.url}), requests_of(params), params, False,
                                   Reports(), sleep=lambda seconds: None).run()
        reboots = [item for dummy, item in server.stored if item["metadata"].get("annotations")]
    assert len(reboots) == 1 and len(writes) == 2
    assert "the API server did not answer, and the host has changed since" in result["hosts"][0]["error"]


def test_a_power_off_whose_answer_was_lost_has_happened():
    server = Server("h1")
    server.lost["h1"] = lambda: None
    result, dummy = run(server, names=["h1"], action="power_off")
    assert result["changed"] and not result["hosts"][0]["failed"]
    assert server.writes() == [("PATCH", "h1"), ("PATCH", "h1")] and server.hosts["h1"]["spec"]["online"] is False


@pytest.mark.parametrize("ahead_seconds, is_over", [(3600.0, True), (-3600.0, False)])
def test_a_lock_ends_by_the_clock_of_the_cluster_which_is_one_for_all(ahead_seconds, is_over):
    """Whose workstation is ahead would power a server off while somebody still works on it."""
    until = timestamp(time.time() + (1800 if is_over else -1800))

    class Read(Server):
        def list(self, *arguments, **options):
            # What the clock is, the first answer says.
            self.ahead_seconds = ahead_seconds
            return super().list(*arguments, **options)

    server = Read("h1", "h2")
    server.hosts["h1"]["metadata"]["annotations"] = {host_lock.LOCKED: host_lock.value("RMA 4711", until)}
    if is_over:
        assert run(server, names=["h1"], action="power_off", wait=False)[0]["changed"]
        with pytest.raises(RefusedError, match=r"h2: until: found .* expected a time to come"):
            run(server, names=["h2"], action="lock", reason="r", until=until, wait=False)
        return
    with pytest.raises(RefusedError, match=f"h1: power_off: found host h1 locked until {until}"):
        run(server, names=["h1"], action="power_off", wait=False)
    assert run(server, names=["h2"], action="lock", reason="r", until=until, wait=False)[0]["changed"]


def other(**changes):
    """Return h1 as somebody has checked it, who found something else than there is."""
    found = copy.deepcopy(Server("h1").hosts["h1"])
    found["metadata"].update(changes.pop("metadata", {}))
    found["spec"].update(changes)
    return {"h1": found}


def act_on_checked(server, checked, action="reboot", **values):
    params = given(names=["h1", "h2"], action=action, force_hosts=["h1", "h2"], wait=False, **values)
    return HostActionService(server, requests_of(params), params, False, Reports(),
                             sleep=lambda seconds: None, checked=dict(
                                 (name, identity_of(bmh)) for name, bmh in checked.items())).run()


@pytest.mark.parametrize("checked, text", [
    (other(metadata={"uid": "former"}), "found another BareMetalHost of this name, expected the one that was checked"),
    (other(consumerRef=CONSUMER), "found a host without consumer, expected Metal3Machine metal3/m, its consumer when "
                                  "it was checked")])
def test_an_action_is_refused_on_another_host_than_the_caller_has_checked(checked, text):
    """Also where the host is forced: that was said of the one that was checked."""
    server = Server("h1", "h2")
    with pytest.raises(RefusedError, match=f"1 problem, nothing was changed:\n- h1: reboot: {text}; look at it, then"):
        act_on_checked(server, checked, force=True)
    assert server.writes() == []
    assert act_on_checked(server, other(), force=True)["counts"] == {"total": 2, "changed": 2, "failed": 0}


def test_a_host_that_another_consumer_gets_meanwhile_is_left_alone_although_it_is_forced():
    server = Server("h1", "h2")
    server.meanwhile["h1"] = lambda: server.touch("h1", consumerRef=CONSUMER)
    result = act_on_checked(server, other(), force=True)
    assert "reboot: found a host in use by Metal3Machine metal3/m, expected none, its consumer when it was checked" in \
        result["hosts"][0]["error"]
    assert [bool(server.hosts[name]["metadata"].get("annotations")) for name in ("h1", "h2")] == [False, True]


def test_a_host_that_another_one_replaces_during_the_wait_has_not_done_it():
    """Each of them was powered off, so the wait ended well."""
    server = Server("h1", "h2")
    listed = server.list

    def list_then(*arguments, **more):
        if not server.hosts["h1"]["spec"]["online"]:
            server.hosts["h1"]["metadata"]["uid"] = "another"
        return listed(*arguments, **more)

    server.list = list_then
    result, dummy = run(server, names=["h1", "h2"], action="power_off")
    assert "found another BareMetalHost of this name than the one that was waited for" in result["hosts"][0]["error"]
    assert [facts["failed"] for facts in result["hosts"]] == [True, False]


def deployed(*names):
    server = Server(*names)
    for host in server.hosts.values():
        host["status"]["provisioning"]["state"] = "provisioned"
    return server


@pytest.mark.parametrize("action, options", [
    ("power_off", {}), ("reboot", {}), ("reboot_hold", {"key": "disks"}), ("detach", {})])
def test_what_costs_something_on_a_deployed_host_wants_its_number(action, options):
    server = deployed("h1", "h2")
    server.hosts["h2"]["status"]["provisioning"]["state"] = "available"
    if "reboot" in action:
        options = dict(options, force=True)
    for confirm in (None, "", "2", "h2"):
        with pytest.raises(RefusedError, match=r"hosts: confirm: .*expected 1, .*h1 .*set metal3_confirm=1"):
            run(server, names=["h1", "h2"], action=action, confirm=confirm, **options)
    assert server.writes() == []
    result, dummy = run(server, True, names=["h1", "h2"], action=action, **options)
    assert "without check mode this would be refused" in result["warnings"][0]
    server.requests.clear()
    result, dummy = run(server, names=["h1", "h2"], action=action, confirm="1", wait=False, **options)
    assert result["counts"]["changed"] == 2 and result["warnings"] == []
    again, dummy = run(server, names=["h1", "h2"], action=action, wait=False, **options)
    assert not again["changed"]


def test_names_of_a_play_count_for_the_hosts_among_them():
    server = deployed("h1", "h2")
    server.hosts["h2"]["spec"]["online"] = False
    with pytest.raises(RefusedError, match=r"confirm: .*the names of the hosts"):
        run(server, names=["h1", "h2"], action="power_off", confirm="1", confirm_among=["h1", "h2"])
    result, dummy = run(server, names=["h1", "h2"], action="power_off", confirm="h1,h2", confirm_among=["h1", "h2"])
    assert result["counts"]["changed"] == 1


def test_a_forced_return_of_a_host_that_loses_what_is_deployed_wants_its_number():
    server = deployed("h1")
    server.hosts["h1"]["metadata"]["annotations"] = {"baremetalhost.metal3.io/paused": ""}
    server.hosts["h1"]["status"]["provisioning"]["image"] = {"url": "http://198.18.0.1/a"}
    with pytest.raises(RefusedError, match="what is on its disks is lost"):
        run(server, names=["h1"], action="resume", force_hosts=["h1"])
    result, dummy = run(server, names=["h1"], action="resume", force_hosts=["h1"], confirm="h1")
    assert result["changed"]


def test_a_host_that_is_deployed_meanwhile_was_not_confirmed():
    server = Server("h1")

    def deploy():
        server.touch("h1")
        server.hosts["h1"]["status"]["provisioning"]["state"] = "provisioned"

    server.meanwhile["h1"] = deploy
    result, dummy = run(server, names=["h1"], action="power_off")
    assert "a host that has changed: what runs on it is interrupted" in result["hosts"][0]["error"]
    assert server.hosts["h1"]["spec"]["online"] is True

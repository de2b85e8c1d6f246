# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run over a list of hosts, against an API server in memory."""
from __future__ import annotations

import re

import pytest
from fakes.kubernetes import Server, host
from fakes.progress import Reports
from fakes.silence import falls_silent

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.fields import DATA_KEYS
from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import bmc_service as host_bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import credentials
from ansible_collections.metal3.baremetal.plugins.module_utils._host.service import HostService, failure
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over as host_handed_over
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import wait as host_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.reading import BMH, SECRET
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError


def run(server, hosts, check_mode=False, raid_nodes=None, system=None, **values):
    reports = Reports()
    params = dict({"namespace": "metal3", "create_namespace": False, "hosts": hosts, "deploy": True, "force_hosts": [],
                   "allow_detach": False, "allow_deprovision": False, "allow_power_off": False, "wait_for": None,
                   "delete_only_detached": False, "refuse_protected": False, "wait_timeout_seconds": 5,
                   "error_limit": 3, "field_names": "options"}, **values)
    service = HostService(server, params, check_mode, reports, sleep=lambda seconds: None, raid_nodes=raid_nodes,
                          system=system)
    return service.run(), reports.lines


class Systems:
    """Says of each host what its system lacks, one after the other; then nothing."""

    def __init__(self, *texts):
        self.texts, self.asked = list(texts), []

    def __call__(self, bmh):
        self.asked.append(bmh["status"]["provisioning"]["state"])
        return self.texts.pop(0) if self.texts else ""


REDFISH = {"username": "admin", "password": "secret-1"}


def test_hosts_and_their_secrets_are_made_in_the_right_order():
    server = Server()
    result, lines = run(server, [host(1, user_data={"content": "u"}), host(2)])
    assert [facts["action"] for facts in result["hosts"]] == ["created", "created"]
    assert result["counts"] == {"total": 2, "created": 2, "updated": 0, "deleted": 0, "unchanged": 0, "failed": 0}
    order = [(kind, name) for dummy, kind, name, dummy2 in server.writes()]
    assert order.index(("Secret", "h1-bmc-secret")) < order.index(("BareMetalHost", "h1"))
    owner = server.objects["Secret", "h1-user-data"]["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["uid"]) == ("BareMetalHost", "uid-h1")
    assert lines == ["writing 2 of 2 hosts"]


def test_a_second_run_reads_twice_and_writes_nothing():
    server = Server()
    hosts = [host(1, user_data={"content": "u"}), host(2)]
    run(server, hosts)
    server.requests.clear()
    result, dummy = run(server, hosts)
    assert result["changed"] is False
    assert sorted(server.requests) == [("LIST", "BareMetalHost", None, False), ("LIST", "Secret", None, False)]


def _as_bmo_writes(value):
    """Return a value without what BMO's types leave out."""
    if not isinstance(value, dict):
        return value
    return dict((key, _as_bmo_writes(item)) for key, item in value.items()
                if key in ("online", "rotational") or item not in (False, 0, ""))


def test_a_second_run_writes_nothing_when_bmo_has_written_the_host():
    """It adds its finalizer by an update of the whole object."""
    server, hosts = Server(), [host(1, disable_power_off=False, externally_provisioned=False, root_device_hints={
        "min_size_gigabytes": 0, "rotational": False}, image={
            "url": "http://192.0.2.1/live.iso", "format": "live-iso", "checksum": ""})]
    hosts[0]["bmc"]["disable_certificate_verification"] = False
    run(server, hosts)
    stored = server.objects["BareMetalHost", "h1"]
    stored["spec"] = _as_bmo_writes(stored["spec"])
    server.requests.clear()
    result, dummy = run(server, hosts)
    assert (result["changed"], server.writes()) == (False, [])


def test_a_changed_password_changes_only_its_secret():
    server = Server()
    run(server, [host(1), host(2)])
    server.requests.clear()
    changed = host(1)
    changed["bmc"]["password"] = "another-secret"
    result, dummy = run(server, [changed, host(2)])
    assert server.writes() == [("APPLY", "Secret", "h1-bmc-secret", False)]
    assert [facts["action"] for facts in result["hosts"]] == ["updated", "unchanged"]
    assert "secret" not in str(result["diff"][0]["before"]["data"]) + str(result["diff"][0]["after"]["data"])
    assert result["diff"][0]["before"] != result["diff"][0]["after"]


def test_a_mac_address_that_the_host_has_need_not_be_given_again():
    server = Server()
    with pytest.raises(RefusedError, match="boot_mac_address: not set"):
        run(server, [host(1, boot_mac_address=None, bmc=dict(REDFISH, address="redfish://192.0.2.1"))])
    run(server, [host(1, bmc=dict(REDFISH, address="redfish://192.0.2.1"))])
    result, dummy = run(server, [host(1, boot_mac_address=None, bmc=dict(REDFISH, address="redfish://192.0.2.1"))])
    assert not result["changed"]


MOVED = {"address": "ipmi://192.0.2.99", "username": "admin", "password": "secret-1"}
DETACHED = "baremetalhost.metal3.io/detached"


def enrolled(state="registering"):
    server = Server()
    run(server, [host(1)])
    server.objects["BareMetalHost", "h1"]["status"] = {"operationalStatus": "OK", "provisioning": {
        "state": state, "ID": "before"}}
    server.requests.clear()
    return server


def test_a_host_is_detached_while_its_bmc_changes():
    server = enrolled()
    dummy3, lines = run(server, [host(1, bmc=MOVED)])
    assert [(verb, kind) for verb, kind, dummy, dummy2 in server.writes()] == [
        ("PATCH", "BareMetalHost"), ("APPLY", "BareMetalHost"), ("PATCH", "BareMetalHost")]
    assert lines[0] == "detaching 1 hosts for the change of their BMC: h1"
    stored = server.objects["BareMetalHost", "h1"]
    assert stored["spec"]["bmc"]["address"] == "ipmi://192.0.2.99"
    assert DETACHED not in stored["metadata"]["annotations"]
    server.requests.clear()
    run(server, [host(1, bmc=MOVED)])
    assert server.writes() == []


def test_a_host_that_somebody_creates_again_while_it_is_detached_gets_no_other_bmc():
    """The new one was detached, too, and was written in place of the one that was checked."""
    server = enrolled()
    listed = server.list

    def list_then(resource, *arguments, **more):
        if ("PATCH", "BareMetalHost", "h1") in server.stored:
            server.objects["BareMetalHost", "h1"]["metadata"]["uid"] = "another"
        return listed(resource, *arguments, **more)

    server.list = list_then
    result, dummy = run(server, [host(1, bmc=MOVED)])
    assert "found another BareMetalHost of this name than the one that was waited for" in result["hosts"][0]["error"]
    assert server.objects["BareMetalHost", "h1"]["spec"]["bmc"]["address"] == "ipmi://192.0.2.1"


def test_the_wait_goes_on_until_the_host_is_registered_again():
    server = enrolled("available")
    result, dummy = run(server, [host(1, bmc=MOVED)], allow_detach=True, wait_for="available")
    assert not result["hosts"][0]["failed"] and result["hosts"][0]["node_id"] == "anew"


def test_a_registered_host_is_not_detached_unasked():
    server = enrolled("available")
    with pytest.raises(RefusedError, match=r"h1: bmc.address: .*ipmi://192.0.2.1: .* set allow_detach"):
        run(server, [host(1, bmc=MOVED)])
    assert server.writes() == []
    result, dummy = run(server, [host(1, bmc=MOVED)], allow_detach=True, check_mode=True)
    assert result["changed"] and server.writes() == []


def test_a_host_in_use_is_not_detached_unless_it_is_named():
    server = enrolled("provisioned")
    server.objects["BareMetalHost", "h1"]["spec"]["consumerRef"] = {
        "kind": "Metal3Machine", "namespace": "metal3", "name": "m1"}
    with pytest.raises(RefusedError, match=r"h1: bmc.address: .*in use by Metal3Machine metal3/m1.* force_hosts"):
        run(server, [host(1, bmc=MOVED)], allow_detach=True)
    assert server.writes() == []
    result, dummy = run(server, [host(1, bmc=MOVED)], allow_detach=True, force_hosts=["h1"])
    assert result["changed"] and not result["hosts"][0]["failed"]


def test_a_host_that_can_not_be_detached_is_left_attached(monkeypatch):
    server = enrolled()
    server.detaches = False
    monkeypatch.setattr(host_bmc_service, "DETACH_SECONDS", 1)
    result, dummy = run(server, [host(1, bmc=MOVED)])
    assert "not detached within 1 s" in result["hosts"][0]["error"]
    stored = server.objects["BareMetalHost", "h1"]
    assert stored["spec"]["bmc"]["address"] == "ipmi://192.0.2.1" and stored["metadata"]["annotations"] == {}


def test_an_api_server_that_is_away_while_hosts_are_detached_leaves_none_detached(monkeypatch):
    server = enrolled("available")
    server.detaches = False
    monkeypatch.setattr(host_wait, "follow", falls_silent)
    result, dummy = run(server, [host(1, bmc=MOVED), host(2)], allow_detach=True)
    assert re.match(r"not detached within 3 min: still available after .*; API server .* has not answered for 30 s, .*",
                    result["hosts"][0]["error"])
    assert server.objects["BareMetalHost", "h1"]["metadata"]["annotations"] == {}
    assert result["hosts"][1]["action"] == "created"


def test_a_provisioned_host_is_waited_for_until_its_system_answers():
    server = Server()
    image = {"url": "http://192.0.2.1/i", "checksum": "a" * 64, "checksum_type": "sha256"}
    run(server, [host(1, image=image)])
    stored = server.objects["BareMetalHost", "h1"]
    stored["status"] = {"operationalStatus": "OK", "provisioning": {
        "state": "provisioned", "ID": "n", "image": {"url": image["url"]}}}

    def waited(system, goal="provisioned"):
        result, dummy = run(server, [host(1, image=image)], wait_for=goal, system=system, wait_timeout_seconds=1)
        return result["hosts"][0]

    system = Systems("port 22 does not answer yet")
    assert not waited(system)["failed"] and set(system.asked) == {"provisioned"} and len(system.asked) >= 2
    error = waited(Systems(*["its boot loader runs"] * 1000))["error"]
    assert error.startswith("not provisioned within 1 s: still provisioned") and "its boot loader runs; " in error
    # Nobody waits for a system before it is there.
    system = Systems("its boot loader runs")
    assert not waited(system, "available")["failed"] and system.asked == []
    stored["status"]["provisioning"]["state"] = "provisioning"
    assert waited(system)["failed"] and system.asked == []


def test_changes_that_nothing_takes_up_are_reported():
    server = Server()
    image = {"url": "http://192.0.2.1/i", "checksum": "a" * 64, "checksum_type": "sha256"}
    given = {"image": image, "user_data": {"content": "u"}}
    run(server, [host(1, **given)])
    server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "provisioned"}}
    assert run(server, [host(1, **given)])[0]["warnings"] == []
    result, dummy = run(server, [host(1, image=dict(image, checksum="b" * 64), user_data={"content": "v"})])
    assert result["warnings"] == [
        "h1: image and user_data changed, but the server keeps what was deployed: deprovision it and provision it "
        "again for the change to take effect"]
    # Another URL is a deployment.
    result, dummy = run(server, [host(1, image=dict(image, url="http://192.0.2.1/j"), user_data={"content": "w"})],
                        allow_deprovision=True)
    assert result["changed"] and result["warnings"] == []


def test_a_host_that_a_killed_run_left_detached_is_attached():
    server = enrolled("available")
    server.objects["BareMetalHost", "h1"]["metadata"]["annotations"] = {
        DETACHED: '{"metal3.baremetal/bmc-change":true}'}
    run(server, [host(1)])
    assert server.objects["BareMetalHost", "h1"]["metadata"]["annotations"] == {}
    server.objects["BareMetalHost", "h1"]["metadata"]["annotations"] = {DETACHED: ""}
    run(server, [host(1)])
    assert server.objects["BareMetalHost", "h1"]["metadata"]["annotations"] == {DETACHED: ""}


@pytest.mark.parametrize("hosts", [[], [host(1, state="absent")]])
def test_a_namespace_that_no_host_needs_is_neither_made_nor_said_to_be(hosts):
    server = Server()
    result, dummy = run(server, hosts, create_namespace=True)
    assert (result["changed"], server.writes()) == (False, [])
    result, dummy = run(server, [*hosts, host(2)], create_namespace=True)
    assert result["changed"] is True and server.writes()[0][:2] == ("APPLY", "Namespace")


def test_hosts_of_other_namespaces_are_seen():
    server = Server()
    server.objects["BareMetalHost", "other"] = {
        "metadata": {"name": "other", "namespace": "elsewhere"},
        "spec": {"bootMACAddress": "00:5C:52:00:00:01", "bmc": {"address": "ipmi://192.0.2.1:623"}}}
    with pytest.raises(RefusedError) as refused:
        run(server, [host(1)])
    assert [problem.field for problem in refused.value.problems] == ["boot_mac_address", "bmc.address"]
    assert all("elsewhere/other has it" in problem.expected for problem in refused.value.problems)


@pytest.mark.parametrize("mark", ["paused", "detached"])
def test_a_server_of_another_namespace_is_not_inspected_here_because_its_host_is_at_rest_there(mark):
    """The operator would boot its agent on it and erase its disks, whatever runs on it."""
    server = Server()
    annotations = {f"baremetalhost.metal3.io/{mark}": ""}
    server.objects["BareMetalHost", "other"] = {
        "metadata": {"name": "other", "namespace": "elsewhere", "annotations": annotations},
        "spec": {"bmc": {"address": "ipmi://192.0.2.1:623"}}}
    with pytest.raises(RefusedError, match="elsewhere/other has it"):
        run(server, [host(1)])
    assert not server.stored
    # As when hosts are moved from one namespace to another.
    result, dummy = run(server, [host(1, annotations={"baremetalhost.metal3.io/paused": ""})])
    assert result["counts"]["created"] == 1 and result["warnings"] == []
    # And what is there already is not refused for it.
    result, dummy = run(server, [host(1)])
    assert result["counts"]["created"] == 0


def test_what_can_not_be_compared_is_reported():
    server = Server()
    server.only_one_namespace = True
    result, dummy = run(server, [host(1)])
    assert result["counts"]["created"] == 1
    assert "only hosts of namespace metal3 were compared" in result["warnings"][0]


def test_check_mode_only_tries():
    server = Server()
    result, lines = run(server, [host(1)], check_mode=True, wait_for="available")
    assert result["hosts"][0]["action"] == "created"
    assert server.objects == {}
    tried = [dry_run for dummy, dummy2, dummy3, dry_run in server.writes()]
    assert tried and all(tried)
    assert [item["after_header"] for item in result["diff"]] == ["Secret metal3/h1-bmc-secret",
                                                                 "BareMetalHost metal3/h1"]
    assert lines == ["checking changes to 1 of 1 hosts"]


def test_a_faulty_list_is_refused_before_any_write():
    server = Server()
    with pytest.raises(RefusedError) as caught:
        run(server, [host(1), host(2, boot_mac_address="x"), host(3, bmc={"address": "foo://x"})])
    assert [(item.subject, item.field) for item in caught.value.problems] == [
        ("h2", "boot_mac_address"), ("h3", "bmc.address"), ("h3", "bmc")]
    assert server.writes() == []


def test_faults_of_the_list_are_reported_even_when_the_server_is_away():
    server = Server()

    def away(*arguments, **options):
        raise KubeError("away", reason="Unreachable")

    server.list = away
    with pytest.raises(RefusedError):
        run(server, [host(1, boot_mac_address="x")])
    with pytest.raises(KubeError, match="away"):
        run(server, [host(1)])


def test_one_refused_host_does_not_stop_the_others():
    server = Server()
    server.failures["BareMetalHost", "h1"] = "spec.bmc.address: refused"
    result, dummy = run(server, [host(1), host(2)])
    assert [facts["failed"] for facts in result["hosts"]] == [True, False]
    assert ("BareMetalHost", "h2") in server.objects
    text = failure(result["hosts"], None)
    assert text == "1 of 2 hosts failed:\n- h1 (absent): spec.bmc.address: refused"


def test_a_host_whose_secret_was_refused_is_not_made():
    server = Server()
    server.failures["Secret", "h1-bmc-secret"] = "forbidden"
    result, dummy = run(server, [host(1)])
    assert result["hosts"][0]["error"] == "forbidden"
    assert ("BareMetalHost", "h1") not in server.objects


def test_writes_that_were_not_answered_are_sent_again():
    server = Server()
    server.unreachable = 3
    result, lines = run(server, [host(1), host(2)])
    assert result["counts"]["failed"] == 0 and result["counts"]["created"] == 2
    assert any("were not answered (no answer); trying again in 1 s" in line for line in lines)


def test_a_server_that_stays_away_is_reported():
    server = Server()
    server.unreachable = 10 ** 6
    result, dummy = run(server, [host(1)])
    assert result["hosts"][0]["error"] == "no answer"


def test_without_deploy_images_are_checked_and_left():
    server = Server()
    image = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}
    run(server, [host(1, image=image)], deploy=False)
    assert "image" not in server.objects["BareMetalHost", "h1"]["spec"]
    run(server, [host(1, image=image)])
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"] == image
    run(server, [host(1)], deploy=False)
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"] == image
    run(server, [host(1, image={})])
    assert "image" not in server.objects["BareMetalHost", "h1"]["spec"]
    with pytest.raises(RefusedError):
        run(server, [host(1, image={"url": "http://192.0.2.1/i"})], deploy=False)


@pytest.mark.parametrize("given, actual", [
    ({"url": "http://192.0.2.1/j", "checksum": "http://192.0.2.1/s"}, 'found "http://192.0.2.1/j"'), ({}, "not set"),
])
def test_what_is_deployed_goes_only_when_that_is_allowed(given, actual):
    server = Server()
    image = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}
    run(server, [host(1, image=image)])
    server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "provisioned"}}
    server.requests.clear()
    refusal = f"h1: image.url: {actual}, expected \"http://192.0.2.1/i\".*allow_depr"
    with pytest.raises(RefusedError, match=refusal):
        run(server, [host(1, image=given)])
    assert server.writes() == []
    # Check mode does not ask: it shows the change, and what a run would ask for.
    result = run(server, [host(1, image=given)], check_mode=True)[0]
    assert result["changed"] and [bool(re.search(refusal, line)) for line in result["warnings"]
                                  if line.startswith("without check mode this would be refused: ")] == [True]
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"] == image
    assert run(server, [host(1, image=image)])[0]["changed"] is False
    assert run(server, [host(1, image=given)], deploy=False)[0]["changed"] is False
    run(server, [host(1, image=given)], allow_deprovision=True)
    assert server.objects["BareMetalHost", "h1"]["spec"].get("image", {}) == given


@pytest.mark.parametrize("state", ["provisioned", "externally provisioned"])
def test_a_provisioned_host_is_powered_off_only_when_that_is_allowed(state):
    server = Server()
    run(server, [host(1), host(2), host(3)])
    for name, stored_state in (("h1", state), ("h2", "available"), ("h3", state)):
        server.objects["BareMetalHost", name]["status"] = {"provisioning": {"state": stored_state}}
    run(server, [host(3, online=False)], allow_power_off=True)
    off = [host(number, online=False) for number in (1, 2, 3)]
    server.requests.clear()
    for deploy in (True, False):
        with pytest.raises(RefusedError, match=f"h1: online: .*the host is {state}.*allow_power_off") as refused:
            run(server, off, deploy=deploy)
        assert "h2" not in str(refused.value) and "h3" not in str(refused.value)
    assert server.writes() == []
    # What is not provisioned, or is off already, needs nothing.
    run(server, off[1:])
    run(server, off, allow_power_off=True)
    assert [server.objects["BareMetalHost", name]["spec"]["online"] for name in ("h1", "h2", "h3")] == [False] * 3


def test_what_one_host_loses_is_asked_for_once_with_what_the_user_types():
    server = Server()
    image = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}
    run(server, [host(1, image=image)])
    server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "provisioned"}}
    for options, hint in (
            ({}, "to continue, set allow_deprovision and allow_power_off"),
            ({"confirm_names": ["h1"], "confirm_among": [], "confirm_playbook": ""},
             "to continue, set metal3_confirm=1"),
            ({"confirm_names": ["h1", "h2"], "confirm_among": [], "confirm_playbook": "provision"},
             "to continue, run the playbook metal3.baremetal.provision on its own, with metal3_confirm=2"),
            ({"confirm_names": ["h1"], "confirm_among": ["h2", "h1"], "confirm_playbook": ""},
             "to continue, set metal3_confirm=h1,h2: the play has several batches")):
        with pytest.raises(RefusedError) as refused:
            run(server, [host(1, image={}, online=False)], **options)
        assert len(refused.value.problems) == 1 and hint in str(refused.value)
        assert "(the same goes for online)" in str(refused.value)


def test_fields_of_another_owner_are_removed_by_a_patch():
    server = Server()
    run(server, [host(1)])
    server.objects["BareMetalHost", "h1"]["spec"]["image"] = {"url": "theirs"}
    result, dummy = run(server, [host(1, image={})])
    assert ("PATCH", "BareMetalHost", "h1", False) in server.requests
    assert result["hosts"][0]["action"] == "updated"
    assert result["diff"][0]["before"]["spec"]["image"] == {"url": "theirs"}


def test_check_mode_tells_that_fields_of_another_owner_would_be_removed():
    server = Server()
    run(server, [host(1)])
    server.objects["BareMetalHost", "h1"]["spec"]["image"] = {"url": "theirs"}
    tried, dummy = run(server, [host(1, image={})], check_mode=True)
    assert not [request for request in server.writes() if request[0] == "PATCH" and not request[3]]
    done, dummy = run(server, [host(1, image={})])
    for result in (tried, done):
        assert (result["changed"], result["hosts"][0]["action"]) == (True, "updated")
    assert tried["diff"] == done["diff"]


@pytest.mark.parametrize("changes, is_there, left", [
    ({}, False, {}),
    ({}, True, {"networkData": {"name": "m1-networkdata", "namespace": "metal3"}}),
    ({"consumerRef": {"kind": "Metal3Machine", "name": "m1"}}, False,
     {"networkData": {"name": "m1-networkdata", "namespace": "metal3"}}),
])
def test_data_of_a_machine_that_is_gone_does_not_hold_up_a_deployment(changes, is_there, left):
    """CAPM3 may give a host back with references to Secrets that go with its machine."""
    server = Server()
    run(server, [host(1)])
    spec = server.objects["BareMetalHost", "h1"]["spec"]
    spec.update(changes, networkData={"name": "m1-networkdata", "namespace": "metal3"})
    if is_there:
        server.objects["Secret", "m1-networkdata"] = {"metadata": {"name": "m1-networkdata"}, "data": {}}
    image = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}
    result, dummy = run(server, [host(1, image=image)])
    spec = server.objects["BareMetalHost", "h1"]["spec"]
    assert dict((key, spec[key]) for key in ("networkData",) if key in spec) == left
    assert ("names Secret m1-networkdata, which is gone" in " ".join(result["warnings"])) is not bool(left)


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_secret_that_is_being_deleted_is_refused_before_the_host_is_detached(check_mode):
    """BMO's finalizer holds it as long as the host uses it, so it looks as if it stayed."""
    server = enrolled()
    server.objects["Secret", "h1-bmc-secret"]["metadata"].update(
        deletionTimestamp="2026-11-25T20:00:00Z", finalizers=["baremetalhost.metal3.io/secret"])
    with pytest.raises(RefusedError, match=r"h1: bmc\.credentials_name: found Secret h1-bmc-secret that is being "
                                           r"deleted since 2026-11-25T20:00:00Z, held by baremetalhost"):
        run(server, [host(1, bmc=MOVED)], check_mode)
    assert server.writes() == []
    result, dummy = run(server, [dict(host(1), state="absent")], check_mode)
    assert result["hosts"][0]["action"] == "deleted"


def test_hosts_are_deleted_and_left_over_secrets_with_them():
    server = Server()
    run(server, [host(1), host(2)])
    del server.objects["BareMetalHost", "h2"]
    gone = [dict(host(number), state="absent") for number in (1, 2, 3)]
    result, dummy = run(server, gone)
    assert [facts["action"] for facts in result["hosts"]] == ["deleted", "deleted", "unchanged"]
    assert ("BareMetalHost", "h1") not in server.objects
    assert ("Secret", "h2-bmc-secret") not in server.objects


def test_referenced_secrets_are_looked_up_even_without_the_label():
    server = Server()
    by_name = host(1, bmc={"address": "ipmi://192.0.2.1", "credentials_name": "mine"})
    with pytest.raises(RefusedError, match="a Secret in namespace metal3"):
        run(server, [by_name])
    server.objects["Secret", "mine"] = {"metadata": {"name": "mine"}, "data": {"username": "eA==", "password": "eA=="}}
    result, dummy = run(server, [by_name])
    assert result["hosts"][0]["action"] == "created"
    assert "data" in server.objects["Secret", "mine"] and len(server.objects) == 2


def test_a_wait_ends_with_the_last_state_of_each_host():
    server = Server()
    run(server, [host(1), host(2)])
    server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "available"}}
    server.objects["BareMetalHost", "h2"]["status"] = {"provisioning": {"state": "inspecting"}}
    result, lines = run(server, [host(1), host(2)], wait_for="available", wait_timeout_seconds=1)
    assert [facts["failed"] for facts in result["hosts"]] == [False, True]
    assert "not available within 1 s: still inspecting" in result["hosts"][1]["error"]
    assert any(line.startswith("1/2 available, 1 inspecting") for line in lines)


def test_an_api_server_that_is_away_at_the_end_of_a_wait_hides_no_host(monkeypatch):
    """Which hosts had come by then, and how far the others were, is not to be found out by hand."""
    server = Server()
    run(server, [host(1), host(2)])
    server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "available"}}
    server.objects["BareMetalHost", "h2"]["status"] = {"provisioning": {"state": "inspecting"}}

    def away(*dummy, **dummy2):
        raise KubeError("connection refused", reason="Unreachable")

    monkeypatch.setattr(server, "watch", away)
    result, dummy = run(server, [host(1), host(2)], wait_for="available", wait_timeout_seconds=1)
    assert [facts["failed"] for facts in result["hosts"]] == [False, True]
    assert re.match("not available within 1 s: still inspecting after .*; API server .* has not answered for .*, "
                    "until the end of wait_timeout_seconds: connection refused; run again when it answers",
                    result["hosts"][1]["error"])


@pytest.mark.parametrize(("levels", "fails"), [([], True), (["1"], False), (None, False)])
def test_a_host_that_is_available_without_its_volumes_fails(levels, fails):
    server, asked = Server(), []
    described = host(1, bmc=dict(REDFISH, address="redfish://192.0.2.1/redfish/v1/Systems/1"),
                     raid={"hardware_raid_volumes": [{"level": "1", "size_gibibytes": 10}]})
    run(server, [described, host(2)])
    volumes = server.objects["BareMetalHost", "h1"]["spec"]["raid"]
    server.objects["BareMetalHost", "h1"]["status"] = {
        "provisioning": {"state": "available", "ID": "u", "raid": volumes}}
    server.objects["BareMetalHost", "h2"]["status"] = {"provisioning": {"state": "available", "ID": "v"}}

    def nodes():
        asked.append(1)
        return {} if levels is None else {"u": {
            "uuid": "u", "provision_state": "available", "raid_config": {
                "last_updated": "now", "logical_disks": [{"raid_level": level} for level in levels]}}}

    result, dummy = run(server, [described, host(2)], wait_for="available", raid_nodes=nodes)
    assert [facts["failed"] for facts in result["hosts"]] == [fails, False] and asked == [1]
    assert ("look at the RAID controller" in result["hosts"][0]["error"]) == fails
    # Who waits for less asks for no volumes.
    assert not run(server, [described], wait_for="inspected", raid_nodes=nodes)[0]["hosts"][0]["failed"]
    assert not run(server, [host(2)], wait_for="available", raid_nodes=nodes)[0]["hosts"][0]["failed"]
    assert asked == [1]


def test_missing_definitions_name_the_next_step():
    server = Server()

    def missing(resource, *arguments, **options):
        if resource is BMH:
            raise KubeError("the server could not find the requested resource", 404)
        return [], "1"

    server.list = missing
    with pytest.raises(KubeError, match="install the Bare Metal Operator first"):
        run(server, [host(1)])
    assert SECRET.kind == "Secret"


CONSUMER = {"kind": "Metal3Machine", "namespace": "metal3", "name": "m1"}
IMAGE = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}


def meanwhile(server, *names, kind="BareMetalHost", **spec):
    """Let another client change objects between a run's reading and its writing."""
    for name in names:
        server.meanwhile[kind, name] = lambda name=name: server.change(kind, name, **spec)


def test_a_host_that_gets_a_consumer_meanwhile_keeps_its_image():
    server = Server()
    run(server, [host(1), host(2)])
    meanwhile(server, "h1", consumerRef=CONSUMER, image={"url": "theirs"})
    result, dummy = run(server, [host(1, image=IMAGE), host(2, image=IMAGE)])
    stored = server.objects["BareMetalHost", "h1"]["spec"]
    assert (stored["image"], stored["consumerRef"]) == ({"url": "theirs"}, CONSUMER)
    assert server.objects["BareMetalHost", "h2"]["spec"]["image"] == IMAGE
    assert [(facts["action"], facts["protected"], facts["failed"]) for facts in result["hosts"]] == [
        ("unchanged", ["image"], False), ("updated", [], False)]


def test_a_change_of_labels_does_not_bring_back_a_stale_power_state():
    server = Server()
    run(server, [host(1, online=False)])
    meanwhile(server, "h1", online=True)
    result, dummy = run(server, [host(1, labels={"rack": "r1"})])
    assert server.objects["BareMetalHost", "h1"]["spec"]["online"] is True
    assert server.objects["BareMetalHost", "h1"]["metadata"]["labels"] == {"rack": "r1"}
    assert result["counts"] == {"total": 1, "created": 0, "updated": 1, "deleted": 0, "unchanged": 0, "failed": 0}


def test_a_host_that_gets_a_consumer_meanwhile_is_not_deleted():
    server = Server()
    run(server, [host(1)])
    meanwhile(server, "h1", consumerRef=CONSUMER)
    result, dummy = run(server, [host(1, state="absent")])
    assert ("BareMetalHost", "h1") in server.objects
    assert "changed by somebody else during this run: state: found absent, expected no consumer (it is in use by " \
        "Metal3Machine metal3/m1)" in result["hosts"][0]["error"]
    assert result["hosts"][0]["action"] == "unchanged"


def detached_host():
    server = Server()
    run(server, [host(1)])
    bmh = server.objects["BareMetalHost", "h1"]
    bmh["metadata"].setdefault("annotations", {})["baremetalhost.metal3.io/detached"] = "{}"
    bmh["status"] = dict(bmh.get("status") or {}, operationalStatus="detached")
    return server


def attach(server):
    """Somebody else attaches the host just before it is deleted."""
    real = server.delete

    def delete(*arguments, **options):
        server.delete = real
        bmh = server.objects["BareMetalHost", "h1"]
        metadata = dict(bmh["metadata"], annotations={}, resourceVersion=str(server.version + 100))
        server.objects["BareMetalHost", "h1"] = dict(bmh, metadata=metadata)
        return server.delete(*arguments, **options)
    server.delete = delete


@pytest.mark.parametrize("is_attached", [True, False])
def test_a_host_that_is_attached_again_meanwhile_is_not_deleted_as_a_detached_one(is_attached):
    """Its server, which was to go on running, would be powered off and cleaned."""
    server = detached_host()
    if is_attached:
        attach(server)
    result, dummy = run(server, [host(1, state="absent")], delete_only_detached=True)
    assert (("BareMetalHost", "h1") in server.objects) is is_attached
    assert ("its server would be powered off and cleaned" in result["hosts"][0]["error"]) is is_attached


def test_a_host_that_bmo_has_not_detached_yet_is_not_deleted_as_a_detached_one():
    """BMO goes by the status when a deletion begins: the annotation alone would not keep the server from a cleaning."""
    server = detached_host()
    server.detaches = False
    server.objects["BareMetalHost", "h1"]["status"]["operationalStatus"] = "OK"
    with pytest.raises(RefusedError, match=r"this one is still attached, .* wait until BMO has detached it"):
        run(server, [host(1, state="absent")], delete_only_detached=True)
    assert ("BareMetalHost", "h1") in server.objects


def test_an_attached_host_is_refused_where_only_detached_ones_are_deleted():
    server = Server()
    run(server, [host(1)])
    with pytest.raises(RefusedError, match="h1: state: found absent, expected a detached host"):
        run(server, [host(1, state="absent")], delete_only_detached=True)
    # Check mode does not detach either.
    run(server, [host(1, state="absent")], check_mode=True, delete_only_detached=True)
    run(server, [host(1, state="absent")])
    assert ("BareMetalHost", "h1") not in server.objects


def test_a_host_that_changes_meanwhile_in_what_does_not_count_is_deleted():
    server = Server()
    run(server, [host(1)])
    meanwhile(server, "h1", description="new")
    result, dummy = run(server, [host(1, state="absent")])
    assert ("BareMetalHost", "h1") not in server.objects
    assert result["hosts"][0]["action"] == "deleted"


def test_a_host_that_appears_meanwhile_is_checked_like_one_that_was_there():
    server, theirs = Server(), Server()
    run(theirs, [host(1, boot_mac_address="00:5c:52:00:00:77")])
    bmh = theirs.objects["BareMetalHost", "h1"]
    server.meanwhile["BareMetalHost", "h1"] = lambda: server.objects.update({("BareMetalHost", "h1"): bmh})
    result, dummy = run(server, [host(1)])
    assert 'boot_mac_address: found "00:5c:52:00:00:01", expected 00:5c:52:00:00:77' in result["hosts"][0]["error"]
    assert server.objects["BareMetalHost", "h1"]["spec"]["bootMACAddress"] == "00:5c:52:00:00:77"


def test_a_host_that_is_deleted_meanwhile_is_not_made_from_half_an_entry():
    server = Server()
    run(server, [host(1)])
    server.meanwhile["BareMetalHost", "h1"] = lambda: server.objects.pop(("BareMetalHost", "h1"))
    result, dummy = run(server, [host(1, labels={"rack": "r1"})])
    assert ("BareMetalHost", "h1") not in server.objects
    assert "it was deleted; run again to enrol the host" in result["hosts"][0]["error"]


def test_a_deployed_image_is_not_taken_away_because_it_came_meanwhile():
    server = Server()
    run(server, [host(1)])

    def deploy():
        server.change("BareMetalHost", "h1", image=dict(IMAGE, url="http://192.0.2.1/theirs"))
        server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "provisioned"}}

    server.meanwhile["BareMetalHost", "h1"] = deploy
    result, dummy = run(server, [host(1, image=IMAGE)])
    assert 'image.url: found "http://192.0.2.1/i"' in result["hosts"][0]["error"]
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"]["url"] == "http://192.0.2.1/theirs"


def test_a_field_of_another_owner_is_not_removed_under_a_consumer_that_came_meanwhile():
    server = Server()
    run(server, [host(1)])
    server.objects["BareMetalHost", "h1"]["spec"]["image"] = {"url": "theirs"}
    meanwhile(server, "h1", consumerRef=CONSUMER)
    result, dummy = run(server, [host(1, image={})])
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"] == {"url": "theirs"}
    assert result["hosts"][0]["protected"] == ["image"]


def test_a_change_of_a_host_in_use_is_refused_where_that_is_asked_for():
    server = Server()
    run(server, [host(1, image=IMAGE)])
    server.objects["BareMetalHost", "h1"]["spec"]["consumerRef"] = CONSUMER
    undeployed, free = [host(1, image={}, user_data={})], {"refuse_protected": True, "allow_deprovision": True}
    for check_mode in (False, True):
        with pytest.raises(RefusedError, match=r"h1: image: found a change of a host in use by Metal3Machine metal3/m1"
                                               r", expected a host without consumer.* force_hosts"):
            run(server, undeployed, check_mode=check_mode, **free)
    # What stays as it is anyway is none, and neither is what the run does not write.
    run(server, [host(1, image=IMAGE)], **free)
    run(server, undeployed, deploy=False, **free)
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"] == IMAGE
    run(server, undeployed, force_hosts=["h1"], **free)
    assert "image" not in server.objects["BareMetalHost", "h1"]["spec"]


def test_a_host_that_gets_a_consumer_meanwhile_is_not_reported_as_changed():
    server = Server()
    run(server, [host(1, image=IMAGE)])
    meanwhile(server, "h1", consumerRef=CONSUMER)
    result, dummy = run(server, [host(1, image={})], refuse_protected=True, allow_deprovision=True)
    assert "a change of a host in use by Metal3Machine metal3/m1" in result["hosts"][0]["error"]


def test_a_host_that_gets_a_consumer_meanwhile_is_not_detached():
    server = enrolled("available")
    meanwhile(server, "h1", consumerRef=CONSUMER)
    result, dummy = run(server, [host(1, bmc=MOVED)], allow_detach=True)
    stored = server.objects["BareMetalHost", "h1"]
    assert "in use by Metal3Machine metal3/m1" in result["hosts"][0]["error"]
    assert stored["spec"]["bmc"]["address"] == "ipmi://192.0.2.1" and "annotations" not in stored["metadata"]


def test_a_secret_that_changes_meanwhile_is_compared_again():
    server = Server()
    run(server, [host(1)])
    changed = host(1, bmc=dict(MOVED, address="ipmi://192.0.2.1", password="new"))
    stored = server.objects["Secret", "h1-bmc-secret"]

    def adopt():
        stored["metadata"].update(resourceVersion="99", ownerReferences=[{"kind": "BareMetalHost", "name": "h1"}])

    server.meanwhile["Secret", "h1-bmc-secret"] = adopt
    result, dummy = run(server, [changed])
    assert result["hosts"][0]["action"] == "updated" and not result["hosts"][0]["failed"]
    assert server.objects["Secret", "h1-bmc-secret"]["data"]["password"] == "bmV3"


def test_an_answer_that_was_lost_is_not_followed_by_a_second_write():
    server = Server()
    run(server, [host(1)])
    server.stored.clear()
    server.lost = [("APPLY", "BareMetalHost", "h1")]
    result, lines = run(server, [host(1, labels={"rack": "r1"})])
    assert result["hosts"][0]["action"] == "updated" and not result["hosts"][0]["failed"]
    assert any("were not answered" in line for line in lines)
    assert server.stored == [("APPLY", "BareMetalHost", "h1")]


def test_what_another_did_after_a_lost_answer_stays():
    server = Server()
    run(server, [host(1)])
    server.lost = [("APPLY", "BareMetalHost", "h1")]
    server.after_loss = lambda: server.change("BareMetalHost", "h1", consumerRef=CONSUMER, image={"url": "theirs"})
    run(server, [host(1, image=IMAGE)])
    assert server.objects["BareMetalHost", "h1"]["spec"]["image"] == {"url": "theirs"}


def test_a_deletion_whose_answer_was_lost_has_happened():
    server = Server()
    run(server, [host(1)])
    server.lost = [("DELETE", "BareMetalHost", "h1")]
    result, dummy = run(server, [host(1, state="absent")])
    assert result["hosts"][0]["action"] == "deleted" and not result["hosts"][0]["failed"]


def test_a_version_of_thousands_of_digits_in_a_status_is_none():
    """It ended the run for all hosts with a traceback."""
    bmh = {"spec": {"bmc": {"credentialsName": "s"}}, "status": {
        "provisioning": {"state": "available"},
        "goodCredentials": {"credentials": {"name": "s"}, "credentialsVersion": "9" * 5000}}}
    assert "has not yet tried" in credentials.untried(bmh, {"metadata": {"name": "s", "resourceVersion": "7"}})


def test_new_credentials_are_waited_for_until_they_were_tried():
    server = Server()
    run(server, [host(1)])
    server.objects["BareMetalHost", "h1"]["status"] = {"provisioning": {"state": "available"}}
    result, dummy = run(server, [host(1)], wait_for="available")
    assert not result["hosts"][0]["failed"]
    server.logs_in = False
    changed = host(1, bmc=dict(MOVED, address="ipmi://192.0.2.1", password="wrong"))
    result, dummy = run(server, [changed], wait_for="available", wait_timeout_seconds=1)
    assert "BMO has not yet tried the user name and password of Secret h1-bmc-secret" in result["hosts"][0]["error"]
    server.objects["BareMetalHost", "h1"]["status"]["triedCredentials"] = {
        "credentials": {"name": "h1-bmc-secret"}, "credentialsVersion": "999"}
    result, dummy = run(server, [changed], wait_for="available", wait_timeout_seconds=1)
    assert "BMO is trying the user name and password" in result["hosts"][0]["error"]
    assert result["warnings"] == []
    server.logs_in = True
    result, dummy = run(server, [changed], wait_for="available")
    assert not result["hosts"][0]["failed"] and not result["changed"]
    # BMO says so of a registered host without having logged in.
    result, dummy = run(server, [host(1)], wait_for="available")
    assert "h1: BMO has not logged in with the new user name and password" in result["warnings"][0]


def handed_over_world():
    server = Server()
    server.objects["ConfigMap", host_handed_over.NAME] = {"metadata": {"name": host_handed_over.NAME}, "data": {
        "h1": host_handed_over.note({"spec": {"bmc": {"address": "ipmi://192.0.2.1"}}}, "https://198.18.0.9:6443",
                                    "2026-11-24T18:00:00Z")}}
    return server


def test_a_host_that_another_plane_manages_is_not_created_here_unless_it_is_forced():
    server = handed_over_world()
    with pytest.raises(RefusedError, match=r"h1.*given to the plane of https://198.18.0.9:6443"):
        run(server, [host(1), host(2)])
    assert not server.writes()
    assert run(server, [host(1)], force_hosts=["h1"])[0]["changed"]
    # By then this plane manages it.
    assert run(server, [host(1)])[0]["changed"] is False


def test_an_account_that_may_not_read_the_note_goes_on_and_says_so():
    server = handed_over_world()
    get = server.get

    def forbidden(resource, namespace, name):
        if resource.kind == "ConfigMap":
            raise KubeError("forbidden", 403, "Forbidden")
        return get(resource, namespace, name)

    server.get = forbidden
    result = run(server, [host(1)])[0]
    assert result["changed"] and any("was not checked" in warning for warning in result["warnings"])


def test_a_host_that_somebody_creates_again_during_the_wait_is_not_the_one_that_was_asked_for():
    server = Server()
    run(server, [host(1), host(2)])
    for name in ("h1", "h2"):
        server.objects["BareMetalHost", name]["status"] = {"provisioning": {"state": "available"}}
    listed, reads = server.list, []

    def list_then(resource, *arguments, **more):
        found = listed(resource, *arguments, **more)
        # Other kinds are listed at the same time, by other threads.
        if resource.kind == "BareMetalHost":
            reads.append(resource.kind)
            for item in found[0]:
                if len(reads) == 1:
                    item["status"]["provisioning"]["state"] = "inspecting"
                elif item["metadata"]["name"] == "h1":
                    item["metadata"]["uid"] = "another"
        return found

    server.list = list_then
    result, dummy = run(server, [host(1), host(2)], wait_for="available")
    assert "found another BareMetalHost of this name than the one that was waited for" in result["hosts"][0]["error"]
    assert [facts["failed"] for facts in result["hosts"]] == [True, False]


@pytest.mark.parametrize("in_one_run", [True, False])
def test_a_secret_that_another_host_has_is_not_taken_for_one_that_was_left(in_one_run):
    """The operator has not worked on that host yet, and so not made it the Secret's owner."""
    server = Server()
    user = host(2)
    user["bmc"]["credentials_name"] = "h1-bmc-secret"
    gone = {"name": "h1", "state": "absent"}
    for hosts in [[gone, user]] if in_one_run else [[user], [gone]]:
        run(server, hosts)
    assert ("Secret", "h1-bmc-secret") in server.objects
    run(server, [{"name": "h2", "state": "absent"}])
    run(server, [gone])
    assert ("Secret", "h1-bmc-secret") not in server.objects


@pytest.mark.parametrize("is_labelled", [True, False])
def test_a_secret_that_hosts_outside_of_the_run_log_in_with_keeps_its_content(is_labelled):
    server = Server()
    hosts = [host(number, bmc=dict(REDFISH, address=f"ipmi://192.0.2.{number}", credentials_name="rack"))
             for number in (1, 2, 3, 4)]
    run(server, hosts)
    if not is_labelled:
        del server.objects["Secret", "rack"]["metadata"]["labels"]
    server.requests.clear()
    hosts[1]["bmc"]["password"] = hosts[2]["bmc"]["password"] = "another-secret"
    with pytest.raises(RefusedError, match=r"h2: bmc\.credentials_name: found Secret rack with another user name or "
                       r"password, expected .* log in with it: h1, h4; run on all of them") as refused:
        run(server, hosts[1:3])
    assert "secret" not in str(refused.value).replace("Secret rack", "") and server.writes() == []
    same = host(2, description="new", bmc=dict(hosts[1]["bmc"], password=REDFISH["password"]))
    assert run(server, [same])[0]["counts"]["updated"] == 1
    for entry in hosts:
        entry["bmc"]["password"] = "another-secret"
    assert run(server, hosts)[0]["counts"]["failed"] == 0


@pytest.mark.parametrize("is_labelled", [True, False])
@pytest.mark.parametrize("option", list(DATA_KEYS))
def test_data_that_hosts_outside_of_the_run_have_keeps_its_content(option, is_labelled):
    server = Server()

    def entries(content, *numbers):
        return [host(number, **{option: {"name": "rack", "content": f"of: {content}"}}) for number in numbers]

    run(server, entries("a", 1, 2, 3))
    owners = server.objects["Secret", "rack"]["metadata"]["ownerReferences"]
    assert [owner["name"] for owner in owners] == ["h1", "h2", "h3"]
    server.requests.clear()
    assert not run(server, entries("a", 2))[0]["changed"] and server.writes() == []
    if not is_labelled:
        # Read by its name, since it is not in the list of those with the operator's label.
        del server.objects["Secret", "rack"]["metadata"]["labels"]["environment.metal3.io"]
    with pytest.raises(RefusedError, match=rf"h2: {option}\.name: found Secret rack with other content, expected its "
                       "content, because hosts that are not in the run have it: h1; run on all of them"):
        run(server, entries("b", 2, 3))
    assert server.writes() == []
    assert run(server, entries("b", 1, 2, 3))[0]["counts"]["failed"] == 0


def test_data_of_hosts_that_are_left_has_them_as_owners_after_a_run_over_one():
    server = Server()
    for number in (1, 2):
        run(server, [host(number, user_data={"name": "rack", "content": "a"})])
    owners = server.objects["Secret", "rack"]["metadata"]["ownerReferences"]
    assert [(owner["kind"], owner["name"], owner["uid"]) for owner in owners] == [
        ("BareMetalHost", "h1", "uid-h1"), ("BareMetalHost", "h2", "uid-h2")]
    server.requests.clear()
    hosts = [host(number, user_data={"name": "rack", "content": "a"}) for number in (1, 2)]
    assert not run(server, hosts)[0]["changed"] and server.writes() == []


@pytest.mark.parametrize("metadata, data", [
    ({"labels": {"environment.metal3.io": "baremetal"}}, {"userData": "eA=="}), ({}, {"userData": "eA=="}),
    ({"labels": {"app.kubernetes.io/managed-by": "metal3.baremetal"}}, {"password": "eA=="})])
def test_a_secret_of_others_gets_no_data_and_no_owner(metadata, data):
    server = Server()
    server.objects["Secret", "cloud"] = {"metadata": dict(metadata, name="cloud"), "data": data}
    with pytest.raises(RefusedError, match=r"h1: user_data\.name: found Secret cloud, which others have made, expected "
                       r"a new name, or .*; choose another name, or leave out user_data\.content"):
        run(server, [host(1, user_data={"name": "cloud", "content": "x"})])
    assert server.writes() == []


def test_a_secret_of_others_with_the_name_that_data_has_by_default_stays_as_it_is():
    server = Server()
    stored = server.objects["Secret", "h1-user-data"] = {
        "metadata": {"name": "h1-user-data"}, "data": {"password": "eA=="}}
    result, dummy = run(server, [host(1, user_data={"content": "x"}), host(2)])
    assert "user_data.name: found Secret h1-user-data, which others have made" in result["hosts"][0]["error"]
    assert not result["hosts"][1]["failed"] and server.objects["Secret", "h1-user-data"] == stored
    assert stored["data"] == {"password": "eA=="}


def test_data_that_is_not_applied_is_not_compared():
    server = Server()
    server.objects["Secret", "cloud"] = {"metadata": {"name": "cloud"}, "data": {"userData": "eA=="}}
    run(server, [host(1)])
    entry = host(1, description="new", user_data={"name": "cloud", "content": "x"})
    assert run(server, [dict(entry)], deploy=False)[0]["counts"]["updated"] == 1
    server.objects["BareMetalHost", "h1"]["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": "m"}
    assert run(server, [dict(entry, description="newer")])[0]["counts"]["updated"] == 1
    with pytest.raises(RefusedError, match="which others have made"):
        run(server, [entry], force_hosts=["h1"])


def test_credentials_that_another_host_has_got_meanwhile_keep_their_content():
    server = Server()
    hosts = [host(number, bmc=dict(REDFISH, address=f"ipmi://192.0.2.{number}", credentials_name=name))
             for number, name in ((1, "rack"), (2, "rack"))]
    run(server, hosts)

    def somebody_else_corrects_it():
        stored = server.objects["Secret", "rack"]
        stored["data"] = dict(stored["data"], password="bmV3")
        stored["metadata"]["resourceVersion"] = "999"

    server.meanwhile["Secret", "rack"] = somebody_else_corrects_it
    labelled = host(1, bmc=hosts[0]["bmc"])
    server.objects["Secret", "rack"]["metadata"]["labels"].pop("app.kubernetes.io/managed-by")
    result, dummy = run(server, [labelled])
    assert "hosts that are not in the run log in with it: h2" in result["hosts"][0]["error"]
    assert server.objects["Secret", "rack"]["data"]["password"] == "bmV3"

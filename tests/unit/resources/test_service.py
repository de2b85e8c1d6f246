# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run over the objects of one family, against an API server in memory."""
from __future__ import annotations

import copy

import pytest
from fakes.progress import Reports
from fakes.resources import Cluster

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import lock as host_lock
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.finalizers import HINT
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.service import FamilyService, read_facts


@pytest.fixture
def cluster():
    result = Cluster()
    for name in ("h1", "h2"):
        result.add("BareMetalHost", name, spec={"online": True}, status={
            "provisioning": {"state": "available"}, "operationalStatus": "OK", "poweredOn": True})
        result.add("HostFirmwareSettings", name, spec={"settings": {}}, status={
            "settings": {"Turbo": "Enabled"}, "schema": {"name": "schema", "namespace": "metal3"},
            "conditions": [{"type": "Valid", "status": "True"}, {"type": "ChangeDetected", "status": "False"}]})
    result.add("FirmwareSchema", "schema", spec={"schema": {"Turbo": {
        "attribute_type": "Enumeration", "allowable_values": ["Enabled", "Disabled"]}}})
    return result


def run(cluster, kind, entries, check_mode=False, **params):
    family = FAMILIES[kind]
    reports = Reports()
    params = dict({"namespace": "metal3", family.option: entries}, **params)
    result = FamilyService(cluster, family, params, check_mode, reports, sleep=lambda seconds: None).run()
    return result, result[family.option], reports


def settings(*names, value="Disabled"):
    return [{"name": name, "settings": {"Turbo": value}} for name in names]


def test_one_list_of_each_kind_and_writes_of_what_differs(cluster):
    result, items, dummy = run(cluster, "HostFirmwareSettings", settings("h1", "h2"))
    assert result["changed"] and [item["action"] for item in items] == ["updated", "updated"]
    assert [item["pending"] for item in items] == [[{"name": "Turbo", "current": "Enabled", "wanted": "Disabled"}]] * 2
    lists = [request[1] for request in cluster.requests if request[0] == "LIST"]
    assert sorted(lists) == ["BareMetalHost", "FirmwareSchema", "HostFirmwareSettings", "HostUpdatePolicy"]
    before = len(cluster.writes())
    result, items, dummy = run(cluster, "HostFirmwareSettings", settings("h1", "h2"))
    assert not result["changed"] and len(cluster.writes()) == before and result["diff"] == []


def test_conditions_go_before_the_settings_are_written(cluster):
    run(cluster, "HostFirmwareSettings", settings("h1"))
    assert [(verb, name) for verb, dummy, name, dummy2 in cluster.writes()] == [("STATUS", "h1"), ("APPLY", "h1")]
    assert cluster.cleared == ["h1"]


def test_firmware_of_a_locked_host_does_not_change(cluster):
    lock = host_lock.value("RMA 4711", "2999-01-01T00:00:00Z")
    cluster.objects["BareMetalHost", "h1"]["metadata"]["annotations"] = {host_lock.LOCKED: lock}
    with pytest.raises(RefusedError, match='h1: hosts: found host h1 locked until 2999-01-01T00:00:00Z: "RMA 4711"'):
        run(cluster, "HostFirmwareSettings", settings("h1", "h2"))
    assert not cluster.writes()
    # What is asked for already interrupts nothing.
    cluster.objects["HostFirmwareSettings", "h1"]["spec"]["settings"] = {"Turbo": "Disabled"}
    assert not run(cluster, "HostFirmwareSettings", settings("h1"))[0]["changed"]


def test_check_mode_writes_nothing_and_tells_the_same(cluster):
    result, items, dummy = run(cluster, "HostFirmwareSettings", settings("h1"), check_mode=True, wait_for="applied",
                               wait_timeout_seconds=5)
    assert result["changed"] and items[0]["pending"] and cluster.cleared == []
    tried = [dry_run for verb, dummy, dummy2, dry_run in cluster.writes()]
    assert tried and all(tried)
    assert result["diff"][0]["after"] == {"spec": {"settings": {"Turbo": "Disabled"}}}


def test_a_mistake_anywhere_keeps_all_from_being_written(cluster):
    with pytest.raises(RefusedError, match=r'h2: settings\.Turbo: found "Odd", expected one of Enabled, Disabled'):
        run(cluster, "HostFirmwareSettings", settings("h1") + settings("h2", value="Odd"))
    assert cluster.writes() == []


def test_the_mistakes_of_all_entries_are_reported_at_once(cluster):
    """Those in a value of its own, and those that show against the host's schema."""
    entries = settings("h1", value="Odd") + settings("h2", value=None) + settings("h3")
    cluster.add("HostFirmwareSettings", "h3", **{
        key: cluster.objects["HostFirmwareSettings", "h1"][key] for key in ("spec", "status")})
    entries[2]["settings"] = {"Turbo": "Even", "Unknown": 1}
    with pytest.raises(RefusedError) as caught:
        run(cluster, "HostFirmwareSettings", entries)
    reported = [(line.subject, line.field, line.actual) for line in caught.value.problems]
    assert sorted(reported) == [
        ("HostFirmwareSettings h1", "settings.Turbo", '"Odd"'), ("HostFirmwareSettings h2", "settings.Turbo", "null"),
        ("HostFirmwareSettings h3", "settings.Turbo", '"Even"'),
        ("HostFirmwareSettings h3", "settings.Unknown", "an unknown setting")]


def test_mistakes_are_reported_also_when_the_server_can_not_be_asked(cluster):
    cluster.failures["HostFirmwareSettings", None] = "broken"
    with pytest.raises(RefusedError, match="rename it"):
        run(cluster, "HostFirmwareSettings", settings("Big"))


def test_a_wait_ends_with_the_last_state(cluster):
    run(cluster, "HostFirmwareSettings", settings("h1"))
    cluster.objects["HostFirmwareSettings", "h1"]["status"]["conditions"] = [
        {"type": "Valid", "status": "True"}, {"type": "ChangeDetected", "status": "True"}]
    dummy, items, reports = run(cluster, "HostFirmwareSettings", settings("h1"), wait_for="applied",
                                wait_timeout_seconds=2)
    assert items[0]["error"].startswith("not applied within 2 s: waits until BMO prepares the host (state available)")
    assert any("0/1 applied" in line for line in reports.lines)


def test_a_wait_that_can_not_end_well_ends_at_once(cluster):
    cluster.objects["BareMetalHost", "h1"]["status"]["provisioning"]["state"] = "provisioned"
    run(cluster, "HostFirmwareSettings", settings("h1"))
    cluster.objects["HostFirmwareSettings", "h1"]["status"]["conditions"] = [
        {"type": "Valid", "status": "True"}, {"type": "ChangeDetected", "status": "True"}]
    dummy, items, dummy2 = run(cluster, "HostFirmwareSettings", settings("h1"), wait_for="applied",
                               wait_timeout_seconds=20)
    assert "HostUpdatePolicy does not say firmwareSettings: onReboot" in items[0]["error"]
    assert "host_update_policy" in items[0]["error"]


def test_refusals_of_the_server_are_reported_for_each_object(cluster):
    cluster.failures["HostFirmwareSettings", "h2"] = "HostFirmwareSettings metal3/h2: denied"
    cluster.objects["HostFirmwareSettings", "h2"]["status"].pop("conditions")
    dummy, items, dummy2 = run(cluster, "HostFirmwareSettings", settings("h1", "h2"))
    assert [item["error"] for item in items] == ["", "HostFirmwareSettings metal3/h2: denied"]
    assert [item["action"] for item in items] == ["updated", "unchanged"]


def test_objects_are_made_and_removed(cluster):
    policy = {"name": "h1", "firmware_settings": "onReboot"}
    result, items, dummy = run(cluster, "HostUpdatePolicy", [dict(policy, state="present"), {
        "name": "h2", "state": "absent"}])
    assert [item["action"] for item in items] == ["created", "unchanged"]
    assert items[0]["firmware_settings"] == "onReboot"
    gone = [{"name": "h1", "state": "absent"}]
    result, items, dummy = run(cluster, "HostUpdatePolicy", gone, check_mode=True)
    assert items[0]["action"] == "deleted" and ("HostUpdatePolicy", "h1") in cluster.objects
    result, items, dummy = run(cluster, "HostUpdatePolicy", gone)
    assert items[0]["action"] == "deleted" and ("HostUpdatePolicy", "h1") not in cluster.objects
    assert result["diff"][0]["before"] == {"spec": {"firmwareSettings": "onReboot"}}
    assert not run(cluster, "HostUpdatePolicy", gone)[0]["changed"]


def test_deletion_is_waited_for(cluster):
    entry = {"name": "c", "powered_on": True}
    run(cluster, "HostClaim", [entry])
    dummy, items, dummy2 = run(cluster, "HostClaim", [dict(entry, state="absent")], wait_for="deleted",
                               wait_timeout_seconds=20)
    assert items[0]["error"] == "" and items[0]["action"] == "deleted"


DELETED_AT = "2026-11-25T20:00:00Z"
GOING = f"being deleted since {DELETED_AT}, held by dataimage.metal3.io"
IMAGE = {"name": "h1", "url": "http://198.18.0.1/a.iso"}


def attach(cluster, is_going):
    """A DataImage whose image is attached; BMO ejects it when the host is switched off and on again."""
    cluster.add("DataImage", "h1", spec={"url": IMAGE["url"]}, status={"attachedImage": {"url": IMAGE["url"]}})
    if is_going:
        cluster.objects["DataImage", "h1"]["metadata"].update(
            deletionTimestamp=DELETED_AT, finalizers=["dataimage.metal3.io"])


def test_an_object_that_is_being_deleted_is_not_one_that_is_there(cluster):
    attach(cluster, is_going=True)
    for check_mode in (True, False):
        with pytest.raises(RefusedError, match=f"DataImage metal3/h1: found an object that is {GOING}, expected one "
                                               "that stays; wait until it is gone"):
            run(cluster, "DataImage", [IMAGE], check_mode=check_mode, wait_for="attached", wait_timeout_seconds=1)
    assert cluster.writes() == []
    assert run(cluster, "DataImage", [dict(IMAGE, state="absent")])[1][0]["action"] == "unchanged"


def test_an_object_that_is_deleted_after_it_was_found_has_not_reached_its_goal(cluster):
    attach(cluster, is_going=False)
    # The other object is written between the first LIST and the wait.
    cluster.meanwhile["DataImage", "h2"] = lambda: attach(cluster, is_going=True)
    dummy, items, dummy2 = run(cluster, "DataImage", [IMAGE, dict(IMAGE, name="h2")], wait_for="attached",
                               wait_timeout_seconds=1)
    assert items[0]["error"] == f"it is {GOING}; {HINT}"


def failed_before(cluster, url):
    """A host whose server BMO does not switch on, because three times it could not attach an image."""
    cluster.objects["BareMetalHost", "h1"]["status"].update(provisioning={"state": "provisioned"}, poweredOn=False)
    cluster.add("DataImage", "h1", spec={"url": url}, status={"error": {"count": 3, "message": "no such image"}})


@pytest.mark.parametrize("url, cause", [
    (IMAGE["url"], "Ironic can't do it: no such image"),
    ("http://198.18.0.1/mistyped.iso", "not attached within 1 s")])
def test_what_failed_before_an_image_was_corrected_does_not_count(cluster, url, cause):
    failed_before(cluster, url)
    dummy, items, dummy2 = run(cluster, "DataImage", [IMAGE], wait_for="attached", wait_timeout_seconds=1)
    assert cause in items[0]["error"]


def test_an_image_of_a_host_that_is_not_provisioned_is_deleted(cluster):
    attach(cluster, is_going=True)
    dummy, items, dummy2 = run(cluster, "DataImage", [dict(IMAGE, state="absent")], wait_for="deleted",
                               wait_timeout_seconds=1)
    assert "not gone within 1 s" in items[0]["error"] and "provisioned hosts" not in items[0]["error"]


def test_facts(cluster):
    params = {"namespace": "metal3", "all_namespaces": False, "names": ["h2", "h9"], "label_selector": None,
              "full_objects": True, "schemas": True}
    result = read_facts(cluster, FAMILIES["HostFirmwareSettings"], params)
    assert [facts["name"] for facts in result["hosts"]] == ["h2"] and result["missing"] == ["h9"]
    assert result["hosts"][0]["schema"]["Turbo"]["attribute_type"] == "Enumeration"
    assert "managedFields" not in result["hosts"][0]["object"]["metadata"]


def test_an_object_that_changes_meanwhile_is_checked_and_written_again(cluster):
    cluster.meanwhile["HostFirmwareSettings", "h1"] = lambda: cluster.change(
        "HostFirmwareSettings", "h1", settings={"Other": "1"})
    dummy, items, dummy2 = run(cluster, "HostFirmwareSettings", settings("h1", "h2"))
    assert [(item["action"], item["error"]) for item in items] == [("updated", ""), ("updated", "")]


def test_an_object_that_no_longer_fits_is_not_written(cluster):
    def shrink():
        cluster.objects["HostFirmwareSettings", "h1"]["status"]["settings"] = {"Turbo": "Enabled", "Locked": "x"}
        cluster.objects["HostFirmwareSettings", "h1"]["status"].pop("schema")
        cluster.change("HostFirmwareSettings", "h1")

    cluster.meanwhile["HostFirmwareSettings", "h1"] = shrink
    entries = [{"name": "h1", "settings": {"Turbo": "Disabled"}}]
    run(cluster, "HostFirmwareSettings", entries)
    cluster.stored.clear()
    cluster.meanwhile["HostFirmwareSettings", "h1"] = lambda: (
        cluster.objects["HostFirmwareSettings", "h1"]["status"].update(settings={"Fan": "1"}),
        cluster.change("HostFirmwareSettings", "h1"))
    dummy, items, dummy2 = run(cluster, "HostFirmwareSettings", settings("h1", value="Enabled"))
    assert "changed by somebody else during this run" in items[0]["error"] and "Turbo" in items[0]["error"]
    assert cluster.stored == []


def test_an_object_that_is_deleted_meanwhile_is_not_made_again(cluster):
    cluster.meanwhile["HostFirmwareSettings", "h1"] = lambda: cluster.objects.pop(("HostFirmwareSettings", "h1"))
    dummy, items, dummy2 = run(cluster, "HostFirmwareSettings", settings("h1"))
    assert "it was deleted; run again" in items[0]["error"]
    assert ("HostFirmwareSettings", "h1") not in cluster.objects


def test_an_object_that_appears_meanwhile_is_compared(cluster):
    def make():
        cluster.add("DataImage", "h1", spec={"url": "http://192.0.2.1/theirs.iso"})

    cluster.meanwhile["DataImage", "h1"] = make
    dummy, items, dummy2 = run(cluster, "DataImage", [{"name": "h1", "url": "http://192.0.2.1/a.iso"}])
    assert [(item["action"], item["error"]) for item in items] == [("updated", "")]


def test_a_deletion_names_what_it_deletes(cluster):
    cluster.add("DataImage", "h1", spec={"url": "http://192.0.2.1/a.iso"})
    cluster.meanwhile["DataImage", "h1"] = lambda: cluster.objects.pop(("DataImage", "h1"))
    dummy, items, dummy2 = run(cluster, "DataImage", [{"name": "h1", "state": "absent"}])
    assert [(item["action"], item["error"]) for item in items] == [("deleted", "")]
    cluster.add("DataImage", "h1", spec={"url": "http://192.0.2.1/a.iso"})
    cluster.meanwhile["DataImage", "h1"] = lambda: cluster.change("DataImage", "h1", url="http://192.0.2.1/b.iso")
    result, items, dummy2 = run(cluster, "DataImage", [{"name": "h1", "state": "absent"}])
    assert items[0]["action"] == "deleted" and result["diff"][0]["before"] == {
        "spec": {"url": "http://192.0.2.1/b.iso"}}


FIRMWARE = "HostFirmwareComponents"
RETRY = "metal3.baremetal/retry"
UPDATES = [{"component": "bios", "url": "https://192.0.2.1/new"}]
OLD = [{"component": "bios", "url": "https://192.0.2.1/old"}]
FAILED_FLASH = {"operationalStatus": "error", "errorType": "preparation error", "errorMessage": "no", "errorCount": 3}


class FlashingCluster(Cluster):
    """The server, with an operator that flashes when the wait has begun, unless it pauses after a failure.

    :param asks: images that are asked for already
    :param status: fields of the host's status
    """

    def __init__(self, asks=(), **status):
        super().__init__()
        self.add("BareMetalHost", "h1", spec={"online": True}, status=dict({
            "provisioning": {"state": "available"}, "operationalStatus": "OK", "poweredOn": True}, **status))
        self.add(FIRMWARE, "h1", spec={"updates": list(asks)}, status={
            "components": [{"component": "bios", "initialVersion": "1"}], "updates": list(asks), "conditions": [
                {"type": "Valid", "status": "True"},
                {"type": "ChangeDetected", "status": "False", "lastTransitionTime": "2026-11-23T00:00:00Z"}]})

    def woken(self):
        return RETRY in self.objects["BareMetalHost", "h1"]["metadata"].get("annotations", {})

    def watch(self, resource, *arguments, **options):
        paused = self.objects["BareMetalHost", "h1"]["status"]["operationalStatus"] == "error" and not self.woken()
        stored = self.objects[FIRMWARE, "h1"]
        if resource.kind == "BareMetalHost" and self.woken():
            self.objects["BareMetalHost", "h1"]["status"].update(operationalStatus="OK")
            yield {"type": "MODIFIED", "object": copy.deepcopy(self.objects["BareMetalHost", "h1"])}
        if resource.kind == FIRMWARE and not paused and stored["status"]["updates"] != stored["spec"]["updates"]:
            stored["status"]["updates"] = stored["spec"]["updates"]
            self.change(FIRMWARE, "h1")
            yield {"type": "MODIFIED", "object": copy.deepcopy(stored)}


def flash(cluster, **params):
    return run(cluster, FIRMWARE, [{"name": "h1", "updates": UPDATES}],
               **dict({"wait_for": "applied", "wait_timeout_seconds": 10}, **params))


def test_bmo_is_asked_to_look_at_a_host_whose_flash_is_done():
    cluster = FlashingCluster()
    result, items, reports = flash(cluster)
    assert (items[0]["action"], items[0]["error"], result["warnings"]) == ("updated", "", [])
    assert cluster.woken() and any("look at h1 once more" in line for line in reports.lines), reports.lines


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_version_that_a_flash_has_left_is_a_warning(version):
    """Ironic takes an update of a BMC that failed for one that changes nothing."""
    cluster = FlashingCluster()
    stored = cluster.objects[FIRMWARE, "h1"]["status"]
    stored["components"] = [{"component": "bios", "currentVersion": "1"}, {"component": "bmc", "currentVersion": "1"}]

    watch = cluster.watch

    def flashed(resource, *arguments, **options):
        for event in watch(resource, *arguments, **options):
            stored["components"][0]["currentVersion"] = version
            if event["object"]["kind"] == FIRMWARE:
                event["object"]["status"]["components"][0]["currentVersion"] = version
            yield event

    cluster.watch = flashed
    result, items, dummy = flash(cluster)
    assert items[0]["error"] == "" and len(result["warnings"]) == (version == "1")
    assert all(text.startswith("h1: bios: ") and "still reports version 1" in text for text in result["warnings"])
    # What this run did not flash it has nothing to say about.
    assert flash(cluster)[0]["warnings"] == []


@pytest.mark.parametrize("cluster, params", [
    (FlashingCluster(), {"wait_for": "valid"}),
    (FlashingCluster(), {"check_mode": True}),
])
def test_a_host_that_nothing_was_flashed_to_is_not_written(cluster, params):
    dummy, items, dummy2 = flash(cluster, **params)
    assert items[0]["error"] == "" and not cluster.woken()


def test_bmo_is_asked_once_for_each_flash():
    """Also by a run that finds the flash done: in a play, settings and firmware are waited for one after the other."""
    cluster = FlashingCluster(asks=UPDATES)
    flash(cluster)
    assert cluster.woken()
    before = len(cluster.writes())
    flash(cluster)
    assert len(cluster.writes()) == before


def test_other_images_end_the_pause_after_a_flash_that_failed():
    cluster = FlashingCluster(asks=OLD, **FAILED_FLASH)
    dummy, items, reports = flash(cluster)
    assert items[0]["error"] == "" and items[0]["seconds"] < 10
    assert any("BMO pauses after an earlier failure of h1" in line for line in reports.lines), reports.lines


def test_a_host_that_may_not_be_written_is_a_warning_and_no_failure():
    cluster = FlashingCluster()
    cluster.failures["BareMetalHost", "h1"] = "BareMetalHost metal3/h1: denied"
    result, items, dummy = flash(cluster)
    assert items[0]["error"] == "" and len(result["warnings"]) == 1
    assert "h1: BMO was not asked to look at the host (BareMetalHost metal3/h1: denied)" in result["warnings"][0]


def test_a_host_that_is_another_one_by_now_is_left():
    cluster = FlashingCluster()
    cluster.meanwhile["BareMetalHost", "h1"] = lambda: cluster.objects["BareMetalHost", "h1"]["metadata"].update(
        uid="another")
    result, items, dummy = flash(cluster)
    assert (items[0]["error"], result["warnings"], cluster.woken()) == ("", [], False)


class RepeatingCluster(FlashingCluster):
    """The server, with an operator that counts the failure of other images once more, and then flashes the new ones."""

    def __init__(self):
        message = f"Firmware update failed: {OLD[0]['url']} is none"
        super().__init__(asks=OLD, **{**FAILED_FLASH, "errorMessage": message})
        self.repeated = False

    def watch(self, resource, *arguments, **options):
        host = self.objects["BareMetalHost", "h1"]
        if resource.kind == "BareMetalHost" and self.woken() and not self.repeated:
            self.repeated = True
            host["status"]["errorCount"] = (host["status"].get("errorCount") or 1) + 1
            self.change("BareMetalHost", "h1")
            yield {"type": "MODIFIED", "object": copy.deepcopy(host)}
            return
        yield from super().watch(resource, *arguments, **options)


def test_the_failure_of_images_that_are_no_longer_asked_for_ends_no_wait():
    cluster = RepeatingCluster()
    dummy, items, dummy2 = flash(cluster)
    assert cluster.repeated and items[0]["error"] == "", items[0]["error"]


class FailingCluster(FlashingCluster):
    """The server, with an operator whose flash failed before the wait; it gives up and makes the host available."""

    def __init__(self):
        self.watches = 0
        status = {**FAILED_FLASH, "errorMessage": f"Firmware update failed: {UPDATES[0]['url']} is no firmware"}
        super().__init__(asks=UPDATES, **status)
        self.add("BareMetalHost", "h2", spec={"online": True}, status={
            "provisioning": {"state": "available"}, "operationalStatus": "OK", "poweredOn": True})
        self.add(FIRMWARE, "h2", spec={"updates": []}, status=dict(
            copy.deepcopy(self.objects[FIRMWARE, "h1"]["status"]), updates=[]))

    def watch(self, resource, *arguments, **options):
        host = self.objects["BareMetalHost", "h1"]
        self.watches += resource.kind == "BareMetalHost"
        # Not in the first one, with which the wait begins.
        if resource.kind == "BareMetalHost" and host["status"]["operationalStatus"] == "error" and self.watches > 1:
            host["status"].update(operationalStatus="OK")
            self.change("BareMetalHost", "h1")
            yield {"type": "MODIFIED", "object": copy.deepcopy(host)}


def test_a_flash_that_failed_before_the_wait_is_no_success():
    """In a play, settings are waited for first; BMO notes the image as done and forgets the error after its pause."""
    cluster = FailingCluster()
    # The wait goes on for the other host, after the first one is available again.
    dummy, items, dummy2 = run(cluster, FIRMWARE, [{"name": name, "updates": UPDATES} for name in ("h1", "h2")],
                               wait_for="applied", wait_timeout_seconds=2)
    assert cluster.objects["BareMetalHost", "h1"]["status"]["operationalStatus"] == "OK"
    assert "bios: " in items[0]["error"] and "is no firmware" in items[0]["error"], items[0]["error"]
    assert items[1]["error"].startswith("not applied within")
    assert not cluster.woken()


def created_again(cluster, kind):
    """Let h1's object of a kind be another one, with nothing left to do, from the first look of the wait on."""
    listed = cluster.list

    def list_then(resource, *arguments, **more):
        if cluster.stored and resource.kind == kind:
            cluster.objects[kind, "h1"]["metadata"]["uid"] = "another"
        return listed(resource, *arguments, **more)

    cluster.list = list_then


@pytest.mark.parametrize("kind", ["HostFirmwareSettings", "BareMetalHost"])
def test_what_is_created_again_during_a_wait_has_nothing_of_what_was_asked_for(cluster, kind):
    """BMO creates the settings of a host that is enrolled again: empty, valid, and without a change to be made."""
    created_again(cluster, kind)
    patch = cluster.patch

    def patch_then(resource, namespace, name, body, *arguments, **more):
        result = patch(resource, namespace, name, body, *arguments, **more)
        cluster.objects["HostFirmwareSettings", name]["status"]["conditions"] = [
            {"type": "Valid", "status": "True"}, {"type": "ChangeDetected", "status": "False"}]
        return result

    cluster.patch = patch_then
    dummy, items, dummy2 = run(cluster, "HostFirmwareSettings", settings("h1", "h2"), wait_for="applied",
                               wait_timeout_seconds=5)
    assert [item["error"] for item in items] == [
        f"found another {kind} of this name than the one that was waited for; look at it, then run again", ""]


def test_an_object_that_somebody_creates_again_is_not_waited_for_until_it_is_gone(cluster):
    run(cluster, "HostClaim", [{"name": "h1", "powered_on": True}])
    cluster.stored.clear()
    claim = copy.deepcopy(cluster.objects["HostClaim", "h1"])
    delete = cluster.delete

    def delete_then(*arguments, **more):
        result = delete(*arguments, **more)
        cluster.objects["HostClaim", "h1"] = dict(claim, metadata=dict(claim["metadata"], uid="another"))
        return result

    cluster.delete = delete_then
    dummy, items, dummy2 = run(cluster, "HostClaim", [{"name": "h1", "powered_on": True, "state": "absent"}],
                               wait_for="deleted", wait_timeout_seconds=5)
    assert items[0]["error"].startswith("found another HostClaim of this name")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BIOS settings, firmware, data images and events on the lab's real BMO, Ironic and Redfish.

Three servers are available and are prepared again, one for each scheme of BMC addresses that the lab serves; one is
provisioned and changes with a reboot. As each takes BMO a minute (it asks Ironic that often), all that a reboot does is
asked for together, and then looked at by one test each. Where only BIOS settings change, Ironic works without the
agent, and elsewhere with it: each scheme does both. The servers keep the settings and versions they got; each run asks
for others.
"""
from __future__ import annotations

import contextlib
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from firmware_changes import done, facts, free, module, read_again, reboot, run, versions_of
from support import HOST, NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.objects.conditions import condition
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.servers import BMC_SCHEMES, IPMI
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.base import desired
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

pytestmark = pytest.mark.usefixtures("as_operator")

SETTINGS, SUBSCRIPTION = KNOWN["HostFirmwareSettings"], KNOWN["BMCEventSubscription"]
# The lab's servers speak IPMI beside one of these; see test_ipmi_server.py.
REDFISH_SCHEMES = set(BMC_SCHEMES) - {IPMI}
RUN = uuid.uuid4().hex[:8]
BIOS, LATER_BIOS, BMC = f"2.0.{RUN}", f"3.0.{RUN}", f"2.{RUN}"


class Sink:
    """An HTTP server that keeps the events it gets."""

    def __init__(self):
        events = self.events = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                events.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_arguments):
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/events"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def available(lab):
    """A server that is available for each scheme that the lab serves: scheme → name."""
    found = free(lab, "available")
    assert set(found) == REDFISH_SCHEMES
    return found


@pytest.fixture(scope="module")
def prepared(available):
    """A server that is available, and gets settings and firmware at once."""
    return available["redfish"]


@pytest.fixture(scope="module")
def others(available, prepared):
    """The other servers that are available: they get settings alone first, and settings with firmware later."""
    return sorted(set(available.values()) - {prepared})


@pytest.fixture(scope="module")
def live(lab):
    """A server that is provisioned."""
    return sorted(free(lab, "provisioned").values())[0]


@pytest.fixture(scope="module")
def files(lab):
    """Firmware images and an ISO on the lab's image server: URLs by name."""
    folder, made = lab.dir / "www" / "images", {}
    for name, content in (("bios.fw", json.dumps({"component": "bios", "version": BIOS}).encode()),
                          ("later-bios.fw", json.dumps({"component": "bios", "version": LATER_BIOS}).encode()),
                          ("bmc.fw", json.dumps({"component": "bmc", "version": BMC}).encode()),
                          ("broken.fw", b"another vendor's"),
                          ("data.iso", b"\0" * 65536)):
        # BMO flashes an image once only.
        path = folder / (f"firmware-test-{RUN}-{name}")
        path.write_bytes(content)
        path.chmod(0o644)
        made[name] = path
    yield dict((name, f"{lab.figures['urls']['image_server']}/images/{path.name}") for name, path in made.items())
    for path in made.values():
        path.unlink()


@pytest.fixture(scope="module")
def sink():
    """Where the BMC sends events to."""
    result = Sink()
    yield result
    result.server.shutdown()
    result.server.server_close()


def other_settings(lab, name):
    """Return BIOS settings that a server doesn't have."""
    now = facts(lab, "HostFirmwareSettings", name)["settings"]
    return {"ProcTurboMode": "Disabled" if now["ProcTurboMode"] == "Enabled" else "Enabled",
            "PatrolScrubHours": (int(now["PatrolScrubHours"]) + 1) % 24}


@pytest.fixture(scope="module")
def wanted(lab, prepared, others, live):
    """BIOS settings that the servers don't have yet."""
    result = dict((name, other_settings(lab, name)) for name in (prepared, *others, live))
    del result[live]["PatrolScrubHours"]
    return result


@pytest.fixture(scope="module")
def inventory(lab, prepared, others, live, files, wanted):
    """What the inventory says of the servers."""
    hosts = dict((name, {"bmh_firmware_settings": wanted[name]}) for name in others)
    return lab.inventory({
        **hosts,
        prepared: {"bmh_firmware_settings": wanted[prepared],
                   "bmh_firmware_components": [{"component": "bios", "url": files["bios.fw"]}]},
        live: {"bmh_firmware_settings": wanted[live],
               "bmh_firmware_components": [{"component": "bmc", "url": files["bmc.fw"]}],
               "bmh_update_policy": {"firmware_settings": "onReboot", "firmware_updates": "onReboot"}}})


@pytest.fixture(scope="module")
def changed(lab, prepared, others, live, files, sink, inventory):
    """The playbook's run; a data image and a subscription were there before its reboot."""
    subscription = {"name": "firmware-test", "host_name": live, "destination": sink.url, "context": "lab"}
    # Also when the set-up fails half way. The firmware stays, and with it the updates, which BMO takes as done.
    with contextlib.ExitStack() as afterwards:
        afterwards.callback(remove_image, lab, live)
        afterwards.callback(run, lab, "BMCEventSubscription", [{"name": "firmware-test", "state": "absent"}],
                            wait_for="deleted")
        afterwards.callback(run, lab, "HostUpdatePolicy", [{"name": live, "state": "absent"}])
        afterwards.callback(run, lab, "HostFirmwareSettings",
                            [{"name": name, "settings": {}} for name in (prepared, *others, live)])
        subscribed = done(lab, "BMCEventSubscription", subscription, wait_for="subscribed")
        assert subscribed["subscription_id"]
        done(lab, "DataImage", {"name": live, "url": files["data.iso"]})
        yield lab.playbook("firmware", "-i", inventory, *only(prepared, *others, live),
                           "-e", "hosts_firmware_reboot=hard", "-e", f"metal3_confirm={live}",
                           "-e", "hosts_firmware_wait_timeout_seconds=600",
                           seconds=900)


def remove_image(lab, name):
    run(lab, "DataImage", [{"name": name, "state": "absent"}])
    if lab.kube.get(KNOWN["DataImage"], NAMESPACE, name) is not None:
        reboot(lab, name)
        run(lab, "DataImage", [{"name": name, "state": "absent"}], wait_for="deleted")


def bios_of(lab, name):
    """Return a node's BIOS settings as Ironic has them."""
    ironic = lab.ironic()
    answer = ironic.get(f"/nodes/{lab.nodes()[name].id}/bios", microversion="1.40")
    return dict((item["name"], item["value"]) for item in answer.json()["bios"])


def assert_in_force(lab, name, wanted):
    """Fail unless Ironic and BMO know that a server has the settings."""
    has = bios_of(lab, name)
    assert dict((key, has[key]) for key in wanted) == dict((key, str(value)) for key, value in wanted.items())
    seen = facts(lab, "HostFirmwareSettings", name)
    assert seen["pending"] == [] and seen["valid"] and not seen["change_detected"]


def test_settings_and_firmware_are_really_changed(lab, room, changed, wanted, prepared, live):
    changed.ok()
    for name in (prepared, live):
        assert_in_force(lab, name, wanted[name])
    servers = dict((server["name"], server) for server in room.servers())
    assert servers[prepared]["firmware"]["bios"] == BIOS and servers[live]["firmware"]["bmc"] == BMC
    assert versions_of(lab, prepared)["bios"] == BIOS and versions_of(lab, live)["bmc"] == BMC
    assert servers[prepared]["bios_pending"] == servers[live]["bios_pending"] == []
    assert lab.state(prepared) == "available" and lab.state(live) == "provisioned"
    assert all(lab.host(name)["status"]["operationalStatus"] == "OK" for name in (prepared, live))


@pytest.mark.parametrize("scheme", ["redfish-virtualmedia", "redfish-uefihttp"])
def test_settings_alone_are_applied_whatever_boots_the_agent(lab, room, changed, available, wanted, scheme):
    """Ironic 39 works without the agent then and waits until the BMC reports that a system has started."""
    name = available[scheme]
    assert_in_force(lab, name, wanted[name])
    assert room.server(name)["bios_pending"] == []
    assert lab.state(name) == "available" and lab.host(name)["status"]["operationalStatus"] == "OK"


def test_the_agent_boots_as_the_scheme_of_the_bmc_says(lab, available):
    """Enrolled, inspected and cleaned by each scheme that the lab serves."""
    interfaces = {"redfish": "ipxe", "redfish-virtualmedia": "redfish-virtual-media",
                  "redfish-uefihttp": "redfish-https"}
    assert set(interfaces) == set(available) == REDFISH_SCHEMES
    for scheme, name in available.items():
        host = lab.host(name)
        assert host["spec"]["bmc"]["address"].startswith(scheme + "+https://")
        node = lab.ironic().get(f"/nodes/{lab.nodes()[name].id}", microversion="1.86").json()
        assert node["boot_interface"] == interfaces[scheme]
        assert facts(lab, "HardwareData", name)["hardware"]["serial_number"] == lab.servers[name]["serial"]


def test_what_was_changed_is_shown_as_a_table(changed, wanted, prepared, live):
    words = [line.split() for line in changed.output.splitlines()]
    for name in (prepared, live):
        for key, value in wanted[name].items():
            assert [name, key, str(value), str(value), "in", "force"] in words, changed.output
    assert any(line[:2] == [live, "bmc"] and line[-1:] == ["flashed"] for line in words), changed.output


def test_the_info_modules_tell_of_it(lab, changed, files, sink, prepared, live):
    image, = module(lab, "data_image_info", names=[live])["images"]
    assert (image["url"], image["attached_url"], image["host_state"]) == (
        files["data.iso"], files["data.iso"], "provisioned")
    subscription, = module(lab, "bmc_event_subscription_info", names=["firmware-test"])["subscriptions"]
    assert (subscription["host_name"], subscription["destination"]) == (live, sink.url)
    assert subscription["subscription_id"] and not subscription["error_message"]

    def has_the_new_versions():
        firmware = module(lab, "host_firmware_components_info", names=[prepared, live, "nobody"])
        assert firmware["missing"] == ["nobody"]
        versions = dict(((host["name"], part["component"]), part["current_version"])
                        for host in firmware["hosts"] for part in host["components"])
        return versions[prepared, "bios"] == BIOS and versions[live, "bmc"] == BMC

    with read_again(lab, (prepared, live)):
        eventually(has_the_new_versions, 60, "the versions that were flashed", interval_seconds=1)
    found, = module(lab, "hardware_data_info", names=[prepared])["hardware_data"]
    assert found["hardware"]["serial_number"] == lab.servers[prepared]["serial"]


def test_a_second_run_and_check_mode_change_nothing(lab, changed, inventory, prepared, live):
    servers = f"{prepared},{live}"
    before = lab.kube.get(SETTINGS, NAMESPACE, prepared)["metadata"]["generation"]
    again = lab.playbook("firmware", "-i", inventory, "--limit", servers).ok()
    assert again.changed() == 0, again.output
    other = lab.inventory({prepared: {"bmh_firmware_settings": {"PatrolScrubHours": 24}}})
    tried = lab.playbook("firmware", "-i", inventory, "-i", other, "--limit", servers, "--check", "--diff").ok()
    assert tried.changed() == 1 and "PatrolScrubHours: 24" in tried.output, tried.output
    assert lab.kube.get(SETTINGS, NAMESPACE, prepared)["metadata"]["generation"] == before


def test_the_bmc_reports_the_reboot(changed, sink):
    def received():
        return [event["MessageId"].rpartition(".")[2] for events in sink.events for event in events["Events"]]
    eventually(lambda: {"ResourcePoweredOff", "ResourcePoweredOn"} <= set(received()), 30, "events of both kinds")
    assert set(events["Context"] for events in sink.events) == {"lab"}


def test_the_image_was_attached_with_the_reboot_and_is_ejected_with_the_next(lab, room, changed, files, live):
    def media():
        return next(server for server in room.servers() if server["name"] == live)["virtual_media"]
    assert facts(lab, "DataImage", live)["attached_url"] == files["data.iso"] and "Cd" in media()
    again = done(lab, "DataImage", {"name": live, "url": files["data.iso"]}, wait_for="attached")
    assert not again["changed"]
    run(lab, "DataImage", [{"name": live, "state": "absent"}])
    reboot(lab, live)
    done(lab, "DataImage", {"name": live, "state": "absent"}, wait_for="deleted")
    assert media() == []


def test_mistakes_are_refused_before_anything_is_written(lab, prepared, live):
    before = dict((item["metadata"]["name"], item["metadata"]["generation"])
                  for item in lab.kube.list(SETTINGS, NAMESPACE)[0])
    with pytest.raises(RefusedError) as caught:
        run(lab, "HostFirmwareSettings", [
            {"name": live, "settings": {"PatrolScrubHours": 13}},
            {"name": prepared, "settings": {"ProcTurboMod": "Disabled", "EmbeddedSata": "Scsi", "PatrolScrubHours": 25,
                                            "NumCores": 1, "QuietBoot": False, "SerialNumber": "another"}}])
    text = str(caught.value)
    for words in ("perhaps ProcTurboMode is meant", "one of Ata, Ahci, Raid, Off", "expected 0 to 24", "read-only",
                  "without end", "unique"):
        assert words in text, text
    assert len(caught.value.problems) == 6 and live not in text
    with pytest.raises(RefusedError, match="one of bios, bmc, nic:"):
        run(lab, "HostFirmwareComponents", [{"name": prepared, "updates": [
            {"component": "nic:1", "url": "https://x/y"}]}])
    with pytest.raises(RefusedError, match="a BareMetalHost of the namespace"):
        run(lab, "BMCEventSubscription", [{"name": "x", "host_name": "nobody", "destination": "https://x/"}])
    assert before == dict((item["metadata"]["name"], item["metadata"]["generation"])
                          for item in lab.kube.list(SETTINGS, NAMESPACE)[0])


def test_bmo_checks_present_values_as_soon_as_another_one_changes(lab, changed, live):
    """Both are refused by the module; so they are written without it."""
    now = facts(lab, "HostFirmwareSettings", live)["settings"]
    read_only = {"NumCores": now["NumCores"]}
    wanted = dict(read_only, PatrolScrubHours=(int(now["PatrolScrubHours"]) + 1) % 24)
    assert run(lab, "HostFirmwareSettings", [{"name": live, "settings": read_only}], check_mode=True)["changed"]
    with pytest.raises(RefusedError, match=r"settings\.NumCores: .* the present value, .* read-only"):
        run(lab, "HostFirmwareSettings", [{"name": live, "settings": wanted}])

    def judged():
        stored = lab.kube.get(SETTINGS, NAMESPACE, live)
        verdict = condition(stored, "Valid")
        return verdict if verdict.get("observedGeneration") == stored["metadata"]["generation"] else None

    # BMO only notes what it has looked at when a condition changes.
    lab.kube.patch(SETTINGS, NAMESPACE, live, {"status": {"conditions": None}}, subresource="status")
    lab.kube.patch(SETTINGS, NAMESPACE, live, {"spec": {"settings": wanted}})
    try:
        assert eventually(judged, 120, "BMO's verdict")["status"] == "False"
    finally:
        lab.kube.patch(SETTINGS, NAMESPACE, live, {"spec": {"settings": dict.fromkeys(wanted)}})


def test_settings_that_are_there_already_do_not_stop_the_operator(lab, changed, prepared):
    """BMO 0.13 would leave the host alone for ever (see family_service.py)."""
    entry = {"name": prepared, "settings": {"EmbeddedSata": "Ahci"}}
    # When Ironic does not answer, BMO asks again after 30 s.
    item = done(lab, "HostFirmwareSettings", entry, wait_for="valid", wait_timeout_seconds=120)
    assert item["changed"] and item["observed"] and item["pending"] == []
    assert not done(lab, "HostFirmwareSettings", entry, wait_for="applied", wait_timeout_seconds=120)["changed"]


def test_what_would_never_change_is_reported_at_once(lab, changed, live):
    run(lab, "HostUpdatePolicy", [{"name": live, "state": "absent"}])
    hours = int(facts(lab, "HostFirmwareSettings", live)["settings"]["PatrolScrubHours"])
    item = run(lab, "HostFirmwareSettings", [{"name": live, "settings": {"PatrolScrubHours": (hours + 1) % 24}}],
               wait_for="applied")["hosts"][0]
    assert "HostUpdatePolicy does not say firmwareSettings: onReboot" in item["error"]
    assert not item["error"].startswith("not applied within"), item["error"]
    run(lab, "HostFirmwareSettings", [{"name": live, "settings": {}}])


@pytest.mark.long
def test_a_server_that_is_off_is_left_until_it_is_switched_on(lab, room, changed, live):
    hours = (int(facts(lab, "HostFirmwareSettings", live)["settings"]["PatrolScrubHours"]) + 1) % 24
    wanted = {"PatrolScrubHours": hours}
    inventory = lab.inventory({live: {"bmh_firmware_settings": wanted,
                                      "bmh_update_policy": {"firmware_settings": "onReboot"}}})
    # The reboot of an earlier test may not have ended; its host counts as off for a moment.
    lab.wait_for_host(live, lambda host: host["status"]["poweredOn"], "on")
    lab.kube.patch(HOST, NAMESPACE, live, {"spec": {"online": False}})
    try:
        lab.wait_for_host(live, lambda host: not host["status"]["poweredOn"], "off")
        eventually(lambda: room.server(live)["power"] == "Off", 60, f"{live} off")
        lab.playbook("firmware", "-i", inventory, *only(live), "-e", "hosts_firmware_reboot=hard").ok()
        assert facts(lab, "HostFirmwareSettings", live)["pending"] and room.server(live)["power"] == "Off"
        lab.kube.patch(HOST, NAMESPACE, live, {"spec": {"online": True}})
        done(lab, "HostFirmwareSettings", {"name": live, "settings": wanted}, wait_for="applied",
             wait_timeout_seconds=600)
        assert bios_of(lab, live)["PatrolScrubHours"] == str(hours)
    finally:
        lab.kube.patch(HOST, NAMESPACE, live, {"spec": {"online": True}})
        run(lab, "HostUpdatePolicy", [{"name": live, "state": "absent"}])
        run(lab, "HostFirmwareSettings", [{"name": live, "settings": {}}])
    lab.wait_for_host(live, lambda host: host["status"]["poweredOn"] and host["status"]["operationalStatus"] == "OK",
                      "on again")


def test_a_subscription_can_not_be_changed(lab, changed, sink, live):
    with pytest.raises(RefusedError, match="another context than the stored one"):
        run(lab, "BMCEventSubscription", [{"name": "firmware-test", "host_name": live, "destination": sink.url,
                                           "context": "another"}])


@pytest.mark.long
def test_an_image_that_can_not_be_flashed_is_reported_and_replaced(lab, room, changed, files, prepared, others):
    def firmware(url):
        return {prepared: {"bmh_firmware_components": [{"component": "bios", "url": url}]}}

    # The others get settings and firmware at once, as the first did before.
    later = dict((name, other_settings(lab, name)) for name in others)
    inventory = lab.inventory({**firmware(files["broken.fw"]), **dict((name, {
        "bmh_firmware_settings": later[name],
        "bmh_firmware_components": [{"component": "bios", "url": files["bios.fw"]}]}) for name in others)})
    run = lab.playbook("firmware", "-i", inventory, *only(prepared, *others), seconds=900).failed("1 of 3 hosts failed")
    assert len(later) == 2
    for name in others:
        assert_in_force(lab, name, later[name])
        assert room.server(name)["firmware"]["bios"] == versions_of(lab, name)["bios"] == BIOS
    message = "\n".join(run.output_of(prepared))
    for text in ("bios: a firmware image could not be flashed", "is no firmware image of this server",
                 "give an image that fits the server, by another URL"):
        assert text in message, message
    assert room.server(prepared)["firmware"]["bios"] == BIOS

    inventory = lab.inventory(firmware(files["later-bios.fw"]))
    lab.playbook("firmware", "-i", inventory, *only(prepared), seconds=900).ok()
    assert room.server(prepared)["firmware"]["bios"] == LATER_BIOS
    assert lab.state(prepared) == "available" and lab.host(prepared)["status"]["operationalStatus"] == "OK"


def flash_live(lab, live, component, url):
    """Flash an image to a server in use, with its reboot, and return the Run."""
    inventory = lab.inventory({live: {
        "bmh_firmware_components": [{"component": component, "url": url}],
        "bmh_update_policy": {"firmware_updates": "onReboot"}}})
    return lab.playbook("firmware", "-i", inventory, *only(live), "-e", "hosts_firmware_reboot=hard",
                        "-e", f"metal3_confirm={live}", seconds=900)


@pytest.mark.long
def test_a_flash_that_fails_while_a_server_is_in_use_is_reported(lab, room, changed, files, live):
    before, image = room.server(live)["firmware"], lab.host(live)["spec"]["image"]
    try:
        # Ironic 39 does not notice the failure of a BMC's update.
        run_of_bmc = flash_live(lab, live, "bmc", files["broken.fw"]).ok()
        assert f"{live}: bmc: Ironic reports no failure, and BMO still reports version" in " ".join(
            run_of_bmc.output.split())

        run_of_bios = flash_live(lab, live, "bios", files["broken.fw"]).failed("1 of 1 hosts failed")
        reported = "\n".join(run_of_bios.output_of(live))
        for text in ("bios: a firmware image could not be flashed", "is no firmware image of this server",
                     "give an image that fits the server, by another URL"):
            assert text in reported, reported
        assert lab.host(live)["status"]["errorType"] == "servicing error" and lab.state(live) == "provisioned"
        assert room.server(live)["firmware"] == before
    finally:
        run(lab, "HostUpdatePolicy", [{"name": live, "state": "absent"}])
    # What runs on it is what ran before.
    assert lab.host(live)["spec"]["image"] == image and lab.state(live) == "provisioned"


def test_a_change_of_power_after_a_flash_begins_without_a_pause(lab, room, changed, prepared):
    """Without the look that the module asks for, BMO 0.13 begins it 164 s or 328 s later."""
    host = lab.host(prepared)
    assert host["metadata"]["annotations"][host_annotations.RETRY] >= condition(
        lab.kube.get(KNOWN["HostFirmwareComponents"], NAMESPACE, prepared), "ChangeDetected")["lastTransitionTime"]
    for action, power in (("power_off", "Off"), ("power_on", "On")):
        lab.playbook("host_action", *only(prepared), "-e", f"host_action={action}", "-e", "metal3_confirm=1",
                     "-e", "hosts_wait_timeout_seconds=90").ok()
        assert room.server(prepared)["power"] == power


@pytest.mark.parametrize("kind, entry", [
    ("HostClaim", {"host_selector": {"match_labels": {"rack": "r1"}, "in_namespace": "metal3", "match_expressions": [
        {"key": "size", "operator": "exists"}]}, "image": {"url": "https://x/y.iso", "format": "live-iso"}}),
    ("HostDeployPolicy", {"host_claim_namespaces": {"names": ["a"], "name_matches": "^b", "has_labels": [
        {"name": "c"}]}}),
    ("PreprovisioningImage", {"architecture": "x86_64", "accept_formats": ["iso"]}),
])
def test_what_no_part_of_the_lab_works_on_reaches_the_api_server(lab, kind, entry):
    """Nothing in the lab acts on these: the API server's schema and BMO's webhook validate them."""
    entry = dict(entry, name="firmware-test-api")
    assert done(lab, kind, entry)["action"] == "created"
    assert done(lab, kind, entry)["action"] == "unchanged"
    gone = {"name": entry["name"], "state": "absent"}
    assert done(lab, kind, gone, wait_for="deleted", wait_timeout_seconds=60)["action"] == "deleted"
    assert done(lab, kind, gone)["action"] == "unchanged"


def test_headers_of_a_subscription_are_refused_as_long_as_bmo_can_not_begin_with_them(lab, prepared):
    """BMO begins with its finalizer; when its webhook takes that, the refusal in event_subscription.py has to go."""
    entry = {"name": "firmware-test-headers", "host_name": prepared, "destination": "https://x/",
             "http_headers_ref": {"name": "nobody"}}
    with pytest.raises(RefusedError, match=r"http_headers_ref.*BMO 0\.13"):
        run(lab, "BMCEventSubscription", [entry])
    stored = desired(FAMILIES["BMCEventSubscription"], dict(entry, namespace=NAMESPACE), NAMESPACE)
    lab.kube.create(SUBSCRIPTION, NAMESPACE, stored)
    try:
        with pytest.raises(KubeError, match="subscriptions cannot be updated"):
            lab.kube.patch(SUBSCRIPTION, NAMESPACE, entry["name"], {"metadata": {"finalizers": ["metal3.io/test"]}},
                           dry_run=True)
    finally:
        lab.kube.delete(SUBSCRIPTION, NAMESPACE, entry["name"])


def test_inspected_hardware_is_read(lab, prepared):
    found = facts(lab, "HardwareData", prepared)["hardware"]
    server = lab.servers[prepared]
    assert found["serial_number"] == server["serial"] and found["cpu"]["count"] == server["cpus"]
    assert set(nic["mac"] for nic in found["nics"]) == set(nic["mac"] for nic in server["nics"])


# The last one: the server has lost its system afterwards, and the next file finds it repaired.
@pytest.mark.long
def test_a_server_whose_service_has_failed_is_deprovisioned_when_ironic_has_let_go_of_it(lab, changed, files, live):
    try:
        flash_live(lab, live, "bios", files["broken.fw"]).failed("1 of 1 hosts failed")
    finally:
        run(lab, "HostUpdatePolicy", [{"name": live, "state": "absent"}])
    confirmed = ("-e", "metal3_confirm=1")
    lab.playbook("deprovision_hosts", *only(live), *confirmed, "-e", "hosts_wait_timeout_seconds=60").failed(
        "BMO waits for the end of Ironic's service of the host", "actions maintenance_off and abort")
    node = lab.nodes()[live].name
    for action in ("maintenance_off", "abort"):
        module(lab, "ironic_node_action", kubeconfig=None, namespace=None, nodes=[node], force_nodes=[node],
               action=action, cloud="metal3-lab", clouds_file=str(lab.dir / "clouds.yaml"))
    lab.playbook("deprovision_hosts", *only(live), *confirmed).ok()
    assert lab.state(live) == "available"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources beside the BareMetalHost: what is refused, what is asked for, and the verdicts of waits."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_report import (
    FAILED,
    REACHED,
    WAITING,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.base import ObjectIndex, check_raw, desired
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

SCHEMA = {
    "Turbo": {"attribute_type": "Enumeration", "allowable_values": ["Enabled", "Disabled"], "read_only": False},
    "Scrub": {"attribute_type": "Integer", "lower_bound": 0, "upper_bound": 24},
    "Label": {"attribute_type": "String", "min_length": 2, "max_length": 8},
    "Quiet": {"attribute_type": "Boolean"},
    "Words": {"attribute_type": "Boolean"},
    "Cores": {"attribute_type": "Integer", "read_only": True},
    "Serial": {"attribute_type": "String", "unique": True},
    "Admin": {"attribute_type": "Password"},
    "Free": {},
}
VALUES = {"Turbo": "Enabled", "Scrub": "24", "Label": "rack", "Quiet": "1", "Words": "false", "Cores": "8",
          "Serial": "S1", "Admin": "x", "Free": "a", "NoRules": "a"}


def _texts(problems):
    return [str(problem) for problem in problems]


def meta(name="h1", **more):
    return dict({"name": name, "namespace": "metal3", "generation": 2}, **more)


def conditions(generation=2, **status):
    return [{"type": kind, "status": value, "observedGeneration": generation, "message": "why", "reason": "R"}
            for kind, value in status.items()]


def settings_object(wanted, changed="False", valid="True", generation=2):
    return {"metadata": meta(), "spec": {"settings": wanted}, "status": {
        "settings": VALUES, "schema": {"name": "schema-1", "namespace": "metal3"},
        "conditions": conditions(generation, ChangeDetected=changed, Valid=valid)}}


def components_object(updates, done=(), changed="False", valid="True", generation=2):
    return {"metadata": meta(), "spec": {"updates": updates}, "status": {
        "updates": list(done), "components": [{"component": "bios", "initialVersion": "1", "currentVersion": "1"}],
        "conditions": conditions(generation, ChangeDetected=changed, Valid=valid)}}


def host(state="available", operational="OK", error="", count=0, on=True, **annotations):
    return {"metadata": meta(annotations=annotations), "spec": {"online": True}, "status": {
        "provisioning": {"state": state}, "operationalStatus": "error" if count else operational, "errorCount": count,
        "errorType": "preparation error" if count else "", "errorMessage": error, "poweredOn": on}}


def index(*hosts, policy=None):
    policies = [{"metadata": meta(), "spec": policy}] if policy else []
    return ObjectIndex({
        "BareMetalHost": list(hosts), "HostUpdatePolicy": policies, "FirmwareSchema": [
            {"metadata": {"name": "schema-1", "namespace": "metal3"}, "spec": {"schema": SCHEMA}}]})


UPDATE = {"component": "bios", "url": "https://images.example/bios"}


@pytest.mark.parametrize("kind, entry, field, text", [
    ("HostFirmwareSettings", {"settings": {"Turbo": "x"}}, "name", "a value"),
    ("HostFirmwareSettings", {"name": "Big", "settings": {}}, "name", "lower case"),
    ("HostFirmwareSettings", {"name": "h1"}, "settings", "a value"),
    ("HostFirmwareSettings", {"name": "h1", "settings": "x"}, "settings", "a dictionary"),
    ("HostFirmwareSettings", {"name": "h1", "settings": {}, "state": "absent"}, "state", "a known option"),
    ("HostFirmwareSettings", {"name": "h1", "settings": {"SysPassword": "x"}}, "settings.SysPassword", "no password"),
    ("HostFirmwareSettings", {"name": "h1", "settings": {"Turbo": None}}, "settings.Turbo", "a text"),
    ("HostFirmwareSettings", {"name": "h1", "settings": {"Turbo": 1.5}}, "settings.Turbo", "a text"),
    ("HostFirmwareSettings", {"name": "h1", "settings": {"Turbo": ["on"]}}, "settings.Turbo", "a text"),
    ("HostFirmwareComponents", {"name": "h1", "updates": {}}, "updates", "a list"),
    ("HostFirmwareComponents", {"name": "h1", "updates": [{"component": "bios"}]}, "updates[0].url", "a value"),
    ("HostFirmwareComponents", {"name": "h1", "updates": [dict(UPDATE, component="raid")]}, "updates[0].component",
     "bmc, bios or nic:"),
    ("HostFirmwareComponents", {"name": "h1", "updates": [dict(UPDATE, component="nic:")]}, "updates[0].component",
     "bmc, bios or nic:"),
    ("HostFirmwareComponents", {"name": "h1", "updates": [UPDATE, UPDATE]}, "updates[1].component", "one image"),
    ("HostFirmwareComponents", {"name": "h1", "updates": [dict(UPDATE, url="bios.bin")]}, "updates[0].url", "schemes"),
    ("HostFirmwareComponents", {"name": "h1", "updates": [dict(UPDATE, url="https://u:p@x/b")]}, "updates[0].url",
     "a URL without"),
    ("HostUpdatePolicy", {"name": "h1"}, "", "at least one"),
    ("HostUpdatePolicy", {"name": "h1", "firmware_settings": "always"}, "firmware_settings", "onPreparing, onReboot"),
    ("HostDeployPolicy", {"name": "p", "host_claim_namespaces": {"names": ["A B"]}}, "host_claim_namespaces.names[0]",
     "a namespace's name"),
    ("HostDeployPolicy", {"name": "p", "host_claim_namespaces": {"name_matches": "("}},
     "host_claim_namespaces.name_matches", "a regular expression"),
    ("HostDeployPolicy", {"name": "p", "host_claim_namespaces": {"has_labels": [{"value": "x"}]}},
     "host_claim_namespaces.has_labels[0].name", "a value"),
    ("DataImage", {"name": "h1"}, "url", "an ISO image"),
    ("DataImage", {"name": "h1", "url": "ftp://x/y"}, "url", "an ISO image"),
    ("BMCEventSubscription", {"name": "e", "destination": "https://x/y"}, "host_name", "BareMetalHost"),
    ("BMCEventSubscription", {"name": "e", "host_name": "h1"}, "destination", "an http or https URL"),
    ("BMCEventSubscription", {"name": "e", "host_name": "h1", "destination": "mailto:x"}, "destination", "http"),
    ("BMCEventSubscription", {"name": "e", "host_name": "h1", "destination": "https://x"}, "destination", "a slash"),
    ("BMCEventSubscription", {"name": "e", "host_name": "h1", "destination": "https://u:p@x/y"}, "destination",
     "a URL without"),
    ("BMCEventSubscription", {"name": "e", "host_name": "h1", "destination": "https://x/", "http_headers_ref": {}},
     "http_headers_ref.name", "a value"),
    ("PreprovisioningImage", {"name": "p"}, "accept_formats", "iso, initrd or both"),
    ("PreprovisioningImage", {"name": "p", "accept_formats": ["iso", "img"]}, "accept_formats[1]", "iso or initrd"),
    ("HostClaim", {"name": "c", "image": {"format": "raw"}}, "image.url", "the image's URL"),
    ("HostClaim", {"name": "c", "host_selector": {"match_expressions": [{"key": "a", "operator": "in"}]}},
     "host_selector.match_expressions[0].values", "values for the operator in"),
    ("HostClaim", {"name": "c", "host_selector": {"match_expressions": [
        {"key": "a", "operator": "exists", "values": ["b"]}]}}, "host_selector.match_expressions[0].values", "nothing"),
    ("HostClaim", {"name": "c", "host_selector": {"match_expressions": [{"key": "a", "operator": "In"}]}},
     "host_selector.match_expressions[0].operator", "one of in,"),
    ("HostClaim", {"name": "c", "user_data": {"namespace": "x"}}, "user_data.name", "a value"),
    ("HostClaim", {"name": "c", "labels": {"a b": "c"}}, "labels.a b", "[prefix/]name"),
    ("HostClaim", {"name": "c", "powered_on": "perhaps"}, "powered_on", "true or false"),
    ("HostClaim", {"name": "c", "poweredOn": True}, "poweredOn", "a known option"),
])
def test_bad_input(kind, entry, field, text):
    found = check_raw(FAMILIES[kind], [entry])
    assert field in [item.field for item in found], found
    line = next(line for item, line in zip(found, map(str, found)) if item.field == field)
    assert text in str(line) and (entry.get("name", "[0]") in str(line)), line


def test_all_mistakes_are_reported_at_once():
    entries = [{"name": "Big", "bogus": 1, "host_name": "h1", "destination": "https://x"}, "text",
               {"name": "e", "host_name": ["h1"], "destination": "https://x/"},
               {"name": "e", "host_name": "h1", "destination": "https://x/"}]
    found = check_raw(FAMILIES["BMCEventSubscription"], entries)
    assert sorted((item.subject, item.field) for item in found) == [
        ("BMCEventSubscription Big", "bogus"), ("BMCEventSubscription Big", "destination"),
        ("BMCEventSubscription Big", "name"), ("BMCEventSubscription e", "host_name"),
        ("BMCEventSubscription e", "name"), ("subscriptions[1]", "")]
    assert check_raw(FAMILIES["BMCEventSubscription"], "x")[0].expected == "a list"


@pytest.mark.parametrize("name, value, expected", [
    ("Turbo", "Off", "one of Enabled, Disabled"), ("Turbo", "Disabled", None), ("Turbo", "Enabled", None),
    ("Scrub", 25, "0 to 24"), ("Scrub", "-1", "0 to 24"), ("Scrub", "many", "a whole number"), ("Scrub", 0, None),
    ("Label", "x", "a text of 2 to 8 characters"), ("Label", "x" * 9, "a text of 2 to 8"), ("Label", "new", None),
    ("Quiet", True, "without end"), ("Quiet", False, "without end"), ("Words", True, None),
    ("Words", "maybe", "true or false"),
    ("Cores", 9, "read-only"), ("Cores", 8, None), ("Serial", "S2", "unique"), ("Serial", "S1", None),
    ("Admin", "y", "type Password"), ("Free", "b", None), ("NoRules", "b", "FirmwareSchema"),
    ("Trubo", "x", "perhaps Turbo is meant"),
])
def test_settings_against_the_schema(name, value, expected):
    family = FAMILIES["HostFirmwareSettings"]
    entry = {"name": "h1", "settings": {name: value}}
    lines = _texts(family.check_against("HostFirmwareSettings h1", entry, settings_object({}), index(host())))
    assert bool(lines) == bool(expected), lines
    assert all(expected in str(line) and "settings." + name in str(line) for line in lines), lines


def test_settings_of_a_server_that_nobody_has_looked_at_can_not_be_checked():
    entry = {"name": "h1", "settings": {"Anything": "x"}}
    assert FAMILIES["HostFirmwareSettings"].check_against("h1", entry, None, index()) == []


def test_values_as_bmo_knows_them():
    obj = desired(FAMILIES["HostFirmwareSettings"], {"name": "h1", "settings": {"A": True, "B": 3, "C": "x"}}, "metal3")
    assert obj["spec"] == {"settings": {"A": "true", "B": 3, "C": "x"}}


def test_components_that_ironic_does_not_know():
    entry = {"name": "h1", "updates": [dict(UPDATE, component="bmc")]}
    found = FAMILIES["HostFirmwareComponents"].check_against("h1", entry, components_object([]), index(host()))
    assert [item.expected for item in found] == ["one of bios"]


CARD = "nic:00AB-12"


def with_components(*names):
    found = components_object([dict(UPDATE, component=CARD)])
    found["status"]["components"] = [{"component": name, "currentVersion": "1"} for name in names]
    return found


@pytest.mark.parametrize("state, names, expected, hint", [
    ("available", ["bios"], "one of bios", "the BMC lists no network card with the version of its firmware"),
    ("available", ["bios", "nic:00ab12"], "one of bios, nic:00ab12", "perhaps nic:00ab12 is meant"),
    # A serial number of another server: what resembles it is another card.
    ("provisioned", ["bios", "nic:00AB-13"], "one of bios, nic:00AB-13", "name a card of this server"),
    # Ironic has found all, or nothing, or no cards yet, as with BMCs that list them of booted servers only.
    ("available", ["bios", CARD], None, None),
    ("available", [], None, None),
    ("inspecting", ["bios"], None, None),
])
def test_network_cards_that_ironic_does_not_know(state, names, expected, hint):
    """Neither BMO nor Ironic compares them, and the image would be flashed all the same."""
    family, obj, others = FAMILIES["HostFirmwareComponents"], with_components(*names), index(host(state))
    found = family.check_against("h1", {"name": "h1", "updates": obj["spec"]["updates"]}, obj, others)
    assert [(item.field, item.actual, item.expected) for item in found] == (
        [("updates[0].component", f'"{CARD}"', expected)] if expected else [])
    # Written before Ironic had found anything.
    verdict = family.verdict(obj, others, "valid", None)
    if expected:
        assert hint in found[0].hint and hint in verdict.next_step
        assert verdict.outcome == FAILED and f'found "{CARD}" in updates, expected {expected}' in verdict.cause
    else:
        assert verdict.outcome == (WAITING if state == "inspecting" else REACHED)


BUSY = host("preparing")
LIVE = host("provisioned")


@pytest.mark.parametrize("obj, others, goal, outcome, cause", [
    (None, index(host()), "valid", WAITING, "not made it yet"),
    (settings_object({}), index(), "valid", FAILED, "no BareMetalHost"),
    (settings_object({}, generation=1), index(host()), "valid", WAITING, "not looked"),
    (settings_object({}, valid="False"), index(host()), "valid", FAILED, "why"),
    (settings_object({"Turbo": "Disabled"}, changed="True"), index(host()), "valid", REACHED, ""),
    (settings_object({"Turbo": "Disabled"}, changed="True"), index(host()), "applied", WAITING, "until BMO prepares"),
    (settings_object({"Turbo": "Disabled"}, changed="True"), index(BUSY), "applied", WAITING, "preparing"),
    (settings_object({"Turbo": "Enabled"}), index(BUSY), "applied", WAITING, "not ready again"),
    (settings_object({"Turbo": "Enabled"}), index(host()), "applied", REACHED, ""),
    (settings_object({}, changed="True"), index(LIVE), "applied", FAILED, "does not say firmwareSettings"),
    (settings_object({}, changed="True"), index(LIVE, policy={"firmwareUpdates": "onReboot"}), "applied", FAILED,
     "does not say firmwareSettings"),
    (settings_object({}, changed="True"), index(LIVE, policy={"firmwareSettings": "onReboot"}), "applied", WAITING,
     "off and on again"),
    (settings_object({}, changed="True"), index(host("provisioned", "servicing")), "applied", WAITING, "servicing"),
    (settings_object({}, changed="True"), index(host(**{"baremetalhost.metal3.io/paused": ""})), "applied", FAILED,
     "paused"),
    (settings_object({}, changed="True"), index(host(operational="detached")), "applied", FAILED, "detached"),
    (settings_object({}, changed="True"), index(host("preparing", error="boom", count=1)), "applied", FAILED, ""),
])
def test_waiting_for_settings(obj, others, goal, outcome, cause):
    verdict = FAMILIES["HostFirmwareSettings"].verdict(obj, others, goal, None)
    assert verdict.outcome == outcome and cause in verdict.full_cause, verdict


def test_an_error_from_before_the_wait_does_not_end_it():
    old = host("preparing", error="boom", count=1)
    obj = settings_object({}, changed="True")
    assert FAMILIES["HostFirmwareSettings"].verdict(obj, index(old), "applied", old).outcome == WAITING
    again = host("preparing", error="boom", count=2)
    assert FAMILIES["HostFirmwareSettings"].verdict(obj, index(again), "applied", old).outcome == FAILED


@pytest.mark.parametrize("obj, others, goal, outcome, cause", [
    (None, index(host()), "valid", WAITING, "not made it yet"),
    (components_object([UPDATE], generation=1), index(host()), "applied", WAITING, "not looked"),
    (components_object([UPDATE], valid="False"), index(host()), "valid", FAILED, "why"),
    (components_object([UPDATE], changed="True"), index(host()), "applied", WAITING, "until BMO prepares"),
    # BMO notes the update as done when it begins.
    (components_object([UPDATE], [UPDATE], changed="True"), index(BUSY), "applied", WAITING, "preparing"),
    (components_object([UPDATE], [UPDATE], changed="True"), index(host()), "applied", WAITING, "to notice"),
    (components_object([UPDATE], [UPDATE]), index(BUSY), "applied", WAITING, "preparing"),
    (components_object([UPDATE], [UPDATE]), index(host(error="boom", count=1)), "applied", FAILED, "boom"),
    (components_object([UPDATE], [UPDATE]), index(host()), "applied", REACHED, ""),
    (components_object([UPDATE]), index(LIVE), "applied", FAILED, "firmwareUpdates: onReboot"),
    # What is taken out stays flashed; of a host in use BMO forgets it with the next reboot, others it prepares.
    (components_object([], [UPDATE], changed="True"), index(LIVE), "applied", REACHED, ""),
    (components_object([UPDATE], [UPDATE, dict(UPDATE, component="bmc")], changed="True"), index(LIVE), "applied",
     REACHED, ""),
    (components_object([UPDATE], [UPDATE], changed="True"), index(LIVE), "applied", WAITING, "to notice"),
    (components_object([], [UPDATE], changed="True"), index(host()), "applied", WAITING, "to notice"),
    (components_object([], [UPDATE], changed="True"), index(host("provisioned", "servicing")), "applied", WAITING,
     "servicing"),
])
def test_waiting_for_components(obj, others, goal, outcome, cause):
    verdict = FAMILIES["HostFirmwareComponents"].verdict(obj, others, goal, None)
    assert verdict.outcome == outcome and cause in verdict.full_cause, verdict


def test_a_failed_flash_tells_which_component_is_meant():
    updates = [dict(UPDATE, component="bmc", url=UPDATE["url"] + "-bmc"), UPDATE]
    for update in updates:
        error = f"Firmware update failed for node u, firmware {update['url']}. Error: e"
        verdict = FAMILIES["HostFirmwareComponents"].verdict(
            components_object(updates, updates), index(host("preparing", error=error, count=1)), "applied", None)
        assert verdict.outcome == FAILED
        assert verdict.cause == update["component"] + ": a firmware image could not be flashed"


def test_a_failed_flash_tells_all_cards_that_have_the_image():
    updates = [dict(UPDATE, component=CARD), dict(UPDATE, component="nic:NIC.2")]
    error = f"Firmware update failed for node u, firmware {UPDATE['url']}. Error: e"
    verdict = FAMILIES["HostFirmwareComponents"].verdict(
        components_object(updates, updates), index(host("preparing", error=error, count=1)), "applied", None)
    assert verdict.cause == f"{CARD}, nic:NIC.2: a firmware image could not be flashed"


@pytest.mark.parametrize("state", ["preparing", "available"])
def test_a_flash_that_failed_before_the_wait_is_a_failure_of_the_wait(state):
    """BMO's next attempt may take the image for flashed."""
    found = host(state, error=f"Firmware update failed for node u, firmware {UPDATE['url']}. Error: e", count=1)
    family = FAMILIES["HostFirmwareComponents"]
    verdict = family.verdict(components_object([UPDATE], [UPDATE]), index(found), "applied", found)
    assert verdict.outcome == FAILED and verdict.cause == "bios: a firmware image could not be flashed"
    # Other images are to follow the one that failed, also one whose URL the failed one's begins with.
    other = dict(UPDATE, url=UPDATE["url"][:-1])
    for obj in (components_object([other], [UPDATE]), components_object([other], [other])):
        assert family.verdict(obj, index(found), "applied", found).outcome == WAITING


def image(attached="", count=0):
    return {"metadata": meta(), "spec": {"url": "https://x/a.iso"}, "status": {
        "attachedImage": {"url": attached}, "error": {"count": count, "message": "broken"}}}


@pytest.mark.parametrize("obj, others, outcome, cause", [
    (image(), index(host()), FAILED, "provisioned hosts only"),
    (image(), index(LIVE), WAITING, "off and on again"),
    (image(count=1), index(LIVE), WAITING, "broken"),
    (image(count=3), index(LIVE), FAILED, "broken"),
    (image("https://x/old.iso"), index(LIVE), WAITING, "off and on again"),
    (image("https://x/a.iso"), index(host("provisioned", on=False)), WAITING, "switched on"),
    (image("https://x/a.iso"), index(LIVE), REACHED, ""),
    (image(), index(), FAILED, "no BareMetalHost"),
])
def test_waiting_for_images(obj, others, outcome, cause):
    verdict = FAMILIES["DataImage"].verdict(obj, others, "attached", None)
    assert verdict.outcome == outcome and cause in verdict.full_cause, verdict


@pytest.mark.parametrize("obj, others, outcome, cause", [
    # BMO lets an image go that is not attached, whatever the host is; one of a host that runs it ejects first.
    (image(), index(host()), WAITING, "waits for BMO to let it go"),
    (image("https://x/a.iso"), index(host("deprovisioning")), WAITING, "waits for BMO to let it go"),
    (image("https://x/a.iso"), index(), WAITING, "waits for BMO to let it go"),
    (image("https://x/a.iso"), index(host("provisioned", "detached", **{
        "baremetalhost.metal3.io/detached": ""})), WAITING, "waits for BMO to let it go"),
    (image("https://x/a.iso"), index(LIVE), WAITING, "off and on again"),
    (image(), index(host(**{"baremetalhost.metal3.io/paused": ""})), FAILED, "paused"),
    (image(count=3), index(host()), FAILED, "broken"),
    (None, index(host()), REACHED, ""),
])
def test_waiting_for_the_end_of_images(obj, others, outcome, cause):
    verdict = FAMILIES["DataImage"].deletion_verdict(obj, others)
    assert verdict.outcome == outcome and cause in verdict.full_cause, verdict


@pytest.mark.parametrize("before, now, count", [
    (None, 3, 3), (3, 3, 0), (3, 4, 1), (4, 1, 1), (0, 2, 2), (3, 6, 3)])
def test_errors_of_an_image_from_before_a_change_do_not_count(before, now, count):
    former = None if before is None else image(count=before)
    found = FAMILIES["DataImage"].since(image(count=now), former)["status"]["error"]
    assert found.get("count", 0) == count and found.get("message", "") == ("broken" if count else "")


def subscription(status=None, finalizers=("f",), **spec):
    return {"metadata": meta("e", finalizers=list(finalizers)), "status": status or {},
            "spec": dict({"hostName": "h1", "destination": "https://x/"}, **spec)}


HEADERS = {"name": "s", "namespace": "metal3"}


@pytest.mark.parametrize("obj, outcome, cause", [
    (subscription({"subscriptionID": "7"}), REACHED, ""),
    (subscription({"error": "no event service"}), FAILED, "no event service"),
    (subscription(), WAITING, "not asked the BMC"),
    (subscription(finalizers=(), httpHeadersRef=HEADERS), WAITING, "the webhook of BMO 0.13"),
    (subscription(hostName="h2"), FAILED, "no BareMetalHost"),
])
def test_waiting_for_subscriptions(obj, outcome, cause):
    verdict = FAMILIES["BMCEventSubscription"].verdict(obj, index(host()), "subscribed", None)
    assert verdict.outcome == outcome and cause in verdict.full_cause, verdict


def test_subscriptions_can_not_be_changed():
    family, entry = FAMILIES["BMCEventSubscription"], {
        "name": "e", "namespace": "metal3", "host_name": "h1", "destination": "https://x/", "context": "new"}
    found = _texts(family.check_against("e", entry, subscription(context="old"), index(host())))
    assert len(found) == 1 and "another context" in str(found[0]) and "state absent" in str(found[0])
    assert family.check_against("e", entry, subscription(context="new"), index(host())) == []
    found = _texts(family.check_against("e", dict(entry, host_name="h9"), None, index(host())))
    assert len(found) == 1 and 'host_name: found "h9"' in str(found[0])


@pytest.mark.parametrize("status, outcome, cause", [
    ({}, WAITING, "-build-preprov-image"),
    ({"conditions": conditions(Ready="True")}, REACHED, ""),
    ({"conditions": conditions(1, Ready="True")}, WAITING, "why"),
    ({"conditions": conditions(Ready="False", Error="True")}, FAILED, "R: why"),
])
def test_waiting_for_preprovisioning_images(status, outcome, cause):
    obj = {"metadata": meta(), "spec": {}, "status": status}
    verdict = FAMILIES["PreprovisioningImage"].verdict(obj, index(), "ready", None)
    assert verdict.outcome == outcome and cause in verdict.full_cause + verdict.next_step, verdict


@pytest.mark.parametrize("status, outcome, cause", [
    ({}, WAITING, "no controller has looked at it"),
    ({"conditions": conditions(Associated="False")}, WAITING, "R: why"),
    ({"conditions": conditions(Associated="True"), "bareMetalHost": {"name": "h1", "namespace": "a"}}, REACHED, ""),
])
def test_waiting_for_claims(status, outcome, cause):
    obj = {"metadata": meta(), "spec": {}, "status": status}
    verdict = FAMILIES["HostClaim"].verdict(obj, index(), "associated", None)
    assert verdict.outcome == outcome and cause in verdict.full_cause, verdict


def test_a_claim_as_the_crd_wants_it():
    entry = {"name": "c", "host_selector": {"match_expressions": [{"key": "a", "operator": "exists"}]},
             "labels": {"team": "a"}}
    obj = desired(FAMILIES["HostClaim"], entry, "metal3")
    assert obj["metadata"]["labels"] == {"team": "a"}
    assert obj["spec"] == {"poweredOn": True, "hostSelector": {"matchExpressions": [
        {"key": "a", "operator": "exists", "values": []}]}}


def test_tables():
    settings, components = FAMILIES["HostFirmwareSettings"], FAMILIES["HostFirmwareComponents"]
    facts = dict(settings.facts(settings_object({"Turbo": "Disabled", "Scrub": 24}, "True"), index(host())), name="h1")
    assert settings.table([facts]) == [
        "HOST  SETTING  IS       WANTED    STATE",
        "h1    Scrub    24       24        in force",
        "h1    Turbo    Enabled  Disabled  pending"]
    facts = dict(components.facts(components_object([UPDATE]), index(host())), name="h1")
    assert components.table([facts])[1].split() == ["h1", "bios", "1", UPDATE["url"], "pending"]


@pytest.mark.parametrize("state, operational, error_type, shown", [
    ("available", "OK", "", "flashed"), ("provisioned", "OK", "", "flashed"), ("preparing", "OK", "", "begun"),
    ("preparing", "error", "preparation error", "begun"), ("provisioned", "servicing", "", "begun"),
    ("provisioned", "error", "servicing error", "begun"),
    ("provisioned", "error", "power management error", "flashed")])
def test_an_image_that_bmo_has_begun_with_is_not_shown_as_flashed(state, operational, error_type, shown):
    family, bmh = FAMILIES["HostFirmwareComponents"], host(state, operational)
    bmh["status"].update(errorType=error_type)
    facts = dict(family.facts(components_object([UPDATE], [UPDATE]), index(bmh)), name="h1")
    assert family.table([facts])[1].split()[-1] == shown


def test_an_image_of_a_component_that_ironic_has_not_found_is_shown():
    family, card = FAMILIES["HostFirmwareComponents"], dict(UPDATE, component="nic:NIC.1")
    facts = dict(family.facts(components_object([card]), index(host())), name="h1")
    assert [line.split() for line in family.table([facts])[1:]] == [
        ["h1", "bios", "1", "-", "-"], ["h1", "nic:NIC.1", "-", UPDATE["url"], "pending"]]


@pytest.mark.parametrize("generation, valid, shown", [
    (2, "True", "pending"), (2, "False", "refused"), (1, "False", "pending"), (None, "Unknown", "pending")])
def test_settings_that_bmo_has_not_looked_at_are_not_shown_as_refused(generation, valid, shown):
    family = FAMILIES["HostFirmwareSettings"]
    stored = settings_object({"Turbo": "Disabled"}, "True", valid, generation)
    facts = dict(family.facts(stored, index(host())), name="h1")
    assert family.table([facts])[1].split()[-1] == shown


def test_entries_from_inventory_variables():
    hostvars = {"h1": {"bmh_firmware_settings": {"Turbo": "Disabled"}, "bmh_update_policy": {"firmware_settings": "x"}},
                "h2": {"bmh_firmware_settings": None}, "h3": {}}
    names = ["h1", "h2", "h3"]
    settings, policies = (dict((name, hostvars[name].get(variable)) for name in names)
                          for variable in ("bmh_firmware_settings", "bmh_update_policy"))
    assert host_inventory.entries_of(settings, names, "settings") == [{"name": "h1", "settings": {"Turbo": "Disabled"}}]
    assert host_inventory.entries_of(policies, names) == [{"name": "h1", "firmware_settings": "x"}]
    assert "firmware_settings" not in host_inventory.entry("h1", hostvars["h1"])

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Firmware of network cards on the lab's real BMO, Ironic and Redfish.

Each server has a card with a serial number and one of another product without, which Ironic names by its identity at
the BMC; the last one has two of the first kind. One server is available and is prepared again; its BMC writes to a card
at once. One is provisioned and changes with a reboot, though another reboot is in progress when its change is
written; its BMC begins with a card at a boot only, for which Ironic waits some seconds before it reboots.
"""
from __future__ import annotations

import contextlib
import json
import uuid

import pytest
from firmware_changes import facts, free_names, read_again, reboot, run, versions_of
from machine_room import network_cards
from support import NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.usefixtures("as_operator")

KIND = "HostFirmwareComponents"
RUN = uuid.uuid4().hex[:8]
VERSION = f"9.{RUN}"
# Products of the lab's cards (plugins/module_utils/_lab/servers.py), and one that none of them is.
WITH_SERIAL, WITHOUT_SERIAL, OTHERS = "0x1572", "0x158b", "0x1017"


def cards(lab, name):
    """Return a server's cards as its description has them: Ironic's name → (identity at the BMC, product)."""
    return dict((f"nic:{network_cards.serial(nic) or identity}", (identity, nic["product"]))
                for identity, nic in network_cards.cards(lab.servers[name]).items())


def card(lab, name, product):
    """Return Ironic's name of the first of a server's cards of a product."""
    return next(found for found, described in cards(lab, name).items() if described[1] == product)


def at_bmc(lab, room, name):
    """Return the versions of a server's cards at its BMC."""
    versions = room.server(name)["firmware"]
    return dict((found, versions[described[0]]) for found, described in cards(lab, name).items())


def with_version(lab, name, before, product):
    """Return versions in which all of a server's cards of a product have the one of the images."""
    return dict(before, **dict((found, VERSION) for found, described in cards(lab, name).items()
                               if described[1] == product))


def cards_of(versions):
    """Return the versions of cards of those of all components."""
    return dict((name, version) for name, version in versions.items() if name.startswith("nic:"))


def in_status(lab, name):
    """Return the versions of a server's cards in its HostFirmwareComponents."""
    return cards_of(dict((part["component"], part["current_version"]) for part in facts(lab, KIND, name)["components"]))


@pytest.fixture(scope="module")
def available(lab):
    """The names of the servers that are available."""
    found = free_names(lab, "available")
    assert len(found) >= 3
    return found


@pytest.fixture(scope="module")
def prepared(available):
    return available[0]


@pytest.fixture(scope="module")
def live(lab):
    return free_names(lab, "provisioned")[0]


@pytest.fixture(scope="module")
def files(lab):
    """Images for cards on the lab's image server: product → URL."""
    folder, made = lab.dir / "www" / "images", {}
    for product in (WITH_SERIAL, WITHOUT_SERIAL, OTHERS):
        path = made[product] = folder / f"cards-test-{RUN}-{product}.fw"
        path.write_text(json.dumps({"component": "nic", "product": product, "version": VERSION}))
        path.chmod(0o644)
    yield dict((product, f"{lab.figures['urls']['image_server']}/images/{path.name}") for product, path in made.items())
    for path in made.values():
        path.unlink()


@pytest.fixture(scope="module")
def before(lab, room, prepared, live):
    """The cards' versions at the BMCs before the playbook's run, by server."""
    return dict((name, at_bmc(lab, room, name)) for name in (prepared, live))


@pytest.fixture(scope="module")
def inventory(lab, prepared, live, files):
    """What the inventory says of the servers."""
    def component(server, product):
        return {"component": card(lab, server, product), "url": files[product]}

    return lab.inventory({
        prepared: {"bmh_firmware_components": [component(prepared, WITH_SERIAL)]},
        live: {"bmh_firmware_components": [component(live, WITHOUT_SERIAL)],
               "bmh_update_policy": {"firmware_updates": "onReboot"}}})


@pytest.fixture(scope="module")
def flashed(lab, room, prepared, live, before, inventory):
    """The playbook's run."""
    with contextlib.ExitStack() as afterwards:
        afterwards.callback(run, lab, "HostUpdatePolicy", [{"name": live, "state": "absent"}])
        room.set_knobs(live, cards_flashed_at_boot=True)
        afterwards.callback(room.clear_knobs, live)
        reboot(lab, live)
        yield lab.playbook("firmware", "-i", inventory, *only(prepared, live), "-e", "hosts_firmware_reboot=hard",
                           "-e", f"metal3_confirm={live}", "-e", "hosts_firmware_wait_timeout_seconds=600", seconds=900)


def test_cards_are_listed_by_serial_number_or_identity(lab, before, prepared):
    assert in_status(lab, prepared) == before[prepared]
    assert card(lab, prepared, WITHOUT_SERIAL).startswith("nic:NIC.")


def test_the_firmware_of_cards_is_really_changed(lab, room, flashed, before, prepared, live):
    flashed.ok()
    expected = {prepared: with_version(lab, prepared, before[prepared], WITH_SERIAL),
                live: with_version(lab, live, before[live], WITHOUT_SERIAL)}
    for name, versions in expected.items():
        assert at_bmc(lab, room, name) == cards_of(versions_of(lab, name)) == versions
        assert lab.host(name)["status"]["operationalStatus"] == "OK"
    assert lab.state(prepared) == "available" and lab.state(live) == "provisioned"
    with read_again(lab, (prepared, live)):
        eventually(lambda: all(in_status(lab, name) == versions for name, versions in expected.items()), 60,
                   "the versions in HostFirmwareComponents", 1)


def test_a_second_run_changes_nothing(lab, flashed, inventory, prepared, live):
    again = lab.playbook("firmware", "-i", inventory, *only(prepared, live)).ok()
    assert again.changed() == 0, again.output


def test_a_card_that_the_server_does_not_have_is_refused_by_name(lab, flashed, files, prepared, live):
    """Here another server's; neither BMO nor Ironic would compare it."""
    theirs, mine = card(lab, live, WITH_SERIAL), card(lab, prepared, WITH_SERIAL)
    known = ", ".join(sorted(["bios", "bmc", *cards(lab, prepared)]))
    generation = lab.kube.get(KNOWN[KIND], NAMESPACE, prepared)["metadata"]["generation"]
    for wrong, hint in ((theirs, "name a card of this server: its serial number, or its identity at the BMC"),
                        (mine.lower(), f"correct it (perhaps {mine} is meant)")):
        inventory = lab.inventory({prepared: {"bmh_firmware_components": [
            {"component": wrong, "url": files[WITH_SERIAL]}]}})
        lab.playbook("firmware", "-i", inventory, *only(prepared)).failed(
            f'found "{wrong}", expected one of {known}', hint)
    assert lab.kube.get(KNOWN[KIND], NAMESPACE, prepared)["metadata"]["generation"] == generation


def test_versions_of_all_cards_are_compared(lab, flashed, before, prepared):
    flashed_card, other = (card(lab, prepared, product) for product in (WITH_SERIAL, WITHOUT_SERIAL))
    with read_again(lab, (prepared,)):
        eventually(lambda: in_status(lab, prepared)[flashed_card] == VERSION, 60, "the version in the status", 1)
    lab.playbook("compliance", *only(prepared), extra={"bmh_expected": {"firmware": {
        "nic": VERSION, other: before[prepared][other]}}}).ok()
    lab.playbook("compliance", *only(prepared), extra={"bmh_expected": {"firmware": {"nic": "0"}}}).failed(
        f'{prepared}: firmware.{flashed_card}: found "{VERSION}", expected 0',
        f"{prepared}: firmware.{other}: found", f"{len(cards(lab, prepared))} errors")


@pytest.mark.long
def test_an_image_for_other_cards_is_reported_with_the_cards_that_were_named(lab, room, available, files):
    name = available[1]
    before = at_bmc(lab, room, name)
    named = [card(lab, name, product) for product in (WITH_SERIAL, WITHOUT_SERIAL)]
    inventory = lab.inventory({name: {"bmh_firmware_components": [
        {"component": component, "url": files[OTHERS]} for component in named]}})
    failed = lab.playbook("firmware", "-i", inventory, *only(name), seconds=900).failed("1 of 1 hosts failed")
    message = "\n".join(failed.output_of(name))
    for text in (f"{', '.join(named)}: a firmware image could not be flashed",
                 f"is firmware for network cards {OTHERS}, this server has {WITH_SERIAL}, {WITHOUT_SERIAL}",
                 "give an image that fits the server, by another URL"):
        assert text in message, message
    assert at_bmc(lab, room, name) == before
    inventory = lab.inventory({name: {"bmh_firmware_components": [
        {"component": named[0], "url": files[WITH_SERIAL]}]}})
    lab.playbook("firmware", "-i", inventory, *only(name), seconds=900).ok()
    assert at_bmc(lab, room, name) == with_version(lab, name, before, WITH_SERIAL)
    assert lab.state(name) == "available" and lab.host(name)["status"]["operationalStatus"] == "OK"


@pytest.mark.long
def test_upstream_flashes_an_image_whatever_card_is_named(lab, room, available, files):
    """Why the module compares the names; written without it."""
    name = available[2]
    before = at_bmc(lab, room, name)
    expected = with_version(lab, name, before, WITH_SERIAL)
    lab.kube.patch(KNOWN[KIND], NAMESPACE, name, {"spec": {"updates": [
        {"component": "nic:nobody", "url": files[WITH_SERIAL]}]}})
    try:
        eventually(lambda: at_bmc(lab, room, name) == expected != before, 600, "the flash", 1)
        lab.wait_for_host(name, lambda host: host["status"]["provisioning"]["state"] == "available", "available", 600)
        assert "nic:nobody" not in versions_of(lab, name)
    finally:
        lab.kube.patch(KNOWN[KIND], NAMESPACE, name, {"spec": {"updates": []}})

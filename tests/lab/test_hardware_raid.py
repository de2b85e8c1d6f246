# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hardware RAID by the real BMO and Ironic: volumes that a server's BMC makes, changes and deletes.

The server has three drives alike (inventory/lab/lab.yml). Its enrolment is run again with other volumes; each time BMO
prepares it once more.
"""
from __future__ import annotations

from pathlib import Path

import pytest
from machine_room import partitions
from support import AT_ONCE, NAMESPACE, only

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.goals import state_of
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.usefixtures("as_operator", "without_volumes")

SERVER = "server-04"
HARDWARE_DATA = KNOWN["HardwareData"]
GIB = 1024 ** 3
PAIR = {"level": "1", "size_gibibytes": 20, "number_of_physical_disks": 2, "name": "root"}


@pytest.fixture(scope="module")
def drives(lab):
    """The serial numbers of the server's drives, which are their names at the BMC."""
    disks = lab.servers[SERVER]["disks"]
    assert len(disks) == 3 and len({disk["size_gib"] for disk in disks}) == 1
    return [disk["serial"] for disk in disks]


@pytest.fixture(scope="module")
def enroll(lab):
    """A function that enrols the server with such volumes, None for a host that says nothing of RAID."""
    def run(volumes, *arguments):
        described = {} if volumes is None else {"bmh_raid": {"hardware_raid_volumes": volumes}}
        return lab.playbook("enroll", "-i", lab.inventory({SERVER: described}), *only(SERVER), *arguments, seconds=900)
    return run


@pytest.fixture(scope="module")
def without_volumes(lab, room, enroll, as_operator):
    """The server as the lab has it, before and after these tests, however they end."""
    assert volumes(room) == [] and "raid" not in lab.host(SERVER)["spec"]
    yield
    room.clear_knobs(SERVER)
    enroll([]).ok()
    enroll(None).ok()


@pytest.fixture(scope="module")
def made(lab, room, enroll):
    """The runs that ask for a pair, which is to take the whole cleaning: first in check mode, then in earnest."""
    before = lab.versions()
    check = enroll([PAIR], "--check", "--diff").ok()
    assert lab.versions() == before and volumes(room) == []
    return check, enroll([PAIR]).ok()


def volumes(room):
    """Return the volumes that the BMC has: level by Redfish and drives."""
    return [(volume["raid_type"], volume["drives"]) for volume in room.server(SERVER)["volumes"]]


def disks(room):
    """Return the sizes of the disks that the server sees, in GiB."""
    return [disk["size"] / GIB for disk in room.server(SERVER)["disks"]]


def raid_config(lab):
    """Return the volumes that Ironic has read from the BMC: level and size in GiB."""
    node = lab.ironic().get(f"/nodes/{lab.nodes()[SERVER].id}", microversion="1.86").json()
    return [(disk["raid_level"], disk["size_gb"]) for disk in node["raid_config"]["logical_disks"]]


def prepared(lab):
    """Return whether the host is available, without an error, with the volumes that it is to have."""
    host = lab.host(SERVER)
    status = host["status"]
    return (state_of(host), status["operationalStatus"]) == ("available", "OK") and (
        host["spec"]["raid"]["hardwareRAIDVolumes"] == status["provisioning"]["raid"]["hardwareRAIDVolumes"])


def test_check_mode_shows_the_volumes_and_makes_none(made):
    check, run = made
    assert check.changed() == run.changed() == 1
    assert any(line.startswith("+") and "hardwareRAIDVolumes" in line for line in check.output.splitlines())


def test_a_pair_is_made_before_the_host_counts_as_available(lab, room, made, drives):
    assert volumes(room) == [("RAID1", drives[:2])]
    assert disks(room) == [20, lab.servers[SERVER]["disks"][2]["size_gib"]]
    assert raid_config(lab) == [("1", 20)] and prepared(lab)


def test_a_second_run_changes_nothing(lab, room, made, enroll):
    boots = room.server(SERVER)["boots"]
    assert enroll([PAIR]).ok().changed() == 0
    assert room.server(SERVER)["boots"] == boots and prepared(lab)


@pytest.mark.parametrize(("volume", "texts"), [
    (dict(PAIR, number_of_physical_disks=3), ["bmh_raid.hardware_raid_volumes[0]: found 3 disks", "2 for RAID 1"]),
    ({"level": "1", "number_of_physical_disks": 2},
     ["bmh_raid.hardware_raid_volumes[0].size_gibibytes: ", "controller and physical_disks"]),
    ({"level": "1", "physical_disks": ["a", "b"]}, ["bmh_raid.hardware_raid_volumes[0].controller: "]),
], ids=["three drives for a pair", "no size", "no controller"])
def test_what_can_never_be_made_is_refused_before_anything_is_written(lab, made, enroll, volume, texts):
    before = lab.versions()
    message = "\n".join(enroll([volume]).failed().output_of(SERVER))
    assert all(text in message for text in texts), message
    assert lab.versions() == before


@pytest.mark.long
def test_an_inspection_finds_the_volume_in_the_place_of_its_drives(lab, room, made):
    lab.playbook("inspect", *only(SERVER)).ok()
    lab.wait_for_host(SERVER, lambda host: state_of(host) == "available", "available")
    found = lab.kube.get(HARDWARE_DATA, NAMESPACE, SERVER)["spec"]["hardware"]["storage"]
    assert [(disk["sizeBytes"], disk["model"]) for disk in found] == [
        (20 * GIB, "RAID1 volume"), (disks(room)[1] * GIB, lab.servers[SERVER]["disks"][2]["model"])]


@pytest.mark.long
def test_an_image_is_written_to_the_volume_which_stays_when_it_goes(lab, room, made):
    url = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    inventory = lab.inventory({SERVER: {
        "bmh_raid": {"hardware_raid_volumes": [PAIR]},
        "bmh_image": {"url": url, "format": "raw", "checksum": url + ".sha256", "checksum_type": "sha256"}}})
    lab.playbook("provision", "-i", inventory, *only(SERVER), seconds=900).ok()
    try:
        path = Path(room.server(SERVER)["disks"][0]["path"])
        assert path.name.startswith("volume-") and partitions.table(path)["partitions"]
    finally:
        lab.playbook("deprovision_hosts", *only(SERVER), "-e", "metal3_confirm=1", seconds=900).ok()
    # BMO keeps hardware volumes where it takes an image away.
    assert len(volumes(room)) == 1 and prepared(lab)


@pytest.mark.long
def test_another_level_is_made_by_a_controller_that_waits_for_a_boot(lab, room, made, enroll, drives):
    room.set_knobs(SERVER, raid_at_boot=True)
    try:
        run = enroll([{"level": "5", "controller": "RAID.1", "physical_disks": drives}]).ok()
    finally:
        room.clear_knobs(SERVER)
    assert run.changed() == 1
    size = 2 * lab.servers[SERVER]["disks"][0]["size_gib"]
    assert volumes(room) == [("RAID5", drives)] and disks(room) == [size]
    assert raid_config(lab) == [("5", size)] and prepared(lab)
    assert any("waits for the next boot" in line for line in room.console(SERVER, lines=400))


@pytest.mark.long
def test_a_controller_that_refuses_and_a_wrong_drive_are_named_and_mended(lab, room, made, enroll, drives):
    room.set_knobs(SERVER, raid_refused=True)
    try:
        run = enroll([{"level": "0", "controller": "RAID.1", "physical_disks": drives}], *AT_ONCE).failed(
            "1 of 1 hosts failed")
    finally:
        room.clear_knobs(SERVER)
    message = "\n".join(run.output_of(SERVER))
    for text in ("the RAID controller refused a volume", "preparation error", "the controller could not initialize"):
        assert text in message, message
    # What was there before, BMO has deleted first.
    assert volumes(room) == []
    run = enroll([{"level": "1", "controller": "RAID.1", "physical_disks": ["nobody", "nothing"]}], *AT_ONCE).failed(
        "1 of 1 hosts failed")
    assert "the RAID volumes do not fit the server's drives" in "\n".join(run.output_of(SERVER))
    enroll([PAIR]).ok()
    assert volumes(room) == [("RAID1", drives[:2])] and prepared(lab)


@pytest.mark.long
def test_a_volume_that_fails_at_a_boot_is_named_by_the_wait_and_by_the_audit(lab, room, made, enroll, drives):
    """Ironic takes its task for done, and the operator makes the host available."""
    described = {"level": "5", "controller": "RAID.1", "physical_disks": drives}
    enroll([]).ok()
    room.set_knobs(SERVER, raid_at_boot=True, raid_refused=True)
    try:
        run = enroll([described], *AT_ONCE).failed("1 of 1 hosts failed")
        named = "without hardware volumes (RAID 5)"
        assert named in "\n".join(run.output_of(SERVER)) and volumes(room) == [] and prepared(lab)
        # Nothing is written by a second run, which does not call it well either.
        assert named in "\n".join(enroll([described], *AT_ONCE).failed("1 of 1 hosts failed").output_of(SERVER))
        audit = lab.playbook("ironic_audit", extra={
            "ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml"),
            "ironic_audit_kubeconfig": str(lab.dir / "kubeconfig")})
        audit.failed(f"BareMetalHost {NAMESPACE}/{SERVER}", named, "look at the RAID controller")
    finally:
        room.clear_knobs(SERVER)
    enroll([]).ok()
    enroll([PAIR]).ok()
    assert volumes(room) == [("RAID1", drives[:2])] and prepared(lab)


def test_an_empty_list_deletes_all_volumes_and_no_list_keeps_them(lab, room, made, enroll):
    enroll(None).ok()
    assert len(volumes(room)) == 1
    assert enroll([]).ok().changed() == 1
    assert volumes(room) == [] and raid_config(lab) == []
    assert disks(room) == [disk["size_gib"] for disk in lab.servers[SERVER]["disks"]] and prepared(lab)

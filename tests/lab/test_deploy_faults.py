# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of servers while an image is written or removed: reported with host, cause and next step, and mended.

Servers are provisioned directly, without Cluster API, and are available again when a test ends.
"""
from __future__ import annotations

from datetime import datetime, timezone

import pytest
from support import AT_ONCE, eventually, only

SERVERS = ("server-01", "server-02", "server-04")
# What a playbook needs at most from its start to its first task, beside other labs.
START_SECONDS = 120


@pytest.fixture(scope="module")
def image(lab):
    """The lab's small image, as a host's variable."""
    url = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    return {"url": url, "format": "raw", "checksum": url + ".sha256", "checksum_type": "sha256"}


@pytest.fixture
def deployable(lab, room, image):
    """An inventory in which the servers have the image."""
    yield lab.inventory(dict((name, {"bmh_image": image}) for name in SERVERS))
    for name in SERVERS:
        room.clear_knobs(name)
    lab.playbook("deprovision_hosts", *only(*SERVERS), "-e", f"metal3_confirm={len(SERVERS)}", seconds=900).ok()
    assert [lab.state(name) for name in SERVERS] == ["available"] * len(SERVERS)
    assert sorted(lab.nodes()) == sorted(lab.servers)


def tells(run, name, *texts):
    """Check that a run's failure says all of that about a host."""
    message = "\n".join(run.output_of(name))
    assert "provisioning error" in message and all(text in message for text in texts), message


# Not server-02, which boots by virtual media: there Ironic 39 switches the server off after the failure and forgets the
# node's last_error with that, and BMO 0.13 asks for it for ever ("failed but error message not available").
def test_what_stops_a_deployment_is_reported(lab, room, image, deployable):
    room.set_knobs("server-04", disk_too_small=True)
    wrong = lab.inventory({"server-01": {"bmh_image": dict(image, checksum="0" * 64)}})
    run = lab.playbook("provision", "-i", deployable, "-i", wrong, *AT_ONCE, *only("server-01", "server-04"))
    run.failed("2 of 2 hosts failed")
    tells(run, "server-01", "the image's checksum is not the given one", "correct bmh_image.checksum")
    tells(run, "server-04", "does not fit on the root device", "a larger disk by bmh_root_device_hints")


def test_a_disk_that_is_missing_is_reported(lab, room, deployable):
    room.set_knobs("server-04", disk_missing=True)
    run = lab.playbook("provision", "-i", deployable, *AT_ONCE, *only("server-04"))
    run.failed("1 of 1 hosts failed")
    tells(run, "server-04", "no disk of the server", "compare bmh_root_device_hints with the inspected disks")


def test_write_protected_disks_are_reported_and_the_agents_own_words_collected(lab, room, deployable, tmp_path):
    room.set_knobs("server-04", disks_read_only=True)
    began = datetime.now(timezone.utc)
    run = lab.playbook("provision", "-i", deployable, *AT_ONCE, *only("server-04"))
    run.failed("1 of 1 hosts failed")
    tells(run, "server-04", "a disk is write-protected", "Read-only file system", "take the protection off")
    # The playbook counts back from when it reads, and takes a while to come so far.
    seconds = int((datetime.now(timezone.utc) - began).total_seconds()) + START_SECONDS
    lab.playbook("collect_logs", extra={
        "collect_logs_dir": str(tmp_path / "logs"), "collect_logs_since_seconds": seconds}).ok()
    said = [line for path in (tmp_path / "logs" / "process" / "deploy").glob("*_metal3_server-04_*/console")
            for line in path.read_text().splitlines()
            if line >= f"{began:%Y-%m-%dT%H:%M:%S}" and "agent: " in line]
    assert any("FAILED" in line and "Read-only file system" in line for line in said), said


def test_a_broken_disk_is_reported_and_slow_power_waited_for(lab, room, deployable):
    names = ("server-01", "server-02")
    room.set_knobs("server-01", write_error=True)
    room.set_knobs("server-02", slow_power=10)
    run = lab.playbook("provision", "-i", deployable, *AT_ONCE, *only(*names))
    run.failed("1 of 2 hosts failed")
    tells(run, "server-01", "a disk could not be written", "Input/output error", "another one by bmh_root_device_hints")
    assert lab.state("server-02") == "provisioned" and room.server("server-02")["power"] == "On"
    # By virtual media.
    assert lab.servers["server-02"]["bmc"]["address"].startswith("redfish-virtualmedia+")
    console = (lab.dir / "machines" / "server-02" / "console.log").read_text()
    assert "power on, boot device Cd" in console and "image written to" in console


# Ironic waits 150 s for the agent, and 120 s for the power.
@pytest.mark.long
def test_a_server_that_fails_in_mid_deployment_is_reported_and_recovers(lab, room, deployable):
    room.set_knobs("server-01", agent_dies_in_deploy=True)
    room.set_knobs("server-04", slow_power=3600)
    runs = dict((name, lab.start("provision", "-i", deployable, *AT_ONCE, *only(name)))
                for name in ("server-01", "server-04"))

    def mended():
        ended = [name for name, run in runs.items() if run.process.poll() is not None]
        for name in ended:
            # Before BMO's next attempt, a minute or two later.
            room.clear_knobs(name)
        return len(ended) == len(runs)

    eventually(mended, 900, "both runs have failed")
    for name, texts in (("server-01", ["the deploy ramdisk stopped calling Ironic", "look at the server's console"]),
                        ("server-04", ["did not change or tell the power state", "look at the BMC"])):
        tells(runs[name].failed("1 of 1 hosts failed"), name, *texts)

    lab.playbook("provision", "-i", deployable, *only("server-01", "server-04"), seconds=1200).ok()
    assert [lab.state(name) for name in ("server-01", "server-04")] == ["provisioned"] * 2


@pytest.mark.long
def test_a_disk_that_can_not_be_cleaned_is_reported_and_tried_again(lab, room, deployable):
    lab.playbook("provision", "-i", deployable, *only("server-01")).ok()
    room.set_knobs("server-01", write_error=True)
    run = lab.playbook("deprovision_hosts", *AT_ONCE, *only("server-01"), "-e", "metal3_confirm=1", seconds=900)
    run.failed("1 of 1 hosts failed")
    tells(run, "server-01", "a disk could not be written", "Cleaning failed", "look at the disk's health")
    room.clear_knobs("server-01")
    lab.playbook("host_action", *only("server-01"), "-e", "host_action=retry").ok()
    assert lab.state("server-01") == "available"

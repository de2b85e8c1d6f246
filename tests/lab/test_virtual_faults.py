# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of virtual servers: named with cause and next step, and recovered from; make test-metal runs them.

Two servers get an image, and are available again when these tests end.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import bmc_system
import external_url
import pytest
from support import AT_ONCE, eventually, only
from virtual_site import BOOT_SECONDS, IPMI, MEDIA, inventory_arguments

pytestmark = pytest.mark.metal

# For a silent agent; a site's hour is too long for a test, and a busy machine's boot takes minutes.
PATIENCE_SECONDS = 480


@pytest.fixture
def by_https(lab):
    """An inventory with which one server gets its media by HTTPS; the lab gives them to virtual servers by HTTP."""
    with external_url.of_ipv6(lab), external_url.ipv6_bmc(lab, lab.servers[MEDIA]) as inventory:
        yield inventory


@pytest.fixture
def distrustful(lab):
    """That server, whose BMC verifies media servers by their usual authorities; later it has the lab's authority."""
    drive = bmc_system.cd_drive(lab, lab.servers[MEDIA])
    drive.set_verify_certificate(True)
    yield MEDIA
    if not drive.certificates.get_members():
        trust(lab, MEDIA)


def trust(lab, name):
    """Import the lab's authority into a server's BMC."""
    drive = bmc_system.cd_drive(lab, lab.servers[name])
    drive.certificates.create_member((lab.dir / "pki" / "ca.crt").read_text(), "PEM")


def test_a_bmc_that_does_not_trust_the_image_server_is_named_and_recovers(lab, room, by_https, distrustful):
    name = distrustful
    lab.remove_hosts(name)
    run = lab.playbook("enroll", "-i", by_https, *AT_ONCE, *only(name), seconds=900)
    run.failed("1 of 1 hosts failed")
    message = "\n".join(run.output_of(name))
    assert "inspection error" in message and "import its authority into the BMC" in message, message
    assert "the BMC does not trust the TLS certificate of the server that gives out the boot image" in message, message
    assert not room.server(name)["virtual_media"]

    trust(lab, name)
    lab.playbook("enroll", "-i", by_https, *only(name), seconds=BOOT_SECONDS).ok()
    assert lab.state(name) == "available" and bmc_system.cd_drive(lab, lab.servers[name]).verify_certificate


@pytest.fixture
def impatient(lab):
    """The lab, whose Ironic waits for a silent agent as long as a test may take."""
    lab.playbook("install", "--tags", "ironic", seconds=900,
                 extra={"ironic_deploy_callback_timeout_seconds": PATIENCE_SECONDS}).ok()
    yield lab
    lab.playbook("install", "--tags", "ironic", seconds=900).ok()


@pytest.fixture
def inventory(lab, tmp_path):
    """Arguments of playbooks: an image for two servers."""
    hints = {"rotational": False, "min_size_gigabytes": 9}
    yield inventory_arguments(tmp_path, {MEDIA: {"bmh_root_device_hints": hints}, IPMI: {}})
    lab.playbook("deprovision_hosts", *only(MEDIA, IPMI), "-e", "metal3_confirm=2", seconds=BOOT_SECONDS).ok()
    assert [lab.state(name) for name in (MEDIA, IPMI)] == ["available"] * 2


def step_of(lab, name):
    """Return the step of its deployment that the agent of a server is at."""
    node = lab.nodes()[name]
    return (node.deploy_step or {}).get("step") if node.provision_state == "wait call-back" else None


def pull_plug(lab, name):
    """End a server's process, as a dead power supply would."""
    os.kill(json.loads((lab.dir / "machines" / name / "run.json").read_text())["pid"], signal.SIGKILL)


@pytest.fixture
def unplugged(lab):
    """A function that unplugs a server from the bridge and returns its link; all are plugged in afterwards."""
    bridge, links = lab.figures["bridge"]["name"], []

    def unplug(name):
        link, = (path.name for path in Path(f"/sys/class/net/{bridge}/brif").iterdir()
                 if path.name.endswith(f"-{lab.servers[name]['number']}n0"))
        subprocess.run(["ip", "link", "set", "dev", link, "nomaster"], check=True, timeout=60)
        links.append(link)
        return link

    yield unplug
    for link in links:
        plug_in(lab, link)


def plug_in(lab, link):
    """Plug a link into the bridge, if its server still runs."""
    if Path(f"/sys/class/net/{link}").exists():
        bridge = lab.figures["bridge"]["name"]
        subprocess.run(["ip", "link", "set", "dev", link, "master", bridge], check=True, timeout=60)


def test_servers_that_fall_silent_while_an_image_is_written_are_named_and_recover(
        lab, room, impatient, inventory, unplugged):
    """One without power, which the next run deploys; one without its cable, whose run ends well once it is back."""
    runs = {name: lab.start("provision", *inventory, *AT_ONCE, *only(name)) for name in (IPMI, MEDIA)}
    links, done = {}, set()

    def hit():
        for name in runs.keys() - done:
            assert runs[name].process.poll() is None, runs[name].output
            if step_of(lab, name) == "write_image":
                done.add(name)
                if name == IPMI:
                    pull_plug(lab, name)
                else:
                    links[name] = unplugged(name)
        return done == set(runs)

    eventually(hit, BOOT_SECONDS, "both servers write the image", 2)
    eventually(lambda: "its BMC reported it as on" in runs[MEDIA].output, 600, "the silence of an unplugged server", 2)
    plug_in(lab, links[MEDIA])
    eventually(lambda: room.server(IPMI)["power"] == "Off", 60, "a server without power")
    eventually(lambda: "its BMC reported it as off" in runs[IPMI].output, 600, "the silence of a server without power",
               2)

    run = runs[IPMI].finish(BOOT_SECONDS).failed("1 of 1 hosts failed")
    message = "\n".join(run.output_of(IPMI))
    assert "the deploy ramdisk stopped calling Ironic" in message and "look at the server's console" in message, message
    assert "its BMC reported it as off" in message and "check its power supply" in message, message
    assert "its BMC reported it as off" not in runs[MEDIA].output
    runs[MEDIA].finish(BOOT_SECONDS).ok()

    lab.playbook("provision", *inventory, *only(IPMI, MEDIA), seconds=BOOT_SECONDS).ok()
    assert [lab.state(name) for name in (IPMI, MEDIA)] == ["provisioned"] * 2
    assert [room.server(name)["power"] for name in (IPMI, MEDIA)] == ["On"] * 2

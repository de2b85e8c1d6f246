# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane loses all its hosts, and Ironic with them, while the servers run on; a backup brings them back.

By the real clusterctl and the real age, into the lab's own plane; the servers' consoles say what their BMCs were asked
for.
"""
from __future__ import annotations

import contextlib
import hashlib
import re

import pytest
from consoles import Console
from lost_plane import SECONDS, back_up, lose, new_identity
from support import HOST, NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.annotations import FOR_RESTORE, PAUSED
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.pivot


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    return new_identity(tmp_path_factory.mktemp("age"))


@pytest.fixture(scope="module")
def backup(lab, identity, tmp_path_factory):
    """The path of a backup of all hosts, read again after it was written."""
    path = back_up(lab, tmp_path_factory.mktemp("backups"), identity)
    assert b"BareMetalHost" not in path.read_bytes() and path.stat().st_mode & 0o777 == 0o600
    return path


@pytest.fixture
def variables(backup, identity):
    return {"restore_path": str(backup), "restore_identity_file": str(identity)}


def deployed(lab):
    """Return the name of a host that has a system without Cluster API."""
    return next(name for name, host in sorted(lab.hosts().items())
                if host["status"]["provisioning"]["state"] == "provisioned")


def facts(lab):
    return dict((name, (host["status"]["provisioning"]["state"], host["status"]["operationalStatus"],
                        host["status"].get("poweredOn"), sorted(host["spec"]))) for name, host in lab.hosts().items())


def test_what_is_there_stays_as_it_is(lab, variables):
    versions = lab.versions()
    run = lab.playbook("restore", extra=variables, seconds=SECONDS).ok()
    assert run.output.count("it is there, and stays as it is") == len(lab.hosts()) and run.changed() == 0
    assert lab.versions() == versions


def test_hosts_that_were_lost_come_back_and_no_server_is_touched(lab, variables):
    before, names = facts(lab), sorted(lab.hosts())
    consoles = [Console(lab.dir / "machines" / name / "console.log") for name in lab.servers]
    lose(lab, *names)
    eventually(lambda: not lab.hosts() and not lab.nodes(), 60, "hosts and nodes gone")
    lab.playbook("restore", extra=variables, seconds=SECONDS).failed(f"set metal3_confirm={len(names)}")
    assert not lab.hosts()
    lab.playbook("restore", extra=dict(variables, metal3_confirm=len(names), restore_release=False),
                 seconds=SECONDS).ok()
    assert set(host["metadata"]["annotations"][PAUSED] for host in lab.hosts().values()) == {FOR_RESTORE}
    # Released by a later run, which wants the number again.
    lab.playbook("restore", extra=variables, seconds=SECONDS).failed(f"set metal3_confirm={len(names)}")
    assert not lab.nodes()
    run = lab.playbook("restore", extra=dict(variables, metal3_confirm=len(names)), seconds=SECONDS).ok()
    assert facts(lab) == before and set(lab.nodes()) == set(names)
    # Each BMC has said that it is on and which server it is; of disks none says anything.
    assert "whether it is" not in run.output and run.output.count("what is on its disks by now") == len(names)
    assert not [line for console in consoles for line in console.lines() if re.search(r"BMC: (reset|boot)", line)]
    assert run.changed() == 1 and lab.playbook("restore", extra=variables, seconds=SECONDS).ok().changed() == 0
    assert len(lab.kube.list(KNOWN["HardwareData"], NAMESPACE)[0]) == len(names)


def test_a_server_that_was_switched_meanwhile_must_be_named(lab, variables, room):
    name = deployed(lab)
    lose(lab, name)
    room.power(name, "power_off")
    eventually(lambda: room.server(name)["power"] == "Off", 60, "the server is off")
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1), seconds=SECONDS).failed(
        f"BareMetalHost {name}", "its server would be powered off or on: its server is off now")
    assert lab.host(name) is None
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1, restore_accept=[name]), seconds=SECONDS).ok()
    assert lab.state(name) == "provisioned"


def test_another_server_behind_the_address_of_a_bmc_must_be_named(lab, identity, tmp_path):
    """The backup is of the time before it was exchanged: what was inspected then is not what the BMC says now."""
    name, kind = deployed(lab), KNOWN["HardwareData"]
    hardware = lab.kube.get(kind, NAMESPACE, name)["spec"]["hardware"]
    former = dict(hardware, systemVendor=dict(hardware["systemVendor"], serialNumber="FORMER"), nics=[
        dict(nic, mac=f"02:00:00:00:00:{number:02x}") for number, nic in enumerate(hardware["nics"])])
    lab.kube.patch(kind, NAMESPACE, name, {"spec": {"hardware": former}})
    path = back_up(lab, tmp_path, identity)
    lab.kube.patch(kind, NAMESPACE, name, {"spec": {"hardware": hardware}})
    variables = {"restore_path": str(path), "restore_identity_file": str(identity), "metal3_confirm": 1}
    lose(lab, name)
    lab.playbook("restore", extra=variables, seconds=SECONDS).failed(
        f"BareMetalHost {name}", "its server would be taken for another one", "its BMC is that of another server",
        f"the serial number {hardware['systemVendor']['serialNumber']}", "the serial number FORMER")
    assert lab.host(name) is None and name not in lab.nodes()
    lab.playbook("restore", extra=dict(variables, restore_accept=[name]), seconds=SECONDS).ok()
    lab.kube.patch(kind, NAMESPACE, name, {"spec": {"hardware": hardware}})
    assert lab.state(name) == "provisioned"


@contextlib.contextmanager
def wanted(lab, name, image):
    """Meanwhile a host wants another image, or none, and the operator has not begun with it."""
    before = lab.host(name)["spec"]["image"]
    lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {PAUSED: "change"}}})
    lab.kube.patch(HOST, NAMESPACE, name, {"spec": {"image": image}})
    yield
    lab.kube.patch(HOST, NAMESPACE, name, {"spec": {"image": before}})
    lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {PAUSED: None}}})


def is_restored_by_name_only(lab, room, name, variables, verdict):
    """Lose a host, see its restore refused with the verdict and nothing touched, and restore it by its name."""
    def disk():
        return room.disk(name, "sda", length=64 * 1024 * 1024)["digest"]

    before, console = disk(), Console(lab.dir / "machines" / name / "console.log")
    lose(lab, name)
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1), seconds=SECONDS).failed(
        f"BareMetalHost {name}", f"its server would be {verdict}", "leave it out of the plane, or name it")
    assert lab.host(name) is None and name not in lab.nodes() and disk() == before
    assert not [line for line in console.lines() if "BMC: reset" in line]
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1, restore_accept=[name]), seconds=SECONDS).ok()
    # Somebody had paused it when the backup was taken; they go on when they are ready.
    assert PAUSED in lab.host(name)["metadata"]["annotations"] and disk() == before
    lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {PAUSED: None}}})
    lab.wait_for_host(name, lambda host: host.get("status"), "looked at by the operator", SECONDS)
    return lambda: disk() != before


def test_a_host_that_wanted_another_image_is_reinstalled_only_by_its_name(lab, room, identity, tmp_path):
    """The backup was taken between the change and the operator; restored, it gets that image."""
    name, images = deployed(lab), lab.dir / "www" / "images"
    former = lab.host(name)["spec"]["image"]
    content = (images / "lab.raw").read_bytes() + b"another".ljust(512, b"\0")
    (images / "another.raw").write_bytes(content)
    another = {"url": former["url"].replace("lab.raw", "another.raw"), "checksum": hashlib.sha256(content).hexdigest()}
    with wanted(lab, name, another):
        path = back_up(lab, tmp_path, identity)
    variables = {"restore_path": str(path), "restore_identity_file": str(identity)}
    try:
        is_written = is_restored_by_name_only(
            lab, room, name, variables, "reinstalled: another image is wanted than is deployed")
        lab.wait_for_host(name, lambda host: host["status"]["provisioning"]["state"] == "provisioned" and
                          host["status"]["provisioning"]["image"]["url"] == another["url"], "installed again", SECONDS)
        assert is_written()
    finally:
        (images / "another.raw").unlink()


def test_a_host_that_wanted_no_image_is_wiped_only_by_its_name(lab, room, identity, tmp_path):
    """It is free afterwards."""
    name = deployed(lab)
    with wanted(lab, name, None):
        path = back_up(lab, tmp_path, identity)
    variables = {"restore_path": str(path), "restore_identity_file": str(identity)}
    is_wiped = is_restored_by_name_only(
        lab, room, name, variables, "wiped: an image is deployed, and none is wanted")
    lab.wait_for_host(name, lambda host: host["status"]["provisioning"]["state"] == "available", "available", SECONDS)
    assert is_wiped()
    lab.playbook("provision", *only(name), seconds=SECONDS).ok()
    assert lab.state(name) == "provisioned"

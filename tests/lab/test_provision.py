# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Provisioning without Cluster API: what is on the server's disk afterwards, and that all of it goes again."""
from __future__ import annotations

import hashlib
import json
import os
import subprocess

import pytest
from machine_room import partitions

pytestmark = pytest.mark.usefixtures("as_operator")

SERVER = "server-03"
SECTOR = partitions.SECTOR_BYTES
# The server boots what was written to it: the kernel notes the mount in ext4's superblock and group descriptors.
EXT4_NOTES = range(2 * SECTOR, 6 * SECTOR)


def content(path, start=0, size=-1):
    with open(path, "rb") as stream:
        stream.seek(start)
        return stream.read(size)


def disk(room):
    # No digest: it would take a minute for the whole disk.
    return room.disk(SERVER, "sda", length=0)["path"]


def bounds(partition):
    return partition["start"] * SECTOR, partition["size"] * SECTOR


def identity(partition):
    return dict((key, value) for key, value in partition.items() if key != "node")


def differences(path, image, partition):
    """Return the offsets in a partition of the image at which the disk has other bytes."""
    written, wanted = content(path, *bounds(partition)), content(image, *bounds(partition))
    assert len(written) == len(wanted)
    if written == wanted:
        return []
    return [offset for offset, pair in enumerate(zip(written, wanted)) if pair[0] != pair[1]]


def config_drive(path, folder):
    """Unpack the config drive and return its files by path."""
    start, size = bounds(partitions.config_drive(path))
    iso = folder / "config-drive.iso"
    iso.write_bytes(content(path, start, size))
    tree = folder / "config-drive"
    subprocess.run(["xorriso", "-osirrox", "on", "-indev", str(iso), "-extract", "/", str(tree)], check=True,
                   capture_output=True)
    return dict((str(file.relative_to(tree)), file.read_text()) for file in tree.rglob("*") if file.is_file())


def test_the_disk_holds_the_image(lab, room):
    assert lab.state(SERVER) == "provisioned"
    image, path = lab.dir / "www" / "images" / "lab.raw", disk(room)
    wanted, written = partitions.table(image), partitions.table(path)
    assert written["label"] == wanted["label"] and written["id"] == wanted["id"]
    assert [identity(partition) for partition in written["partitions"][:-1]] == \
        [identity(partition) for partition in wanted["partitions"]]
    assert wanted["partitions"]
    for partition in wanted["partitions"]:
        assert any(content(image, *bounds(partition)))
        assert set(differences(path, image, partition)) <= set(EXT4_NOTES)


def test_the_config_drive_holds_what_the_inventory_says(lab, room, tmp_path):
    files = config_drive(disk(room), tmp_path)
    for folder in ("openstack/latest/", "openstack/2012-08-10/"):
        assert files.pop(folder + "user_data") == f"#cloud-config\nhostname: {SERVER}\n"
        assert json.loads(files.pop(folder + "network_data.json")) == {
            "links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": lab.servers[SERVER]["boot_mac"]}],
            "networks": [{"id": "provisioning", "link": "eno1", "type": "ipv4_dhcp"}],
            "services": [],
        }
        # BMO adds names and the UID of the host.
        assert json.loads(files.pop(folder + "meta_data.json")) == {
            "local-hostname": SERVER, "local_hostname": SERVER, "name": SERVER, "metal3-name": SERVER,
            "metal3-namespace": "metal3", "uuid": lab.host(SERVER)["metadata"]["uid"],
        }
    assert not files


def test_the_disk_was_cleaned_before_anything_was_written_to_it(room):
    printed = [word for line in room.console(SERVER, lines=100000) for word in (
        "inspection data accepted", "execute_clean_step: SUCCEEDED", "writing image") if word in line]
    enrolled = printed.index("inspection data accepted")
    assert printed[enrolled:enrolled + 3] == [
        "inspection data accepted", "execute_clean_step: SUCCEEDED", "writing image"]


def test_a_second_run_changes_nothing(lab):
    again = lab.playbook("provision").ok()
    assert again.changed() == 0, again.output


def test_a_server_that_is_to_be_off_is_not_provisioned(lab):
    """BMO would leave it available for ever, and the run would wait for it."""
    name = "server-01"
    before, state = lab.versions(), lab.state(name)
    image = lab.host(SERVER)["spec"]["image"]
    off = lab.inventory({name: {"bmh_online": False, "bmh_image": {
        "url": image["url"], "checksum": image["checksum"], "checksum_type": "sha256", "format": "raw"}}})
    run = lab.playbook("provision", "-i", off, "--limit", name).failed("nothing was changed")
    message = "\n".join(run.output_of(name))
    assert "bmh_online: found false, expected true: BMO provisions only hosts that shall be online" in message, message
    assert lab.versions() == before and lab.state(name) == state == "available"


@pytest.fixture
def detached(lab):
    """The server, which its operator has let go of."""
    def act(action):
        lab.playbook("host_action", "--limit", SERVER, extra={"host_action": action, "metal3_confirm": 1}).ok()

    act("detach")
    yield
    act("attach")
    assert lab.state(SERVER) == "provisioned"


def test_what_bmo_does_not_work_on_is_not_given_up_for_later(lab, detached):
    before = lab.host(SERVER)["spec"]
    lab.playbook("deprovision_hosts", "--limit", SERVER, "-e", "metal3_confirm=1").failed(
        "found a change of a detached host", "attach the host first", "nothing was changed")
    assert lab.host(SERVER)["spec"] == before


@pytest.fixture
def provisioned_again(lab):
    """The server with the inventory's image after the test."""
    yield
    lab.playbook("provision", "--limit", SERVER, "-e", "metal3_confirm=1").ok()
    assert lab.state(SERVER) == "provisioned"


@pytest.fixture
def qcow2(lab, tmp_path, provisioned_again):
    """A qcow2 image with random bytes in its partition, on the lab's image server, and the raw image it was made of."""
    raw = tmp_path / "random.raw"
    raw.write_bytes(b"")
    os.truncate(raw, 24 * 1024 ** 2)
    subprocess.run(["sfdisk", "--quiet", str(raw)], input="label: gpt\nstart=1MiB, size=20MiB, name=random\n",
                   check=True, text=True, capture_output=True)
    with raw.open("r+b") as stream:
        stream.seek(1024 ** 2)
        stream.write(os.urandom(20 * 1024 ** 2))
    path = lab.dir / "www" / "images" / "random.qcow2"
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-c", str(raw), str(path)], check=True,
                   capture_output=True)
    yield path, raw
    path.unlink()


def data_of(path, folder):
    """Return what the config drive has for the server, by kind."""
    folder.mkdir()
    return dict((name.rpartition("/")[2], text) for name, text in config_drive(path, folder).items()
                if name.startswith("openstack/latest/"))


def test_an_image_is_removed_and_another_one_written(lab, room, qcow2, tmp_path):
    lab.playbook("deprovision_hosts", "--limit", SERVER).failed(
        f"This wipes the disks of 1 server ({SERVER}). To continue, set metal3_confirm=1.")
    assert lab.state(SERVER) == "provisioned"
    lab.playbook("deprovision_hosts", "--limit", SERVER, "-e", "metal3_confirm=1").ok()
    assert lab.state(SERVER) == "available"
    path = disk(room)
    with pytest.raises(partitions.PartitionError):
        partitions.table(path)
    assert not any(content(path, 0, 1024 ** 2))

    image, raw = qcow2
    server = lab.figures["urls"]["image_server"] + "/images/"
    before = lab.host(SERVER)["spec"]
    for name, checksum, texts in (("none.qcow2", "0" * 64, ["bmh_image.url: found", "none.qcow2: HTTP 404"]),
                                  (image.name, server + "lab.raw.sha256", ["lab.raw.sha256 without " + image.name])):
        missing = lab.inventory({SERVER: {"bmh_image": {
            "url": server + name, "format": "qcow2", "checksum": checksum, "checksum_type": "sha256"}}})
        run = lab.playbook("provision", "-i", missing, "--limit", SERVER).failed("nothing was changed")
        message = "\n".join(run.output_of(SERVER))
        assert all(text in message for text in texts), message
    lab.playbook("provision", "--limit", "server-01").failed("bmh_image: not set for server-01")
    assert lab.host(SERVER)["spec"] == before
    entry = {"url": f"{lab.figures['urls']['image_server']}/images/{image.name}", "format": "qcow2",
             "checksum": "0" * 64, "checksum_type": "sha256"}
    wrong = lab.inventory({SERVER: {"bmh_image": entry}})
    run = lab.playbook("provision", "-i", wrong).failed("provisioning error")
    message = "\n".join(run.output_of(SERVER))
    assert "the image's checksum is not the given one" in message and "correct bmh_image.checksum" in message, message

    right = lab.inventory({SERVER: {"bmh_image": dict(entry, checksum=hashlib.sha256(content(image)).hexdigest())}})
    lab.playbook("provision", "-i", right).ok()
    assert lab.state(SERVER) == "provisioned"
    path = disk(room)
    for partition in partitions.table(raw)["partitions"]:
        assert differences(path, raw, partition) == []

    # The same image with other data only takes effect when it is deployed once more.
    other = lab.inventory({SERVER: {"bmh_user_data": "#cloud-config\nhostname: other\n", "bmh_image": dict(
        entry, checksum=hashlib.sha256(content(image)).hexdigest())}})
    outcome = lab.playbook("provision", "-i", other).ok()
    assert "bmh_user_data changed, but the server keeps what was deployed" in outcome.output
    assert data_of(path, tmp_path / "before")["user_data"] == f"#cloud-config\nhostname: {SERVER}\n"
    again = ("-i", other, "--limit", SERVER, "-e", "hosts_reprovision=true")
    lab.playbook("provision", *again).failed("This wipes the disks of ", "set metal3_confirm=")
    lab.playbook("provision", *again, "-e", "metal3_confirm=1").ok()
    assert lab.state(SERVER) == "provisioned"
    assert data_of(path, tmp_path / "after")["user_data"] == "#cloud-config\nhostname: other\n"
    assert partitions.table(path)["id"] == partitions.table(raw)["id"]

    # Another image takes what is on the disk.
    run = lab.playbook("provision", "-e", "metal3_confirm=2").failed("nothing was changed")
    message = "\n".join(run.output_of(SERVER))
    assert all(text in message for text in ("bmh_image.url: found ", "which is deployed", "metal3_confirm=")), message
    assert lab.host(SERVER)["spec"]["image"]["url"] == entry["url"]
    lab.playbook("provision", "--limit", SERVER, "-e", "metal3_confirm=1").ok()
    assert lab.state(SERVER) == "provisioned"
    again = lab.playbook("provision").ok()
    assert again.changed() == 0, again.output
    assert partitions.table(disk(room))["id"] == partitions.table(lab.dir / "www" / "images" / "lab.raw")["id"]

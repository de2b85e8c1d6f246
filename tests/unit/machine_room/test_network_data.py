# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network data that the lab can't give to a node ends its boot, with the reason on the console."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_room import config_drive as config_drives
from machine_room.disk import Disk
from machine_room.knobs import Knobs
from machine_room.node_boot import config_drive, network_data, run

PHYSICAL = {"id": "eno1", "type": "phy", "ethernet_mac_address": "00:5c:52:00:00:10"}
BOND = {"id": "bond0", "type": "bond", "bond_mode": "802.3ad", "bond_links": ["eno1", "eno2"]}
VLAN = {"id": "bond0.5", "type": "vlan", "vlan_id": 5, "vlan_link": "bond0"}


@pytest.mark.parametrize(("links", "expected"), [
    ([], []), ([PHYSICAL, dict(PHYSICAL, type="bridge")], []), (None, []),
    ([PHYSICAL, BOND], ["bond0 is a bond of eno1, eno2"]),
    ([VLAN], ["bond0.5 is VLAN 5 on bond0"]),
    ([BOND, VLAN], ["bond0 is a bond of eno1, eno2", "bond0.5 is VLAN 5 on bond0"]),
    ([{"type": "bond"}, {"type": "vlan"}],
     ["a link without id is a bond of no link", "a link without id is VLAN ? on ?"]),
])
def test_links_that_the_lab_has_not(links, expected):
    assert network_data.impossible_links({"links": links}) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["bond", "vlan", "phy"]), lambda inner: st.lists(
        inner, max_size=3) | st.dictionaries(st.sampled_from(["links", "id", "type", "bond_links", "vlan_id"]), inner),
    max_leaves=10)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(VALUES | st.lists(VALUES, max_size=4).map(lambda links: {"links": links}))
def test_any_network_data_gives_lines(data):
    found = network_data.impossible_links(data)
    assert all(isinstance(line, str) and " is " in line for line in found)


def test_without_network_data_nothing_is_impossible():
    assert network_data.impossible_links({}) == []


@pytest.fixture
def disk(tmp_path):
    """Return a callable that writes a config drive with files to a disk, and returns the disk's path."""
    made = Disk({"name": "/dev/sda", "size_gib": 1}, str(tmp_path / "sda.raw"), Knobs())
    made.ensure()
    subprocess.run(["/usr/sbin/sfdisk", "--quiet", made.path], input="label: gpt\nsize=64MiB, type=linux\n", text=True,
                   check=True)
    (tmp_path / "system").mkdir()

    def write(files):
        tree, iso = tmp_path / "tree", tmp_path / "drive.iso"
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        subprocess.run(["xorrisofs", "-quiet", "-R", "-J", "-V", "config-2", "-o", str(iso), str(tree)], check=True,
                       capture_output=True)
        config_drives.write(made, iso.read_bytes())
        return made.path
    write.path = made.path
    return write


def test_the_console_gets_it_before_anything_is_made(disk, tmp_path):
    folder = tmp_path / "system"
    path = disk({config_drive.NETWORK_DATA_FILE: json.dumps({"links": [PHYSICAL, BOND, VLAN]}),
                 "openstack/latest/user_data": "secret-word"})
    (tmp_path / "spec.json").write_text(json.dumps({
        "lab": {"index": 9999, "bridge": {"name": "m3none", "address": "198.18.0.1/23"}},
        "server": {"name": "none", "nics": []}, "disk": path, "folder": str(folder),
        "root_folder": str(folder / "root"), "console": str(tmp_path / "console.log")}))
    reader, writer = os.pipe()
    with open(reader, encoding="utf-8") as stream:
        try:
            subprocess.run([sys.executable, "-m", run.__name__, str(tmp_path / "spec.json"), str(writer)],
                           cwd=Path(run.__file__).parents[2], pass_fds=[writer], check=True, timeout=60)
        finally:
            os.close(writer)
        assert stream.read() == (
            "network data: bond0 is a bond of eno1, eno2; bond0.5 is VLAN 5 on bond0: the lab's network carries "
            "neither bonds nor VLANs, describe plain links instead")
    # Bootstrap tokens are on the drive.
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("files", "expected"), [
    ({config_drive.NETWORK_DATA_FILE: json.dumps({"links": [PHYSICAL]})}, {"links": [PHYSICAL]}),
    ({config_drive.NETWORK_DATA_FILE: "not JSON"}, {}), ({config_drive.NETWORK_DATA_FILE: "[]"}, {}),
    ({"openstack/latest/meta_data.json": "{}"}, {})])
def test_network_data_of_a_config_drive(disk, tmp_path, files, expected):
    assert config_drive.network_data(disk(files), str(tmp_path / "system")) == expected
    assert list((tmp_path / "system").iterdir()) == []


def test_a_disk_without_a_config_drive_has_no_network_data(disk, tmp_path):
    assert config_drive.network_data(disk.path, str(tmp_path / "system")) == {}

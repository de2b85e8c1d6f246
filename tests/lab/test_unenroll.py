# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reverse of enrolment: hosts go, when their number or names are repeated, and nothing is left, also on disks."""
from __future__ import annotations

import pytest
from consoles import Console
from support import HOST, NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.usefixtures("as_operator")

VICTIMS = ("server-01", "server-02")
LIMIT = ("--limit", ",".join(VICTIMS))


def secrets(lab):
    return [item["metadata"]["name"] for item in lab.kube.list(KNOWN["Secret"], NAMESPACE)[0]
            if item["metadata"]["name"].startswith(VICTIMS)]


@pytest.fixture
def deployed(lab):
    """An inventory in which one of them has the lab's small image, which is on its disk."""
    url = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    lab.playbook("provision", "-i", lab.inventory({VICTIMS[0]: {"bmh_image": {
        "url": url, "checksum": url + ".sha256", "checksum_type": "sha256", "format": "raw"}}}), *only(VICTIMS[0])).ok()


def test_hosts_go_when_they_are_named_once_more(lab, room, deployed):
    before = lab.hosts()
    lab.playbook("unenroll", *LIMIT).failed(
        "This wipes the disks of 2 servers (server-01, server-02). To continue, set metal3_confirm=2.")
    lab.playbook("unenroll", *LIMIT, "-e", "metal3_confirm=3").failed("expected 2. This wipes the disks of")
    assert lab.playbook("unenroll", *LIMIT, "-e", "metal3_confirm=2", "--check").ok().changed() == 2
    assert sorted(lab.hosts()) == sorted(before)
    assert not [name for name, host in lab.hosts().items() if host["metadata"].get("deletionTimestamp")]
    try:
        lab.kube.patch(HOST, NAMESPACE, VICTIMS[0], {"spec": {"consumerRef": {
            "apiVersion": "example.org/v1", "kind": "Somebody", "name": "else", "namespace": NAMESPACE}}})
        lab.playbook("unenroll", *LIMIT, "-e", "metal3_confirm=2").failed("server-01", "Somebody")
        assert sorted(lab.hosts()) == sorted(before)
        lab.kube.patch(HOST, NAMESPACE, VICTIMS[0], {"spec": {"consumerRef": None}})

        assert secrets(lab)
        assert room.server(VICTIMS[0])["power"] == "On" and any(beginning(room, VICTIMS[0]))
        console = Console(lab.dir / "machines" / VICTIMS[0] / "console.log")
        lab.playbook("unenroll", *LIMIT, "-e", "metal3_confirm=server-01,server-02").ok()
        assert sorted(set(before) - set(lab.hosts())) == sorted(VICTIMS)
        assert sorted(lab.nodes()) == sorted(lab.hosts())
        # What was deployed is wiped, then the power is cut.
        assert [room.server(name)["power"] for name in VICTIMS] == ["Off", "Off"]
        printed = [line for line in console.lines() if "execute_clean_step" in line or "power off" in line]
        assert "execute_clean_step: SUCCEEDED" in printed[-2] and printed[-1].endswith("power off"), printed
        assert not any(beginning(room, VICTIMS[0]))
        # The garbage collector takes them away, in its own time.
        eventually(lambda: not secrets(lab), 60, f"no Secret of {' and '.join(VICTIMS)}")
        assert lab.playbook("unenroll", *LIMIT, "-e", "metal3_confirm=2").ok().changed() == 0
    finally:
        if lab.host(VICTIMS[0]):
            lab.kube.patch(HOST, NAMESPACE, VICTIMS[0], {"spec": {"consumerRef": None}})
        lab.playbook("enroll").ok()
    assert [lab.state(name) for name in VICTIMS] == ["available"] * len(VICTIMS)


def beginning(room, name):
    """Return the first bytes of a server's disk: its partition table, where there is one."""
    # No digest: it would take a minute for the whole disk.
    with open(room.disk(name, "sda", length=0)["path"], "rb") as disk:
        return disk.read(1024 ** 2)

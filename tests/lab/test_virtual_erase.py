# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One disk of a virtual server is erased by Ironic and the real agent, the others keep what is on them."""
from __future__ import annotations

import pytest
from disk_marks import mark, marked
from standalone_node import StandaloneNode
from support import only
from virtual_site import BOOT_SECONDS, HTTP

pytestmark = pytest.mark.metal


@pytest.fixture(scope="module")
def inspected(lab, tmp_path_factory):
    """A node of its own for an available server, inspected; the operator has let go of the server meanwhile."""
    def attach(action):
        lab.playbook("host_action", *only(HTTP), seconds=900, extra={"host_action": action, "metal3_confirm": 1}).ok()

    attach("detach")
    node = StandaloneNode(lab, lab.servers[HTTP], tmp_path_factory.mktemp("erased"))
    try:
        node.register()
        node.act("manage")
        node.act("inspect")
        yield node
    finally:
        node.remove()
        attach("attach")
        lab.playbook("enroll", *only(HTTP), seconds=BOOT_SECONDS).ok()


@pytest.fixture(scope="module")
def erased(lab, room, inspected):
    """The path of the small disk, erased, and those of the others; something was on each."""
    last = lab.servers[HTTP]["disks"][-1]
    paths = dict((disk["name"], disk["path"]) for disk in room.server(HTTP)["disks"])
    # Nobody else is to write to a disk of a machine that runs.
    inspected.act("power_off")
    for path in paths.values():
        mark(path)
    done = inspected.act("clean", steps=[{"interface": "deploy", "step": "erase_devices"}], confirm="1",
                         only_disks={inspected.name: last["serial"]})
    assert done["provision_state"] == "manageable"
    return paths.pop(last["name"]), list(paths.values())


def test_the_disk_is_overwritten_as_a_whole(erased):
    path, _others = erased
    with open(path, "rb") as stream:
        assert not any(any(block) for block in iter(lambda: stream.read(1024 * 1024), b""))


def test_the_other_disks_keep_what_is_on_them(lab, erased):
    _path, others = erased
    assert len(others) == len(lab.servers[HTTP]["disks"]) - 1 and all(map(marked, others))


def test_the_agent_skips_no_disk_afterwards(lab, inspected, erased):
    node = lab.ironic().get_node(inspected.name)
    assert "skip_block_devices" not in node.properties

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane loses all its hosts, and Ironic with them, while the servers run on; a backup brings them back.

By the real clusterctl and the real age, into the lab's own plane; the servers' consoles say what their BMCs were asked
for.
"""
from __future__ import annotations

import re
import subprocess

import pytest
from consoles import Console
from support import HOST, NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.annotations import FOR_RESTORE, PAUSED
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move import leftovers
from ansible_collections.metal3.baremetal.plugins.module_utils._move.reading import Side

pytestmark = pytest.mark.pivot

SECONDS = 600


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    path = tmp_path_factory.mktemp("age") / "identity.txt"
    subprocess.run(["age-keygen", "-o", str(path)], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def backup(lab, identity, tmp_path_factory):
    """The path of a backup of all hosts, read again after it was written."""
    folder = tmp_path_factory.mktemp("backups")
    recipient = next(line.rpartition(" ")[2] for line in identity.read_text().splitlines() if "public key" in line)
    versions = lab.versions()
    run = lab.playbook("backup", extra={"backup_directory": str(folder), "backup_recipients": [recipient],
                                        "backup_identity_file": str(identity)}, seconds=SECONDS).ok()
    assert "read again: True" in run.output and lab.versions() == versions
    assert re.search(r"restored into an API server that lived for it: [1-9]", " ".join(run.output.split())), run.output
    path, = folder.iterdir()
    assert b"BareMetalHost" not in path.read_bytes() and path.stat().st_mode & 0o777 == 0o600
    return path


@pytest.fixture
def variables(backup, identity):
    return {"restore_path": str(backup), "restore_identity_file": str(identity)}


def facts(lab):
    return dict((name, (host["status"]["provisioning"]["state"], host["status"]["operationalStatus"],
                        host["status"].get("poweredOn"), sorted(host["spec"]))) for name, host in lab.hosts().items())


def lose(lab, *names):
    """Take hosts out of the plane and of Ironic, as when the plane was lost; the operator does nothing about it."""
    for name in names:
        lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {PAUSED: "lost"}}})
    side = Side(lab.kube, NAMESPACE)
    graph = side.graph()
    gone = set(host["metadata"]["uid"] for host in graph.of("BareMetalHost") if host["metadata"]["name"] in names)
    due = [obj for obj in graph.moved if obj["metadata"]["uid"] in gone or obj["metadata"]["name"] in names or any(
        owner["uid"] in gone for owner in obj["metadata"].get("ownerReferences") or [])]
    leftovers.remove(side, reversed(due), Progress(None))
    for name, node in lab.nodes().items():
        if name in names:
            lab.ironic().set_node_maintenance(node.id, reason="lost")
            lab.ironic().delete_node(node.id)


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
    assert not [line for console in consoles for line in console.lines() if re.search(r"BMC: (reset|boot)", line)]
    assert run.changed() == 1 and lab.playbook("restore", extra=variables, seconds=SECONDS).ok().changed() == 0
    assert len(lab.kube.list(KNOWN["HardwareData"], NAMESPACE)[0]) == len(names)


def test_a_server_that_was_switched_meanwhile_must_be_named(lab, variables, room):
    name = next(name for name, host in sorted(lab.hosts().items())
                if host["status"]["provisioning"]["state"] == "provisioned")
    lose(lab, name)
    room.power(name, "power_off")
    eventually(lambda: room.server(name)["power"] == "Off", 60, "the server is off")
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1), seconds=SECONDS).failed(
        f"BareMetalHost {name}", "its server would be powered off or on: its server is off now")
    assert lab.host(name) is None
    lab.playbook("restore", extra=dict(variables, metal3_confirm=1, restore_accept=[name]), seconds=SECONDS).ok()
    assert lab.state(name) == "provisioned"

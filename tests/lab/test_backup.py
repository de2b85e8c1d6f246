# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane loses all its hosts, and Ironic with them, while the servers run on; a backup brings them back.

By the real clusterctl and the real age, into the lab's own plane; the servers' consoles say what their BMCs were asked
for.
"""
from __future__ import annotations

import re

import pytest
from consoles import Console
from lost_plane import SECONDS, back_up, lose, new_identity
from support import NAMESPACE, eventually

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

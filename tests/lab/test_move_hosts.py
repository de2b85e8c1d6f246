# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of the lab go to a bootstrap plane beside it, one of them with a system, and come back."""
from __future__ import annotations

import json

import pytest
from bootstrap_site import PROGRAMS, SERVER, Site
from lost_plane import back_up, new_identity
from support import HOST, INVENTORY, NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans

pytestmark = pytest.mark.pivot

# Provisioned by the lab's inventory.
DEPLOYED = "server-03"
MOVED = (SERVER, DEPLOYED)


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """A plane with all parts and no host."""
    found = Site(lab, tmp_path_factory.mktemp("site"))
    found.playbook("install").ok()
    yield found
    found.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS}")
    if found.dir.exists():
        orphans.stop_processes(str(found.dir))


@pytest.fixture(scope="module", autouse=True)
def backup(lab, tmp_path_factory):
    """The variables of a restore from before any host moves."""
    identity = new_identity(tmp_path_factory.mktemp("age"))
    return {"restore_path": str(back_up(lab, tmp_path_factory.mktemp("backups"), identity)),
            "restore_identity_file": str(identity)}


@pytest.fixture(scope="module")
def before(lab, room):
    """What of the hosts must not change: their status, and each server's boots and BMC's requests to switch."""
    assert lab.state(DEPLOYED) == "provisioned" and lab.state(SERVER) == "available"
    return dict((name, facts(lab.kube, room, name)) for name in MOVED)


def facts(kube, room, name):
    host, server = kube.get(HOST, NAMESPACE, name), room.server(name)
    status = host["status"]
    return {"spec": host["spec"], "state": status["provisioning"]["state"], "powered_on": status["poweredOn"],
            "image": status["provisioning"].get("image"), "hardware": status["hardware"]["systemVendor"],
            "error": status.get("errorType"), "boots": server["boots"], "power": server["power"],
            "switched": [line for line in room.console(name, 2000) if "BMC: reset" in line]}


def move(lab, site, *arguments, back=False):
    """Run the playbook on the inventory of the lab, whose plane is the one that lets go unless ``back``."""
    kubeconfigs = [str(lab.dir / "kubeconfig"), str(site.dir / "kubeconfig")]
    here, there = reversed(kubeconfigs) if back else kubeconfigs
    return lab.start("move_hosts", *only(*MOVED), *arguments, inventory=INVENTORY, extra={
        "pivot_kubeconfig": here, "pivot_to_kubeconfig": there, "pivot_reach_from": "here"})


def nodes(lab):
    return set(node.name for node in lab.ironic().nodes())


def test_check_mode_names_each_host_and_writes_nothing(lab, site, before):
    run = move(lab, site, "--check", "--diff").finish(120).ok()
    assert run.changed() == 1 and all(f"BareMetalHost {name}" in run.output for name in MOVED)
    assert "set metal3_confirm=2" in run.output
    assert site.kube().list(HOST, NAMESPACE)[0] == []


def test_the_number_is_asked_for(lab, site, before):
    move(lab, site).finish(120).failed("metal3_confirm=2")
    assert site.kube().list(HOST, NAMESPACE)[0] == []


def test_a_host_with_another_use_is_refused_with_all_others(lab, site, before):
    body = {"metadata": {"annotations": {host_annotations.PAUSED: "mine"}}}
    lab.kube.patch(HOST, NAMESPACE, SERVER, body)
    try:
        move(lab, site, "-e", "metal3_confirm=2").finish(120).failed(f"BareMetalHost {SERVER}", "expected not paused")
    finally:
        body["metadata"]["annotations"][host_annotations.PAUSED] = None
        lab.kube.patch(HOST, NAMESPACE, SERVER, body)
    assert host_annotations.DETACHED not in host_annotations.of(lab.host(DEPLOYED))


def test_runs_that_are_killed_are_finished_by_the_next(lab, site, room, before):
    running = move(lab, site, "-e", "metal3_confirm=2")
    eventually(lambda: host_annotations.DETACHED in host_annotations.of(lab.host(DEPLOYED)), 120,
               "the first is detached")
    running.kill()
    running = move(lab, site, "-e", "metal3_confirm=2")
    eventually(lambda: site.kube().list(HOST, NAMESPACE)[0], 120, "the first host over there")
    running.kill()
    run = move(lab, site, "-e", "metal3_confirm=2").finish(300).ok()
    assert run.changed() == 1
    assert [name for name in MOVED if lab.host(name)] == []
    assert nodes(lab).isdisjoint(f"{NAMESPACE}~{name}" for name in MOVED)
    for name in MOVED:
        assert facts(site.kube(), room, name) == before[name]
        assert host_annotations.of(site.kube().get(HOST, NAMESPACE, name)).keys().isdisjoint(
            [host_annotations.PAUSED, host_annotations.DETACHED, host_annotations.STATUS, host_annotations.FROM_PLANE])
    assert move(lab, site).finish(120).ok().changed() == 0


def test_a_host_that_has_left_is_not_enrolled_again(lab, site, room, before):
    lab.playbook("enroll", *only(SERVER)).failed(f'"{SERVER}", given to the plane of https://127.0.0.1:', "move_hosts")
    assert lab.host(SERVER) is None and facts(site.kube(), room, SERVER) == before[SERVER]


def test_a_backup_of_before_they_left_does_not_bring_them_back_unnamed(lab, site, room, before, backup):
    lab.playbook("restore", extra=dict(backup, metal3_confirm=len(MOVED))).failed(*(
        text for name in MOVED for text in (f"BareMetalHost {name}", "its server would be managed by two planes")))
    for name in MOVED:
        assert lab.host(name) is None and facts(site.kube(), room, name) == before[name]


def test_they_come_back_as_they_went(lab, site, room, before):
    run = move(lab, site, "-e", "metal3_confirm=2", back=True).finish(300).ok()
    assert run.changed() == 1 and site.kube().list(HOST, NAMESPACE)[0] == []
    for name in MOVED:
        assert facts(lab.kube, room, name) == before[name], json.dumps(facts(lab.kube, room, name), indent=1)
    assert nodes(lab) >= set(f"{NAMESPACE}~{name}" for name in MOVED)
    again = lab.playbook("enroll", *only(*MOVED)).ok()
    assert again.changed() == 0, again.output

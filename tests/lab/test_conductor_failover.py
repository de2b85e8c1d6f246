# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic as several processes: a conductor is killed in the middle of a deployment, and what that costs is printed.

The lab runs with LAB_IRONIC_PROCESSES=separate and two conductors.
"""
from __future__ import annotations

import functools
import os
import time
from pathlib import Path

import lab_supervisor
import pytest
from keystoneauth1.exceptions import ClientException
from openstack.exceptions import SDKException
from processes import kill_tree
from support import eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.ironic_rpc import conductor_addresses

pytestmark = pytest.mark.scale

# Long enough to be found with the power on its way.
SLOW_POWER_SECONDS = 15
SECONDS = 900


@pytest.fixture(scope="module")
def supervise(lab):
    """Let the lab's supervisor do something."""
    return functools.partial(lab_supervisor.control, lab)


def conductors(lab):
    """Return ``{conductor: program}``; Ironic names a conductor by its address."""
    addresses = conductor_addresses(lab.figures["ports"]["etcd_client"])[:2]
    return dict((address, f"ironic-conductor-{number}") for number, address in enumerate(addresses, 1))


def alive(lab):
    """Return the conductors that Ironic counts on."""
    return sorted(one.hostname for one in lab.ironic().conductors() if one.alive)


def conductor_of(lab, node):
    """Return the conductor that is responsible for a node."""
    return lab.ironic().get("/nodes/" + node.id, microversion="1.49").json()["conductor"]


def by_conductor(lab):
    """Return ``{conductor: [server]}`` of the available servers."""
    found = dict((name, []) for name in conductors(lab))
    for name, node in lab.nodes().items():
        if lab.state(name) == "available":
            found[conductor_of(lab, node)].append(name)
    return found


def status_of(lab, name):
    return lab.host(name).get("status") or {}


@pytest.fixture
def deployment(lab, room):
    """Start to provision servers; at the end they are available again, and both conductors are there."""
    url = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    image = {"url": url, "format": "raw", "checksum": url + ".sha256", "checksum_type": "sha256"}
    used = []

    def start(*names):
        used.extend(names)
        inventory = lab.inventory(dict((name, {"bmh_image": image}) for name in names))
        # BMO gets over what a lost conductor has cost by itself: an error on the way does not end the run.
        return lab.start("provision", "-i", inventory, *only(*names), "-e", '{"hosts_error_limit": 10}')

    yield start
    for name in used:
        room.clear_knobs(name)
    eventually(lambda: alive(lab) == sorted(conductors(lab)), 180, "both conductors")
    inventory = lab.inventory(dict((name, {"bmh_image": image}) for name in used))
    lab.playbook("deprovision_hosts", "-i", inventory, *only(*used), "-e", f"metal3_confirm={len(used)}",
                 seconds=SECONDS).ok()


def test_the_servers_are_divided_among_two_conductors(lab):
    assert alive(lab) == sorted(conductors(lab))
    assert lab.pid("mariadb") and lab.pid("ironic-api") and "ironic" not in lab.parts()
    shares = by_conductor(lab)
    print("servers of each conductor:", dict((name, len(servers)) for name, servers in shares.items()))
    assert all(shares.values()), shares
    assert not list((lab.dir / "ironic").glob("ironic.db*"))


def test_the_database_lets_nobody_else_in(lab):
    assert (lab.dir / "mariadb").stat().st_mode & 0o777 == 0o700
    for path in Path("/proc").glob(f"{lab.pid('mariadb')}/net/tcp"):
        inodes = {os.readlink(link) for link in Path(f"/proc/{lab.pid('mariadb')}/fd").iterdir() if link.is_symlink()}
        listening = [line for line in path.read_text().splitlines()[1:] if f"socket:[{line.split()[9]}]" in inodes]
        assert not listening


def test_a_conductor_that_is_killed_while_it_deploys_costs_at_most_an_attempt(lab, room, deployment):
    shares = by_conductor(lab)
    conductor, (server, *_rest) = sorted(shares.items(), key=lambda pair: len(pair[1]))[0]
    bystander = next(servers for name, servers in shares.items() if name != conductor)[0]
    room.set_knobs(server, slow_power=SLOW_POWER_SECONDS)
    run = deployment(server, bystander)

    def at_work():
        node = lab.nodes()[server]
        return node.provision_state == "deploying" and node.reservation == conductor

    eventually(at_work, 300, f"{server} is being deployed by {conductor}", interval_seconds=0.1)
    began = time.monotonic()
    program = conductors(lab)[conductor]
    # With its worker, which would outlive it for a while and go on.
    kill_tree(lab.pid(program))
    room.clear_knobs(server)
    # The moment decides what is lost: a step that it has locked, or nothing when the agent has got its command.
    lost = {}

    def over():
        node, host = lab.nodes()[server], status_of(lab, server)
        for what, text in (("Ironic", node.last_error), ("the operator", host.get("errorMessage"))):
            if text and what not in lost:
                lost[what] = text
                print(f"{what} reports after {time.monotonic() - began:.1f} s: {text[:300]}")
        return node.provision_state == "active"

    # The API asks a conductor that is gone until the others no longer count on it.
    eventually(over, SECONDS, f"{server} is deployed", not_yet=(SDKException, ClientException))
    print(f"{server} is deployed {time.monotonic() - began:.1f} s after the kill; lost: {sorted(lost) or 'nothing'}")
    run.finish(SECONDS).ok()
    print(f"both servers are provisioned {time.monotonic() - began:.1f} s after the kill")
    assert [lab.state(name) for name in (server, bystander)] == ["provisioned"] * 2
    # What the other conductor worked on did not notice.
    assert not status_of(lab, bystander).get("errorCount")
    assert not status_of(lab, server).get("errorMessage")


def test_a_conductor_that_does_not_come_back_is_replaced_by_the_other(lab, room, supervise, deployment):
    shares = by_conductor(lab)
    conductor, (server, *_rest) = sorted(shares.items(), key=lambda pair: len(pair[1]))[0]
    survivor = next(name for name in shares if name != conductor)
    # The agent writes the image meanwhile, and no conductor has the node locked.
    room.set_knobs(server, slow_download=1)
    run = deployment(server)
    eventually(lambda: lab.nodes()[server].provision_state == "wait call-back"
               and lab.nodes()[server].deploy_step.get("step") == "write_image", 300,
               f"{server} writes its image", interval_seconds=0.1)
    program = conductors(lab)[conductor]
    began = time.monotonic()
    try:
        kill_tree(lab.pid(program))
        supervise("stop", program)
        eventually(lambda: alive(lab) == [survivor], 180, "the killed conductor is no longer counted on")
        print(f"no longer counted on after {time.monotonic() - began:.1f} s")
        eventually(lambda: conductor_of(lab, lab.nodes()[server]) == survivor, 180, "the other one is responsible")
        print(f"the other one is responsible after {time.monotonic() - began:.1f} s")
        room.clear_knobs(server)
        run.finish(SECONDS).ok()
        print(f"{server} is provisioned {time.monotonic() - began:.1f} s after the kill, error count "
              f"{status_of(lab, server).get('errorCount', 0)}")
        assert lab.state(server) == "provisioned"
    finally:
        supervise("start", program)


def test_hosts_survive_the_change_to_one_process_and_back(lab):
    before = dict((name, (lab.host(name)["metadata"]["uid"], lab.state(name))) for name in lab.servers)
    for way in ("combined", "separate"):
        lab.make("lab", "LAB=" + lab.name, environment={"LAB_IRONIC_PROCESSES": way}, seconds=SECONDS).ok()
        programs = lab.parts()
        assert ("ironic" in programs) == (way == "combined") and ("mariadb" in programs) == (way == "separate")
        eventually(lambda: sorted(lab.nodes()) == sorted(lab.servers), 300, "all hosts are registered again")
        eventually(lambda: before == dict(
            (name, (lab.host(name)["metadata"]["uid"], lab.state(name))) for name in lab.servers)
            and not any(status_of(lab, name).get("errorMessage") for name in lab.servers), 600,
            "all hosts are what they were")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's database is deleted under hosts in every state: what runs is left alone, the rest finds its way again."""
from __future__ import annotations

import functools
import subprocess
import sys

import lab_supervisor
import pytest
from keystoneauth1.exceptions import ClientException
from openstack.exceptions import SDKException
from support import REPOSITORY, eventually, only

pytestmark = pytest.mark.long

PROVISIONED, AVAILABLE, INSPECTING, EXTERNAL = "server-03", "server-01", "server-02", "server-04"
EXTERNALLY = ("-e", "bmh_externally_provisioned=true")
STATES = {PROVISIONED: "provisioned", AVAILABLE: "available", INSPECTING: "available",
          EXTERNAL: "externally provisioned"}


@pytest.fixture(scope="module")
def services():
    """The folder of the programs of the lab's services."""
    return lab_supervisor.services()


@pytest.fixture
def supervise(lab):
    """Let the lab's supervisor do something; at the end all runs again."""
    control = functools.partial(lab_supervisor.control, lab)
    yield control
    # It refuses to start what runs.
    control("start", "ironic", "bmo", check=False)


@pytest.fixture
def lose_database(lab, services, supervise):
    """Stop Ironic, take its database away and start it with an empty one, as a restarted container does."""
    def lose():
        supervise("stop", "ironic")
        for name in ("database-schema", "ironic.db", "ironic.db-shm", "ironic.db-wal"):
            (lab.dir / "ironic" / name).unlink(missing_ok=True)
        made = subprocess.run(
            [sys.executable, str(REPOSITORY / "roles" / "ironic" / "files" / "database.py"),
             str(services / "ironic-dbsync"), str(lab.dir / "ironic" / "ironic.conf"), str(lab.dir / "ironic")],
            check=True, capture_output=True, text=True).stdout
        assert made.strip() == "made"
        supervise("start", "ironic")
        # Its first answer comes seconds after its start.
        eventually(lambda: list(lab.ironic().drivers()), 120, "Ironic with a conductor",
                   not_yet=(SDKException, ClientException))

    return lose


@pytest.fixture
def external(lab, room):
    """A host whose system somebody else has put there; at the end it is one like the others."""
    # The server runs on meanwhile.
    lab.playbook("unenroll", *only(EXTERNAL), "-e", "metal3_confirm=1", "-e", "hosts_remove_by=detach").ok()
    lab.playbook("enroll", *only(EXTERNAL), *EXTERNALLY).ok()
    assert room.server(EXTERNAL)["power"] == "On"
    yield EXTERNAL
    lab.remove_hosts(EXTERNAL)
    lab.playbook("enroll", *only(EXTERNAL)).ok()


@pytest.fixture
def inspecting(lab, room):
    """A host that waits for an agent that never calls."""
    lab.remove_hosts(INSPECTING)
    room.set_knobs(INSPECTING, agent_never_calls_back=True)
    run = lab.start("enroll", *only(INSPECTING))
    eventually(lambda: INSPECTING in lab.nodes() and lab.nodes()[INSPECTING].provision_state == "inspect wait", 120,
               "inspect wait")
    yield run
    room.clear_knobs(INSPECTING)


def servers_untouched(room, *names):
    """Return what the machine room knows of servers that nobody has switched or booted, and of their disks."""
    return dict((name, (room.server(name)["boots"], room.server(name)["power"],
                        [line for line in room.console(name, 1000) if "BMC:" in line],
                        room.disk(name, "sda", length=64 * 1024 * 1024)["digest"])) for name in names)


def audit(lab):
    return lab.playbook("ironic_audit", extra={
        "ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml"),
        "ironic_audit_kubeconfig": str(lab.dir / "kubeconfig")})


def test_hosts_survive_the_loss_of_ironics_database(lab, room, external, inspecting, lose_database, supervise):
    before = servers_untouched(room, PROVISIONED, external)
    ids = dict((name, lab.nodes()[name].id) for name in STATES)
    ports = {port.address for port in lab.ironic().ports()}
    boot_macs = {host["spec"]["bootMACAddress"] for host in lab.hosts().values()}
    room.clear_knobs(INSPECTING)
    # It would register the hosts again before anybody can look.
    supervise("stop", "bmo")
    lose_database()
    audit(lab).failed("Ironic's database was lost or emptied", "the operator registers all hosts again",
                      "delete nothing", "4 of 4 BareMetalHosts")
    supervise("start", "bmo")

    def settled():
        hosts = lab.hosts()
        found = dict((name, hosts[name]["status"]["provisioning"]["state"]) for name in STATES)
        return found == STATES and all(
            hosts[name]["status"]["provisioning"]["ID"] != ids[name] and name in lab.nodes()
            and hosts[name]["status"]["operationalStatus"] == "OK" for name in STATES)
    eventually(settled, 300, "all hosts registered again", 1)
    inspecting.finish(300).ok()
    found = dict((name, node.provision_state) for name, node in lab.nodes().items())
    # The operator provides a node only when it is to be deployed.
    assert found == {PROVISIONED: "active", EXTERNAL: "active", AVAILABLE: "manageable", INSPECTING: "manageable"}
    # Neither switched nor booted nor written to.
    assert servers_untouched(room, PROVISIONED, external) == before
    # The operator registers the network card that a server boots from; only an inspection finds the others.
    assert boot_macs <= {port.address for port in lab.ironic().ports()} <= ports
    audit(lab).ok()
    assert lab.playbook("enroll", *only(PROVISIONED, AVAILABLE, INSPECTING)).ok().changed() == 0
    assert lab.playbook("enroll", *only(EXTERNAL), *EXTERNALLY).ok().changed() == 0

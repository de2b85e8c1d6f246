# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The address of the provisioning network and DHCP move with the management, from a site's machine into a cluster.

The machine runs the bootstrap plane under systemd, whose address keepalived holds, and lends addresses. The Ironic in
the cluster waits without a pod, for the same address and with DHCP of its own.
"""
from __future__ import annotations

import concurrent.futures
import ssl
import urllib.request

import background
import dhcp_client
import plane_site
import pytest
from moving_site import SECONDS, UNITS, Machine, Objects, Site
from plane_operator import PROGRAMS
from support import HOST, NAMESPACE, eventually, only
from watching import Untouched, facts

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.pivot]

IRONIC = ("baremetal-operator-system", "ironic")


@pytest.fixture(scope="module")
def servers(lab, kubeconfig):
    """Two servers that the lab's own plane lets go: name → their variables for the plane in the cluster."""
    with plane_site.two_let_go(lab, kubeconfig, SECONDS) as found:
        yield found


@pytest.fixture(scope="module")
def there(lab, kubeconfig, tmp_path_factory):
    """The variables of the plane in the cluster, whose Ironic waits."""
    return dict(
        plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"), plane_site.held(lab)),
        ironic_keepalived=True, ironic_provisioning_interface="eno1", ironic_standby=True,
        ironic_dhcp_range=",".join(plane_site.lent(lab)),
        ironic_gateway_ip=plane_site.bridge(lab))


@pytest.fixture(scope="module")
def installed(lab, there):
    lab.playbook("install", extra=there, seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def machine(lab, servers, installed, tmp_path_factory):
    with Machine(tmp_path_factory.mktemp("machine"), lab) as found:
        found.start()
        yield found


@pytest.fixture(scope="module")
def site(lab, machine, servers, kubeconfig):
    """The machine's plane, with both servers available; after its description alone, as ``site`` would begin."""
    found = Site(lab, machine, list(servers))
    found.playbook("provisioning_network")
    found.playbook("install")
    found.playbook("enroll")
    return found


@pytest.fixture(scope="module")
def here(site):
    return Objects(site)


@pytest.fixture(scope="module")
def forth(kubeconfig, servers):
    """The variables of the playbook pivot."""
    return {"pivot_to_kubeconfig": str(kubeconfig), "metal3_confirm": len(servers)}


def pods(target):
    """Return how many pods the Ironic in the cluster is to have."""
    return target.get(KNOWN["Deployment"], *IRONIC)["spec"]["replicas"]


def answers(lab):
    """Return whether an Ironic answers at the address of the provisioning network."""
    context = ssl.create_default_context(cafile=str(lab.dir / "pki" / "ca.crt"))
    try:
        with urllib.request.urlopen(f"https://{plane_site.held(lab)}:6385/", timeout=2, context=context) as found:
            return found.status == 200
    except OSError:
        return False


def test_a_plan_says_what_moves_with_ironic(lab, site, machine, target, forth):
    run = site.playbook("pivot", "--check", "--diff", **forth)
    run.says(f"it is started when the former one has stopped; address {site.held} and DHCP move with it")
    assert machine.active() == list(UNITS) and site.held in machine.addresses() and pods(target) == 0
    assert answers(lab)


def test_a_move_that_is_killed_after_the_address_was_let_go_is_taken_back_with_it(
        lab, site, machine, target, here, forth):
    before, touched = facts(here), Untouched(lab)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(site.playbook, "pivot", fails=True, **forth)
        eventually(lambda: machine.active() == [] or running.done(), SECONDS, "the services stopped", 0.05)
        # In the pattern what the pattern does not match, for it is in the command line of pkill's own parent, too.
        machine.run("pkill", "-KILL", "-f", "metal3[.]baremetal.pivot")
        print(running.result(60))
    assert site.held not in machine.addresses() and target.list(HOST, NAMESPACE)[0] == []
    back = dict(forth, pivot_state="undone")
    site.playbook("pivot", fails=True, **back).says("start it by the playbook install with --tags ironic")
    eventually(lambda: site.held in machine.addresses(), 30, "the address is held here again")
    assert machine.active() == list(UNITS) and pods(target) == 0
    site.playbook("install", "--tags", "ironic")
    site.playbook("pivot", **back)
    assert facts(here) == before and touched.resets() == {} and answers(lab)
    assert site.playbook("provisioning_network").changed() == 0


def test_address_and_dhcp_go_with_the_hosts_and_never_two_lend_addresses(
        lab, site, machine, target, here, forth, servers):
    before, touched, offered = facts(here), Untouched(lab), []
    mac = lab.servers[next(iter(servers))]["boot_mac"]

    def ask_until(ended):
        while not ended.is_set():
            offered.append(sorted(offer["server"] for offer in ask(mac=mac, architecture=7)))

    with dhcp_client.asking(lab) as ask, background.running("dhcp", ask_until, join_seconds=60):
        print(site.playbook("pivot", **forth))
        eventually(lambda: offered[-1:] == [[plane_site.node_address(target)]], 60, "DHCP over there")
    own = site.variables["provisioning_network_addresses"][0].partition("/")[0]
    assert offered[0] == [own], offered
    assert all(len(found) < 2 for found in offered), offered
    assert facts(target) == before and facts(here).hosts == {}
    assert touched.resets() == {}
    assert machine.active() == [] and machine.addresses() == [own]
    assert pods(target) == 1 and answers(lab)
    assert site.playbook("pivot", **forth).changed() == 0


def test_the_machine_takes_nothing_back_by_itself(lab, site, machine):
    """Neither when it is restarted nor by the playbook whose variables still describe both."""
    machine.power_off()
    machine.start()
    run = site.playbook("provisioning_network")
    run.says("Left to the plane that has taken it over by a pivot: dhcp, address")
    assert run.changed() == 0 and machine.active() == []
    assert site.held not in machine.addresses() and answers(lab)


def test_a_server_is_provisioned_by_the_ironic_that_has_the_address_now(lab, target, servers):
    name, variables = next(iter(servers.items()))
    lab.playbook("provision", *only(name), extra=variables, seconds=SECONDS).ok()
    assert target.get(HOST, NAMESPACE, name)["status"]["provisioning"]["state"] == "provisioned"


def test_all_goes_again(lab, site, target, servers, there):
    shared = dict(next(iter(servers.values())))
    del shared["bmc_address"], shared["bmh_image"]
    lab.playbook("unenroll", *only(*servers), extra=dict(shared, metal3_confirm=len(servers)), seconds=SECONDS).ok()
    # The move has taken Ironic out of the plane.
    site.playbook("uninstall", "-e", f"metal3_confirm={PROGRAMS - 1}")
    lab.playbook("uninstall", extra=dict(there, metal3_confirm=len(plane_site.PARTS)), seconds=SECONDS).ok()
    assert not plane_site.definitions(target)

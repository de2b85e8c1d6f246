# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of one machine whose endpoint is the address that DHCP keeps for its server: ``holder: none``.

It needs the server that boots by virtual media, available, which becomes the cluster's machine and is given back.
"""
from __future__ import annotations

import pytest
import small_cluster
import virtual_cluster
from consoles import Console
from starting_state import CLUSTER
from support import NAMESPACE
from virtual_cluster import IN_LAB, SLOW, is_ready, restart
from virtual_site import BOOT_SECONDS, HTTP, MEDIA, cards
from workload import Workload

pytestmark = pytest.mark.metal

NAME = "reserved"
SELECTED = {"example.org/endpoint": "kept"}


@pytest.fixture(scope="module")
def labelled(lab):
    """The server with a label, and a disk that is large enough chosen."""
    with virtual_cluster.labelled(lab, MEDIA, 0, SELECTED):
        yield


@pytest.fixture(scope="module")
def address(lab):
    """What DHCP lends to the server, and to it alone."""
    return lab.servers[MEDIA]["nics"][0]["address"]


@pytest.fixture(scope="module")
def variables(lab, labelled, address):
    """The cluster's description; what DHCP lends is as the lab has configured it."""
    nics = [server["nics"][0] for server in lab.servers.values()]
    (card, _mac, _address), = cards(lab.host(MEDIA)["status"]["hardware"])
    return {
        "cluster_name": NAME, "cluster_workload_kubeconfig": str(lab.dir / "kubeconfigs" / NAME),
        "cluster_endpoint": {"host": address, "holder": "none"},
        "cluster_networks": {"nodes": {"interface": card, "ipv4": {
            "mode": "dhcp", "dns_servers": [lab.figures["bridge"]["address"].partition("/")[0]]}}},
        "cluster_control_plane": dict(SLOW, replicas=1, host_selector=SELECTED), "cluster_workers": {},
        "cluster_node_startup_timeout_seconds": 1800,
        "cluster_dhcp": {"ranges": [{"first": nics[0]["address"], "last": nics[-1]["address"]}],
                         "hosts": [{"mac": nic["mac"], "addresses": [nic["address"]]} for nic in nics]}}


@pytest.mark.parametrize("wrong", ["kept for nobody", "kept for another", "selects another"])
def test_an_address_that_the_machine_would_not_get_is_named_and_nothing_is_written(lab, variables, address, wrong):
    changes, texts = {
        "kept for nobody": (
            {"cluster_dhcp": dict(variables["cluster_dhcp"], hosts=[])},
            [f"found {address}, which DHCP may lend to any server", "or lends to nobody"]),
        "kept for another": (
            {"cluster_endpoint": {"host": lab.servers[HTTP]["nics"][0]["address"], "holder": "none"}},
            [f"which DHCP keeps for {lab.servers[HTTP]['boot_mac']}",
             f"BareMetalHost {HTTP}, which the control plane does not select"]),
        "selects another": (
            {"cluster_control_plane": dict(SLOW, replicas=1)},
            ["host_selector: found", f"expected {MEDIA} alone, for which DHCP keeps the endpoint's address {address}"]),
    }[wrong]
    before = lab.versions()
    lab.playbook("cluster", extra=dict(variables, **changes), environment=IN_LAB, seconds=300).failed(*texts)
    assert lab.kube.get(CLUSTER, NAMESPACE, NAME) is None and lab.versions() == before


@pytest.fixture(scope="module")
def created(lab, variables):
    """The cluster, available, and what the DHCP server wrote meanwhile; the server is available again afterwards."""
    console = Console(lab.dir / "log" / "dhcp.log")
    try:
        lab.playbook("cluster", extra=variables, environment=IN_LAB, seconds=BOOT_SECONDS).ok()
        yield Workload(lab, NAME, variables["cluster_workload_kubeconfig"]), console.lines()
    finally:
        lab.playbook("teardown", extra=dict(variables, **small_cluster.teardown(NAME)), environment=IN_LAB,
                     seconds=BOOT_SECONDS).ok()


def test_the_machine_has_the_address_from_dhcp_and_answers_by_it(lab, created, address):
    workload, lent = created
    assert any(f"DHCPACK({lab.figures['bridge']['name']}) {address} {lab.servers[MEDIA]['boot_mac']}" in line
               for line in lent)
    assert workload.client.server == f"https://{address}:6443"
    assert workload.address(control_plane=True) == address
    assert is_ready(lab, workload)
    cluster = lab.kube.get(CLUSTER, NAMESPACE, NAME)
    assert cluster["spec"]["controlPlaneEndpoint"] == {"host": address, "port": 6443}


def test_a_second_run_changes_nothing(lab, created, variables):
    assert lab.playbook("cluster", extra=variables, environment=IN_LAB, seconds=900).ok().changed() == 0


def test_the_endpoint_is_there_again_after_a_restart(lab, created):
    workload, _lent = created
    restart(lab, workload, MEDIA)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of one machine whose nodes' network, the endpoint's too, is a VLAN on a bond of two cards, by real kernels.

It needs the server with several cards, available, which becomes the cluster's machine and is given back.
"""
from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import served_image
import small_cluster
import virtual_cluster
import vlan_link
import vlan_probe
from starting_state import CLUSTER
from support import NAMESPACE, REPOSITORY, module
from virtual_cluster import IN_LAB, SLOW, is_ready, kubectl, restart
from virtual_site import BOOT_SECONDS, HTTP
from workload import Workload

pytestmark = pytest.mark.metal

NAME, VLAN_ID = "tagged", 100
# As cloud-init names them.
BOND, VLAN = "bond0", f"bond0.{VLAN_ID}"
# In the lab's range of addresses, of which no lab has the end.
PREFIX = "198.19.255"
ROUTER, ENDPOINT = f"{PREFIX}.1", f"{PREFIX}.10"
ADDRESSES = {"start": f"{PREFIX}.20", "end": f"{PREFIX}.29"}
SELECTED = {"example.org/cables": "bonded"}


@pytest.fixture(scope="module")
def router(lab):
    """The management's own address in the VLAN, which is the nodes' gateway."""
    with vlan_link.joined(lab.figures["bridge"]["name"], VLAN_ID, f"m3vlan{lab.figures['index']}", f"{ROUTER}/24"):
        yield


@pytest.fixture(scope="module")
def labelled(lab):
    """The server with a label, and a disk that is large enough chosen."""
    with virtual_cluster.labelled(lab, HTTP, 1, SELECTED):
        yield


@pytest.fixture(scope="module")
def image(lab, tmp_path_factory):
    """The lab's node image with netplan: for networkd alone Debian's cloud-init renders neither bonds nor VLANs."""
    source = tmp_path_factory.mktemp("recipe") / "node_image"
    shutil.copytree(REPOSITORY / "lab" / "node_image", source)
    with (source / "packages.txt").open("a") as stream:
        stream.write("netplan.io\n")
    made = module("lab_node_image", within_seconds=BOOT_SECONDS, source_dir=str(source),
                  engine_dir=lab.figures["engine_dir"], cache_dir=lab.figures["cache_dir"],
                  addons_source_dir=str(REPOSITORY / "lab" / "engine" / "addons"))
    return served_image.linked(lab, made["image_dir"], "bonds.qcow2")


@pytest.fixture(scope="module")
def cards(lab, labelled):
    """The names of two cards that the server does not boot from, as its inspection has found them."""
    names = {nic["mac"]: nic["name"] for nic in lab.host(HTTP)["status"]["hardware"]["nics"]}
    return [names[nic["mac"]] for nic in lab.servers[HTTP]["nics"][1:3]]


@pytest.fixture(scope="module")
def variables(lab, image, cards):
    """The cluster's description."""
    return {
        "cluster_name": NAME, "cluster_workload_kubeconfig": str(lab.dir / "kubeconfigs" / NAME),
        "cluster_endpoint": {"host": ENDPOINT, "holder": "keepalived"}, "cluster_image": image,
        "cluster_networks": {
            "cables": {"bond": {"mode": "active-backup", "interfaces": cards, "parameters": {"miimon": 100}},
                       "link_name": BOND},
            "nodes": {"vlan": {"id": VLAN_ID, "network": "cables"}, "ipv4": {
                "ranges": [ADDRESSES], "prefix": 24, "gateway": ROUTER, "dns_servers": [ROUTER]}}},
        "cluster_options": dict(small_cluster.labs_options(), supported_links=["ethernet", "bond", "vlan"]),
        "cluster_control_plane": dict(SLOW, replicas=1, host_selector=SELECTED), "cluster_workers": {},
        "cluster_node_startup_timeout_seconds": 1800}


@pytest.mark.parametrize("wrong", ["cable", "MTU", "site"])
def test_a_network_that_the_cables_cannot_carry_is_named_and_nothing_is_written(lab, router, variables, cards, wrong):
    networks, options = variables["cluster_networks"], variables["cluster_options"]
    changes, texts = {
        "cable": ({"cluster_networks": dict(networks, cables=dict(
            networks["cables"], bond=dict(networks["cables"]["bond"], interfaces=[cards[0], "eno9"])))}, ["eno9"]),
        "MTU": ({"cluster_networks": dict(networks, nodes=dict(networks["nodes"], mtu=9000))}, ["9000", "1500"]),
        "site": ({"cluster_options": dict(options, supported_links=["ethernet"])}, ["supported_links"]),
    }[wrong]
    before = lab.versions()
    lab.playbook("cluster", extra=dict(variables, **changes), environment=IN_LAB, seconds=300).failed(*texts)
    assert lab.kube.get(CLUSTER, NAMESPACE, NAME) is None and lab.versions() == before


@pytest.fixture(scope="module")
def created(lab, router, variables):
    """The cluster, available, and who was heard in which VLAN meanwhile; the server is available again afterwards."""
    try:
        with vlan_probe.hearing(lab.figures["bridge"]["name"]) as heard:
            lab.playbook("cluster", extra=variables, environment=IN_LAB, seconds=BOOT_SECONDS).ok()
        yield Workload(lab, NAME, variables["cluster_workload_kubeconfig"]), set(heard)
    finally:
        lab.playbook("teardown", extra=dict(variables, **small_cluster.teardown(NAME)), environment=IN_LAB,
                     seconds=BOOT_SECONDS).ok()


def sent(lab, workload):
    """Return how many bytes each interface of the machine has sent, by the kubelet's own report."""
    (name, _node), = workload.nodes().items()
    report = json.loads(kubectl(lab, workload, "get", "--raw", f"/api/v1/nodes/{name}/proxy/stats/summary"))
    return {link["name"]: link["txBytes"] for link in report["node"]["network"]["interfaces"]}


def test_the_machine_is_a_node_by_its_address_in_the_vlan(lab, created):
    workload, _heard = created
    assert workload.client.server == f"https://{ENDPOINT}:6443"
    assert workload.address(control_plane=True) == ADDRESSES["start"]
    assert is_ready(lab, workload)
    cluster = lab.kube.get(CLUSTER, NAMESPACE, NAME)
    assert cluster["spec"]["controlPlaneEndpoint"] == {"host": ENDPOINT, "port": 6443}


def test_it_sends_tagged_frames_alone_and_by_the_bonds_cards(lab, created, cards):
    workload, heard = created
    macs = [nic["mac"] for nic in lab.servers[HTTP]["nics"][1:3]]
    # Which the management's interface has, too.
    bridge = Path(f"/sys/class/net/{lab.figures['bridge']['name']}/address").read_text().strip()
    tagged = {(vlan, mac) for vlan, mac in heard if mac != bridge}
    assert tagged and tagged <= {(VLAN_ID, mac) for mac in macs}
    by_link = sent(lab, workload)
    assert by_link[VLAN] > 0 and by_link[BOND] >= by_link[VLAN]
    assert sum(by_link[card] for card in cards) >= by_link[VLAN]


def test_a_second_run_changes_nothing(lab, created, variables):
    assert lab.playbook("cluster", extra=variables, environment=IN_LAB, seconds=900).ok().changed() == 0


def test_bond_and_vlan_are_there_again_after_a_restart(lab, created):
    workload, _heard = created
    restart(lab, workload, HTTP)
    assert sent(lab, workload)[VLAN] > 0

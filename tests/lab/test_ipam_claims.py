# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which addresses the lab's own address manager hands out of pools of every form, and when; nothing is sent to them."""
from __future__ import annotations

import pytest
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.claim_service import ClaimService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.pool_service import PoolService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.reading import read_usage
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

NAME = "forms-test"
CLUSTER = "not-yet"


def pool(lab, **fields):
    params = {"namespace": NAMESPACE, "pools": [dict({"name": NAME}, **fields)]}
    return PoolService(lab.kube, params, False, Progress()).run()


def claimed(lab, *names, seconds=60, state="present"):
    """Claim addresses, or give them back, and return the results by name."""
    params = {"namespace": NAMESPACE, "renew_refused": False, "wait_timeout_seconds": seconds,
              "claims": [{"name": name, "pool": NAME, "state": state} for name in names]}
    return dict((item["name"], item) for item in ClaimService(lab.kube, params, False, Progress()).run()["claims"])


def handed_out(lab):
    """Return what IPAM says with each address: ``{claim: (address, prefix, gateway, DNS servers)}``."""
    specs = [item["spec"] for item in lab.kube.list(KNOWN["IPAddress"], NAMESPACE)[0]
             if item["spec"]["pool"]["name"] == NAME]
    return dict((spec["claim"]["name"], (spec["address"], spec["prefix"], spec.get("gateway"),
                                         spec.get("dnsServers", []))) for spec in specs)


@pytest.fixture(autouse=True)
def _nothing_left(lab):
    yield
    left = [item["metadata"]["name"] for item in lab.kube.list(KNOWN["IPClaim"], NAMESPACE)[0]
            if item["spec"]["pool"]["name"] == NAME]
    claimed(lab, *left, state="absent")
    eventually(lambda: handed_out(lab) == {}, 30, "no address in use")
    PoolService(
        lab.kube, {"namespace": NAMESPACE, "pools": [{"name": NAME, "state": "absent"}]}, False, Progress()).run()
    eventually(lambda: lab.kube.get(KNOWN["IPPool"], NAMESPACE, NAME) is None, 30, "the pool gone")
    lab.kube.delete(KNOWN["Cluster"], NAMESPACE, CLUSTER)
    eventually(lambda: lab.kube.get(KNOWN["Cluster"], NAMESPACE, CLUSTER) is None, 30, "the cluster gone")


def test_several_ranges_each_with_its_own_figures_and_kept_addresses(lab):
    """One range by its ends, one with everything of its own, one that is a subnet only."""
    own = {"prefix": 26, "gateway": "203.0.113.62", "dns_servers": ["203.0.113.61"]}
    pool(lab, prefix=24, gateway="203.0.113.1", dns_servers=["203.0.113.2"],
         pre_allocations={"kept": "203.0.113.68", "nobody": "203.0.113.31"},
         ranges=[{"start": "203.0.113.20", "end": "203.0.113.20"},
                 dict(own, start="203.0.113.30", end="203.0.113.32"),
                 {"subnet": "203.0.113.66/29", "prefix": 29, "gateway": "203.0.113.65"}])
    for name in ("a", "b", "c", "d", "kept"):
        # One after the other, for IPAM answers in no order.
        assert claimed(lab, name)[name]["error"] == ""
    special, small = (26, "203.0.113.62", ["203.0.113.61"]), (29, "203.0.113.65", ["203.0.113.2"])
    assert handed_out(lab) == {
        "a": ("203.0.113.20", 24, "203.0.113.1", ["203.0.113.2"]), "b": ("203.0.113.30", *special),
        # 31 is kept for somebody else.
        "c": ("203.0.113.32", *special),
        # The first address after the one that the subnet is written with.
        "d": ("203.0.113.67", *small), "kept": ("203.0.113.68", *small)}


def test_a_subnet_of_ipv6(lab):
    pool(lab, ranges=[{"subnet": "2001:db8:7::10/64"}], prefix=64, gateway="2001:db8:7::1",
         pre_allocations={"kept": "2001:db8:7:0:0:0:0:15"})
    claimed(lab, "a", "kept")
    assert handed_out(lab) == {"a": ("2001:db8:7::11", 64, "2001:db8:7::1", []),
                               "kept": ("2001:db8:7::15", 64, "2001:db8:7::1", [])}


def test_a_pool_waits_for_its_cluster(lab):
    pool(lab, prefix=24, cluster_name=CLUSTER, ranges=[{"start": "203.0.113.20", "end": "203.0.113.29"}])
    claim = claimed(lab, "early", seconds=3)["early"]
    assert f"pool {NAME} is of cluster {CLUSTER}, which does not exist" in claim["error"]
    assert handed_out(lab) == {}
    lab.kube.create(KNOWN["Cluster"], NAMESPACE, {
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": CLUSTER, "namespace": NAMESPACE}, "spec": {"infrastructureRef": {
            "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3Cluster", "name": CLUSTER}}})
    # IPAM looks at the pool when one of its claims changes, and answers all of them.
    made = claimed(lab, "early", "late")
    assert [made[name]["error"] for name in ("early", "late")] == ["", ""]
    assert sorted(entry[0] for entry in handed_out(lab).values()) == ["203.0.113.20", "203.0.113.21"]
    # Written after the addresses.
    owners = eventually(lambda: lab.kube.get(KNOWN["IPPool"], NAMESPACE, NAME)["metadata"].get("ownerReferences"), 30,
                        "an owner of the pool")
    assert [(owner["kind"], owner["name"]) for owner in owners] == [("Cluster", CLUSTER)]


@pytest.fixture
def made_by_hand(lab):
    """The claims that addresses are made for by hand, before their pool: ``{claim: address}``."""
    addresses = {"router": "203.0.113.20", "later": "203.0.113.22"}
    # As IPAM would name them, which a claim's answer refers to.
    names = dict((claim, f"{NAME}-{address.replace('.', '-')}") for claim, address in addresses.items())
    for claim, address in addresses.items():
        lab.kube.create(KNOWN["IPAddress"], NAMESPACE, {
            "apiVersion": "ipam.metal3.io/v1alpha1", "kind": "IPAddress",
            "metadata": {"name": names[claim], "namespace": NAMESPACE},
            "spec": {"address": address, "prefix": 24, "pool": {"name": NAME}, "claim": {"name": claim}}})
    yield addresses
    for item in lab.kube.list(KNOWN["IPAddress"], NAMESPACE)[0]:
        if item["metadata"]["name"] in names.values() and item["spec"]["claim"]["name"] in addresses:
            lab.kube.delete(KNOWN["IPAddress"], NAMESPACE, item["metadata"]["name"])


def test_an_address_made_by_hand_is_kept_for_the_claim_that_it_names(lab, made_by_hand):
    pool(lab, prefix=24, ranges=[{"start": "203.0.113.20", "end": "203.0.113.23"}])
    made = claimed(lab, "a", "later", "b")
    assert [made[name]["error"] for name in ("a", "later", "b")] == ["", "", ""]
    # IPAM answers in no order.
    assert sorted(made[name]["address"] for name in ("a", "b")) == ["203.0.113.21", "203.0.113.23"]
    assert made["later"]["address"] == made_by_hand["later"]
    seen = read_usage(lab.kube, NAMESPACE, [NAME])["pools"][0]
    # That of the router is nobody's claim, and none that was lost.
    assert (seen["used"], seen["free"], seen["leaked"], seen["unanswered"]) == (4, 0, [], [])
    assert sorted(entry["claim"] for entry in seen["allocations"] if entry["by_hand"]) == ["later", "router"]
    with pytest.raises(RefusedError, match="a free address"):
        claimed(lab, "too-many")
    # As IPAM does with its own.
    claimed(lab, "later", state="absent")
    eventually(lambda: "later" not in handed_out(lab), 30, "the address given back")
    assert claimed(lab, "next")["next"]["address"] == made_by_hand["later"]
    assert handed_out(lab)["router"][0] == made_by_hand["router"]

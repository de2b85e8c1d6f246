# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools and claims that change between reading and writing, against an API server in memory."""
from __future__ import annotations

import pytest
from fakes.kubernetes import Reports, Server

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.service import (
    ClaimService,
    PoolService,
    RefusedError,
)

RANGE = {"start": "192.0.2.10", "end": "192.0.2.20"}
POOL = {"name": "p", "name_prefix": "p", "prefix": 24, "gateway": "192.0.2.1", "ranges": [RANGE]}


class Cluster(Server):
    """The server, with addresses of IPAM's own group only."""

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        if resource.group == "ipam.cluster.x-k8s.io":
            return [], "1"
        return super().list(resource, namespace, label_selector, field_selector)

    def allocate(self, pool, address, claim):
        """Do what IPAM does for a claim: an address, and a note in the pool's status."""
        name = f"{pool}-{address.replace('.', '-')}"
        self.objects["IPAddress", name] = {
            "kind": "IPAddress", "metadata": {"name": name, "namespace": "metal3"}, "spec": {
                "address": address, "pool": {"name": pool, "namespace": "metal3"}, "claim": {"name": claim}}}
        self.objects["IPClaim", claim] = {
            "kind": "IPClaim", "metadata": {"name": claim, "namespace": "metal3", "uid": "u", "resourceVersion": "0"},
            "spec": {"pool": {"name": pool, "namespace": "metal3"}}, "status": {"address": {"name": name}}}
        self.change("IPPool", pool)


def pools(cluster, *given, state="present", check_mode=False):
    result = PoolService(cluster, {"namespace": "metal3", "pools": list(given), "state": state}, check_mode).run()
    return result["pools"]


def claims(cluster, *given, **params):
    params = dict({"namespace": "metal3", "claims": list(given), "state": "present", "renew_refused": False,
                   "wait_timeout_seconds": 0}, **params)
    return ClaimService(cluster, params, False, Reports()).run()["claims"]


@pytest.fixture
def cluster():
    result = Cluster()
    assert [pool["action"] for pool in pools(result, POOL)] == ["created"]
    return result


def test_a_pool_from_which_an_address_was_taken_meanwhile_is_not_deleted(cluster):
    cluster.meanwhile["IPPool", "p"] = lambda: cluster.allocate("p", "192.0.2.15", "c")
    result, = pools(cluster, {"name": "p"}, state="absent")
    assert "1 addresses in use (192.0.2.15 by " in result["error"] and ("IPPool", "p") in cluster.objects


def test_a_range_is_not_taken_away_under_an_address_that_came_meanwhile(cluster):
    cluster.meanwhile["IPPool", "p"] = lambda: cluster.allocate("p", "192.0.2.15", "c")
    result, = pools(cluster, dict(POOL, ranges=[dict(RANGE, end="192.0.2.12")]))
    assert "changed by somebody else during this run" in result["error"] and "192.0.2.15" in result["error"]
    assert cluster.objects["IPPool", "p"]["spec"]["pools"][0]["end"] == "192.0.2.20"


def test_a_pool_that_changes_meanwhile_in_what_does_not_count_is_written(cluster):
    cluster.meanwhile["IPPool", "p"] = lambda: cluster.allocate("p", "192.0.2.11", "c")
    result, = pools(cluster, dict(POOL, ranges=[dict(RANGE, end="192.0.2.12")]))
    assert (result["action"], result["error"]) == ("updated", "")
    assert cluster.objects["IPPool", "p"]["spec"]["pools"][0]["end"] == "192.0.2.12"


def test_a_claim_that_appears_meanwhile_for_another_pool_is_left(cluster):
    pools(cluster, dict(POOL, name="q", ranges=[{"start": "192.0.2.30", "end": "192.0.2.40"}]))
    cluster.meanwhile["IPClaim", "c"] = lambda: cluster.allocate("q", "192.0.2.30", "c")
    result, = claims(cluster, {"name": "c", "pool": "p", "kind": "IPClaim"})
    assert "changed by somebody else during this run" in result["error"]
    assert cluster.objects["IPClaim", "c"]["spec"]["pool"]["name"] == "q"


def test_a_claim_that_is_deleted_meanwhile_is_gone(cluster):
    cluster.allocate("p", "192.0.2.11", "c")
    cluster.meanwhile["IPClaim", "c"] = lambda: cluster.objects["IPClaim", "c"]["metadata"].update(
        uid="another", resourceVersion="99")
    result, = claims(cluster, {"name": "c", "kind": "IPClaim"}, state="absent")
    assert (result["action"], result["error"]) == ("deleted", "") and ("IPClaim", "c") not in cluster.objects


OWNER = [{"kind": "Metal3Data", "name": "machine-0"}]
OWNED = r"IPClaim metal3/c: state: .*no owner \(it belongs to Metal3Data machine-0\).*force_claims"


def test_a_claim_that_has_an_owner_is_deleted_only_by_force(cluster):
    for name, address in (("c", "192.0.2.11"), ("d", "192.0.2.12")):
        cluster.allocate("p", address, name)
    cluster.objects["IPClaim", "c"]["metadata"]["ownerReferences"] = OWNER
    given = [{"name": "c", "kind": "IPClaim"}, {"name": "d", "kind": "IPClaim"}]
    with pytest.raises(RefusedError, match=OWNED):
        claims(cluster, *given, state="absent")
    assert ("IPClaim", "c") in cluster.objects and ("IPClaim", "d") in cluster.objects
    results = claims(cluster, *given, state="absent", force_claims=["c"])
    assert [result["action"] for result in results] == ["deleted", "deleted"]
    assert ("IPClaim", "c") not in cluster.objects


def test_a_claim_that_gets_an_owner_meanwhile_is_left(cluster):
    cluster.allocate("p", "192.0.2.11", "c")
    cluster.meanwhile["IPClaim", "c"] = lambda: cluster.objects["IPClaim", "c"]["metadata"].update(
        resourceVersion="99", ownerReferences=OWNER)
    result, = claims(cluster, {"name": "c", "kind": "IPClaim"}, state="absent")
    assert "no owner (it belongs to Metal3Data machine-0)" in result["error"] and ("IPClaim", "c") in cluster.objects

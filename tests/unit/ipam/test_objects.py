# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools and claims as objects, the arithmetic of ranges, and who has which address."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import (
    claim as ipam_claim,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import (
    pool as ipam_pool,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import (
    range as ipam_range,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import (
    usage as ipam_usage,
)

POOL = {"name": "prov", "namespace": "metal3", "name_prefix": "p", "cluster_name": "prod", "prefix": 24,
        "gateway": "198.51.100.1", "dns_servers": ["198.51.100.2"], "pre_allocations": {"first": "198.51.100.20"},
        "ranges": [{"start": "198.51.100.20", "end": "198.51.100.23"}]}


def address(name, value, claim, owners=({"kind": "IPPool", "name": "prov"},)):
    return {"kind": "IPAddress", "apiVersion": "ipam.metal3.io/v1alpha1",
            "metadata": {"name": name, "ownerReferences": list(owners)}, "spec": {
                "address": value, "pool": {"name": "prov"}, "claim": {"name": claim}}}


def claim(name, **status):
    return {"kind": "IPClaim", "metadata": {"name": name, "ownerReferences": [{"kind": "Metal3Data", "name": "d-0"}]},
            "spec": {"pool": {"name": "prov"}}, "status": status}


def test_rendering_and_describing_are_each_others_reverse():
    obj = ipam_pool.render(POOL, "other")
    assert obj["metadata"] == {"name": "prov", "namespace": "metal3"}
    assert obj["spec"]["namePrefix"] == "p"
    assert ipam_pool.describe(obj) == POOL


@pytest.mark.parametrize("range_, first, last", [
    ({"start": "10.0.0.5", "end": "10.0.0.9"}, "10.0.0.5", "10.0.0.9"),
    ({"subnet": "10.0.0.0/29"}, "10.0.0.1", "10.0.0.7"),
    ({"subnet": "10.0.0.4/29"}, "10.0.0.5", "10.0.0.7"),
    ({"subnet": "10.0.0.0/29", "start": "10.0.0.3", "end": "10.0.0.99"}, "10.0.0.3", "10.0.0.7"),
    ({"start": "2001:db8::fffe", "end": "2001:db8::1:1"}, "2001:db8::fffe", "2001:db8::1:1"),
])
def test_span_follows_ipams_own_arithmetic(range_, first, last):
    span = ipam_range.span_of(range_)
    assert (str(span.first), str(span.last)) == (first, last)


def test_usage_tells_owners_free_addresses_and_leaks():
    obj = ipam_pool.render(POOL, "metal3")
    addresses = [address("p-20", "198.51.100.20", "first"), address("p-21", "198.51.100.21", "gone"),
                 address("p-99", "198.51.100.99", "outside")]
    claims = [claim("first", address={"name": "p-20"}), claim("outside", address={"name": "p-99"}),
              claim("late", errorMessage="Exhausted IP Pools")]
    result = ipam_usage.usage(obj, addresses, claims)
    assert (result["total"], result["used"], result["free"]) == (4, 2, 2)
    assert result["allocations"][0] == {
        "address": "198.51.100.20", "claim": "first", "owner": "Metal3Data/d-0", "preallocated": True, "by_hand": False,
        "object": "IPAddress/p-20"}
    assert [entry["reason"] for entry in result["leaked"]] == [
        "its IPClaim gone does not exist", "it is in no range of its pool"]
    assert result["unanswered"] == [
        {"claim": "IPClaim/late", "owner": "Metal3Data/d-0", "reason": "Exhausted IP Pools"}]


def test_an_address_made_by_hand_is_used_and_not_leaked_without_its_claim():
    made = address("p-21", "198.51.100.21", "router", owners=())
    result = ipam_usage.usage(ipam_pool.render(POOL, "metal3"), [made], [])
    assert (result["leaked"], result["used"], result["free"]) == ([], 2, 2)
    assert [(entry["claim"], entry["by_hand"]) for entry in result["allocations"]] == [("router", True)]
    made["spec"]["address"] = "198.51.100.99"
    result = ipam_usage.usage(ipam_pool.render(POOL, "metal3"), [made], [])
    assert [entry["reason"] for entry in result["leaked"]] == ["it is in no range of its pool"]


def test_a_claim_that_never_goes_leaks_its_address():
    held = claim("first", address={"name": "p-20"})
    held["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["x/y"])
    result = ipam_usage.usage(ipam_pool.render(POOL, "m"), [address("p-20", "198.51.100.20", "first")], [held])
    assert result["leaked"][0]["reason"] == (
        "its IPClaim first is being deleted since 2026-01-01T00:00:00Z, held by x/y")


@pytest.mark.parametrize("finalizers, leaked", [
    (["ipclaim.ipam.metal3.io"], False), (["ipam.metal3.io/ipaddressclaim"], False), ([], False),
    (["ipclaim.ipam.metal3.io", "metal3data.infrastructure.cluster.x-k8s.io"], True)])
def test_an_address_that_is_given_back_has_not_leaked(finalizers, leaked):
    going = claim("first", address={"name": "p-20"})
    going["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=finalizers)
    result = ipam_usage.usage(ipam_pool.render(POOL, "m"), [address("p-20", "198.51.100.20", "first")], [going])
    assert (len(result["leaked"]), result["used"]) == (leaked, 1)


def test_claims_of_both_kinds():
    fixed = ipam_claim.render({"name": "vip", "pool": "prov", "address": "198.51.100.21"}, "metal3")
    assert fixed["metadata"]["annotations"] == {"ipAddress": "198.51.100.21"}
    assert fixed["spec"] == {"pool": {"name": "prov", "namespace": "metal3"}}
    capi = ipam_claim.render({"name": "x", "pool": "prov", "kind": "IPAddressClaim", "cluster_name": "prod"}, "metal3")
    assert capi["spec"] == {"poolRef": {"apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": "prov"},
                            "clusterName": "prod"}


@pytest.mark.parametrize("wish, words", [
    ({"pool": "nope"}, "pool: found \"nope\", expected one of prov"),
    ({"address": "198.51.100.99"}, "an address in a range of pool prov"),
    ({"address": "198.51.100.21"}, "which gone has"),
    ({"address": "198.51.100.20"}, "which the pool keeps for claim first"),
    ({"address": "what"}, "an IPv4 or IPv6 address"),
    ({"name": "first", "address": "198.51.100.22"}, "198.51.100.20, preallocated for this claim"),
])
def test_claims_that_would_never_be_answered_are_refused(wish, words):
    obj = ipam_pool.render(POOL, "metal3")
    used = ipam_usage.usage(obj, [address("p-21", "198.51.100.21", "gone")], [])
    lines = ipam_claim.claim_problems([dict({"name": "vip", "pool": "prov"}, **wish)], {"prov": POOL},
                                      {"prov": used}, "metal3")
    assert len(lines) == 1 and words in str(lines[0]), lines


def test_two_claims_for_one_address_and_an_exhausted_pool():
    obj = ipam_pool.render(POOL, "metal3")
    twice = [{"name": name, "pool": "prov", "address": "198.51.100.22"} for name in ("a", "b")]
    lines = ipam_claim.claim_problems(twice, {"prov": POOL}, {"prov": ipam_usage.usage(obj, [], [])}, "metal3")
    assert "which claim a asks for too" in str(lines[0])
    full = [address(f"p-{n}", f"198.51.100.2{n}", f"c{n}") for n in range(4)]
    lines = ipam_claim.claim_problems([{"name": "a", "pool": "prov"}], {"prov": POOL},
                                      {"prov": ipam_usage.usage(obj, full, [])}, "metal3")
    assert "with no free address of 4" in str(lines[0])


def refused(wishes, addresses=(), pool=None):
    """Return which claims of a list are refused, by name."""
    pool = pool or POOL
    used = ipam_usage.usage(ipam_pool.render(pool, "metal3"), addresses, [])
    lines = ipam_claim.claim_problems([dict(wish, pool="prov") for wish in wishes], {"prov": pool}, {"prov": used},
                                      "metal3")
    return [line.subject.rpartition("/")[2] for line in lines], lines


TWO_TAKEN = [address("p-21", "198.51.100.21", "x"), address("p-22", "198.51.100.22", "y")]


@pytest.mark.parametrize("wishes, expected", [
    # One address is free: 198.51.100.23.
    ([{"name": "a"}], []),
    ([{"name": "a"}, {"name": "b"}], ["b"]),
    ([{"name": "a"}, {"name": "b", "address": "198.51.100.23"}], ["a"]),
    # Those that have an address, or one that is kept for them, take none of the free ones.
    ([{"name": "x"}, {"name": "first"}, {"name": "first", "kind": "IPAddressClaim"}, {"name": "a"}], []),
    # IPAM keeps one address for a claim's name, whichever kind it is of.
    ([{"name": "a"}, {"name": "a", "kind": "IPAddressClaim"}], []),
    # What is refused takes none.
    ([{"name": "b", "address": "198.51.100.21"}, {"name": "a"}], ["b"]),
])
def test_each_claim_of_a_list_takes_an_address_from_the_next(wishes, expected):
    names, lines = refused(wishes, TWO_TAKEN)
    assert names == expected, lines


def test_a_list_that_is_longer_than_the_pool_is_free_tells_both_numbers():
    line = refused([{"name": "a"}, {"name": "b"}], TWO_TAKEN)[1][0]
    assert str(line) == (
        "IPClaim metal3/b: pool: found prov with 1 free address of 4, which other claims of the list take, "
        "expected a free address; widen a range of the pool or delete claims that nobody needs"
    )


def test_addresses_are_compared_not_their_spelling():
    pool = dict(POOL, prefix=64, gateway=None, pre_allocations=None,
                ranges=[{"start": "2001:db8::1", "end": "2001:db8::9"}])
    held = [address("p-2", "2001:DB8:0::2", "other")]
    names, lines = refused([{"name": "a", "address": "2001:db8::2"}], held, pool)
    assert names == ["a"] and "which other has" in str(lines[0])
    assert refused([{"name": "other", "address": "2001:db8:0:0::2"}], held, pool) == ([], [])


def test_preallocations_are_written_as_ipam_spells_addresses():
    """IPAM compares what it hands out with the text of a preallocation (getIndexes), and gave this one to anybody."""
    pool = {"name": "prov", "ranges": [{"subnet": "2001:db8::/64"}], "pre_allocations": {"vip": "2001:DB8:0::000A"}}
    assert ipam_pool.render(pool, "metal3")["spec"]["preAllocations"] == {"vip": "2001:db8::a"}


def test_the_address_of_a_claim_is_written_as_ipam_spells_addresses():
    """IPAM before 1.12.3 compares texts, and counts on to the end of the range when none is like this one."""
    wish = {"name": "vip", "pool": "prov", "address": "2001:DB8:0::000A"}
    assert ipam_claim.render(wish, "metal3")["metadata"]["annotations"] == {"ipAddress": "2001:db8::a"}


def stored_claim(address):
    item = ipam_claim.render({"name": "vip", "pool": "prov"}, "metal3")
    return dict(item, metadata=dict(item["metadata"], annotations={"ipAddress": address}),
                status={"address": {"name": "prov-1"}})


@pytest.mark.parametrize("before, refused", [("2001:DB8:0::000A", False), ("2001:db8::b", True), ("what", True)])
def test_a_claim_may_spell_the_address_that_it_has_otherwise(before, refused):
    item = ipam_claim.render({"name": "vip", "pool": "prov", "address": "2001:db8::a"}, "metal3")
    assert len(ipam_claim.change_problems(item, stored_claim(before), "metal3")) == int(refused)


def test_an_address_that_an_annotation_asks_for_is_checked_as_well():
    wish = {"name": "a", "annotations": {"ipAddress": "198.51.100.21"}}
    names, lines = refused([wish], TWO_TAKEN)
    assert names == ["a"] and "address: found 198.51.100.21, which x has" in str(lines[0])
    assert refused([dict(wish, annotations={"ipAddress": "198.51.100.23"})], TWO_TAKEN) == ([], [])

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools are judged as a whole, and each mistake names pool, field, what was seen and what was expected."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import (
    claim as ipam_claim,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import (
    validation as ipam_validation,
)

GOOD = {"name": "prov", "prefix": 24, "gateway": "198.51.100.1",
        "ranges": [{"start": "198.51.100.20", "end": "198.51.100.60"}]}


def pool(**changes):
    return dict(GOOD, **changes)


def problems(*pools, **arguments):
    return ipam_validation.pool_problems(list(pools), "metal3", **arguments)


def test_a_good_pool_has_no_problem():
    assert problems(GOOD) == []


def test_good_pools_of_both_families_side_by_side():
    six = {"name": "six", "prefix": 64, "gateway": "fe80::1",
           "ranges": [{"subnet": "2001:db8::/64", "start": "2001:db8::10", "end": "2001:db8::ff"}],
           "pre_allocations": {"a": "2001:db8::0010"}}
    assert problems(GOOD, six) == []


SIX = {"prefix": 64, "gateway": None,
       "ranges": [{"subnet": "2001:db8::/64"}, {"start": "2001:db8:1::1", "end": "2001:db8:1::9"}]}


@pytest.mark.parametrize("address, refused", [
    ("2001:db8::f:4241", False), ("2001:db8::f:4242", True), ("2001:db8::1:0:0:5", True), ("2001:db8:1::1", True)])
def test_addresses_that_ipam_would_count_up_to_for_ever_are_refused(address, refused):
    """IPAM tries one address after the other, those of the ranges before too, and answers no other claim meanwhile."""
    lines = problems(dict(GOOD, **dict(SIX, pre_allocations={"a": address})))
    assert len(lines) == (1 if refused else 0)
    assert all(f"pre_allocations.a: found {address}, after " in str(line) for line in lines)
    used = {"total": 9, "free": 9, "allocations": []}
    wish = {"name": "a", "pool": "prov", "address": address}
    lines = ipam_claim.claim_problems([wish], {"prov": dict(GOOD, **SIX)}, {"prov": used}, "metal3")
    assert len(lines) == (1 if refused else 0)


@pytest.mark.parametrize("changes, field, words", [
    ({"name": ""}, "name", ["expected a name"]),
    ({"ranges": []}, "ranges", ["start and end"]),
    ({"ranges": [{"end": "198.51.100.60"}]}, "ranges[0]", ["neither start nor subnet"]),
    ({"ranges": [{"start": "198.51.100.20"}]}, "ranges[0].end", ["an end or a subnet"]),
    ({"ranges": [{"start": "198.51.100.60", "end": "198.51.100.20"}]}, "ranges[0]", ["is after the last address"]),
    ({"ranges": [{"start": "198.51.100.20", "end": "2001:db8::1"}]}, "ranges[0]", ["IPv4", "IPv6"]),
    ({"ranges": [{"start": "300.1.1.1", "end": "198.51.100.20"}]}, "ranges[0].start", ["300.1.1.1"]),
    ({"ranges": [{"subnet": "198.51.100.0"}]}, "ranges[0].subnet", ["198.51.100.0/24"]),
    ({"ranges": [{"subnet": "198.51.100.0/24", "start": "198.51.101.1"}]}, "ranges[0]", ["outside subnet"]),
    ({"ranges": [{"subnet": "198.51.100.0/24", "start": "198.51.100.9", "end": "198.51.101.9"}]}, "ranges[0].end",
     ["198.51.101.9", "198.51.100.0/24"]),
    ({"ranges": [{"subnet": "198.51.100.0/25", "start": "198.51.100.9"}]}, "prefix", ["found 24", "25"]),
    ({"ranges": [{"subnet": "198.51.100.0/24", "start": "198.51.100.9", "prefix": 16}]}, "ranges[0].prefix",
     ["found 16", "24"]),
    ({"prefix": 64}, "prefix", ["found 64", "1 to 32"]),
    ({"prefix": None}, "prefix", ["prefix length"]),
    ({"gateway": "198.51.101.1"}, "gateway", ["198.51.100.0/24"]),
    ({"gateway": "2001:db8::1"}, "gateway", ["IPv4"]),
    ({"gateway": "198.51.100.30"}, "ranges[0]", ["holds the gateway"]),
    ({"gateway": "nowhere"}, "gateway", ["nowhere"]),
    ({"dns_servers": ["1.2.3"]}, "dns_servers[0]", ["1.2.3"]),
    ({"pre_allocations": {"a": "198.51.100.10"}}, "pre_allocations.a", ["one of the ranges"]),
    ({"pre_allocations": {"a": "198.51.100.21", "b": "198.51.100.21"}}, "pre_allocations.b", ["pre_allocations.a"]),
    ({"pre_allocations": {"a": "x"}}, "pre_allocations.a", ["found \"x\""]),
    ({"ranges": [{"start": "198.51.100.20", "end": "198.51.100.60"},
                 {"start": "198.51.100.60", "end": "198.51.100.70"}]},
     "ranges[0]", ["198.51.100.60 - 198.51.100.60", "ranges[1]"]),
    ({"ranges": [{"start": "198.51.100.20", "end": "198.51.100.60"}, {"start": "2001:db8::1", "end": "2001:db8::2"}]},
     "ranges[1]", ["found IPv6", "one pool for each address family"]),
])
def test_one_mistake_is_named(changes, field, words):
    lines = problems(pool(**changes))
    name = changes.get("name", "prov") or "pools[0]"
    hits = [line for line in lines if str(line).startswith(f"IPPool metal3/{name}: {field}: ")]
    assert len(hits) == 1, lines
    for word in words:
        assert word in str(hits[0])


def test_all_mistakes_are_reported_at_once():
    lines = problems(pool(gateway="198.51.101.1", dns_servers=["x"], pre_allocations={"a": "198.51.100.10"}), GOOD)
    assert len(lines) == 5  # the three of the first pool, the doubled name and the common range


def test_ranges_of_two_pools_and_of_existing_pools_must_not_overlap():
    other = pool(name="other", ranges=[{"start": "198.51.100.50", "end": "198.51.100.99"}])
    assert "IPPool metal3/other" in str(problems(GOOD, other)[0])
    assert "existing IPPool metal3/other" in str(problems(GOOD, existing=[other])[0])


def test_a_pool_must_hold_what_will_be_asked_of_it():
    assert problems(GOOD, needed={"prov": 41}) == []
    assert "found 41 addresses, expected at least 42" in str(problems(GOOD, needed={"prov": 42})[0])


def test_changes_that_the_webhook_refuses():
    changed = pool(name_prefix="new", ranges=[{"start": "198.51.100.30", "end": "198.51.100.60"}])
    lines = ipam_validation.change_problems(
        changed, pool(name_prefix="prov"), "metal3", [taken("198.51.100.20", "c")])
    assert ["name_prefix" in str(lines[0]), "198.51.100.20" in str(lines[1])] == [True, True]
    assert ipam_validation.change_problems(
        GOOD, pool(name_prefix="prov"), "metal3", [taken("198.51.100.20", "c")]) == []


def taken(address, claim, owner=None):
    return {"address": address, "claim": claim, "owner": owner}


@pytest.mark.parametrize("given, before, used, words", [
    ({"head": "198.51.100.20"}, {}, taken("198.51.100.20", "other"), "198.51.100.20, which claim other has"),
    # The first address of before was another one.
    ({"head": "198.51.100.20"}, {"head": "198.51.100.21"}, taken("198.51.100.20", "other"), "which claim other has"),
    ({"h1-prov": "198.51.100.20"}, {}, taken("198.51.100.20", "other"), "which claim other has"),
    # That of a machine goes with it, for example when its host gets the address for good.
    ({"h1-prov": "198.51.100.20"}, {}, taken("198.51.100.20", "data-0-prov", "Metal3Data/data-0"), None),
    ({"head": "198.51.100.20"}, {}, taken("198.51.100.20", "data-0-prov", "Metal3Data/data-0"), "claim data-0-prov"),
    ({"head": "198.51.100.20"}, {"head": "198.51.100.20"}, taken("198.51.100.20", "other"), None),
    ({"head": "198.51.100.20"}, {}, taken("198.51.100.20", "head"), None),
    ({"head": "198.51.100.20"}, {}, taken("198.51.100.21", "head"), None)])
def test_an_address_in_use_is_not_kept_for_another_claim(given, before, used, words):
    """IPAM would try to give it to that one for ever, and no other claim of the pool gets an answer meanwhile."""
    found = ipam_validation.change_problems(
        pool(pre_allocations=given), pool(name_prefix="prov", pre_allocations=before), "metal3", [used])
    assert len(found) == (1 if words else 0)
    assert all(words in str(line) and "IPPool metal3/prov: pre_allocations." in str(line) for line in found)


def test_an_address_of_ipv6_in_use_is_found_however_it_is_spelled():
    six = {"name": "six", "ranges": [{"subnet": "2001:db8::/64"}]}
    found = ipam_validation.change_problems(
        dict(six, pre_allocations={"head": "2001:0DB8::0020"}), dict(six, name_prefix="six"), "metal3",
        [taken("2001:db8::20", "other")])
    assert len(found) == 1


@pytest.mark.parametrize("given, before, refused", [
    ("random", None, True), ("random", "sequential", True), ("sequential", "random", True),
    ("sequential", None, False), (None, "random", False), ("random", "random", False)])
def test_a_pool_keeps_its_allocation_strategy(given, before, refused):
    found = ipam_validation.change_problems(
        pool(allocation_strategy=given), pool(name_prefix="prov", allocation_strategy=before), "metal3")
    assert [f"allocation_strategy: found {given}" in str(line).replace('"', "") for line in found] == [True] * refused


@pytest.mark.parametrize("changes, refused", [
    ({"dns_servers": ["198.51.100.2", "198.51.100.25"]}, True),
    ({"ranges": [dict(GOOD["ranges"][0], dns_servers=["198.51.100.25"])]}, True),
    ({"dns_servers": ["198.51.100.25"], "pre_allocations": {"dns": "198.51.100.25"}}, False),
    ({"dns_servers": ["198.51.100.61"]}, False), ({"dns_servers": ["what"]}, False)])
def test_a_range_has_no_dns_server_of_the_pool(changes, refused):
    """A machine would be given its address, and no name be found any more."""
    found = ipam_validation.reserved_problems([pool(**changes)], "metal3", [])
    words = "ranges[0]: found 198.51.100.25, a DNS server of the pool"
    assert [words in str(line) for line in found] == [True] * refused


def test_a_dns_server_that_has_claimed_its_address_is_in_nobodys_way():
    held = {"spec": {"address": "198.51.100.25"}}
    assert ipam_validation.reserved_problems([pool(dns_servers=["198.51.100.25"])], "metal3", [], [held]) == []

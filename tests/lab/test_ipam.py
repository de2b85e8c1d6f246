# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools and claims against the lab's own address manager; nothing is sent to the addresses."""
from __future__ import annotations

import pytest
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import claim as ipam_claim
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.claim_service import ClaimService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.pool_service import PoolService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.reading import read_usage
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

NAME = "ipam-test"


def pool(last, **changes):
    return dict({"name": NAME, "prefix": 24, "gateway": "203.0.113.1", "ranges": [
        {"start": "203.0.113.20", "end": f"203.0.113.{last}"}]}, **changes)


def pools(lab, *wanted, state="present", check_mode=False):
    return PoolService(lab.kube, {"namespace": NAMESPACE, "pools": [dict(item, state=state) for item in wanted]},
                       check_mode, Progress()).run()


def claims(lab, *wanted, state="present", renew_refused=False, check_mode=False):
    params = {"namespace": NAMESPACE, "claims": [dict(item, state=state) for item in wanted],
              "renew_refused": renew_refused, "wait_timeout_seconds": 60}
    result = ClaimService(lab.kube, params, check_mode, Progress()).run()
    assert [item["error"] for item in result["claims"] if item["error"]] == []
    return result


def claim(name, **more):
    return dict({"name": name, "pool": NAME}, **more)


def usage(lab):
    return read_usage(lab.kube, NAMESPACE, [NAME])["pools"][0]


@pytest.fixture(autouse=True)
def _pool(lab):
    """A pool of three addresses, gone with all its claims afterwards."""
    assert pools(lab, pool(22))["changed"]
    yield
    for kind in ("IPClaim", "IPAddressClaim"):
        left = [item["metadata"]["name"] for item in lab.kube.list(KNOWN[kind], NAMESPACE)[0]
                if (item["spec"].get("pool") or item["spec"].get("poolRef"))["name"] == NAME]
        claims(lab, *[claim(name, kind=kind) for name in left], state="absent")
    eventually(lambda: usage(lab)["allocations"] == [], 30, "no address in use")
    pools(lab, {"name": NAME}, state="absent")
    eventually(lambda: lab.kube.get(KNOWN["IPPool"], NAMESPACE, NAME) is None, 30, "the pool gone")


def test_a_pool_is_made_once_and_check_mode_agrees(lab):
    assert not pools(lab, pool(22))["changed"]
    assert pools(lab, pool(25), check_mode=True)["changed"]
    assert usage(lab)["total"] == 3


def test_claims_of_both_kinds_are_answered_once(lab):
    wanted = (claim("fixed", address="203.0.113.22"), claim("any", kind="IPAddressClaim"))
    made = claims(lab, *wanted)
    assert [item["address"] for item in made["claims"]] == ["203.0.113.22", "203.0.113.20"]
    assert not claims(lab, *wanted)["changed"]
    seen = usage(lab)
    assert [(entry["address"], entry["claim"]) for entry in seen["allocations"]] == [
        ("203.0.113.20", "any"), ("203.0.113.22", "fixed")]
    assert (seen["used"], seen["free"], seen["leaked"], seen["unanswered"]) == (2, 1, [], [])


def test_what_could_not_be_answered_is_refused_before_it_is_written(lab):
    claims(lab, claim("fixed", address="203.0.113.22"))
    with pytest.raises(RefusedError, match="which fixed has") as caught:
        claims(lab, claim("a", address="203.0.113.22"), claim("b", address="203.0.113.99"))
    assert len(caught.value.problems) == 2
    with pytest.raises(RefusedError, match="every address that is in use"):
        pools(lab, pool(21))
    with pytest.raises(RefusedError, match="1 addresses in use"):
        pools(lab, {"name": NAME}, state="absent")
    assert len(lab.kube.list(KNOWN["IPClaim"], NAMESPACE, field_selector="metadata.name=a")[0]) == 0


def test_a_pool_that_is_deleted_behind_our_back_stays_until_its_last_address_is_given_back(lab):
    """What keeps it is IPAM's finalizer, without any check of this collection's."""
    claims(lab, claim("held"))
    lab.kube.delete(KNOWN["IPPool"], NAMESPACE, NAME)
    lab.kube.create(KNOWN["IPClaim"], NAMESPACE, ipam_claim.render(claim("late"), NAMESPACE))
    # Its answer shows that IPAM has worked on the pool since it was deleted.
    eventually(lambda: [entry["claim"] for entry in usage(lab)["allocations"]] == ["held", "late"], 60, "an answer")
    left = lab.kube.get(KNOWN["IPPool"], NAMESPACE, NAME)["metadata"]
    assert left["deletionTimestamp"] and left["finalizers"] == ["ippool.ipam.metal3.io"]
    claims(lab, claim("late"), state="absent")
    eventually(lambda: [entry["claim"] for entry in usage(lab)["allocations"]] == ["held"], 60, "an address back")
    assert lab.kube.get(KNOWN["IPPool"], NAMESPACE, NAME)["metadata"]["uid"] == left["uid"]
    claims(lab, claim("held"), state="absent")
    eventually(lambda: lab.kube.get(KNOWN["IPPool"], NAMESPACE, NAME) is None, 60, "the pool gone")
    assert pools(lab, pool(22))["changed"]


def test_a_claim_that_was_refused_is_created_again_when_asked(lab):
    """IPAM does not look at a refused claim again, even when the pool has grown."""
    claims(lab, *[claim(f"c{number}") for number in range(3)])
    late = ipam_claim.render(claim("late"), NAMESPACE)
    lab.kube.create(KNOWN["IPClaim"], NAMESPACE, late)
    eventually(lambda: "Exhausted" in str(usage(lab)["unanswered"]), 60, "the claim refused")
    pools(lab, pool(29))
    made = claims(lab, claim("late"), renew_refused=True)
    assert [(item["action"], item["address"]) for item in made["claims"]] == [("renewed", "203.0.113.23")]

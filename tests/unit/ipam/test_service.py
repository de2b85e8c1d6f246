# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools and claims that change between reading and writing, against an API server in memory."""
from __future__ import annotations

import copy

import pytest
from fakes.kubernetes import Server
from fakes.progress import Reports

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam import pool as ipam_pool
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.claim_service import ClaimService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.pool_service import PoolService
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.reading import POOL as POOL_KIND
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

RANGE = {"start": "192.0.2.10", "end": "192.0.2.20"}
POOL = {"name": "p", "name_prefix": "p", "prefix": 24, "gateway": "192.0.2.1", "ranges": [RANGE]}
GONE = {"name": "p", "state": "absent"}
DELETED_AT, FINALIZER = "2026-11-25T20:00:00Z", "ipam.metal3.io/ipclaim"
GOING = f"being deleted since {DELETED_AT}, held by {FINALIZER}"
GIVEN_BACK = {"name": "c", "kind": "IPClaim", "state": "absent"}


class Cluster(Server):
    """The server, with addresses of IPAM's own group only; it may be busy."""

    def __init__(self):
        super().__init__()
        self.slept, self.busy = [], 0

    def _meet(self, verb, resource, name, checked):
        if self.busy:
            self.busy -= 1
            raise KubeError("too many requests", 429)
        super()._meet(verb, resource, name, checked)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        if resource.group == "ipam.cluster.x-k8s.io":
            return [], "1"
        return super().list(resource, namespace, label_selector, field_selector)

    def delete(self, resource, namespace, name, propagation="Background", uid=None, dry_run=False, checked=None):
        stored = self.objects.get((resource.kind, name))
        if dry_run or not stored or not stored["metadata"].get("finalizers"):
            return super().delete(resource, namespace, name, propagation, uid, dry_run, checked)
        self._request("DELETE", resource, name)
        self.going(resource.kind, name)
        return self._answer("DELETE", resource, name, True)

    def going(self, kind, name):
        """Let an object be deleted and held, as it is while its controller is busy or down."""
        self.change(kind, name)
        self.objects[kind, name]["metadata"].update(deletionTimestamp=DELETED_AT, finalizers=[FINALIZER])

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


def pool_run(cluster, *given, check_mode=False):
    return PoolService(cluster, {"namespace": "metal3", "pools": list(given)}, check_mode, Reports(),
                       sleep=cluster.slept.append).run()


def pools(cluster, *given, **options):
    return pool_run(cluster, *given, **options)["pools"]


def claim_run(cluster, *given, check_mode=False, **params):
    params = dict({"namespace": "metal3", "claims": list(given), "renew_refused": False,
                   "wait_timeout_seconds": 0}, **params)
    return ClaimService(cluster, params, check_mode, Reports(), sleep=cluster.slept.append).run()


def claims(cluster, *given, **params):
    return claim_run(cluster, *given, **params)["claims"]


@pytest.fixture
def cluster():
    result = Cluster()
    assert [pool["action"] for pool in pools(result, POOL)] == ["created"]
    return result


def test_a_pool_from_which_an_address_was_taken_meanwhile_is_not_deleted(cluster):
    cluster.meanwhile["IPPool", "p"] = lambda: cluster.allocate("p", "192.0.2.15", "c")
    result, = pools(cluster, GONE)
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


@pytest.mark.parametrize("changes, words", [
    ({"gateway": "192.0.2.2"}, "IPPool metal3/p: another gateway counts for addresses that are given from now on: "
     "192.0.2.15 of c keeps that of before"),
    ({"prefix": 25, "dns_servers": ["192.0.2.3"]}, "another prefix and dns_servers counts"),
    ({"ranges": [dict(RANGE, end="192.0.2.30")]}, None),
    ({"ranges": [{"start": "192.0.2.10", "end": "192.0.2.14", "gateway": "192.0.2.2"},
                 {"start": "192.0.2.15", "end": "192.0.2.20"}]}, None)])
def test_what_addresses_keep_of_a_pool_that_changes_is_said(cluster, changes, words):
    """IPAM writes it into an address when it gives it, and never again."""
    cluster.allocate("p", "192.0.2.15", "c")
    for check_mode in (True, False):
        warnings = pool_run(cluster, dict(POOL, **changes), check_mode=check_mode)["warnings"]
        assert [words in line for line in warnings] == ([True] if words else [])
    assert pool_run(cluster, dict(POOL, **changes))["warnings"] == []


def test_a_claim_that_appears_meanwhile_for_another_pool_is_left(cluster):
    pools(cluster, dict(POOL, name="q", ranges=[{"start": "192.0.2.30", "end": "192.0.2.40"}]))
    cluster.meanwhile["IPClaim", "c"] = lambda: cluster.allocate("q", "192.0.2.30", "c")
    result, = claims(cluster, {"name": "c", "pool": "p", "kind": "IPClaim"})
    assert "changed by somebody else during this run" in result["error"]
    assert cluster.objects["IPClaim", "c"]["spec"]["pool"]["name"] == "q"


def test_a_claim_that_was_replaced_by_another_meanwhile_stays(cluster):
    """Its address may be in use by now: whoever made the new claim was not asked."""
    cluster.allocate("p", "192.0.2.11", "c")
    cluster.meanwhile["IPClaim", "c"] = lambda: cluster.objects["IPClaim", "c"]["metadata"].update(
        uid="another", resourceVersion="99")
    result, = claims(cluster, GIVEN_BACK)
    assert result["action"] == "unchanged" and "found another object of this name" in result["error"]
    assert ("IPClaim", "c") in cluster.objects


OWNER = [{"kind": "Metal3Data", "name": "machine-0"}]
OWNED = r"IPClaim metal3/c: state: .*no owner \(it belongs to Metal3Data machine-0\).*force_claims"


def test_a_claim_that_has_an_owner_is_deleted_only_by_force(cluster):
    for name, address in (("c", "192.0.2.11"), ("d", "192.0.2.12")):
        cluster.allocate("p", address, name)
    cluster.objects["IPClaim", "c"]["metadata"]["ownerReferences"] = OWNER
    given = [GIVEN_BACK, dict(GIVEN_BACK, name="d")]
    with pytest.raises(RefusedError, match=OWNED):
        claims(cluster, *given)
    assert ("IPClaim", "c") in cluster.objects and ("IPClaim", "d") in cluster.objects
    results = claims(cluster, *given, force_claims=["c"])
    assert [result["action"] for result in results] == ["deleted", "deleted"]
    assert ("IPClaim", "c") not in cluster.objects


def test_a_claim_that_gets_an_owner_meanwhile_is_left(cluster):
    cluster.allocate("p", "192.0.2.11", "c")
    cluster.meanwhile["IPClaim", "c"] = lambda: cluster.objects["IPClaim", "c"]["metadata"].update(
        resourceVersion="99", ownerReferences=OWNER)
    result, = claims(cluster, GIVEN_BACK)
    assert "no owner (it belongs to Metal3Data machine-0)" in result["error"] and ("IPClaim", "c") in cluster.objects


CLAIM = {"name": "c", "pool": "p", "kind": "IPClaim"}
WIDER = dict(POOL, ranges=[dict(RANGE, end="192.0.2.30")])
ALL_WRITES = [
    lambda cluster: pools(cluster, dict(POOL, name="q", ranges=[{"start": "192.0.2.40", "end": "192.0.2.50"}])),
    lambda cluster: pools(cluster, WIDER),
    lambda cluster: pools(cluster, GONE),
    lambda cluster: claims(cluster, dict(CLAIM, name="d")),
    lambda cluster: claims(cluster, dict(CLAIM, labels={"a": "b"})),
    lambda cluster: claims(cluster, GIVEN_BACK),
]
WRITTEN = [("APPLY", "IPPool", "q", "created"), ("APPLY", "IPPool", "p", "updated"),
           ("DELETE", "IPPool", "p", "deleted"), ("APPLY", "IPClaim", "d", "created"),
           ("APPLY", "IPClaim", "c", "updated"), ("DELETE", "IPClaim", "c", "deleted")]


@pytest.fixture
def stocked(cluster):
    claims(cluster, CLAIM)
    cluster.stored.clear()
    return cluster


@pytest.mark.parametrize(("work", "written"), list(zip(ALL_WRITES, WRITTEN)))
def test_a_request_that_a_busy_api_server_refuses_is_sent_again(stocked, work, written):
    stocked.busy = 1
    result, = work(stocked)
    assert (result["action"], result["error"]) == (written[3], "")
    assert (stocked.stored, stocked.slept) == ([written[:3]], [1])


@pytest.mark.parametrize(("work", "written"), list(zip(ALL_WRITES, WRITTEN)))
def test_a_write_whose_answer_is_lost_is_stored_once(stocked, work, written):
    stocked.lost = [written[:3]]
    result, = work(stocked)
    assert (result["action"], result["error"]) == (written[3], "")
    # A deletion that is sent again finds nothing, which is as good.
    assert [item for item in stocked.stored if item[0] == "APPLY"] == [written[:3]] * (written[0] == "APPLY")
    assert (written[1:3] in stocked.objects) is (written[0] == "APPLY")


def test_what_somebody_else_does_after_a_lost_answer_stays(stocked):
    """The claim is stored and answered; then its pool shrinks, which the second attempt must not undo."""
    stocked.lost = [("APPLY", "IPPool", "p")]
    stocked.after_loss = lambda: stocked.allocate("p", "192.0.2.30", "d")
    result, = pools(stocked, WIDER)
    assert (result["action"], result["error"]) == ("updated", "")
    assert stocked.stored == [("APPLY", "IPPool", "p")]


def test_a_pool_that_somebody_else_creates_alike_meanwhile_is_unchanged(cluster):
    pools(cluster, GONE)
    cluster.stored.clear()
    cluster.meanwhile["IPPool", "p"] = lambda: Server.apply(cluster, POOL_KIND, "metal3", ipam_pool.render(
        POOL, "metal3"))
    result = pool_run(cluster, POOL)
    assert (result["changed"], result["pools"][0]["action"], result["diff"]) == (False, "unchanged", [])
    assert result["counts"] == {"total": 1, "created": 0, "updated": 0, "deleted": 0, "unchanged": 1, "failed": 0}


def test_a_pool_that_never_rests_ends_with_what_to_do(cluster):
    class Restless(Cluster):
        def _meet(self, verb, resource, name, checked):
            self.change("IPPool", "p")
            super()._meet(verb, resource, name, checked)

    cluster.__class__ = Restless
    result, = pools(cluster, WIDER)
    assert result["action"] == "unchanged" and "run again" in result["error"]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_list_of_which_the_api_server_refuses_a_pool_is_not_written_at_all(cluster, check_mode):
    """Addresses may go from one pool to another: with half of that written two machines would get one address."""
    cluster.stored.clear()
    cluster.failures["IPPool", "p"] = "denied by a policy"
    shorter = dict(POOL, ranges=[dict(RANGE, end="192.0.2.12")])
    longer = dict(POOL, name="q", ranges=[dict(RANGE, start="192.0.2.13")])
    result = pool_run(cluster, longer, shorter, check_mode=check_mode)
    assert [(pool["action"], pool["error"]) for pool in result["pools"]] == [
        ("unchanged", ""), ("unchanged", "denied by a policy")]
    assert (result["changed"], result["diff"], cluster.stored) == (False, [], [])
    assert result["counts"]["failed"] == 1 and "free" not in result["pools"][0]
    assert result["warnings"] == ["no pool of the list was written, because the API server refuses 1 of 2 changes"]
    cluster.failures.clear()
    assert [pool["action"] for pool in pools(cluster, longer, shorter)] == ["created", "updated"]


def refuse(cluster, name):
    cluster.objects["IPClaim", name]["status"] = {"errorMessage": "exhausted"}


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_refused_claim_is_created_again(stocked, check_mode):
    refuse(stocked, "c")
    result = claim_run(stocked, CLAIM, check_mode=check_mode, renew_refused=True, wait_timeout_seconds=0)
    assert (result["changed"], result["claims"][0]["action"]) == (True, "renewed")
    assert stocked.stored == ([] if check_mode else [("DELETE", "IPClaim", "c"), ("APPLY", "IPClaim", "c")])


def test_a_refused_claim_that_cannot_be_deleted_does_not_hide_the_others(stocked):
    refuse(stocked, "c")
    stocked.failures["IPClaim", "c"] = "no"
    results = claims(stocked, CLAIM, dict(CLAIM, name="d"), renew_refused=True)
    assert [(item["action"], item["error"]) for item in results] == [("unchanged", "no"), ("created", "")]


def test_a_claim_that_was_deleted_to_be_created_again_is_a_change_even_when_it_is_not_created(stocked):
    refuse(stocked, "c")
    stocked.meanwhile["IPClaim", "c"] = lambda: stocked.failures.update({("IPClaim", "c"): "no"})
    result = claim_run(stocked, CLAIM, renew_refused=True)
    assert result["changed"] is True and result["claims"][0]["error"] == "no"


def test_one_list_creates_and_deletes_and_keeps_its_order(stocked):
    given = {"name": "q", "prefix": 24, "ranges": [{"start": "192.0.2.40", "end": "192.0.2.50"}]}
    assert [(pool["name"], pool["action"]) for pool in pools(stocked, dict(GONE, name="none"), given)] == [
        ("none", "unchanged"), ("q", "created")]
    # The ranges of a pool that goes in the same run are free for another one.
    moved = pools(stocked, dict(GONE, name="q"), dict(given, name="r"))
    assert [(pool["name"], pool["action"]) for pool in moved] == [("q", "deleted"), ("r", "created")]

    results = claims(stocked, GIVEN_BACK, dict(CLAIM, name="d"))
    assert [(item["name"], item["action"]) for item in results] == [("c", "deleted"), ("d", "created")]
    assert ("IPClaim", "c") not in stocked.objects and ("IPClaim", "d") in stocked.objects


def test_a_refused_deletion_leaves_the_whole_list(stocked):
    stocked.allocate("p", "192.0.2.11", "c")
    stocked.stored.clear()
    with pytest.raises(RefusedError, match="addresses in use"):
        pools(stocked, GONE, {"name": "q", "prefix": 24, "ranges": [{"start": "192.0.2.40", "end": "192.0.2.50"}]})
    stocked.objects["IPClaim", "c"]["metadata"]["ownerReferences"] = OWNER
    with pytest.raises(RefusedError, match=OWNED):
        claims(stocked, GIVEN_BACK, dict(CLAIM, name="d"))
    assert stocked.stored == []


def test_a_name_is_wanted_or_not_wanted(cluster):
    with pytest.raises(RefusedError, match="the same name twice"):
        pools(cluster, POOL, GONE)
    with pytest.raises(RefusedError, match="the same name twice"):
        claims(cluster, CLAIM, GIVEN_BACK)


def test_claims_of_both_states_are_waited_for_each_by_its_own_goal(stocked):
    stocked.allocate("p", "192.0.2.11", "c")
    results = claims(stocked, CLAIM, dict(GIVEN_BACK, name="d"), wait_timeout_seconds=5)
    assert [(item["action"], item["error"], item["address"]) for item in results] == [
        ("unchanged", "", "192.0.2.11"), ("unchanged", "", None)]


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("params", [{}, {"renew_refused": True}])
def test_a_claim_that_is_being_deleted_is_not_one_that_is_there(stocked, params, check_mode):
    """Its address is complete, and another server's as soon as IPAM has taken its finalizer off."""
    stocked.allocate("p", "192.0.2.11", "c")
    stocked.going("IPClaim", "c")
    stocked.stored.clear()
    with pytest.raises(RefusedError) as caught:
        claims(stocked, CLAIM, dict(CLAIM, name="d"), check_mode=check_mode, **params)
    text = str(caught.value)
    assert f"IPClaim metal3/c: found an object that is {GOING}, expected one that stays; wait until it is" in text
    assert stocked.stored == []
    # To wait until it is gone is what the state absent is for.
    result, = claims(stocked, GIVEN_BACK, wait_timeout_seconds=1, check_mode=check_mode)
    assert result["action"] == "unchanged" and ("held by" in result["error"]) is not check_mode


def test_a_claim_that_is_deleted_before_it_is_written_is_not_written(stocked):
    stocked.allocate("p", "192.0.2.11", "c")
    stocked.meanwhile["IPClaim", "c"] = lambda: stocked.going("IPClaim", "c")
    result, = claims(stocked, dict(CLAIM, labels={"a": "b"}))
    assert GOING in result["error"] and result["address"] is None and stocked.stored == []


@pytest.mark.parametrize(("event", "text"), [
    (lambda cluster: cluster.going("IPClaim", "c"), f"IPClaim metal3/c: it is {GOING}; do not use its address"),
    (lambda cluster: cluster.objects.pop(("IPClaim", "c")), "IPClaim metal3/c: not answered within 1 s: "
                                                            "it does not exist; run again to create it")])
def test_a_claim_that_is_deleted_after_it_was_found_is_never_answered(stocked, event, text):
    stocked.allocate("p", "192.0.2.11", "c")
    # The other claim is written between the first LIST and the wait.
    stocked.meanwhile["IPClaim", "d"] = lambda: event(stocked)
    result, dummy = claims(stocked, CLAIM, dict(CLAIM, name="d"), wait_timeout_seconds=1)
    assert result["error"].startswith(text) and result["address"] is None


def test_a_claim_that_is_deleted_while_others_are_waited_for_has_no_address(stocked):
    stocked.allocate("p", "192.0.2.11", "c")

    class Late(Cluster):
        def watch(self, resource, *dummy, **dummy2):
            # The claims have been listed, this one as answered.
            if ("IPClaim", "c") in self.objects:
                self.going("IPClaim", "c")
            return iter(())

    stocked.__class__ = Late
    result, dummy = claims(stocked, CLAIM, dict(CLAIM, name="d"), wait_timeout_seconds=1)
    assert f"it is {GOING}" in result["error"] and result["address"] is None


def test_the_address_of_a_claim_is_the_one_that_its_answer_names(stocked):
    """IPAM may have kept the address of a claim of this name that is gone."""
    stocked.allocate("p", "192.0.2.11", "c")
    stocked.allocate("p", "192.0.2.12", "c")
    assert [item["address"] for item in claims(stocked, CLAIM)] == ["192.0.2.12"]
    del stocked.objects["IPClaim", "c"]
    assert [(item["action"], item["address"]) for item in claims(stocked, CLAIM)] == [("created", None)]


def test_a_refused_claim_that_is_held_is_not_renewed(stocked):
    refuse(stocked, "c")
    stocked.objects["IPClaim", "c"]["metadata"]["finalizers"] = [FINALIZER]
    result = claim_run(stocked, CLAIM, dict(CLAIM, name="d"), renew_refused=True, wait_timeout_seconds=1)
    held, other = result["claims"]
    # It was deleted, which is a change, and nothing more.
    assert (result["changed"], held["action"], held["address"]) == (True, "deleted", None)
    assert held["error"].startswith(
        f"IPClaim metal3/c: not gone within 1 s: it is held by {FINALIZER}; look at the controllers")
    assert other["action"] == "created"
    assert stocked.stored == [("DELETE", "IPClaim", "c"), ("APPLY", "IPClaim", "d")]


def test_a_renewal_that_was_interrupted_goes_on(stocked):
    refuse(stocked, "c")
    stocked.going("IPClaim", "c")
    held, = claims(stocked, CLAIM, renew_refused=True, wait_timeout_seconds=1)
    assert held["action"] == "unchanged" and f"not gone within 1 s: it is held by {FINALIZER}" in held["error"]

    class Back(Cluster):
        """IPAM's controller runs again."""

        def watch(self, resource, *dummy, **dummy2):
            stored = self.objects.get(("IPClaim", "c"))
            if stored and stored["metadata"].get("deletionTimestamp"):
                yield {"type": "DELETED", "object": self.objects.pop(("IPClaim", "c"))}
            elif stored and "status" not in stored:
                self.allocate("p", "192.0.2.11", "c")
                yield {"type": "MODIFIED", "object": self.objects["IPClaim", "c"]}

    stocked.__class__ = Back
    result, = claims(stocked, CLAIM, renew_refused=True, wait_timeout_seconds=30)
    assert (result["action"], result["error"], result["address"]) == ("renewed", "", "192.0.2.11")
    assert stocked.stored == [("APPLY", "IPClaim", "c")]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_refused_claim_is_created_again_for_another_pool(stocked, check_mode):
    """A claim keeps its pool; a new one of its name does not."""
    pools(stocked, dict(POOL, name="q", ranges=[{"start": "192.0.2.30", "end": "192.0.2.40"}]))
    refuse(stocked, "c")
    result, = claims(stocked, dict(CLAIM, pool="q"), renew_refused=True, check_mode=check_mode)
    assert (result["action"], result["error"]) == ("renewed", "")
    assert stocked.objects["IPClaim", "c"]["spec"]["pool"]["name"] == ("p" if check_mode else "q")


def test_a_pool_that_is_being_deleted_is_not_one_that_is_there(stocked):
    stocked.going("IPPool", "p")
    stocked.stored.clear()
    for given in (POOL, WIDER):
        with pytest.raises(RefusedError, match=f"IPPool metal3/p: found an object that is {GOING}, expected one "
                                               "that stays; wait until it is gone"):
            pools(stocked, given)
    # It is gone soon, as was asked for.
    assert [(pool["action"], pool["error"]) for pool in pools(stocked, GONE)] == [("unchanged", "")]
    assert stocked.stored == []


def test_a_pool_that_is_deleted_before_it_is_written_is_not_written(cluster):
    cluster.stored.clear()
    cluster.meanwhile["IPPool", "p"] = lambda: cluster.going("IPPool", "p")
    result, = pools(cluster, WIDER)
    assert GOING in result["error"] and cluster.stored == []


def test_no_new_claim_is_made_for_a_pool_that_is_being_deleted(stocked):
    """IPAM would still give it an address, a preallocated one of another claim too."""
    stocked.allocate("p", "192.0.2.11", "e")
    stocked.going("IPPool", "p")
    for name in ("c", "d"):
        with pytest.raises(RefusedError, match=f"IPClaim metal3/{name}: pool: found pool p, which is {GOING}"):
            claims(stocked, dict(CLAIM, name=name))
    # The pool stays for those that have an address of it.
    assert claims(stocked, dict(CLAIM, name="e"))[0]["address"] == "192.0.2.11"


@pytest.mark.parametrize("given", [dict(POOL, ranges=[dict(RANGE, end="192.0.2.30")]), GONE])
@pytest.mark.parametrize("labels, is_there, refused", [
    ({"app.kubernetes.io/managed-by": "metal3.baremetal", "cluster.x-k8s.io/cluster-name": "prod"}, True, True),
    ({"app.kubernetes.io/managed-by": "metal3.baremetal", "cluster.x-k8s.io/cluster-name": "prod"}, False, False),
    # IPAM labels a pool with cluster_name.
    ({"cluster.x-k8s.io/cluster-name": "prod"}, True, False)])
def test_a_pool_that_a_clusters_description_makes_is_left_to_it(cluster, labels, is_there, refused, given):
    """Both write as one manager: what only the cluster says, its labels among it, an apply without it takes away."""
    cluster.objects["IPPool", "p"]["metadata"]["labels"] = labels
    if is_there:
        cluster.objects["Cluster", "prod"] = {"kind": "Cluster", "metadata": {"name": "prod"}}
    before = copy.deepcopy(cluster.objects["IPPool", "p"])
    if refused:
        with pytest.raises(RefusedError, match="IPPool metal3/p: name: found a pool that the description of cluster "):
            pools(cluster, given)
        assert cluster.objects["IPPool", "p"] == before
    else:
        assert pools(cluster, given)[0]["action"] in ("updated", "deleted")


def endpoint(cluster, address, name="prod"):
    cluster.objects["Metal3Cluster", name] = {
        "kind": "Metal3Cluster", "metadata": {"name": name, "namespace": "metal3"},
        "spec": {"controlPlaneEndpoint": {"host": address, "port": 6443}}}


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_range_with_the_endpoint_of_a_cluster_is_refused(cluster, check_mode):
    endpoint(cluster, "192.0.2.25")
    cluster.objects["Metal3Cluster", "empty"] = {"kind": "Metal3Cluster", "metadata": {"name": "empty"}}
    assert pool_run(cluster, POOL)["changed"] is False
    wider = dict(POOL, ranges=[dict(RANGE, end="192.0.2.30")])
    with pytest.raises(RefusedError, match=r"IPPool metal3/p: ranges\[0\]: found 192\.0\.2\.25, the endpoint of "):
        pool_run(cluster, wider, check_mode=check_mode)
    assert pools(cluster, dict(wider, pre_allocations={"endpoint": "192.0.2.25"}))[0]["action"] == "updated"
    assert pools(cluster, GONE)[0]["action"] == "deleted"


def test_the_endpoint_of_a_cluster_may_be_claimed_for_it(cluster):
    endpoint(cluster, "192.0.2.15")
    cluster.allocate("p", "192.0.2.15", "endpoint")
    assert pools(cluster, dict(POOL, ranges=[dict(RANGE, end="192.0.2.30")]))[0]["action"] == "updated"


@pytest.mark.parametrize("status", [403, 404])
def test_who_may_not_read_clusters_is_warned(cluster, status, monkeypatch):
    listed = cluster.list

    def refusing(resource, *arguments, **options):
        if resource.kind == "Metal3Cluster":
            raise KubeError("no", status)
        return listed(resource, *arguments, **options)

    monkeypatch.setattr(cluster, "list", refusing)
    warnings = pool_run(cluster, dict(POOL, ranges=[dict(RANGE, end="192.0.2.30")]))["warnings"]
    assert ["not compared with the endpoints of clusters" in line for line in warnings] == [True] * (status == 403)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the module ``cluster`` whose manifests Cluster API brings, against an API server in memory."""
from __future__ import annotations

import pytest
from fakes.clusters import Plane, run, service_of

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.lifecycle.resource_set_service import (
    ResourceSetError,
    ResourceSets,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "Y2FuYXJ5LTdmM2E="}}
KINDS = ("ClusterResourceSet", "ConfigMap", "Secret")
SET = ("ClusterResourceSet", "c1-manifests-reconcile")


@pytest.fixture
def plane():
    return Plane()


def stored(plane):
    return sorted(key for key in plane.objects if key[0] in KINDS)


def reconcile(plane, check_mode=False, manifests=(CONFIG, SECRET), strategy="Reconcile"):
    return run(plane, check_mode, manifests=manifests, resource_set=strategy)


def test_the_set_is_written_after_what_it_names_and_a_second_run_changes_nothing(plane):
    result = reconcile(plane)
    assert [kind for kind, _name in stored(plane)] == sorted(KINDS) and result["changed"]
    written = [kind for _method, kind, _name, _dry_run in plane.writes() if kind in KINDS]
    assert written[-1] == "ClusterResourceSet" and set(written[-3:-1]) == {"ConfigMap", "Secret"}
    assert {(item["kind"], item["action"]) for item in result["objects"] if item["kind"] in KINDS} == {
        (kind, "created") for kind in KINDS}
    names = [entry["name"] for entry in plane.spec(*SET)["resources"]]
    assert sorted(names) == sorted(name for kind, name in stored(plane) if kind != "ClusterResourceSet")
    before = len(plane.writes())
    again = reconcile(plane)
    assert not again["changed"] and len(plane.writes()) == before


def test_check_mode_tells_and_stores_nothing(plane):
    run(plane)
    result = reconcile(plane, check_mode=True)
    assert result["changed"] and stored(plane) == []
    assert {item["kind"] for item in result["objects"]} == set(KINDS)
    # What is in a Secret is shown to nobody.
    assert "Y2FuYXJ5" not in str(result["diff"]) and any("c1-manifests-reconcile" in str(item) for item in
                                                         result["diff"])


def test_other_manifests_take_the_place_of_those_of_before(plane):
    reconcile(plane)
    before = stored(plane)
    result = reconcile(plane, manifests=[dict(CONFIG, data={"a": "c"}), SECRET])
    after = stored(plane)
    gone, = set(before) - set(after)
    assert gone[0] == "ConfigMap" and result["removed"] == [" ".join(gone)] and SET in after
    assert gone[1] not in str(plane.spec(*SET))


def test_another_strategy_takes_the_place_of_the_one_of_before(plane):
    reconcile(plane)
    result = reconcile(plane, strategy="ApplyOnce")
    assert result["removed"] == [" ".join(SET)] and ("ClusterResourceSet", "c1-manifests-applyonce") in stored(plane)


@pytest.mark.parametrize("without", [{"manifests": []}, {"strategy": "none", "manifests": []}])
def test_what_is_not_described_any_more_is_deleted_the_set_last(plane, without):
    reconcile(plane)
    mine = stored(plane)
    plane.add("v1", "ConfigMap", "of-others", data={})
    planned = reconcile(plane, check_mode=True, **without)
    assert sorted(planned["removed"]) == sorted(" ".join(key) for key in mine) and set(mine) < set(stored(plane))
    result = reconcile(plane, **without)
    assert result["changed"] and stored(plane) == [("ConfigMap", "of-others")]
    deleted = [kind for method, kind, _name, _dry_run in plane.writes() if method == "DELETE"]
    assert deleted[-1] == "ClusterResourceSet"
    assert not reconcile(plane, **without)["changed"]


def test_a_set_of_somebody_else_is_not_overwritten(plane):
    run(plane)
    plane.add("addons.cluster.x-k8s.io/v1beta2", *SET, spec={"strategy": "Reconcile"})
    with pytest.raises(RefusedError, match="ClusterResourceSet c1-manifests-reconcile, which others have made"):
        reconcile(plane)
    assert stored(plane) == [SET] and plane.spec(*SET) == {"strategy": "Reconcile"}
    # Nor is it deleted, by whatever name.
    assert not run(plane)["changed"] and stored(plane) == [SET]


def test_an_object_that_has_no_room_is_refused_before_anything_is_written(plane):
    with pytest.raises(RefusedError, match=r"manifests: found ConfigMap c of \d+ bytes"):
        reconcile(plane, manifests=[dict(CONFIG, data={"a": "x" * 900 * 1024})])
    assert plane.writes() == []


def lacking(plane, status):
    """Have the plane refuse ClusterResourceSets."""
    real = plane.list

    def listed(resource, *arguments, **options):
        if resource.kind == "ClusterResourceSet":
            raise KubeError("no", status)
        return real(resource, *arguments, **options)
    plane.list = listed


@pytest.mark.parametrize("status", [403, 404])
def test_a_plane_without_sets_is_used_as_long_as_none_is_asked_for(plane, status):
    lacking(plane, status)
    assert run(plane)["changed"]
    with pytest.raises((RefusedError, KubeError)) as refused:
        reconcile(plane)
    assert stored(plane) == []
    assert status == 403 or "does not know ClusterResourceSets of addons.cluster.x-k8s.io/v1beta2" in str(refused.value)


def test_a_cluster_that_is_to_be_gone_takes_it_along(plane):
    reconcile(plane)
    planned = service_of(plane, True, confirm="c1").absent()
    assert planned["changed"] and SET in stored(plane)
    service_of(plane, confirm="c1").absent()
    assert stored(plane) == []


class Wait:
    """A wait whose time passes with each look."""

    def __init__(self):
        self.now = 0

    def clock(self):
        self.now += 1
        return self.now

    def remaining_seconds(self):
        return 20


def sets_of(plane):
    """Return the sets of a run that has written what it should."""
    service = service_of(plane, manifests=[CONFIG, SECRET], resource_set="Reconcile")
    service.present()
    found = ResourceSets(service, [CONFIG, SECRET], {"ClusterResourceSet": [plane.objects[SET]]})
    assert found.problems(service.read().description) == []
    return found


def test_the_wait_ends_when_cluster_api_has_applied_this_content(plane):
    sets = sets_of(plane)
    plane.add("addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSetBinding", "c1", spec={"bindings": [{
        "clusterResourceSetName": SET[1], "resources": [
            {"kind": kind, "name": name, "applied": True} for kind, name in stored(plane) if kind in KINDS[1:]]}]})
    sets.wait(Wait())


def test_a_wait_that_ends_without_it_says_what_cluster_api_says(plane):
    sets = sets_of(plane)
    plane.objects[SET]["status"] = {"conditions": [{
        "type": "ResourcesApplied", "status": "False", "message": "no matches for kind Widget"}]}
    with pytest.raises(ResourceSetError) as failed:
        sets.wait(Wait())
    for text in ("cluster metal3/c1: Cluster API has not applied ConfigMap c1-manifests-", "no matches for kind Widget",
                 "look at the ClusterResourceSet c1-manifests-reconcile"):
        assert text in str(failed.value)

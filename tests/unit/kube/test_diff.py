# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which differences an apply plan sees, and which it leaves alone."""
from __future__ import annotations

import copy

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.diff import (
    answered,
    compare,
    goes_away,
)

DESIRED = {
    "apiVersion": "metal3.io/v1alpha1",
    "kind": "BareMetalHost",
    "metadata": {"name": "a", "namespace": "n", "labels": {"rack": "r1"}},
    "spec": {"online": True, "bmc": {"address": "ipmi://192.0.2.1"}},
}


def stored(desired, owned=None, **spec):
    """Return ``desired`` as a server would store it: defaults added, ownership kept."""
    obj = copy.deepcopy(desired)
    obj["spec"].update(spec)
    obj["status"] = {"provisioning": {"state": "available"}}
    obj["metadata"].update(uid="u", resourceVersion="7", managedFields=[
        {"manager": "metal3.baremetal", "operation": "Apply", "fieldsV1": owned or {}},
        {"manager": "capm3", "operation": "Update", "fieldsV1": {"f:spec": {"f:consumerRef": {}}}},
    ])
    return obj


def test_defaults_and_other_managers_fields_are_no_difference():
    current = stored(DESIRED, automatedCleaningMode="metadata", consumerRef={"name": "m"})
    current["metadata"]["annotations"] = {"other": "x"}
    difference = compare(current, DESIRED)
    assert not difference.differs
    assert not difference.ambiguous


@pytest.mark.parametrize("spec, before", [
    ({"online": False}, {"online": False, "bmc": {"address": "ipmi://192.0.2.1"}}),
    ({"bmc": {"address": "ipmi://192.0.2.9"}}, {"online": True, "bmc": {"address": "ipmi://192.0.2.9"}}),
    ({"bmc": None}, {"online": True, "bmc": None}),
])
def test_a_changed_field_differs_and_is_shown(spec, before):
    difference = compare(stored(DESIRED, **spec), DESIRED)
    assert difference.differs
    assert difference.before["spec"] == before
    assert difference.after["spec"] == DESIRED["spec"]


@pytest.mark.parametrize("entries, gone", [
    ([("metal3.baremetal", "Apply", None)], True),
    ([], False),
    ([("metal3.baremetal", "Apply", None), ("cluster-autoscaler", "Update", "scale")], False),
    ([("metal3.baremetal", "Apply", None), ("kubectl", "Apply", None)], False),
    ([("metal3.baremetal", "Update", None)], False),
    ([("metal3.baremetal", "Apply", "status")], False),
])
def test_a_field_goes_with_an_apply_when_it_is_ours_alone(entries, gone):
    others = {"manager": "manager", "operation": "Update", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    current = {"metadata": {"managedFields": [others] + [
        {"manager": manager, "operation": operation, "subresource": subresource,
         "fieldsV1": {"f:spec": {"f:replicas": {}}}} for manager, operation, subresource in entries]}}
    assert goes_away(current, ("spec", "replicas")) is gone
    assert goes_away(current, ("spec", "paused")) is False


def test_a_field_we_owned_and_no_longer_want_is_removed():
    owned = {"f:spec": {"f:online": {}, "f:rootDeviceHints": {"f:model": {}}, "f:bmc": {"f:address": {}}}}
    current = stored(DESIRED, owned, rootDeviceHints={"model": "X"})
    difference = compare(current, DESIRED)
    assert difference.differs
    assert difference.before["spec"]["rootDeviceHints"] == {"model": "X"}
    assert "rootDeviceHints" not in difference.after["spec"]


def test_a_label_we_owned_is_removed_and_foreign_ones_stay():
    owned = {"f:metadata": {"f:labels": {"f:rack": {}, "f:old": {}}}}
    current = stored(DESIRED, owned)
    current["metadata"]["labels"].update(old="1", foreign="2")
    difference = compare(current, DESIRED)
    assert difference.differs
    assert difference.before["metadata"]["labels"] == {"rack": "r1", "old": "1"}


def test_a_field_of_a_keyed_element_that_we_owned_is_removed():
    """A container's request for memory that no option asks for any more."""
    tree = {"f:spec": {"f:containers": {'k:{"name":"manager"}': {
        ".": {}, "f:name": {}, "f:resources": {"f:requests": {"f:memory": {}}}}}}}
    desired = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
               "spec": {"containers": [{"name": "manager"}]}}
    wide = [{"name": "manager", "image": "defaulted", "resources": {"requests": {"memory": "900Gi"}}}]
    difference = compare(stored(desired, tree, containers=wide), desired)
    assert difference.differs and difference.before["spec"]["containers"] == wide
    tree["f:spec"]["f:containers"]['k:{"name":"manager"}'].pop("f:resources")
    assert not compare(stored(desired, tree, containers=wide), desired).differs


def test_what_another_manager_took_over_is_not_removed():
    owned = {"f:spec": {"f:image": {}}}
    assert not compare(stored(DESIRED, owned), DESIRED).differs


def test_keyed_lists_are_compared_by_key():
    desired = dict(DESIRED, spec={"domains": [{"name": "a", "controlPlane": True}]})
    owned = {"f:spec": {"f:domains": {'k:{"name":"a"}': {"f:name": {}, "f:controlPlane": {}}}}}
    both = stored(desired, owned, domains=[{"name": "b"}, {"name": "a", "controlPlane": True, "x": 1}])
    assert not compare(both, desired).differs
    assert compare(stored(desired, owned, domains=[{"name": "a", "controlPlane": False}]), desired).differs
    assert compare(both, dict(desired, spec={"domains": []})).differs


@pytest.mark.parametrize("current, differs, ambiguous", [
    ([{"path": "/a", "owner": "root"}], False, True),
    ([{"path": "/a"}], False, False),
    ([{"path": "/b"}], True, False),
    ([{"path": "/a"}, {"path": "/b"}], True, False),
    ([], True, False),
])
def test_atomic_lists_leave_surplus_fields_to_the_server(current, differs, ambiguous):
    desired = dict(DESIRED, spec={"files": [{"path": "/a"}]})
    difference = compare(stored(desired, files=current), desired)
    assert (difference.differs, difference.ambiguous) == (differs, ambiguous)


@pytest.mark.parametrize("version, converted", [
    ("metal3.io/v1alpha1", False), ("metal3.io/v1alpha0", True),
    # As a server of long ago kept it.
    (None, False),
])
def test_what_is_owned_in_another_version_is_left_to_the_server(version, converted):
    current = stored(DESIRED, {"f:spec": {"f:online": {}}})
    if version:
        current["metadata"]["managedFields"][0]["apiVersion"] = version
    # What others own in another version is theirs.
    current["metadata"]["managedFields"][1]["apiVersion"] = "metal3.io/v1alpha0"
    assert compare(current, DESIRED).converted is converted


def test_an_answer_shows_what_an_update_takes_away_and_adds():
    current = stored(DESIRED, bmc={"address": "ipmi://192.0.2.1", "credentialsName": "old"}, image={"url": "a"}, rack=1)
    current["metadata"].update(finalizers=["f"])
    answer = stored(DESIRED, bmc={"address": "ipmi://192.0.2.1"}, rack=2)
    answer["metadata"].update(finalizers=["f"], labels={"rack": "r1", "of": "server"})
    before, after = answered(current, DESIRED, answer)
    assert before == {
        "metadata": {"labels": {"rack": "r1"}},
        "spec": {"online": True, "bmc": {"address": "ipmi://192.0.2.1", "credentialsName": "old"},
                 "image": {"url": "a"}, "rack": 1}}
    assert after == {
        "metadata": {"labels": {"rack": "r1", "of": "server"}},
        "spec": {"online": True, "bmc": {"address": "ipmi://192.0.2.1"}, "rack": 2}}


def test_an_answer_changes_none_of_the_objects_that_it_is_compared_with():
    objects = stored(DESIRED, image={"url": "a"}), DESIRED, stored(DESIRED)
    kept = copy.deepcopy(objects)
    answered(*objects)
    assert objects == kept

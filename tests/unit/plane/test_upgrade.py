# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades of the plane's parts: steps in order, what is refused, what must be confirmed, what a rollback applies."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.reconcile.diff import owned_tree
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import fit
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BY_NAME
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.upgrade import managed_objects, rollback
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.upgrade import rules as upgrade

NOTHING = upgrade.Managed([], [], [])


def there(**versions):
    found = dict((name, fit.Found(version, "", None, ())) for name, version in versions.items())
    return fit.Plane("v1.35.4", found, {})


def planned(**versions):
    return dict((name, fit.Planned(version, [])) for name, version in versions.items())


def step(name, found, wanted):
    return upgrade.Step(BY_NAME[name], found, wanted)


def host(name, state, address="redfish://192.0.2.1/", **status):
    return {"metadata": {"name": name, "namespace": "metal3"}, "spec": {"bmc": {"address": address}},
            "status": dict({"provisioning": {"state": state}}, **status)}


def codes(problems):
    return [problem.code for problem in problems]


def test_only_older_parts_are_steps_in_the_order_of_the_catalogue():
    found = upgrade.steps(
        there(capm3="v1.12.3", bmo="v0.13.1", kcp="v1.13.5", capi="v1.12.5", ipam=None),
        planned(capm3="v1.13.2", bmo="v0.13.2", kcp="v1.13.5", capi="v1.13.5", ipam="v1.13.2", cabpk="v1.13.5"))
    assert [(item.part.name, item.found, item.planned) for item in found] == [
        ("capi", "v1.12.5", "v1.13.5"), ("bmo", "v0.13.1", "v0.13.2"), ("capm3", "v1.12.3", "v1.13.2")]
    assert upgrade.steps(there(bmo="v0.13.2"), planned(bmo="v0.13.1")) == []


@pytest.mark.parametrize("name, found, wanted, refused", [
    ("capi", "v1.10.1", "v1.13.5", False), ("capi", "v1.9.0", "v1.13.5", True), ("bmo", "v0.12.4", "v0.13.2", False),
    ("bmo", "v0.11.0", "v0.13.2", True), ("capm3", "v1.13.0", "v1.13.2", False), ("capi", "v0.4.8", "v1.13.5", True)])
def test_a_step_has_no_more_minors_than_upstream_supports(name, found, wanted, refused):
    problems = upgrade.problems([step(name, found, wanted)], NOTHING)
    assert codes(problems) == (["upgrade-too-far"] if refused else [])
    assert not problems or f"found {found} to {wanted}, expected a step of at most" in str(problems[0])


@pytest.mark.parametrize("state, status, busy", [
    ("available", {}, None), ("provisioned", {"operationalStatus": "OK"}, None), ("", {}, None), (None, {}, None),
    ("externally provisioned", {}, None), ("unmanaged", {}, None), ("provisioning", {}, "provisioning"),
    ("inspecting", {}, "inspecting"), ("deprovisioning", {}, "deprovisioning"), ("deleting", {}, "deleting"),
    ("registering", {"errorType": "registration error"}, None),
    ("provisioned", {"operationalStatus": "servicing"}, "servicing")])
@pytest.mark.parametrize("part", ["bmo", "capm3", "ipam"])
def test_hosts_that_are_worked_on_stop_the_parts_that_work_on_hosts(part, state, status, busy):
    managed = upgrade.Managed([host("a", state, **status)], [], [])
    problems = upgrade.problems([step(part, "v1.13.1", "v1.13.2")], managed)
    assert codes(problems) == (["upgrade-host-in-transition"] if busy and part != "ipam" else [])
    assert not problems or f"found 1 in transition (metal3/a: {busy})" in str(problems[0])


@pytest.mark.parametrize("found, wanted, asked", [
    ("v1.12.3", "v1.13.2", ["BareMetalHost"]), ("v1.13.2", "v1.14.0", ["BareMetalHost", "Metal3Machine"])])
def test_machines_are_read_by_the_step_that_asks_for_them_alone(found, wanted, asked):
    """After v1beta2 was written, and before its program runs, nobody converts those of v1beta1: install was stuck."""
    read = []

    def listed(_api_version, kind):
        read.append(kind)
        return []

    managed_objects.read(listed, [step("capm3", found, wanted)])
    assert read == asked


@pytest.mark.parametrize("address, wanted, refused", [
    ("irmc://192.0.2.1", "v0.13.0", True), ("irmc://192.0.2.1", "v0.12.4", False),
    ("ilo5+https://192.0.2.1", "v0.12.4", True), ("ilo5-redfish://192.0.2.1", "v0.13.0", False),
    ("192.0.2.1", "v0.13.0", False), ("", "v0.13.0", False)])
def test_bmc_address_schemes_that_the_new_operator_no_longer_has_are_refused(address, wanted, refused):
    hosts = [host("a", "provisioned", address)]
    problems = upgrade.problems([step("bmo", "v0.12.0", wanted)], upgrade.Managed(hosts, [], []))
    assert codes(problems) == (["upgrade-scheme-removed"] if refused else [])
    assert not problems or str(problems[0]).startswith("BareMetalHost metal3/a: spec.bmc.address: found the scheme ")


def test_machines_with_a_legacy_provider_id_are_refused_where_they_are_no_longer_known():
    machines = [{"metadata": {"name": name, "namespace": "metal3"}, "spec": {"providerID": value}} for name, value in (
        ("old", "metal3://6b4ae9f8-8c5a-4f0c-a0c8-9a1e2b3c4d5e"), ("new", "metal3://metal3/a/old"), ("none", None))]
    managed = upgrade.Managed([], machines, [])
    assert upgrade.problems([step("capm3", "v1.12.3", "v1.13.2")], managed) == []
    problems = upgrade.problems([step("capm3", "v1.13.2", "v1.14.0")], managed)
    assert codes(problems) == ["upgrade-provider-id"] and "found 1 with the UID of a host alone (metal3/old)" in str(
        problems[0])


def test_all_that_stands_against_an_upgrade_is_reported_together():
    managed = upgrade.Managed([host("a", "provisioning", "irmc://192.0.2.1")], [], [])
    due = [step("capi", "v1.9.0", "v1.13.5"), step("bmo", "v0.12.0", "v0.13.2"), step("capm3", "v1.12.0", "v1.13.2")]
    problems = upgrade.problems(due, managed)
    assert codes(problems) == ["upgrade-too-far", "upgrade-scheme-removed", "upgrade-host-in-transition"]
    assert str(problems[2]).startswith("part bmo and capm3: ")


def test_another_minor_and_a_deployment_that_is_stopped_first_must_be_confirmed():
    due = [step("capi", "v1.12.5", "v1.13.5"), step("ipam", "v1.13.1", "v1.13.2"), step("bmo", "v0.13.1", "v0.13.2")]
    stopped = [{"metadata": {"namespace": BY_NAME["bmo"].namespace, "name": name},
                "spec": {"strategy": {"type": "Recreate"}}} for name in BY_NAME["bmo"].images]
    assert upgrade.interrupted(due, []) == ["capi"]
    assert upgrade.interrupted(due, stopped) == ["capi", "bmo"]
    assert upgrade.described(due[:1], ["capi"]) == [
        {"part": "capi", "found": "v1.12.5", "planned": "v1.13.5", "interrupts": True}]


def test_a_deployment_that_is_stopped_first_counts_in_the_namespace_that_it_was_installed_into():
    found = fit.Plane("v1.35.4", {"bmo": fit.Found("v0.13.1", "", "metal", ())}, {})
    due = upgrade.steps(found, planned(bmo="v0.13.2"))

    def stopped(namespace):
        return [{"metadata": {"namespace": namespace, "name": name}, "spec": {"strategy": {"type": "Recreate"}}}
                for name in BY_NAME["bmo"].images]

    assert upgrade.interrupted(due, stopped("metal")) == ["bmo"]
    assert upgrade.interrupted(due, stopped(BY_NAME["bmo"].namespace)) == []


def applied(tree, **content):
    return dict({"apiVersion": "apps/v1", "kind": "Deployment", "status": {"replicas": 1}}, metadata={
        "name": "manager", "namespace": "system", "uid": "1", "resourceVersion": "7",
        "labels": {"version": "old", "other": "x"},
        "managedFields": [{"manager": "metal3.baremetal", "operation": "Apply", "fieldsV1": tree}]}, **content)


def previous(before, after):
    return rollback.previous(before, owned_tree(before), owned_tree(after))


def test_a_rollback_applies_what_was_owned_with_the_values_from_before():
    container = 'k:{"name":"manager"}'
    environment = {"f:env": {'k:{"name":"OLD"}': {".": {}, "f:name": {}, "f:value": {}}}}
    before = applied(
        {"f:metadata": {"f:labels": {"f:version": {}}},
         "f:spec": {"f:containers": {container: dict({".": {}, "f:name": {}, "f:image": {}}, **environment)}}},
        spec={"replicas": 3, "paused": False, "containers": [
            {"name": "manager", "image": "x:1", "args": ["--a"], "env": [
                {"name": "OLD", "value": "1"}, {"name": "SIDE", "value": "2"}]}, {"name": "injected", "image": "y:1"}]})
    after = applied(
        {"f:metadata": {"f:labels": {"f:version": {}}},
         "f:spec": {"f:replicas": {}, "f:new": {}, "f:containers": {
             container: {".": {}, "f:name": {}, "f:image": {}, "f:args": {}}}}}, spec={})
    assert previous(before, after) == {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "manager", "namespace": "system", "labels": {"version": "old"}},
        # What the apply in between has taken over has its value from before; what others own is not named.
        "spec": {"replicas": 3, "containers": [
            {"name": "manager", "image": "x:1", "args": ["--a"], "env": [{"name": "OLD", "value": "1"}]}]}}


def test_a_rollback_of_a_leaf_takes_all_below_it_and_keeps_sets():
    tree = {"f:data": {"f:a": {}}, "f:metadata": {"f:finalizers": {'v:"one"': {}}}}
    before = applied(tree, data={"a": {"deep": [1]}})
    before["metadata"]["finalizers"] = ["one", "two"]
    result = previous(before, applied({"f:data": {}}))
    assert result["data"] == {"a": {"deep": [1]}} and result["metadata"]["finalizers"] == ["one"]
    # Without an owner there is nothing to put back.
    assert set(previous(applied({}, spec={"a": 1}), applied({}))) == {"apiVersion", "kind", "metadata"}


def test_a_definition_whose_objects_may_be_stored_by_the_new_one_is_named():
    before = {"spec": {"versions": [{"name": "v1beta1"}]}}
    assert rollback.stored_by_newer(before, {"status": {"storedVersions": ["v1beta1"]}}) == []
    assert rollback.stored_by_newer(before, {"status": {"storedVersions": ["v1beta1", "v1beta2"]}}) == ["v1beta2"]

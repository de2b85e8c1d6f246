# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic by the Ironic operator: options to resource, refusals, the wait for its condition, removal."""
from __future__ import annotations

import pytest
from fakes.clock import Clock
from fakes.plane_server import Server, definition

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import operated, operated_service

NAMESPACE = "ironic"
DHCP = {"network_cidr": "192.0.2.0/24", "range_begin": "192.0.2.10", "range_end": "192.0.2.20"}
DATABASE = {"host": "db", "name": "ironic", "credentials_name": "db-login"}


def options(**changes):
    given = dict((field.name, None) for field in operated.FIELDS)
    return dict(given, **dict({"name": "ironic", "namespace": NAMESPACE, "state": "present", "wait": False,
                               "wait_timeout_seconds": 120, "confirm": None, "confirm_among": []}, **changes))


class Operator(Server):
    """A cluster with the Ironic operator, which reports one condition after the other."""

    def __init__(self, *conditions):
        super().__init__()
        self.conditions = list(conditions)
        self.store("CustomResourceDefinition", None, definition("ironic.metal3.io", "ironics", "Ironic", "v1alpha1"))

    def request(self, method, path, **given):
        if path == "/apis/ironic.metal3.io/v1alpha1":
            return {"resources": [{"name": "ironics", "kind": "Ironic", "namespaced": True}]}
        return super().request(method, path, **given)

    def list(self, resource, namespace=None, label_selector=None):
        found, version = super().list(resource, namespace, label_selector)
        return [self._reported(item) if resource.kind == "Ironic" else item for item in found], version

    def _reported(self, found):
        if self.conditions:
            condition = self.conditions.pop(0) if len(self.conditions) > 1 else self.conditions[0]
            return dict(found, metadata=dict(found["metadata"], generation=2), status={
                "conditions": [condition] if condition else [], "installedVersion": "35.0"})
        return found


def run(server, check_mode=False, **changes):
    clock = Clock()
    return operated_service.OperatedIronic(server, options(**changes), check_mode, Progress(None), clock.sleep, clock)


def ready(status, reason="DeploymentInProgress", generation=2):
    return {"type": "Ready", "status": status, "reason": reason, "message": "said", "observedGeneration": generation}


def test_only_what_is_given_is_in_the_resource():
    made = operated.desired(options(
        high_availability=False, networking={"dhcp": dict(DHCP, serve_dns=True), "api_port": None},
        tls={"bmc_ca": {"name": "ca", "kind": "ConfigMap"}}, extra_config=[{"group": "a", "name": "b", "value": "c"}]))
    assert made["spec"] == {
        "highAvailability": False, "extraConfig": [{"group": "a", "name": "b", "value": "c"}],
        "networking": {"dhcp": {"networkCIDR": "192.0.2.0/24", "rangeBegin": "192.0.2.10", "rangeEnd": "192.0.2.20",
                                "serveDNS": True}},
        "tls": {"bmcCA": {"name": "ca", "kind": "ConfigMap"}}}


@pytest.mark.parametrize(("changes", "fields"), [
    ({"version": "v35"}, ["version"]),
    ({"high_availability": True, "networking": {"dhcp": DHCP, "ip_address": "192.0.2.2"}},
     ["database", "networking.dhcp", "networking.ip_address"]),
    ({"high_availability": True, "database": DATABASE, "prometheus_exporter": {"enabled": True}},
     ["prometheus_exporter.disable_service_monitor"]),
    ({"tls": {"insecure_rpc": True}}, ["tls.insecure_rpc"]),
    ({"networking": {"ip_address_manager": "keepalived", "interface": "eno1"}}, ["networking.ip_address_manager"]),
    ({"networking": {"ip_address": "fe80::1%a", "external_ip": "fe80::1%b"}},
     ["networking.ip_address", "networking.external_ip"]),
    ({"networking": {"ip_address": "node", "external_ip": "x"}}, ["networking.ip_address", "networking.external_ip"]),
    ({"networking": {"dhcp": dict(DHCP, serve_dns=True, dns_address="192.0.2.1", range_begin="198.51.100.1")}},
     ["networking.dhcp.serve_dns", "networking.dhcp.range_begin"]),
    ({"networking": {"dhcp": dict(DHCP, range_end="192.0.2.9")}}, ["networking.dhcp.range_end"]),
    ({"networking": {"dhcp": dict(DHCP, gateway_address="192.0.2.10"), "ip_address": "192.0.2.15"},
      "taken": [{"owner": "bastion", "address": "192.0.2.20"}]},
     ["networking.dhcp.range_begin", "networking.dhcp.range_begin", "networking.dhcp.range_begin"]),
    ({"networking": {"dhcp": dict(DHCP, dns_address="192.0.2.11", gateway_address="192.0.2.12", hosts=[
        "00:5c:52:00:00:01,192.0.2.11", "00:5c:52:00:00:02,192.0.2.12"])}},
     ["networking.dhcp.hosts[1]", "networking.dhcp.range_begin"]),
    ({"networking": {"dhcp": dict(DHCP, network_cidr="192.0.2.1/24")}}, ["networking.dhcp.network_cidr"]),
    ({"deploy_ramdisk": {"disable_downloader": True}, "images": {"deploy_ramdisk_branch": "b"}},
     ["images.deploy_ramdisk_branch"]),
])
def test_all_that_does_not_fit_is_refused_before_anything_is_written(changes, fields):
    server = Operator()
    server.store("Secret", NAMESPACE, {"metadata": {"name": "db-login", "labels": dict([operated.LABEL])}})
    with pytest.raises(RefusedError) as caught:
        run(server, **changes).present()
    assert [problem.field for problem in caught.value.problems] == fields and server.writes == []


def test_without_the_operator_the_run_says_what_to_install():
    with pytest.raises(RefusedError, match="install it first by the manifests of its release"):
        run(Server()).present()


def test_secrets_that_the_operator_may_not_use_are_refused():
    server = Operator()
    labels = dict([operated.LABEL])
    server.store("Secret", NAMESPACE, {"metadata": {"name": "db-login", "labels": labels}})
    server.store("Secret", NAMESPACE, {"metadata": {"name": "tls"}})
    given = {"database": DATABASE,
             "tls": {"certificate_name": "tls", "trusted_ca": {"name": "ca", "kind": "ConfigMap"}}}
    with pytest.raises(RefusedError) as caught:
        run(server, **given).present()
    assert [problem.field for problem in caught.value.problems] == ["tls.certificate_name", "tls.trusted_ca"]
    server.store("Secret", NAMESPACE, {"metadata": {"name": "tls", "labels": labels}})
    server.store("ConfigMap", NAMESPACE, {"metadata": {"name": "ca", "labels": labels}})
    assert run(server, **given).present()["changed"]


def test_it_waits_for_the_condition_of_the_newest_spec_and_a_second_run_changes_nothing():
    server = Operator(None, ready("True", "DeploymentAvailable", generation=1), ready("False"),
                      ready("False", "DeploymentFailed"), ready("True", "DeploymentAvailable"))
    result = run(server, wait=True, version="35.0").present()
    assert result["changed"] and result["seconds"] == 2.0 and result["installed_version"] == "35.0"
    server.writes.clear()
    assert not run(server, wait=True, version="35.0").present()["changed"] and server.writes == []


@pytest.mark.parametrize("check_mode", [True, False])
def test_one_that_is_being_deleted_is_refused(check_mode):
    server = Operator(ready("True", "DeploymentAvailable"))
    run(server).present()
    next(item for (kind, _namespace, _name), item in server.objects.items() if kind == "Ironic")["metadata"].update(
        deletionTimestamp="2026-11-25T00:00:00Z", finalizers=["ironic.metal3.io"])
    server.writes.clear()
    with pytest.raises(RefusedError, match="found an object that is being deleted since 2026-11-25T00:00:00Z, held by"):
        run(server, check_mode, version="35.0", wait=True).present()
    assert server.writes == []


@pytest.mark.parametrize(("condition", "text"), [
    (ready("False", "DeploymentFailed"), "not ready: DeploymentFailed: said; correct what it names"),
    (ready("False"), "not ready within 120 s: DeploymentInProgress: said; look at the pods"),
    (None, "not ready within 120 s: the operator has not looked at it; look whether the Ironic operator runs"),
])
def test_what_does_not_become_ready_is_named_with_what_the_operator_says(condition, text):
    with pytest.raises(ReportedError, match=text):
        run(Operator(condition), wait=True).present()


def test_check_mode_writes_nothing():
    server = Operator()
    assert run(server, check_mode=True).present()["changed"] and server.writes == []


def test_another_specification_waits_for_hosts_in_transition():
    server = Operator()
    run(server).present()
    host = {"metadata": {"name": "h", "namespace": "metal3"}, "status": {"provisioning": {"state": "provisioning"}}}
    server.store("BareMetalHost", "metal3", host)
    server.writes.clear()
    for check_mode in (False, True):
        with pytest.raises(RefusedError, match=r"transition \(metal3/h: provisioning\), expected none, since Iron"):
            run(server, check_mode, version="35.0").present()
    assert server.writes == [] and not run(server).present()["changed"]
    server.objects["Ironic", NAMESPACE, "ironic"]["status"] = {"conditions": [ready("False")]}
    assert run(server, version="35.0").present()["changed"]


@pytest.mark.parametrize("changes", [{"database": None}, {"database": dict(DATABASE, host="other")}])
def test_a_database_is_given_up_only_with_the_name_of_ironic(changes):
    server = Operator()
    server.store("Secret", NAMESPACE, {"metadata": {"name": "db-login", "labels": dict([operated.LABEL])}})
    run(server, database=DATABASE).present()
    server.writes.clear()
    assert run(server, database=DATABASE, version="35.0").present()["warnings"] == []
    server.writes.clear()
    for confirm in (None, "1"):
        with pytest.raises(RefusedError, match=r"Ironic would leave ironic on db for .*metal3_confirm=ironic"):
            run(server, confirm=confirm, **changes).present()
    planned = run(server, True, **changes).present()
    assert planned["changed"] and "metal3_confirm=ironic" in planned["warnings"][0] and server.writes == []
    with pytest.raises(RefusedError, match=r"2 planes \(one, two\) in this play, expected one"):
        run(server, confirm="ironic", confirm_among=["one", "two"], **changes).present()
    assert server.writes == []
    assert run(server, confirm="ironic", **changes).present()["changed"]
    assert run(server, **changes).present()["warnings"] == []


def test_it_is_removed_only_without_hosts_and_with_a_confirmation():
    server = Operator()
    run(server).present()
    server.store("BareMetalHost", "metal3", {"metadata": {"name": "h", "namespace": "metal3"}})
    with pytest.raises(RefusedError, match="BareMetalHost: found 1 of them"):
        run(server, confirm="ironic").absent()
    del server.objects["BareMetalHost", "metal3", "h"]
    labels = server.objects["Ironic", NAMESPACE, "ironic"]["metadata"].pop("labels")
    with pytest.raises(RefusedError, match="remove it by what has created it"):
        run(server, confirm="ironic").absent()
    server.objects["Ironic", NAMESPACE, "ironic"]["metadata"]["labels"] = labels
    # A number may be that of parts which the same run upgrades, or of machines.
    for given in ("1", None):
        with pytest.raises(RefusedError, match="metal3_confirm=ironic, or set state=present"):
            run(server, confirm=given).absent()
    with pytest.raises(RefusedError, match="found 2 planes"):
        run(server, confirm="ironic", confirm_among=["one", "two"]).absent()
    assert "metal3_confirm=ironic" in run(server, check_mode=True).absent()["warnings"][0]
    assert not run(server, check_mode=True, confirm="ironic").absent()["warnings"]
    assert run(server, confirm="ironic", wait=True).absent()["changed"]
    assert not run(server).absent()["changed"] and not run(Server()).absent()["changed"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lint of a site: each rule has a site that breaks it and nothing else."""
from __future__ import annotations

import copy
import pathlib

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import spec as cluster_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import virtual_router
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rules import combinations as host_combinations
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import checks as lint_checks
from ansible_collections.metal3.baremetal.plugins.module_utils._lint import rules as lint_rules

REPOSITORY = pathlib.Path(__file__).parents[3]
CHECKSUM = "https://images.example/node.qcow2.sha256"


def server(number, **options):
    return dict({
        "name": f"server-{number:02d}", "boot_mac_address": f"00:5c:52:00:00:{number:02x}", "labels": {"rack": "r1"},
        "bmc": {"address": f"redfish-virtualmedia://198.51.100.{number}/redfish/v1/Systems/1", "username": "admin",
                "password": "canary-password"}}, **options)


def cluster(**options):
    return dict({
        "name": "prod", "namespace": "metal3", "kubernetes_version": "v1.35.4",
        "endpoint": {"host": "192.0.2.10", "holder": "none"},
        "image": {"url": "https://images.example/node.qcow2", "checksum": CHECKSUM},
        "control_plane": {"replicas": 1}, "workers": {"pool-a": {"replicas": 1}},
        "networks": {"nodes": {"interface": "eno1", "ipv4": {
            "ranges": [{"start": "192.0.2.20", "end": "192.0.2.60"}], "prefix": 24}}}}, **options)


def site(hosts=None, clusters=None, **facts):
    everything = {"namespace": "metal3", "hosts": [server(number) for number in (1, 2, 3)] if hosts is None else hosts,
                  "clusters": {"prod-cluster": cluster()} if clusters is None else clusters, "pools": None,
                  "secrets": None, "providers": {}, "provisioning_cidr": None, "has_provisioning_network": True}
    return lint_checks.Site(**dict(everything, **facts))


def more(*extra):
    """Three good servers and others."""
    return [server(number) for number in (1, 2, 3)] + list(extra)


def one(**options):
    return {"prod-cluster": cluster(**options)}


def routed(vlan=None, pool=None, gateway="192.0.2.1", prefix=24, **options):
    """A cluster whose nodes have a gateway."""
    networks = {"nodes": {"interface": "eno1", "ipv4": dict(NETWORKS["nodes"]["ipv4"], gateway=gateway, prefix=prefix,
                                                            **({"pool": pool} if pool else {}))}}
    if vlan:
        networks = {"card": {"interface": "eno1", "ipv4": {"mode": "none"}},
                    "nodes": dict(networks["nodes"], interface=None, vlan={"id": vlan, "network": "card"})}
    return cluster(networks=networks, **options)


NETWORKS = cluster()["networks"]
TENANT = {"name": "other", "namespace": "tenant", "endpoint": {"host": "192.0.2.11", "holder": "none"}}
ISO = {"url": "http://192.0.2.4/live.iso", "format": "live-iso"}
BY_NAME = {"nodes": {"interface": "eno1", "ipv4": {"pool": "elsewhere"}}}
OTHER = dict(cluster(), name="other", endpoint={"host": "192.0.2.11", "holder": "none"},
             control_plane={"replicas": 1}, workers={}, networks={})
POOL = {"name": "elsewhere", "prefix": 24, "ranges": [{"start": "192.0.2.100", "end": "192.0.2.120"}]}


def pool_of(address):
    return {"name": "elsewhere", "prefix": 24, "ranges": [{"start": address, "end": address}]}


# rule: the site that breaks it; name and field of the finding; a part of what was seen or expected.
BROKEN = {
    "unknown-variable": (site(more(server(4, onlin=True))), "server-04", "onlin", "an unknown option"),
    "value": (site(more(server(4, online="perhaps"))), "server-04", "online", "true or false"),
    "no-hosts": (site([], {}), "", "", "no server"),
    "host-duplicate": (site(more(server(4, boot_mac_address="00:5c:52:00:00:01"))), "server-04", "boot_mac_address",
                       "the same as server-01"),
    "host-name": (site(more(server(4, name="Server_04"))), "Server_04", "name", "lower case"),
    "bmc-address": (site(more(server(4, bmc=dict(server(4)["bmc"], address="irmc://192.0.2.4")))), "server-04",
                    "bmc.address", "went away"),
    "bmc-credentials": (site(more(server(4, bmc=dict(server(4)["bmc"], password="")))), "server-04", "bmc.password",
                        "an empty text"),
    "boot-mac-missing": (site(more(server(4, boot_mac_address=None, inspection_mode="disabled"))), "server-04",
                         "boot_mac_address", "a host without inspection"),
    "boot-mac-invalid": (site(more(server(4, boot_mac_address="01:00:5e:00:00:01"))), "server-04",
                         "boot_mac_address", "group"),
    "boot-mode": (site(more(server(4, boot_mode="UEFISecureBoot", bmc=dict(
        server(4)["bmc"], address="ipmi://192.0.2.4")))), "server-04", "boot_mode", "secure boot"),
    "root-device-hints": (site(more(server(4, root_device_hints={"device_name": "sda"}))), "server-04",
                          "root_device_hints.device_name", "/dev/"),
    "raid": (site(more(server(4, raid={"hardware_raid_volumes": [{"level": "1", "size_gibibytes": 5}] + [
        {"level": "5", "size_gibibytes": 5, "number_of_physical_disks": 2}]}))), "server-04",
        "raid.hardware_raid_volumes[1]", "at least 3"),
    "image": (site(more(server(4, image={"url": "http://192.0.2.4/a.raw"}))), "server-04", "image.checksum", "none"),
    "host-data": (site(more(server(4, user_data={"content": " "}))), "server-04", "user_data.content", "an empty text"),
    "metadata": (site(more(server(4, labels={"a b": "c"}))), "server-04", "labels.a b", "letters"),
    "power": (site(more(server(4, online=False, disable_power_off=True))), "server-04", "online", "disable_power_off"),
    "obsolete": (site(more(server(4, firmware={"sriov_enabled": True}))), "server-04", "firmware", "no driver"),
    "provisioning-network": (site(more(server(4, bmc=dict(server(4)["bmc"], address="redfish://192.0.2.4"))),
                                  has_provisioning_network=False), "server-04", "bmc.address", "redfish"),
    "unknown-secret": (site(more(server(4, bmc={
        "address": server(4)["bmc"]["address"], "credentials_name": "nowhere"})), secrets=["elsewhere"]), "server-04",
        "bmc.credentials_name", "nowhere"),
    "live-iso-data": (site(more(server(4, image=ISO, user_data={"content": "a"}))), "server-04", "user_data",
                      "config drive"),
    "live-iso-disk": (site(more(server(4, image=ISO, root_device_hints={"model": "a"}))), "server-04",
                      "root_device_hints", "not written"),
    "live-iso-boot": (site(more(server(4, image=ISO, bmc=dict(server(4)["bmc"], address="redfish://192.0.2.4")))),
                      "server-04", "image.format", "sanboot"),
    "agent-network-data": (site(more(server(4, preprovisioning_network_data={"name": "a"}, bmc=dict(
        server(4)["bmc"], address="redfish://192.0.2.4")))), "server-04", "preprovisioning_network_data", "DHCP"),
    "secure-boot-loader": (site(more(server(4, boot_mode="UEFISecureBoot", bmc=dict(
        server(4)["bmc"], address="redfish://192.0.2.4")))), "server-04", "boot_mode", "do not sign"),
    "legacy-on-arm": (site(more(server(4, boot_mode="legacy", architecture="aarch64"))), "server-04", "boot_mode",
                      "UEFI"),
    "software-raid-root": (site(more(server(4, raid={"software_raid_volumes": [{"level": "1"}]}))), "server-04",
                           "root_device_hints", "/dev/sda"),
    "external-deploy": (site(more(server(4, externally_provisioned=True, meta_data={"content": "{}"}))), "server-04",
                        "meta_data", "deploys nothing"),
    "network-overlap": (site(clusters=one(pod_cidrs=["192.0.0.0/16"])), "prod-cluster", "pod_cidrs[0]", "overlaps"),
    "network": (site(clusters=one(pod_cidrs=["10.244.0.1/16"])), "prod-cluster", "pod_cidrs[0]", "host bits"),
    "endpoint": (site(clusters=one(endpoint={"host": "192.0.2.30"})), "prod-cluster", "endpoint.host", "is in"),
    "version": (site(clusters=one(kubernetes_version="v1.20.1")), "prod-cluster", "kubernetes_version", "supports"),
    "host-capacity": (site(clusters=one(workers={"pool-a": {"replicas": 9}})), "prod-cluster",
                      "workers.pool-a.host_selector", "2 free of 3"),
    "host-selector": (site(clusters=one(host_selector_expressions=[{"key": "rack", "operator": "In"}])), "prod-cluster",
                      "control_plane.host_selector_expressions[0].values", "values for In"),
    "reference": (site(clusters=one(node_ip_network="node")), "prod-cluster", "node_ip_network", "one of nodes"),
    "cluster-image": (site(clusters=one(image={"url": "https://images.example/a.raw"})), "prod-cluster",
                      "image.checksum", "None"),
    "replicas": (site(clusters=one(control_plane={"replicas": 2})), "prod-cluster", "control_plane.replicas", "odd"),
    "user-data": (site(clusters=one(pre_commands=["echo {{"])), "prod-cluster", "control_plane.pre_commands[0]",
                  "Jinja"),
    "topology": (site(clusters=one(topology=True, api_version="v1beta1")), "prod-cluster", "api_version",
                 "v1beta2 with"),
    "registry-mirror": (site(clusters=one(registry_mirrors=[{"registry": "quay.io", "url": "mirror.example.org"}])),
                        "prod-cluster", "registry_mirrors[0].url", "an address such as"),
    "health-check": (site(clusters=one(health_check={"reboot_retry_limit": 0})), "prod-cluster",
                     "control_plane.health_check.reboot_retry_limit", "1 or more"),
    "cluster-name": (site(clusters=one(name="Prod")), "prod-cluster", "name", "lower case"),
    "address-overlap": (site(clusters=one(networks=dict(NETWORKS, other=NETWORKS["nodes"]))), "prod-cluster",
                        "networks.nodes.ipv4.ranges[0]", "is in"),
    "address-overlap-elsewhere": (site(clusters={}, pools=[
        dict(POOL, gateway="192.0.2.1"), dict(POOL, gateway="192.0.2.1", namespace="tenant")]), "elsewhere",
        "ranges[0]", "192.0.2.100 - 192.0.2.120, which is in ranges[0] of pool elsewhere in namespace metal3 too"),
    "pool-capacity": (site(clusters=one(networks={"nodes": {"interface": "eno1", "ipv4": {"prefix": 24, "ranges": [
        {"start": "192.0.2.20", "end": "192.0.2.21"}]}}})), "prod-cluster", "networks.nodes.ipv4.ranges", "at least 4"),
    "pool": (site(clusters={}, pools=[dict(POOL, prefix=33)]), "elsewhere", "prefix", "1 to 32"),
    "unknown-pool": (site(clusters=one(networks=BY_NAME), pools=[]), "prod-cluster", "networks.nodes.ipv4.pool",
                     "elsewhere"),
    "address-taken": (site(clusters={}, pools=[pool_of("198.51.100.2")]), "elsewhere", "ranges[0]",
                      "BMC of server-02"),
    "provisioning-overlap": (site(provisioning_cidr="10.96.3.0/24"), "prod-cluster", "service_cidrs[0]", "overlaps"),
    "cluster-duplicate": (site(more(server(4), server(5)), {"a": cluster(), "b": dict(OTHER, endpoint={
        "host": "192.0.2.10"})}), "b", "endpoint", "as in a"),
    "plane-duplicate": (site(planes=[
        ("m1", "provisioning_network_keepalived_router_id", virtual_router.of_text("172.22.0.2/24", 51)),
        ("m3", "provisioning_network_keepalived_router_id", virtual_router.of_text("172.22.0.3/24", 51))]), "m3",
        "provisioning_network_keepalived_router_id", "51, which the plane of m1 has for its address 172.22.0.2"),
    "endpoint-holder": (site(clusters=one(endpoint={"host": "192.0.2.10"})), "prod-cluster", "endpoint.holder",
                        "a holder of the address"),
    "cluster-size": (site(clusters=one(workers=None)), "prod-cluster", "workers", "None"),
    "rollout-spare": (site([server(1), server(2)]), "prod-cluster", "control_plane", "no spare host"),
}
# Told by the controller's side, not by the module.
ELSEWHERE = {"inventory-file", "template-error", "host-and-cluster", "cluster-without-host", "cluster-identity",
             "cluster-group-nested", "network-add-on", "management-cluster", "management-version", "management-address",
             "management-images", "management-size", "firmware-settings", "firmware-components", "policy",
             "compliance-profile", "variables-of-nobody",
             "unknown-group"}


def test_a_good_site_has_no_findings():
    assert lint_checks.lint(site()) == []
    assert lint_checks.lint(site(clusters=one(networks=BY_NAME), pools=[POOL], secrets=[],
                                 provisioning_cidr="172.22.0.0/24", has_provisioning_network=False)) == []


@pytest.mark.parametrize("rule", sorted(BROKEN))
def test_each_rule_is_reported(rule):
    broken, name, field, text = BROKEN[rule]
    before = copy.deepcopy(broken)
    found = [item for item in lint_checks.lint(broken) if item.problem.code == rule]
    assert found, lint_checks.lint(broken)
    assert (found[0].problem.subject, found[0].problem.field) == (name, field)
    assert text in f"{found[0].problem.actual}, {found[0].problem.expected}"
    # A rule that both groups of machines break is reported for both, and a warning may come with it; no other error
    # does.
    others = [
        item
        for item in lint_checks.lint(broken)
        if item.problem.code != rule and lint_rules.BY_NAME[item.problem.code].level == lint_rules.ERROR
    ]
    assert others == []
    assert broken == before


def test_every_rule_has_a_site():
    assert set(BROKEN) | ELSEWHERE == set(lint_rules.BY_NAME)
    assert len(lint_rules.BY_NAME) == len(lint_rules.RULES)


def test_every_combination_names_its_source():
    assert host_combinations.COMBINATIONS and all(item.source for item in host_combinations.COMBINATIONS)
    assert lint_rules.RULES and all(rule.source and rule.summary.endswith(".") for rule in lint_rules.RULES)


@pytest.mark.parametrize("scheme, mode, found", [
    ("redfish", "UEFISecureBoot", True), ("ilo5-redfish", "UEFISecureBoot", True), ("redfish", "UEFI", False),
    ("redfish-virtualmedia", "UEFISecureBoot", False), ("redfish-uefihttp", "UEFISecureBoot", False)])
def test_secure_boot_is_not_for_schemes_that_boot_by_ipxe(scheme, mode, found):
    host = server(4, boot_mode=mode, bmc=dict(server(4)["bmc"], address=f"{scheme}://192.0.2.4/redfish/v1/Systems/1"))
    rules = [finding.problem.code for finding in lint_checks.lint(site(more(host)))]
    assert ("secure-boot-loader" in rules) is found


@pytest.mark.parametrize("fields, found", [
    ({"root_device_hints": {}}, True),
    ({"root_device_hints": {"model": None}}, True),
    ({"root_device_hints": {"rotational": False}}, False),
    ({"hardware_profile": "empty"}, False),
    ({"hardware_profile": "unknown"}, True),
])
def test_software_raid_without_a_hint_needs_the_profile_without_a_hint(fields, found):
    host = server(4, raid={"software_raid_volumes": [{"level": "1"}]}, **fields)
    rules = [finding.problem.code for finding in lint_checks.lint(site(more(host)))]
    assert ("software-raid-root" in rules) is found


def test_documentation_is_made_from_the_table():
    assert (REPOSITORY / "docs" / "lint-rules.md").read_text() == lint_rules.as_markdown(), \
        "write to docs/lint-rules.md what lint_rules.as_markdown() returns"


def test_texts_are_the_numbers_and_truth_values_that_the_modules_read():
    """An inventory in INI has nothing else."""
    hosts = more(server(4, externally_provisioned="false", user_data={"content": "#cloud-config"},
                        root_device_hints={"min_size_gigabytes": "100"}))
    assert lint_checks.lint(site(hosts=hosts)) == []
    assert [item.problem.field for item in lint_checks.lint(site(hosts=more(
        server(4, root_device_hints={"min_size_gigabytes": "-1"}))))] == ["root_device_hints.min_size_gigabytes"]


def test_all_is_reported_at_once():
    found = lint_checks.lint(site(
        more(server(4, onlin=True, boot_mode="legcy")),
        one(kubernetes_version="v1.20.1", workers={"a": {"replicas": 9}}),
        provisioning_cidr="10.96.3.0/24"))
    assert set(item.problem.code for item in found) >= {
        "unknown-variable", "value", "version", "host-capacity", "provisioning-overlap"}


def test_mistyped_options_of_a_cluster_say_which_is_meant():
    found = lint_checks.lint(site(clusters=one(control_plane={"replcas": 1})))
    assert [(item.problem.code, item.problem.field) for item in found] == [
        ("unknown-variable", "control_plane.replcas")
    ]
    assert "perhaps replicas is meant" in found[0].problem.hint


def test_a_value_of_the_wrong_type_names_its_option():
    found = lint_checks.lint(site(clusters=one(endpoint={"host": "a", "port": "https"})))
    assert [(item.problem.code, item.problem.field) for item in found] == [("value", "endpoint.port")]


def test_two_virtual_routers_of_one_number_on_one_network_are_found():
    wide = {"nodes": {"interface": "eno1", "ipv4": {
        "ranges": [{"start": "192.0.2.20", "end": "192.0.2.60"}], "prefix": 23}}}
    other = dict(OTHER, endpoint={"host": "192.0.3.10", "holder": "keepalived"}, networks={"nodes": {
        "interface": "eno1", "ipv4": {"ranges": [{"start": "192.0.3.20", "end": "192.0.3.60"}], "prefix": 23}}})
    clusters = {"a": cluster(endpoint={"host": "192.0.2.10", "holder": "keepalived"}, networks=wide), "b": other}
    found = lint_checks.lint(site(more(server(4), server(5)), clusters))
    assert [(item.problem.code, item.problem.subject, item.problem.field) for item in found
            if lint_rules.BY_NAME[item.problem.code].level == lint_rules.ERROR] == [
        ("cluster-duplicate", "b", "endpoint.virtual_router_id")]
    broken = dict(other, networks={"nodes": {"interface": "eno1", "ipv4": {"ranges": [{"start": "x"}], "prefix": 23}}})
    assert "cluster-duplicate" not in [item.problem.code for item in lint_checks.lint(site(
        more(server(4), server(5)), dict(clusters, b=broken)))]


@pytest.mark.parametrize("number, found", [(10, True), (51, False)])
def test_a_virtual_router_of_a_plane_is_no_endpoints(number, found):
    held = one(endpoint={"host": "192.0.2.10", "holder": "keepalived"})
    routers = virtual_router.others_of([{"owner": "the plane of m1", "address": "192.0.2.2/24", "number": number}])
    findings = [item.problem for item in lint_checks.lint(site(clusters=held, routers={"prod-cluster": routers}))
                if item.problem.code == "cluster-duplicate"]
    assert [(problem.subject, problem.field, problem.actual) for problem in findings] == ([
        ("prod-cluster", "endpoint.virtual_router_id", "10, which the plane of m1 has for its address 192.0.2.2 on the "
         "same network")] if found else [])


@pytest.mark.parametrize("other", [
    ("172.22.0.3/24", 52), ("172.22.1.3/24", 51), ("172.22.0.2/24", 51), ("fd00::3/64", 51), ("172.22.0.3/24", 1)])
def test_planes_whose_machines_do_not_hear_each_other_may_have_one_number(other):
    planes = [("m1", "a", virtual_router.of_text("172.22.0.2/24", 51)), ("m2", "a", virtual_router.of_text(*other))]
    assert lint_checks.lint(site(planes=planes)) == []


def test_a_pool_that_only_meta_data_name_is_described_too():
    metadata = {"ipAddressesFromPool": [{"key": "storage", "name": "elsewhere"}]}
    found = lint_checks.lint(site(clusters=one(workers={"pool-a": {"replicas": 1, "metadata": metadata}}), pools=[]))
    assert [(item.problem.code, item.problem.field) for item in found] == [
        ("unknown-pool", "workers.pool-a.metadata")]
    assert lint_checks.lint(site(clusters=one(metadata=metadata), pools=[POOL])) == []


def test_a_wrong_range_is_named_by_its_network_beside_a_wrong_type():
    wrong = {"nodes": {"interface": "eno1", "ipv4": {
        "ranges": [{"start": "192.0.2.60", "end": "192.0.2.20"}], "prefix": 24}}}
    found = lint_checks.lint(site(clusters=one(networks=wrong, workers={"pool-a": 3})))
    assert [(item.problem.code, item.problem.field) for item in found] == [
        ("value", "workers.pool-a"), ("pool", "networks.nodes.ipv4.ranges[0]")]


def test_hosts_that_are_taken_are_no_capacity():
    image = {"url": "http://192.0.2.4/a.raw", "checksum": "http://192.0.2.4/a.sha256"}
    hosts = [server(1), server(2, image=image), server(3, externally_provisioned=True)]
    found = lint_checks.lint(site(hosts))
    assert "host-capacity" in [item.problem.code for item in found]


FIRST, SECOND = ("server-01", "server-02", "prod-cluster"), ("server-03", "other")


@pytest.mark.parametrize(("homes", "is_short"), [
    # All of one plane, or of one that only the second cluster names.
    (None, False), ({"other": ("b", "metal3")}, False),
    # The second cluster has a server of its own, in a namespace or a plane of its own.
    (dict.fromkeys(SECOND, ("", "site2")), False),
    (dict(dict.fromkeys(FIRST, ("a", "metal3")), **dict.fromkeys(SECOND, ("b", "metal3"))), False),
    # It has none, and those of the first one are not for it.
    (dict(dict.fromkeys((*FIRST, "server-03"), ("a", "metal3")), other=("b", "metal3")), True),
    ({"other": ("", "site2")}, True)])
def test_servers_count_for_the_clusters_of_their_plane_and_namespace(homes, is_short):
    """An inventory may have those of several planes."""
    namespace = (homes or {}).get("other", ("", "metal3"))[1]
    found = lint_checks.lint(site(clusters={"prod-cluster": cluster(), "other": dict(OTHER, namespace=namespace)},
                                  homes=homes))
    assert [item.problem.subject for item in found if item.problem.code == "host-capacity"] == ["other"] * is_short


HOME = {"prod-cluster": ("a", "metal3"), "other": ("b", "metal3")}
ONE_NAMESPACE = {**TENANT, "namespace": "metal3"}


@pytest.mark.parametrize(("other", "homes", "codes"), [
    (routed(**TENANT), None, ["address-overlap-elsewhere"]),
    # Of one namespace in two planes, also by one name; unless nobody says that there are two.
    (routed(**ONE_NAMESPACE), HOME, ["address-overlap-elsewhere"]),
    (routed(pool="prod-nodes", **ONE_NAMESPACE), HOME, ["address-overlap-elsewhere"]),
    (routed(**ONE_NAMESPACE), {"other": ("b", "metal3")}, ["address-overlap"]),
    # Networks that are not one.
    (routed(gateway="192.0.2.2", **TENANT), None, []),
    (routed(gateway=None, **TENANT), None, []),
    (routed(prefix=25, **TENANT), None, []),
    (routed(vlan=8, **TENANT), None, []),
    (routed(vlan=7, **TENANT), None, ["address-overlap-elsewhere"])])
def test_pools_of_another_namespace_or_plane_overlap_where_gateway_prefix_and_vlan_may_be_of_one_network(
        other, homes, codes):
    """Private addresses are chosen alike in many places: what has nothing else in common is left alone."""
    own = routed(vlan=7 if "card" in other["networks"] else None)
    found = lint_checks.lint(site(more(server(4), server(5)), {"prod-cluster": own, "other": other}, homes=homes))
    assert [item.problem.code for item in found if item.problem.code != "host-capacity"] == codes


def test_a_described_pool_is_compared_with_those_of_other_namespaces():
    pool = {"name": "elsewhere", "namespace": "tenant", "prefix": 24, "gateway": "192.0.2.1", "ranges": [
        {"start": "192.0.2.60", "end": "192.0.2.70"}]}
    found = lint_checks.lint(site(clusters={"prod-cluster": routed()}, pools=[pool]))
    assert [(item.kind, item.problem.subject, item.problem.field, item.problem.actual) for item in found] == [
        ("pool", "elsewhere", "ranges[0]", "192.0.2.60 - 192.0.2.60, which is in networks.nodes.ipv4.ranges[0] of "
         "cluster prod-cluster in namespace metal3 too")]


def test_two_clusters_share_the_hosts():
    found = lint_checks.lint(site(clusters={"a": cluster(), "b": dict(OTHER, control_plane={"replicas": 3})}))
    assert [(item.problem.code, item.problem.subject) for item in found] == [("host-capacity", "b")]


MACS = ["00:5c:52:00:00:01", "00:5c:52:00:00:02"]
RANGE = {"first": "192.0.2.1", "last": "192.0.2.19"}
KEPT = {"mac": MACS[0].upper(), "addresses": ["192.0.2.10"]}


def lent(dhcp, hosts=None, **options):
    """Return the findings about a cluster by whose variables DHCP lends addresses."""
    found = lint_checks.lint(site(hosts, one(**options), dhcp={"prod-cluster": dhcp}))
    return [(item.problem.code, item.problem.field, str(item.problem)) for item in found]


@pytest.mark.parametrize(("dhcp", "code", "field", "text"), [
    (["a"], "value", "dhcp", "found list, expected a dictionary"),
    ({"range": []}, "unknown-variable", "dhcp.range", "perhaps ranges is meant"),
    ({"ranges": RANGE}, "value", "dhcp.ranges", "found dict, expected a list"),
    ({"ranges": [{"first": "192.0.2.1"}]}, "value", "dhcp.ranges.last", "not set, expected a value"),
    ({"ranges": [dict(RANGE, lasst="a")]}, "unknown-variable", "dhcp.ranges.lasst", "perhaps last is meant"),
    ({"ranges": [dict(RANGE, last="192.0.2.256")]}, "endpoint", "dhcp.ranges[0].last", "an IPv4 or IPv6 address"),
    ({"hosts": [dict(KEPT, addresses=["prod"])]}, "endpoint", "dhcp.hosts[0].addresses[0]", "an IPv4 or IPv6 address"),
    ({"hosts": [dict(KEPT, mac="00:5c:52")]}, "endpoint", "dhcp.hosts[0].mac", "six pairs"),
    ({"hosts": [{"mac": 5}]}, "endpoint", "dhcp.hosts[0].mac", "six pairs"),
    ({"ranges": [RANGE]}, "endpoint", "endpoint.host", "which DHCP may lend to any server"),
    ({"hosts": [KEPT]}, "endpoint", "control_plane.host_selector", "found server-01 and also server-02, server-03"),
])
def test_what_dhcp_lends_is_checked_as_the_module_does(dhcp, code, field, text):
    found = lent(dhcp)
    assert [item[:2] for item in found] == [(code, field)]
    assert text in found[0][2]


@pytest.mark.parametrize("dhcp", [{}, {"ranges": None}, {"ranges": [{"first": "192.0.2.101", "last": "192.0.2.150"}]}])
def test_what_dhcp_lends_beside_the_endpoint_is_good(dhcp):
    assert lent(dhcp) == []


def test_an_address_kept_for_the_one_server_that_is_selected_is_good():
    hosts = [server(1, labels={"rack": "r1", "endpoint": "kept"}), server(2), server(3)]
    plane = {"replicas": 1, "host_selector": {"endpoint": "kept"}}
    # A warning that a rollout has no spare host is there in any case.
    assert lent({"hosts": [KEPT]}, hosts, control_plane=plane) == lent({}, hosts, control_plane=plane)
    refused = lent({"hosts": [dict(KEPT, mac=MACS[1])]}, hosts, control_plane=plane)
    assert "BareMetalHost server-02, which the control plane does not select" in " ".join(item[2] for item in refused)


def test_a_card_that_no_server_boots_from_may_be_another_one_of_a_server():
    """Inventories have no other cards; those of hosts are known when the cluster is applied."""
    assert lent({"hosts": [dict(KEPT, mac="00:5c:52:00:00:99")]}) == []


def test_an_address_that_dhcp_lends_is_checked_beside_mistakes_of_the_cluster():
    found = lent({"ranges": [dict(RANGE, first="a")]}, kubernetes_version=5, workers=[1])
    assert ("endpoint", "dhcp.ranges[0].first") in [item[:2] for item in found]


def test_no_password_is_in_any_finding():
    for broken, _name, _field, _text in BROKEN.values():
        assert "canary-password" not in repr(lint_checks.lint(broken))


# The cluster's variables --------------------------------------------------------------------------------------------

def role(*path):
    return yaml.safe_load(REPOSITORY.joinpath("roles", "cluster", *path).read_text())


def described():
    """Return what the role gives to the module that reads a description."""
    module = "metal3.baremetal.cluster"
    return next(task[module] for task in role("tasks", "main.yml") if module in task)


@pytest.mark.parametrize("option", cluster_inventory.OPTIONS)
def test_the_role_reads_the_same_variables(option):
    given = described()
    asked = f"cluster_{option} | default(omit)"
    # What renews certificates adds to the control plane of the inventory.
    assert given[option] in (f"{{{{ {asked} }}}}", f"{{{{ cluster_{option}_given | default({asked}) }}}}")
    assert "cluster_" + option in role("meta", "argument_specs.yml")["argument_specs"]["main"]["options"]
    assert option in cluster_spec.description_options()


def test_the_role_has_no_other_options_of_the_description():
    given = set(described())
    assert given & set(cluster_spec.description_options()) == set(cluster_inventory.OPTIONS) | {"name", "namespace"}


def test_names_and_namespaces():
    variables = {"group_names": ["clusters", "prod"], "metal3_namespace": "site",
                 "cluster_endpoint": {"host": "a"}, "cluster_image": {"url": "b"}, "image": {"url": "c"},
                 "cluster_options": {"pod_cidrs": ["d"]}}
    given = cluster_inventory.parameters("prod-cluster", variables)
    assert given == {"name": "prod", "namespace": "site", "endpoint": {"host": "a"}, "image": {"url": "b"},
                     "pod_cidrs": ["d"]}
    assert cluster_inventory.parameters("alone", {"group_names": ["clusters"]})["name"] == "alone"
    assert cluster_inventory.parameters("alone", {"cluster_name": "c", "cluster_namespace": "n"}) == {
        "name": "c", "namespace": "n"}


def test_former_names_are_refused_all_at_once():
    variables = dict({option: {} for option in cluster_inventory.ONCE_BARE}, network_addon="flannel")
    found = cluster_inventory.former_names("prod-cluster", variables)
    assert [line.expected for line in found] == ["cluster_" + option for option in cluster_inventory.ONCE_BARE]
    assert "rename the variable endpoint to cluster_endpoint" in found[1]


def test_a_variable_of_a_former_name_may_be_for_something_else():
    assert cluster_inventory.former_names("prod-cluster", {"image": "a", "cluster_image": {}}) == []


@pytest.mark.parametrize("path, variable", [
    ("control_plane.replicas", "cluster_control_plane.replicas"), ("image.url", "cluster_image.url"),
    ("name", "cluster_name"), ("pod_cidrs[0]", "cluster_options.pod_cidrs[0]"),
    ("workers.a", "cluster_options.workers.a"), ("namespace", "metal3_namespace")])
def test_where_an_option_stands(path, variable):
    variables = {"metal3_namespace": "a", "cluster_options": {"workers": {}}}
    assert cluster_inventory.variable_of(path, variables) == variable


def test_a_class_that_knows_the_endpoint_alone_is_compared_with_pools():
    of_class = {"name": "prod", "namespace": "metal3", "kubernetes_version": "v1.35.4", "workers": {},
                "control_plane": {"replicas": 1}, "cluster_class": {"name": "theirs"}}
    assert lint_checks.lint(site(clusters={"prod-cluster": of_class}, pools=[POOL])) == []

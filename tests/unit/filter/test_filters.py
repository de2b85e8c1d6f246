# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters and tests, as templates call them."""
from __future__ import annotations

import importlib
import ipaddress
from pathlib import Path

import pytest
from ansible.errors import AnsibleFilterError
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from tooling import ansible_yaml

import ansible_collections.metal3.baremetal.plugins.filter as filters
import ansible_collections.metal3.baremetal.plugins.test as tests
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _address_arithmetic as address_arithmetic

FOLDERS = {"filter": filters, "test": tests}


def load(kind, name):
    """Return the callable of a filter or test."""
    module = importlib.import_module(f"{FOLDERS[kind].__name__}.{name}")
    return module.FilterModule().filters()[name] if kind == "filter" else module.TestModule().tests()[name]


def names(kind):
    folder = Path(next(iter(FOLDERS[kind].__path__)))
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("kind, name", [(kind, name) for kind in FOLDERS for name in names(kind)])
def test_each_has_its_name_and_documentation(kind, name):
    assert callable(load(kind, name))
    module = importlib.import_module(f"{FOLDERS[kind].__name__}.{name}")
    documentation = ansible_yaml.load(module.DOCUMENTATION)
    assert documentation["name"] == name
    assert documentation["short_description"] in module.DOCUMENTATION
    assert "metal3.baremetal." + name in module.EXAMPLES
    assert "_value" in ansible_yaml.load(module.RETURN)


def test_paths_begin_where_ansible_was_started(tmp_path, monkeypatch):
    """Not in the folder of the playbook, which is the installed collection."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    start_path = load("filter", "start_path")
    assert [start_path(path) for path in ("backups", "../a", "~/a", "/a", "")] == [
        f"{tmp_path}/backups", f"{tmp_path}/../a", "/home/me/a", "/a", ""]
    assert start_path("a", "ansible.builtin.local") == f"{tmp_path}/a"
    assert start_path("a", "ssh") == "a" and start_path("~/a", "community.general.lxd") == "~/a"
    with pytest.raises(AnsibleFilterError, match="found list, expected a path"):
        start_path(["a"])
    task_path = load("filter", "task_path")
    assert task_path({"ansible_connection": "local"}, "a") == f"{tmp_path}/a" and task_path({}, "a") == "a"


def test_ironics_pod_is_that_of_a_plane_in_a_cluster():
    ironic_pod = load("filter", "ironic_pod")
    plane, given = {"kubeconfig": "/k", "context": "c"}, {"ironic_mode": "cluster"}
    assert ironic_pod(given, plane) == {"kubeconfig": "/k", "context": "c", "namespace": "baremetal-operator-system"}
    assert ironic_pod(dict(given, ironic_namespace="own"), plane)["namespace"] == "own"
    assert ironic_pod(dict(given, bmo_options={"namespace": "metal"}), plane)["namespace"] == load(
        "filter", "ironic_place")(plane, {"namespace": "metal"})["namespace"] == "metal"
    for mode in ("process", None):
        assert ironic_pod({"ironic_mode": mode}, plane) == {}
    for other in ({"mode": "process"}, {}, None):
        assert ironic_pod(given, other) == {}


def test_addresses_of_bmcs_are_taken_apart_and_put_together():
    parse, build = load("filter", "bmc_address_parse"), load("filter", "bmc_address_build")
    address = "redfish://[2001:db8::1]:8443/redfish/v1/Systems/1"
    parts = parse(address)
    assert (parts["host"], parts["port"], parts["protocol"], parts["needs_boot_mac"]) == (
        "2001:db8::1", 8443, "redfish", True)
    assert build(parts) == build(address) == address
    assert build(parts, scheme="redfish-virtualmedia", port=None) == \
        "redfish-virtualmedia://[2001:db8::1]/redfish/v1/Systems/1"
    assert build({"scheme": "ipmi", "host": "192.0.2.1"}, query={"privilegelevel": "USER"}) == \
        "ipmi://192.0.2.1?privilegelevel=USER"
    assert set(ansible_yaml.load(importlib.import_module(parse.__module__).RETURN)["_value"]["contains"]) == set(parts)


class Text(str):
    """As Ansible's own, which know where they were written."""


@pytest.mark.parametrize("name, arguments, message", [
    ("bmc_address_parse", ("redfish://admin:secret@192.0.2.1",), "without user name and password"),
    ("bmc_address_parse", ("http://192.0.2.1",), "expected ipmi"),
    ("bmc_address_build", ({"scheme": "redfish"},), "found no host"),
    ("bmc_address_build", ({"host": "x"},), "found no scheme"),
    ("bmc_address_build", ({"scheme": "irmc", "host": "x"},), "irmc went away"),
    ("bmc_address_build", (["redfish"],), "expected a dictionary"),
    ("mac_normal", ("00:5c:52",), "expected 12 hexadecimal digits"),
    ("mac_normal", (5,), "expected 12 hexadecimal digits"),
    ("pool_size", ([{"end": "192.0.2.1"}],), "neither start nor subnet"),
    ("pool_size", (["192.0.2.9-192.0.2.1"],), r"ranges\[0\]"),
    ("pool_addresses", (["2001:db8::/64"],), "more than 65536"),
    ("pool_addresses", (["192.0.2.0/24"], None, ["x"]), "expected an IP address"),
    ("address_shift", ("192.0.2.10/29", 9), "expected an address in 192.0.2.8/29"),
    ("address_shift", ("255.255.255.255", 1), "no such address"),
    ("address_shift", ("192.0.2.1", "1"), "expected an integer"),
    ("matching_hosts", ([], {"matchLabel": {}}), "perhaps matchLabels"),
    ("matching_hosts", ([{"x": 1}], {}), "expected a BareMetalHost"),
    ("matching_hosts", ([{"bmh_labels": "rack=r1"}], {}), "found 'rack=r1', expected a dictionary of labels"),
    ("cluster_needs", ({}, ["prod"]), "not in the inventory: prod"),
    ("plane_machines", ({"h1": {}}, ["h1"], "prod"), "not in the inventory: prod"),
    ("plane_machines", ({"prod": {}}, "h1", "prod"), 'found the text "h1", expected a list of names'),
    ("virtual_routers", ({}, ["h1"]), "not in the inventory: h1"),
    ("virtual_routers", ({"h1": {}}, ["h1"], ["h2"]), "not in the inventory: h2"),
    ("plane_addresses", ({}, ["h1"], "h1"), "not in the inventory: h1"),
    ("plane_addresses", ({"h1": {}}, ["h1"], "h2"), "not in the inventory: h2"),
    ("ironic_rpc", ("etcd",), "found str, expected the port of etcd"),
    ("quantity_to_bytes", ("16GiB",), "expected a number"),
    ("bytes_to_quantity", (1.5,), "expected an integer"),
    ("host_entries", ({"h1": {}}, "h1"), 'found the text "h1", expected a list of names; give'),
    ("confirmation_request", (Text("h1"), "wipes %s"), "found str and str, expected a list of names and the text"),
    ("confirmation_request", ("h1", "wipes %s"), "found str and str, expected a list of names and the text"),
    ("confirmation_among", (["h1"], "h1", ["h1"], ["h1"]), "found a text, expected lists of names"),
    ("no_server_refusal", ("h1", "x_names"), "found str and str, expected a list of names and the name of a variable"),
    ("command_line_refusal", ("x_names", "site"), "found str and str, expected a list of names of variables and who"),
    ("cluster_namespaces", ({}, ["c1"]), "not in the inventory: c1"),
    ("mixed_refusal", ({}, ["h1"], "h1", {"x": "yes"}), "variables: found dict, expected a dictionary in which each"),
    ("several_refusal", ("h1", "plane"), "found str and str, expected a list of names and what they are called"),
    ("status_files", ("h1", "/tmp"), "found str and str, expected a list of names, and the path"),
    ("hardware_changes", ([{"name": "h1", "hardware_data": {}}], [{"name": "h1"}]),
     "before: found 1 of 1 entries without hardware_data, expected hosts of baremetal_host_info"),
    ("variable_entries", ({"h1": {"bmh_expected": "x"}}, ["h1"], "bmh_expected"),
     r"found h1 \(str\), expected a dictionary for each host"),
])
def test_what_is_wrong_is_reported(name, arguments, message):
    with pytest.raises(AnsibleFilterError, match=message) as caught:
        load("filter", name)(*arguments)
    assert str(caught.value).startswith(name + ": ")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("counts, default, first, second, expected", [
    # Of the inventory: who has no variable has the default.
    ("hard", "soft", {"x": "hard"}, {}, "x: found hard, which would count for all servers of the run, and soft for h2"),
    ("soft", "soft", {}, {"x": "hard"}, "x: found soft, which would count for all servers of the run, and hard for h2"),
    ("soft", "soft", {"x": "soft"}, {}, ""),
    ("hard", "soft", {"x": "hard"}, {"x": "hard"}, ""),
    ("", "", {}, {"x": "/b"}, "x: found nothing, which would count for all servers of the run, and /b for h2"),
    # Of the play, or of the role: the same for all.
    ("hard", "soft", {}, {}, ""),
    ("hard", "soft", {"x": "soft"}, {"x": "soft"}, ""),
    # Other words.
    ("True", False, {"x": "yes"}, {"x": True}, ""),
    ("True", False, {"x": "yes"}, {"x": "no"},
     "x: found true, which would count for all servers of the run, and false for h2"),
    (1, "1", {"x": 1}, {"x": "1"}, ""),
    # What cannot be templated is no default.
    (False, False, {}, {"x": StrictUndefined(name="y")},
     "x: found false, which would count for all servers of the run, and what cannot be templated for h2"),
    (True, False, {"x": StrictUndefined(name="y")}, {"x": StrictUndefined(name="y")}, ""),
    (True, False, {"x": StrictUndefined(name="y")}, {},
     "x: found true, which would count for all servers of the run, and false for h2")])
def test_servers_for_which_other_things_are_allowed_are_named(counts, default, first, second, expected):
    found = load("filter", "mixed_refusal")({"h1": first, "h2": second}, ["h1", "h2", "gone"], "h1",
                                            {"x": [counts, default]})
    assert found.partition(";")[0] == expected
    assert not found or found.endswith("or give the value for all by -e x=<value>")


@pytest.mark.parametrize("other", ["metal3_kubeconfig", "metal3_namespace", "hosts_namespace"])
def test_servers_of_several_planes_are_refused_whatever_is_allowed_for_them(other):
    hostvars = {"h1": {"metal3_namespace": "metal3"}, "h2": {other: "other"}, "h3": {}}
    refusal = load("filter", "mixed_refusal")
    assert refusal(hostvars, ["h1", "h2", "h3", "gone"], "h1", {}).startswith(
        "metal3_kubeconfig, metal3_namespace: found servers of several planes or namespaces (h1: namespace metal3 of ")
    assert refusal(hostvars, ["h1", "h3", "gone"], "h2", {}) == ""


def test_a_host_that_acts_for_others_is_none_of_them():
    refusal = load("filter", "mixed_refusal")
    hostvars = {"localhost": {}, "h1": {"x": "detach"}, "h2": {}}
    assert refusal(hostvars, ["h1", "h2"], "localhost", {"x": ["wipe", "wipe"]}).startswith(
        "x: found wipe, which would count for all servers of the run, and detach for h1;")
    assert refusal(hostvars, ["h1", "h2"], "localhost", {"x": ["detach", "wipe"]}) == ""
    assert refusal(hostvars, "h1,h2", "localhost", {"x": ["wipe", "wipe"]}) == ""


def test_a_cluster_is_in_the_namespace_that_the_roles_have():
    hostvars = {"c1": {}, "c2": {"metal3_namespace": "rack2"},
                "c4": {"teardown_namespace": "t", "cluster_namespace": "a"},
                "c3": {"cluster_namespace": "a", "metal3_namespace": "b"}, "c5": {"cluster_namespace": ""}}
    namespaces = load("filter", "cluster_namespaces")
    assert namespaces(hostvars, ["c5", "c4", "c3", "c2", "c1"]) == ["metal3", "a", "a", "rack2", "metal3"]
    assert namespaces(hostvars, ["c4", "c1"], "teardown_namespace") == ["t", "metal3"]


def test_a_cluster_whose_namespace_is_not_known_is_in_none():
    with pytest.raises(AnsibleFilterError, match="c1: metal3_namespace: found what cannot be templated"):
        load("filter", "cluster_namespaces")({"c1": {"metal3_namespace": StrictUndefined(name="y")}}, ["c1"])


@pytest.mark.parametrize("only", ["all", "undeployed", "absent"])
@pytest.mark.parametrize("other", ["metal3_kubeconfig", "metal3_namespace", "hosts_namespace"])
def test_servers_of_several_planes_are_no_entries_of_one(only, other):
    """All were enrolled in the plane of the first server, or taken for deleted there."""
    hostvars = {"h1": {"metal3_namespace": "metal3"}, "h2": {other: "other"}, "h3": {}}
    with pytest.raises(AnsibleFilterError, match=r"found servers of several planes or namespaces .h[123]: .*; h2: "):
        load("filter", "host_entries")(hostvars, ["h1", "h2", "h3"], only)
    for names in (["h1", "h3"], ["h2"]):
        assert [entry["name"] for entry in load("filter", "host_entries")(hostvars, names, only)] == names


UNKNOWN = StrictUndefined(name="y")
SERVER = {"bmc_address": "redfish://192.0.2.1/redfish/v1/Systems/1", "boot_mac": "00:5c:52:00:00:01",
          "bmh_image": {"url": "http://192.0.2.9/a.raw"}}


@pytest.mark.parametrize("name, variable, value, arguments", [
    ("host_entries", "bmc_address", UNKNOWN, ()),
    ("host_entries", "bmh_network_data", {"links": [{"id": UNKNOWN}]}, ()),
    ("host_entries", "bmh_labels", {"rack": UNKNOWN}, ("deployable",)),
    # By it servers are chosen.
    ("host_entries", "bmh_image", UNKNOWN, ("deployable",)),
    ("host_entries", "bmh_image", {"url": UNKNOWN}, ("without_image",)),
    ("host_entries", "bmc_password", UNKNOWN, ("undeployed",)),
    ("bmc_entries", "bmc_password", UNKNOWN, (True,)),
    ("bmc_entries", "boot_mac", UNKNOWN, ()),
    ("bmc_entries", "bmc_new_password", UNKNOWN, (True, True)),
    ("ironic_entries", "bmc_address", UNKNOWN, ()),
    ("ironic_deployment", "bmh_image", {"url": UNKNOWN}, ())])
def test_a_value_that_cannot_be_known_is_named_with_its_server(name, variable, value, arguments):
    """Where the entries are used, Ansible says neither whose it is, nor which."""
    hostvars = {"h1": SERVER, "h2": dict(SERVER, **{variable: value}), "h3": dict(SERVER, **{variable: value})}
    found = "; ".join(rf"h{number}: {variable}: found what cannot be templated \('y' is undefined\)"
                      for number in (2, 3))
    with pytest.raises(AnsibleFilterError, match=rf"^{name}: {found}, expected a value; .* leave out {variable}$"):
        load("filter", name)(hostvars, ["h1", "h2", "h3"], *arguments)


@pytest.mark.parametrize("name, variables, arguments", [
    ("host_entries", {"bmh_user_data": UNKNOWN, "bmh_meta_data": UNKNOWN}, ("undeployed",)),
    ("host_entries", {"bmc_address": UNKNOWN, "bmh_image": None}, ("deployable",)),
    ("bmc_entries", {"boot_mac": UNKNOWN, "bmh_image": UNKNOWN}, (True,)),
    ("ironic_entries", {"bmh_image": UNKNOWN}, ())])
def test_a_value_that_cannot_be_known_is_in_the_way_of_no_entry_that_does_not_have_it(name, variables, arguments):
    found = load("filter", name)({"h1": SERVER, "h2": dict(SERVER, **variables)}, ["h1", "h2"], *arguments)
    assert found[0]["name"] == "h1"
    assert all(item is not UNKNOWN for entry in found for item in entry.values())


@pytest.mark.parametrize("other", ["ironic_nodes_cloud", "ironic_nodes_clouds_file"])
@pytest.mark.parametrize("name", ["ironic_entries", "ironic_deployment"])
def test_servers_of_several_ironics_are_no_entries_of_one(name, other):
    """All were registered, erased and deleted at the Ironic of the first server."""
    server = {"bmc_address": "redfish://192.0.2.1/redfish/v1/Systems/1", "ironic_nodes_cloud": "one",
              "bmh_image": {"url": "http://192.0.2.9/a.raw"}}
    hostvars = {"h1": server, "h2": dict(server, **{other: "two"}), "h3": server}
    found = f"^{name}: ironic_nodes_cloud, ironic_nodes_clouds_file: found servers of several Ironics .h[13]: .*; h2: "
    with pytest.raises(AnsibleFilterError, match=found):
        load("filter", name)(hostvars, ["h1", "h2", "h3"])
    for names in (["h1", "h3"], ["h2"]):
        entries = load("filter", name)(hostvars, names)
        assert len(entries["nodes"] if name == "ironic_deployment" else entries) == len(names)


def test_a_server_without_an_image_is_no_part_of_a_deployment_whatever_its_ironic():
    hostvars = {"h1": {"bmh_image": {"url": "http://192.0.2.9/a.raw"}}, "h2": {"ironic_nodes_cloud": "two"}}
    assert load("filter", "ironic_deployment")(hostvars, ["h1", "h2"])["nodes"] == ["h1"]


@pytest.mark.parametrize("name, arguments, text", [
    ("confirming", ("1", "h1"), 'found the text "h1", expected a list of names; give'),
    ("unreported", ({}, "done", ["h1"]), "found 'done' and list, expected failed or changed"),
    ("with_failures", ({},), "found dict, expected a list of registered results")])
def test_what_a_test_refuses_is_reported(name, arguments, text):
    with pytest.raises(AnsibleFilterError, match=text) as caught:
        load("test", name)(*arguments)
    assert str(caught.value).startswith(name + ": ")


@pytest.mark.parametrize("batch, left, among", [
    (["h1"], ["h1", "h2", "h3"], ["h1", "h2"]), (["h1", "h3"], ["h1", "h3"], []),
    (["h1", "h2", "h3"], ["h1", "h2", "h3"], [])])
def test_a_confirmation_is_of_names_when_there_are_several_batches(batch, left, among):
    """A batch of which some have failed is the only one as long as all that have not are in it."""
    assert load("filter", "confirmation_among")(["h1", "h2", "h9"], batch, left, ["h1", "h2", "h3"]) == among


@pytest.mark.parametrize("text", ["00:5C:52:31:3a:01", "00-5c-52-31-3a-01", "005c.5231.3a01", "005C52313A01",
                                  "005c52-313a01", " 00:5c:52:31:3a:01\n"])
def test_spellings_of_a_mac_address(text):
    assert load("filter", "mac_normal")(text) == "00:5c:52:31:3a:01"
    assert load("test", "mac")(text) is True


@pytest.mark.parametrize("name, value, answer", [
    ("mac", "ff:ff:ff:ff:ff:ff", False), ("mac", "01:5c:52:31:3a:01", False), ("mac", "00:00:00:00:00:00", False),
    ("mac", "00:5c-52:31:3a:01", False), ("mac", None, False),
    ("bmc_address", "192.0.2.1", True), ("bmc_address", "redfish://a b", False), ("bmc_address", 5, False),
    ("quantity", "1.5Gi", True), ("quantity", 3, True), ("quantity", "Gi", False), ("quantity", True, False),
    ("quantity", None, False),
])
def test_tests(name, value, answer):
    assert load("test", name)(value) is answer


def test_addresses_of_pools():
    ranges = [{"start": "192.0.2.20", "end": "192.0.2.22"}, "192.0.2.22 - 192.0.2.24", "198.51.100.0/30"]
    assert load("filter", "pool_size")(ranges) == 8
    # IPAM hands out what follows the subnet's address, and its broadcast address too.
    assert load("filter", "pool_addresses")(ranges, exclude=["192.0.2.21"]) == [
        "192.0.2.20", "192.0.2.22", "192.0.2.23", "192.0.2.24", "198.51.100.1", "198.51.100.2", "198.51.100.3"]
    assert load("filter", "pool_addresses")(["2001:db8::/64"], 2) == ["2001:db8::1", "2001:db8::2"]
    assert load("filter", "pool_size")("2001:db8::/64") == 2 ** 64 - 1
    assert load("test", "in_pool")("192.0.2.24", ranges) is True
    assert load("test", "in_pool")("2001:db8::1", ranges) is False
    with pytest.raises(AnsibleFilterError, match="expected an IP address"):
        load("test", "in_pool")("here", ranges)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.ip_addresses(), st.integers(-2 ** 130, 2 ** 130) | st.integers(-300, 300), st.none() | st.integers(-1, 130))
def test_addresses_are_shifted_as_the_standard_library_counts(address, offset, length):
    text = str(address) if length is None else f"{address}/{length}"
    try:
        wanted = str(address + offset)
        if length is not None:
            network = ipaddress.ip_interface(text).network
            wanted = f"{wanted}/{length}" if address + offset in network else None
    except ValueError:
        wanted = None
    try:
        shifted = load("filter", "address_shift")(text, offset)
        # Python's versions differ in how they write IPv4 addresses in IPv6.
        assert wanted is not None and ipaddress.ip_interface(shifted) == ipaddress.ip_interface(wanted)
        assert ("/" in shifted) == ("/" in wanted)
    except AnsibleFilterError as error:
        assert wanted is None and str(error)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6))
def test_addresses_in_several_ranges_are_counted_once(pairs):
    ranges = [f"192.0.2.{min(pair)}-192.0.2.{max(pair)}" for pair in pairs]
    numbers = set(number for pair in pairs for number in range(min(pair), max(pair) + 1))
    assert load("filter", "pool_size")(ranges) == len(numbers)


@pytest.mark.parametrize("name, arguments", [("address_shift", ("192.0.2.1", 1)), ("pool_size", (["192.0.2.0/24"],))])
def test_a_missing_netaddr_is_reported_with_what_to_install(name, arguments, monkeypatch):
    monkeypatch.setattr(address_arithmetic, "netaddr", None)
    with pytest.raises(AnsibleFilterError, match="netaddr is missing where ansible-playbook runs; install it there"):
        load("filter", name)(*arguments)


@pytest.mark.parametrize("address, offset, result", [
    ("192.0.2.10", 5, "192.0.2.15"), ("192.0.2.10/24", -10, "192.0.2.0/24"), ("2001:db8::/64", 16, "2001:db8::10/64")])
def test_address_shift(address, offset, result):
    assert load("filter", "address_shift")(address, offset) == result


@pytest.mark.parametrize("quantity, number", [
    ("16Gi", 17179869184), ("1500M", 1500000000), ("1e3", 1000), ("1E", 10 ** 18), ("1Ei", 2 ** 60), ("0.5Ki", 512),
    ("500m", 1), ("1500m", 2), ("-1500m", -1), (5, 5), (".5k", 500), ("12E-1", 2), ("100n", 1)])
def test_quantities_are_read_as_kubernetes_reads_them(quantity, number):
    assert load("filter", "quantity_to_bytes")(quantity) == number


@pytest.mark.parametrize("number, binary, quantity", [
    (17179869184, True, "16Gi"), (1500, True, "1500"), (0, True, "0"), (1500000, False, "1500k"),
    (-2048, True, "-2Ki"), (2 ** 60, True, "1Ei")])
def test_quantities_are_written(number, binary, quantity):
    assert load("filter", "bytes_to_quantity")(number, binary) == quantity
    assert load("filter", "quantity_to_bytes")(quantity) == number


HOSTS = [{"name": "a", "labels": {"rack": "r1", "slot": "3"}}, {"name": "b", "labels": {"rack": "r2"}}, {"name": "c"}]


@pytest.mark.parametrize("selector, matching", [
    ({}, "abc"),
    ({"match_labels": {"slot": 3}}, "a"),
    ({"matchLabels": {"rack": "r1"}, "matchExpressions": [{"key": "slot", "operator": "Exists"}]}, "a"),
    ({"match_expressions": [{"key": "rack", "operator": "In", "values": ["r1", "r2"]}]}, "ab"),
    ({"match_expressions": [{"key": "rack", "operator": "NotIn", "values": ["r1"]}]}, "bc"),
    ({"match_expressions": [{"key": "rack", "operator": "DoesNotExist"}]}, "c"),
    ({"match_expressions": [{"key": "rack", "operator": "!"}]}, "c"),
    ({"match_expressions": [{"key": "rack", "operator": "!=", "values": ["r1"]}]}, "bc"),
    ({"match_expressions": [{"key": "slot", "operator": "Gt", "values": ["2"]}]}, "a"),
    ({"match_expressions": [{"key": "slot", "operator": "lt", "values": ["3"]}]}, ""),
])
def test_selectors(selector, matching):
    assert "".join(host["name"] for host in load("filter", "matching_hosts")(HOSTS, selector)) == matching
    assert [load("test", "host_matching")(host, selector) for host in HOSTS] == [
        host["name"] in matching for host in HOSTS]


def test_hosts_in_all_their_forms_have_labels():
    hosts = {"object": {"metadata": {"labels": {"rack": "r1"}}}, "facts": HOSTS[0],
             "inventory": {"metal3": {"labels": {"rack": "r1"}}, "bmh_labels": {"rack": "r2"}},
             "entry": {"boot_mac": "00:5c:52:31:3a:01", "bmh_labels": {"rack": "r1"}},
             "without": {"inventory_hostname": "without"}}
    assert load("filter", "matching_hosts")(hosts, {"match_labels": {"rack": "r1"}}) == [
        "object", "facts", "inventory", "entry"]


@pytest.mark.parametrize("expression, message", [
    ({"key": "a", "operator": "Near"}, "expected In, NotIn, Exists or DoesNotExist"),
    ({"key": "a"}, "found nothing"),
    ({"operator": "In"}, "expected a dictionary with key"),
    ({"key": "a", "operator": "In"}, "found 0, expected one or more"),
    ({"key": "a", "operator": "Exists", "values": ["b"]}, "found 1, expected none"),
    ({"key": "a", "operator": "In", "values": "b"}, "expected a list"),
])
def test_selectors_that_capm3_would_refuse(expression, message):
    with pytest.raises(AnsibleFilterError, match=message):
        load("test", "host_matching")(HOSTS[0], {"match_expressions": [expression]})


def test_needs_of_clusters_come_from_their_variables():
    good = {"group_names": ["clusters", "prod"], "cluster_control_plane": {"host_selector": {"rack": "r1"}}}
    hostvars = {"prod-cluster": good, "broken": {"cluster_control_plane": {"replics": 3}}}
    assert load("filter", "cluster_needs")(hostvars, ["prod-cluster", "broken"]) == [
        {"name": "prod", "namespace": "metal3", "groups": [
            {"role": "control-plane", "name": "control-plane", "host_selector": {"rack": "r1"},
             "pools": []}]}]


@pytest.mark.parametrize("name", ["metal3_kubeconfig", "cluster_kubeconfig"])
def test_machines_of_another_plane_serve_none_of_a_clusters_servers(name):
    hostvars = {"a": {"metal3_kubeconfig": "/first"}, "b": {"management_plane": {"mode": "process", "dir": "/second"}},
                "c": {}, "d": {"management_plane": "no plane"}, "prod": {name: "/first"}}
    machines = load("filter", "plane_machines")
    assert machines(hostvars, ["a", "b", "c", "d"], "prod") == ["a", "c", "d"]
    # Nobody says which machines are of that plane.
    assert machines(hostvars, ["b", "c"], "prod") == ["b", "c"]
    assert machines(dict(hostvars, prod={}), ["a", "b"], "prod") == ["a", "b"]


@pytest.mark.parametrize("name", ["metal3_kubeconfig", "cluster_kubeconfig"])
def test_clusters_of_another_plane_take_none_of_a_clusters_hosts(name):
    """They were looked for in this plane, did not exist there, and wanted hosts of it for all their machines."""
    hostvars = {"a": {"metal3_kubeconfig": "/first"}, "b": {"metal3_kubeconfig": "/first"},
                "c": {"metal3_kubeconfig": "/first", name: "/second"}, "d": {}}
    needs = load("filter", "cluster_needs")

    def beside(host, *names):
        return [item["name"] for item in needs(hostvars, list(names), host)]

    assert beside("a", "b", "c", "d") == ["b"]
    assert beside("c", "a", "b", "d") == []
    assert beside("d", "a") == []
    assert [item["name"] for item in needs(hostvars, ["a", "c"])] == ["a", "c"]
    with pytest.raises(AnsibleFilterError, match="cluster_needs: not in the inventory: z"):
        needs(hostvars, ["a"], "z")

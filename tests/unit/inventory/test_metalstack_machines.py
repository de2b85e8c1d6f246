# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of metal-stack as inventory hosts, from a metal-api over HTTP."""
from __future__ import annotations

import pytest
import yaml
from ansible import constants
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.doc_fragments import constructed
from fakes.metal_api import FIREWALL_IMAGE, IMAGE, KEY, OTHER_PROJECT, PARTITION, PROJECT, SIZE, MetalApi
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.inventory import metalstack_machines
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack.client import MetalClient

NAME = "metal3.baremetal.metalstack_machines"


@pytest.fixture(scope="module", autouse=True)
def _options():
    merged = {}
    for source in (constructed.ModuleDocFragment, metalstack_machines):
        for name, option in ansible_yaml.load(source.DOCUMENTATION)["options"].items():
            merged.setdefault(name, {"name": name}).update(option)
    constants.config.initialize_plugin_configuration_definitions("inventory", NAME, merged)


@pytest.fixture
def api(monkeypatch):
    with MetalApi() as server:
        monkeypatch.setenv("METAL_API_URL", server.url)
        monkeypatch.setenv("METAL_API_HMAC", KEY)
        for project, network in ((PROJECT, "own"), (OTHER_PROJECT, "other")):
            server.add_private(network, network, project)
        allocate(server, "machine", "cp-0")
        allocate(server, "firewall", "fw", imageid=FIREWALL_IMAGE)
        yield server
    assert server.defects == []


def allocate(server, word, name, project=PROJECT, network="own", **more):
    MetalClient({"api_url": server.url, "hmac_key": KEY}).call(f"allocate_{word}", {
        "name": name, "hostname": "h", "projectid": project, "partitionid": PARTITION, "sizeid": SIZE,
        "imageid": IMAGE, "networks": [{"networkid": network, "autoacquire": True}], "ssh_pub_keys": [], **more},
        subject=name)


def read(tmp_path, inventory=None, **options):
    path = tmp_path / "metalstack.yml"
    path.write_text(yaml.safe_dump({"plugin": NAME, **options}))
    plugin = metalstack_machines.InventoryModule()
    plugin._load_name = plugin.ansible_name = NAME
    plugin._redirected_names = [NAME]
    assert plugin.verify_file(str(path))
    inventory = inventory or InventoryData()
    plugin.parse(inventory, DataLoader(), str(path))
    return inventory


def test_what_is_allocated_is_an_inventory_host_in_the_group_of_its_kind(api, tmp_path):
    inventory = read(tmp_path, keyed_groups=[{"key": "metalstack.size", "prefix": "size"}])
    assert {name: [host.name for host in group.hosts] for name, group in inventory.groups.items()
            if name.startswith(("metalstack_", "size_"))} == {
                "metalstack_machines": ["cp-0"], "metalstack_firewalls": ["fw"], "size_c1_large": ["cp-0", "fw"]}
    facts = inventory.hosts["cp-0"].vars["metalstack"]
    assert (facts["kind"], facts["project"], facts["role"]) == ("machine", PROJECT, "machine")
    assert "canary" not in repr(inventory.hosts["cp-0"].vars)


def test_a_project_and_a_kind_select(api, tmp_path):
    allocate(api, "machine", "theirs", OTHER_PROJECT, "other")
    assert set(read(tmp_path, project=OTHER_PROJECT).hosts) == {"theirs"}
    assert set(read(tmp_path, sources=["firewalls"]).hosts) == {"fw"}


def test_two_of_one_name_are_refused_and_have_ids(api, tmp_path):
    allocate(api, "machine", "cp-0", OTHER_PROJECT, "other")
    with pytest.raises(AnsibleParserError, match=r"cp-0: found machines .* set host_names to id"):
        read(tmp_path)
    assert len(read(tmp_path, host_names="id").hosts) == 3


@pytest.mark.parametrize("name", ["-oProxyCommand=id", "localhost", "a b", "all", "127.0.0.1"])
def test_a_name_that_ssh_would_read_otherwise_is_refused(api, tmp_path, name):
    api.named("cp-0")[0]["allocation"]["name"] = name
    with pytest.raises(AnsibleParserError, match="expected one that an inventory host can have"):
        read(tmp_path)


def described():
    """Return an inventory of another source, with a host that tasks with passwords are delegated to."""
    inventory = InventoryData()
    inventory.add_group("gateways")
    inventory.add_host("gateway", group="gateways")
    inventory.set_variable("gateway", "ansible_host", "192.0.2.1")
    return inventory


COMPOSED = {"compose": {"ansible_host": "metalstack.addresses | first"}}


@pytest.mark.parametrize("name, owner", [("gateway", "a host of another"), ("gateways", "a group of the inventory")])
def test_a_machine_does_not_take_over_what_another_source_has_described(api, tmp_path, name, owner):
    """Whoever allocates a machine gives it its name: passwords for the host of before would go to it."""
    allocate(api, "machine", name, OTHER_PROJECT, "other")
    inventory = described()
    with pytest.raises(AnsibleParserError, match=owner):
        read(tmp_path, inventory, **COMPOSED)
    assert inventory.hosts["gateway"].vars["ansible_host"] == "192.0.2.1"
    assert set(inventory.hosts) == {"gateway"}


def test_a_host_of_a_named_group_gets_what_metal_api_says_of_it(api, tmp_path):
    allocate(api, "machine", "gateway", OTHER_PROJECT, "other")
    inventory = read(tmp_path, described(), extended_groups=["gateways"])
    assert inventory.hosts["gateway"].vars["metalstack"]["project"] == OTHER_PROJECT
    # As another file of the plugin, or a refreshed inventory, finds it.
    assert read(tmp_path, inventory).hosts["gateway"].vars["metalstack"]["kind"] == "machine"


def test_machines_of_two_metal_stacks_do_not_become_one(api, tmp_path):
    inventory = read(tmp_path)
    facts = inventory.hosts["cp-0"].vars["metalstack"]
    assert facts["server"] == api.url
    facts["server"] = "https://192.0.2.9"
    with pytest.raises(AnsibleParserError, match=(
            r'which another object \(machine ".*" of "https://192\.0\.2\.9"\) has, .* or partition$')):
        read(tmp_path, inventory, extended_groups=["metalstack_machines"])
    assert facts["server"] == "https://192.0.2.9"


@pytest.mark.parametrize("name, text", [
    ("a b", "machine m"), ("fw", "fw: found machines"), ("gateway", "a host of another inventory source")])
def test_an_id_of_metal_api_does_not_steer_the_terminal(api, tmp_path, name, text):
    """Ansible prints why it could not read an inventory as it is."""
    machine = api.named("cp-0")[0]
    machine["id"], machine["allocation"]["name"] = "m\x1b]0;x\x07\x9b2J", name
    with pytest.raises(AnsibleParserError, match=text) as raised:
        read(tmp_path, described())
    assert r"m\x1b]0;x\x07\x9b2J" in str(raised.value) and str(raised.value).isprintable()


def test_what_is_no_address_is_left_out(api, tmp_path):
    api.named("cp-0")[0]["allocation"]["networks"][0]["ips"] = ["198.51.100.7", "-oProxyCommand=id", "fe80::1%;id;"]
    assert read(tmp_path).hosts["cp-0"].vars["metalstack"]["addresses"] == ["198.51.100.7"]


def test_a_wrong_key_and_an_unknown_option_are_reported(api, tmp_path, monkeypatch):
    with pytest.raises(AnsibleParserError, match=r"projekt.*perhaps project"):
        read(tmp_path, projekt=PROJECT)
    monkeypatch.setenv("METAL_API_HMAC", "wrong")
    with pytest.raises(AnsibleParserError, match="wrong signature"):
        read(tmp_path)

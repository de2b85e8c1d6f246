# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory plugin, with what the API server would answer."""
from __future__ import annotations

import os

import pytest
import yaml
from ansible import constants
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.doc_fragments import constructed, inventory_cache
from ansible.template import Templar, trust_as_template
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.doc_fragments import ironic, kubernetes, kubernetes_inventory
from ansible_collections.metal3.baremetal.plugins.inventory import baremetal_hosts
from ansible_collections.metal3.baremetal.plugins.module_utils._inventory import hosts as inventory_hosts
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import ironic_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.connection import kube_argument_spec
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection.connection_choice import ENVIRONMENT
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_sources as inventory_sources
from ansible_collections.metal3.baremetal.plugins.plugin_utils._plain_expression import path_of, value_at

NAME = "metal3.baremetal.baremetal_hosts"


def definitions():
    """Return the plugin's options, those of its fragments merged in as Ansible does."""
    merged = {}
    for text in (kubernetes.ModuleDocFragment.DOCUMENTATION, kubernetes_inventory.ModuleDocFragment.DOCUMENTATION,
                 ironic.ModuleDocFragment.SUBOPTIONS, constructed.ModuleDocFragment.DOCUMENTATION,
                 inventory_cache.ModuleDocFragment.DOCUMENTATION, baremetal_hosts.DOCUMENTATION):
        for name, option in ansible_yaml.load(text)["options"].items():
            merged.setdefault(name, {}).update(option)
    for name, option in merged.items():
        option["name"] = name
    return merged


@pytest.fixture(scope="module", autouse=True)
def _options():
    constants.config.initialize_plugin_configuration_definitions("inventory", NAME, definitions())


def make():
    """Return the plugin as Ansible's loader would, which does not see collections that pytest has imported."""
    plugin = baremetal_hosts.InventoryModule()
    plugin._load_name = plugin.ansible_name = NAME
    plugin._redirected_names = [NAME]
    return plugin


def bmh(name, namespace="metal3", **labels):
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": {"online": True},
            "status": {"provisioning": {"state": "available", "ID": ""},
                       "hardware": {"hostname": "{{ 6 * 7 }}", "ramMebibytes": 1024}}}


class Server:
    """Stands in for the API server: counts LISTs and answers each with one page."""

    def __init__(self, monkeypatch, *items):
        self.items, self.asked, self.errors, self.params = list(items), [], [], None
        self.server, self.of_kind = "https://192.0.2.1", {}
        monkeypatch.setattr(inventory_sources, "KubeClient", self._client)
        monkeypatch.setattr(inventory_sources, "pages", self._pages)

    def _client(self, params):
        self.params = params
        return self

    def _pages(self, _client, resource, namespace, label_selector):
        self.asked.append((resource.kind, namespace, label_selector))
        for error in self.errors:
            raise error
        items = self.of_kind.get(resource.kind, self.items)
        yield [item for item in items if namespace in (None, item["metadata"]["namespace"])]


@pytest.fixture
def server(monkeypatch):
    return Server(monkeypatch, bmh("a", rack="r1"), bmh("b", rack="r2"), bmh("c", "other"))


@pytest.fixture
def parse(tmp_path):
    def run(cache=True, file_name="x.metal3.yml", inventory=None, **options):
        path = tmp_path / file_name
        path.write_text(yaml.safe_dump(dict({"plugin": NAME}, **options)))
        plugin, inventory = make(), inventory or InventoryData()
        assert plugin.verify_file(str(path))
        plugin.parse(inventory, DataLoader(), str(path), cache)
        return inventory
    return run


def test_hosts_have_one_variable_and_are_in_the_group_of_their_kind(server, parse):
    inventory = parse()
    assert sorted(inventory.hosts) == ["a", "b"]
    assert [host.name for host in inventory.groups["metal3_hosts"].get_hosts()] == ["a", "b"]
    assert inventory.groups["metal3_machines"].get_hosts() == []
    own = [name for name in inventory.get_host("a").vars if not name.startswith("inventory_")]
    assert own == ["metal3"]
    assert inventory.get_host("a").vars["metal3"]["labels"] == {"rack": "r1"}


def test_values_of_the_cluster_are_no_templates(server, parse):
    inventory = parse(compose={"name_seen": "metal3.hardware.hostname", "upper": "metal3.hardware.hostname | upper"})
    variables = inventory.get_host("a").vars
    for name in ("name_seen", "upper"):
        assert Templar(DataLoader(), variables).template(variables[name]) == "{{ 6 * 7 }}"
    assert Templar(DataLoader(), variables).template(variables["metal3"]["hardware"]["hostname"]) == "{{ 6 * 7 }}"


def test_constructed_groups_and_variables(server, parse):
    inventory = parse(
        keyed_groups=[{"key": "metal3.labels.rack", "prefix": "rack"}, {"key": "metal3.labels['none']"},
                      {"key": "site", "prefix": "site"}],
        groups={"first": "metal3.name == 'a'", "composed": "site == 'x'"}, compose={"site": "'x'"})
    groups = dict((name, [host.name for host in group.get_hosts()]) for name, group in inventory.groups.items())
    assert (groups["rack_r1"], groups["rack_r2"], groups["first"]) == (["a"], ["b"], ["a"])
    assert (groups["composed"], groups["site_x"]) == (["a", "b"], ["a", "b"])


@pytest.mark.parametrize("options", [
    {"keyed_groups": [{"key": "metal3.labels.none"}]},
    {"compose": {"x": "metal3.labels.none"}},
    {"groups": {"x": "metal3.labels.none"}},
])
def test_strict_refuses_what_is_undefined(server, parse, options):
    parse(**options)
    with pytest.raises(AnsibleError, match="'none'"):
        parse(strict=True, **options)


def test_what_is_read_is_what_was_chosen(server, parse):
    parse(namespaces=["other", "other", "metal3"], label_selector="rack=r1")
    assert server.asked == [("BareMetalHost", "other", "rack=r1"), ("BareMetalHost", "metal3", "rack=r1")]
    assert sorted(parse(all_namespaces=True, states=["available"]).hosts) == ["a", "b", "c"]
    assert sorted(parse(states=["provisioned"]).hosts) == []
    assert sorted(parse(all_namespaces=True, host_names="name_namespace").hosts) == ["a.metal3", "b.metal3", "c.other"]


def test_the_cache_is_used_for_the_same_question_only(server, parse, tmp_path):
    kept = {"cache": True, "cache_plugin": "jsonfile", "cache_connection": str(tmp_path / "cache")}
    # The first keeps, the second is answered from the cache, the third asks something else.
    options = ({}, {}, {"label_selector": "rack=r1"})
    for more in options:
        plugin_cache = dict(kept, **more)
        path = tmp_path / "k.metal3.yml"
        path.write_text(yaml.safe_dump(dict({"plugin": NAME}, **plugin_cache)))
        plugin = make()
        plugin.parse(InventoryData(), DataLoader(), str(path))
        plugin.update_cache_if_changed()
    assert len(server.asked) == 2
    # As `meta: refresh_inventory` and --flush-cache do.
    plugin.parse(InventoryData(), DataLoader(), str(path), cache=False)
    assert len(server.asked) == 3
    text = next((tmp_path / "cache").iterdir()).read_text()
    assert "rack=r1" in text


def test_the_cache_of_one_server_is_not_taken_for_another_one(server, tmp_path, monkeypatch):
    """As it is when the current context of the kubeconfig is another one by now."""
    kubeconfig = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    path = tmp_path / "k.metal3.yml"
    path.write_text(yaml.safe_dump({"plugin": NAME, "cache": True, "cache_plugin": "jsonfile",
                                    "cache_connection": str(tmp_path / "cache")}))
    contexts = [{"name": name, "context": {"cluster": name}} for name in ("one", "other")]
    clusters = [{"name": name, "cluster": {"server": f"https://{name}.example:6443"}} for name in ("one", "other")]
    for context, asked in (("one", 1), ("one", 1), ("other", 2), ("none", 3), ("none", 3)):
        kubeconfig.write_text(yaml.safe_dump(
            {"contexts": contexts, "clusters": clusters, "users": [], "current-context": context}))
        plugin = make()
        plugin.parse(InventoryData(), DataLoader(), str(path))
        plugin.update_cache_if_changed()
        assert len(server.asked) == asked


def test_what_comes_from_the_cache_is_no_template_either(server, parse, tmp_path):
    for _round in range(2):
        path = tmp_path / "k.metal3.yml"
        path.write_text(yaml.safe_dump({"plugin": NAME, "cache": True, "api_key": "hidden-token", "cache_plugin":
                                        "jsonfile", "cache_connection": str(tmp_path / "cache")}))
        plugin, inventory = make(), InventoryData()
        plugin.parse(inventory, DataLoader(), str(path))
        plugin.update_cache_if_changed()
    assert len(server.asked) == 1
    facts = inventory.get_host("a").vars["metal3"]
    assert Templar(DataLoader(), {}).template(facts["hardware"]["hostname"]) == "{{ 6 * 7 }}"
    assert "hidden-token" not in next((tmp_path / "cache").iterdir()).read_text()


def test_connection_options_come_from_the_file_its_templates_and_the_environment(server, parse, monkeypatch):
    monkeypatch.setenv("K8S_AUTH_CONTEXT", "from-environment")
    monkeypatch.setenv("TOKEN", "from-lookup")
    parse(api_key="{{ lookup('env', 'TOKEN') }}", kubeconfig="/k", validate_certs=False)
    assert set(server.params) == set(kube_argument_spec())
    # What the environment says is left to the client, which distinguishes it from what was asked for.
    assert (server.params["api_key"], server.params["context"], server.params["kubeconfig"]) == (
        "from-lookup", None, "/k")
    assert server.params["validate_certs"] is False


def test_the_environment_variables_are_those_of_the_modules():
    """One table says them for modules, the fragment for inventory plugins."""
    options = ansible_yaml.load(kubernetes_inventory.ModuleDocFragment.DOCUMENTATION)["options"]
    documented = dict((name, [item["name"] for item in option["env"]]) for name, option in options.items())
    assert documented == dict((name, list(variables)) for name, variables in ENVIRONMENT.items())
    assert set(ENVIRONMENT) == set(kube_argument_spec())


def test_the_options_of_ironic_are_those_of_the_modules_and_checked(server, parse, monkeypatch):
    options = definitions()["ironic"]["suboptions"]
    assert set(options) == set(ironic_argument_spec())
    with pytest.raises(AnsibleParserError, match=r"ironic: clouds\. Supported parameters include"):
        parse(ironic={"clouds": "x"})
    seen = []

    class Ironic:
        server = "https://192.0.2.2:6385"

        def __init__(self, params):
            seen.append(params)

        def list_nodes(self, fields):
            assert fields == inventory_hosts.NODE_FIELDS
            return [{"uuid": "u1", "name": "metal3~gone"}, {"uuid": "u2", "name": "other~gone"},
                    {"uuid": "u3", "name": None}]

    monkeypatch.setattr(inventory_sources, "IronicClient", Ironic)
    inventory = parse(sources=["hosts", "nodes"], ironic={"cloud": "metal3", "clouds_file": "~/clouds.yaml"})
    assert seen[0]["clouds_file"] == os.path.expanduser("~/clouds.yaml")
    # Of namespaces that were not asked for there is nothing, of nodes that no host was made for all.
    assert [host.name for host in inventory.groups["metal3_nodes"].get_hosts()] == ["metal3~gone", "u3"]


def test_no_query_and_no_login_of_a_url_is_in_an_inventory(server, parse, monkeypatch):
    """As in results of modules: whoever may read an inventory in AWX, or its cache, need not read images."""
    server.items[0]["status"]["provisioning"].update(ID="u1", image={"url": "https://store/a.raw?sig=abc"})
    server.items[1]["status"].update(operationalStatus="error", errorMessage="https://me:word@store/a.raw: 403")

    class Ironic:
        server = "https://192.0.2.2:6385"

        def __init__(self, params):
            pass

        def list_nodes(self, fields):
            return [{"uuid": "u1", "name": "metal3~a", "last_error": "https://store/a.raw?sig=abc: 403"}]

    monkeypatch.setattr(inventory_sources, "IronicClient", Ironic)
    inventory = parse(sources=["hosts", "nodes"])
    facts = inventory.get_host("a").vars["metal3"]
    assert (facts["image_url"], facts["node"]["last_error"]) == (
        "https://store/a.raw?(hidden)", "https://store/a.raw?(hidden): 403")
    assert inventory.get_host("b").vars["metal3"]["error_message"] == "https://(hidden)@store/a.raw: 403"


def test_a_host_that_was_created_again_is_in_the_cluster_of_its_machine(server, parse):
    labels = {"cluster.x-k8s.io/cluster-name": "c"}
    machine = {"metadata": {"name": "c-1", "namespace": "metal3", "labels": labels}}
    server.of_kind["Metal3Machine"] = [machine]
    assert parse().get_host("a").vars["metal3"]["cluster"] == ""
    assert [kind for kind, dummy, dummy in server.asked] == ["BareMetalHost"]
    server.items[0]["spec"]["consumerRef"] = {"kind": "Metal3Machine", "namespace": "metal3", "name": "c-1"}
    inventory = parse(keyed_groups=[{"key": "metal3.cluster", "prefix": "cluster"}])
    assert [host.name for host in inventory.groups["cluster_c"].get_hosts()] == ["a"]


def test_failures_name_file_object_and_next_step(server, parse):
    server.errors = [KubeError("BareMetalHost list in metal3: forbidden", 403)]
    with pytest.raises(AnsibleParserError, match=r"x\.metal3\.yml: BareMetalHost list in metal3: forbidden; allow"):
        parse()
    server.errors = []
    server.items.append(bmh("a", "other"))
    with pytest.raises(AnsibleParserError, match=r"found host metal3/a and host other/a.*set host_names"):
        parse(all_namespaces=True)


def test_an_option_that_is_none_is_refused_by_name(server, parse):
    """Without this, a namespace that nobody named is read."""
    with pytest.raises(AnsibleParserError, match=(
            r"x\.metal3\.yml: found unknown option namespcaes, .* \(perhaps namespaces instead of namespcaes\)")):
        parse(namespcaes=["mine"])
    with pytest.raises(AnsibleParserError, match=r"ironic: .*clouds_fiel"):
        parse(ironic={"clouds_fiel": "x"}, sources=["hosts", "nodes"])
    assert server.asked == []


@pytest.mark.parametrize("namespaces", [[], "", [""], ["metal3", ""]])
def test_no_namespace_is_not_all_of_them(server, parse, namespaces):
    """Other plugins read all then; this one had an inventory without hosts."""
    with pytest.raises(AnsibleParserError, match=(
            r"x\.metal3\.yml: namespaces: found (nothing|an empty name), expected names of namespaces; name them, or "
            "set all_namespaces")):
        parse(namespaces=namespaces)
    assert server.asked == []
    assert sorted(parse(namespaces=namespaces, all_namespaces=True).hosts) == ["a", "b", "c"]


def test_what_is_no_address_never_becomes_one(server, parse):
    """The address of a NIC is what the server itself reported; ssh takes one that begins with a dash for an option."""
    server.items[0]["status"]["hardware"]["nics"] = [
        {"name": "a", "ip": text} for text in (
            "-oProxyCommand=touch /tmp/x", "{{ 6 * 7 }}", "192.0.2.1", "192.0.2.1 -v", "", "2001:db8::1", 7)]
    server.of_kind["Machine"] = [{
        "metadata": {"name": "m", "namespace": "metal3"}, "spec": {"clusterName": "c"},
        "status": {"addresses": [{"type": "InternalIP", "address": text} for text in (
            "-oProxyCommand=touch /tmp/x", "192.0.2.2")] + [{"type": "Hostname", "address": "-oProxyCommand=x"}, {}]}}]
    server.of_kind["Metal3Machine"] = []
    inventory = parse(sources=["hosts", "machines"], compose={
        "ansible_host": "metal3.addresses | first", "name_told": "metal3.hostname | default('')"})
    assert inventory.get_host("a").vars["metal3"]["addresses"] == ["192.0.2.1", "2001:db8::1"]
    assert inventory.get_host("a").vars["ansible_host"] == "192.0.2.1"
    assert inventory.get_host("m").vars["ansible_host"] == "192.0.2.2"
    assert inventory.get_host("m").vars["name_told"] == ""


@pytest.mark.parametrize("name", [
    "localhost", "127.0.0.1", "all", "ungrouped", "-oProxyCommand=id", "../../tmp/x", "a b"])
def test_a_name_that_means_something_else_is_refused(server, parse, name):
    """All tasks that are delegated to localhost went to the address that the object says."""
    server.items.append(bmh(name))
    with pytest.raises(AnsibleParserError, match=(
            rf"x\.metal3\.yml: host metal3/{name}: found the name .*, expected one that an inventory host can have .*; "
            "rename it, or leave it out")):
        parse(compose={"ansible_host": "'192.0.2.1'"})
    # With the namespace it may be a name as any other.
    if name in ("localhost", "127.0.0.1"):
        assert name + ".metal3" in parse(host_names="name_namespace").hosts


def others():
    """The inventory as another source has left it: a management machine, and a server of the site."""
    inventory = InventoryData()
    inventory.add_group("managers")
    inventory.add_group("racks")
    inventory.add_group("baremetal")
    inventory.add_child("racks", "baremetal")
    inventory.add_host("management", group="managers")
    inventory.add_host("a", group="baremetal")
    inventory.set_variable("management", "ansible_host", "192.0.2.9")
    return inventory


@pytest.mark.parametrize("name, owner", [
    ("management", "a host of another inventory source of this name, .* in one of baremetal .extended_groups"),
    ("managers", "a group of the inventory of this name, expected a name of its own; rename one")])
def test_an_object_named_like_what_another_source_has_is_refused(server, parse, name, owner):
    server.items.append(bmh(name))
    inventory = others()
    with pytest.raises(AnsibleParserError, match=(
            rf'x\.metal3\.yml: host "{name}": found {owner}')):
        parse(inventory=inventory, compose={"ansible_host": "'192.0.2.1'"})
    # Nothing of this source is left, whatever else it has.
    assert inventory.hosts["management"].vars["ansible_host"] == "192.0.2.9"
    assert sorted(inventory.hosts) == ["a", "management"]


def test_what_the_cluster_knows_is_added_to_servers_of_the_site(server, parse):
    inventory = parse(inventory=others())
    assert inventory.hosts["a"].vars["metal3"]["name"] == "a"
    assert parse(inventory=others(), extended_groups=["racks"]).hosts["a"].vars["metal3"]["name"] == "a"
    with pytest.raises(AnsibleParserError, match="expected a name of its own; rename one"):
        parse(inventory=others(), extended_groups=[])


def test_a_variable_of_the_site_may_be_a_template(server, parse):
    """Groups had the template in their names, and a play for the group of a rack left its servers out."""
    inventory = others()
    for name, value in (("site", "x"), ("rack", "{{ site }}-{{ metal3.labels.rack }}"), ("places", ["{{ rack }}"])):
        inventory.set_variable("a", name, [trust_as_template(item) for item in value] if isinstance(value, list)
                               else trust_as_template(value))
    parse(inventory=inventory, keyed_groups=[{"key": "rack", "prefix": "rack"}, {"key": "places", "prefix": "place"}],
          compose={"place": "rack"})
    groups = dict((name, [host.name for host in group.get_hosts()]) for name, group in inventory.groups.items())
    assert (groups["rack_x_r1"], groups["place_x_r1"], inventory.hosts["a"].vars["place"]) == (["a"], ["a"], "x-r1")


def test_a_machine_is_not_the_server_of_its_name(server, parse):
    server.of_kind.update(Metal3Machine=[], Machine=[
        {"metadata": {"name": "a", "namespace": "metal3"}, "spec": {"clusterName": "c"}}])
    assert sorted(parse(sources=["machines"]).hosts) == ["a"]
    with pytest.raises(AnsibleParserError, match='machine "a": found a host of another inventory source'):
        parse(inventory=others(), sources=["machines"])


def test_two_files_of_the_plugin_may_have_the_same_object_and_no_other(server, parse):
    for item in server.items:
        item["metadata"]["uid"] = "u-" + item["metadata"]["name"]
    inventory = parse(extended_groups=[])
    assert sorted(parse(file_name="y.metal3.yml", inventory=inventory, extended_groups=[]).hosts) == ["a", "b"]
    server.items[0]["metadata"]["uid"] = "another"
    with pytest.raises(AnsibleParserError, match=r'host "a": found another object \(host "u-a" of "https://192.0.2.1"\)'):
        parse(file_name="y.metal3.yml", inventory=inventory)


@pytest.mark.parametrize("is_of_the_site", [False, True])
@pytest.mark.parametrize("uid", ["u-a", None])
def test_hosts_of_two_clusters_do_not_become_one(server, parse, is_of_the_site, uid):
    """A cluster restored from another one's etcd has its uids; who runs an API server chooses them."""
    for item in server.items:
        item["metadata"]["uid"] = uid and "u-" + item["metadata"]["name"]
    inventory = parse(inventory=others() if is_of_the_site else None)
    before = dict(inventory.hosts["a"].vars["metal3"])
    assert before["server"] == "https://192.0.2.1"
    server.server = "https://192.0.2.3"
    with pytest.raises(AnsibleParserError, match=(
            r'host "a": found another object .* of this name, expected a name of its own; .* or sources$')):
        parse(file_name="y.metal3.yml", inventory=inventory)
    assert inventory.hosts["a"].vars["metal3"] == before


def test_a_variable_of_the_site_is_no_object(server, parse):
    inventory = others()
    inventory.set_variable("a", "metal3", "mine")
    assert parse(inventory=inventory).hosts["a"].vars["metal3"]["name"] == "a"


@pytest.mark.parametrize("name, taken", [
    ("metal3.yml", True), ("metal3.yaml", True), ("site.metal3.yml", True), ("metal3.json", False),
    ("mymetal3.yml", False), ("hosts.yml", False)])
def test_files_are_recognised_by_their_names(tmp_path, name, taken):
    (tmp_path / name).write_text("plugin: " + NAME)
    assert make().verify_file(str(tmp_path / name)) is taken


@pytest.mark.parametrize("expression, path", [
    ("metal3.state", ("metal3", "state")),
    (" metal3.labels['example.com/rack'] ", ("metal3", "labels", "example.com/rack")),
    ('metal3["node"].driver', ("metal3", "node", "driver")),
    ("site", ("site",)),
    ("metal3.addresses | first", None),
    ("metal3.addresses[0]", None),
    ("metal3.labels.items", None),
    ("metal3.a == 'b'", None),
    ("metal3.a.", None),
    ("'x'", None),
    ("true", None),
    ("not metal3", None),
    ("", None),
])
def test_plain_expressions(expression, path):
    assert path_of(expression) == path


def test_a_plain_expression_and_the_template_engine_agree(server, parse):
    variables = parse().get_host("a").vars
    templar = Templar(DataLoader(), variables)
    for text in ("metal3.labels", "metal3['hardware'].ram_mebibytes", "metal3.online", "metal3.labels['rack']"):
        assert value_at(path_of(text), variables) == templar.evaluate_expression(trust_as_template(text))

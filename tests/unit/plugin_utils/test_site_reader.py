# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From an inventory's variables to findings with file and line, with Ansible's own loader and templating."""
from __future__ import annotations

import pathlib
import re

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.vars.hostvars import HostVars, HostVarsVars
from ansible.vars.manager import VariableManager
from jinja2 import UndefinedError

from ansible_collections.metal3.baremetal.plugins.module_utils._compliance import described as expectations
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._resources import server_variables
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _host_variables as host_variables
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _inventory_files as inventory_files
from ansible_collections.metal3.baremetal.plugins.plugin_utils._host_variables import HostVariables, without_secrets
from ansible_collections.metal3.baremetal.plugins.plugin_utils._site_reader import GROUPS, SiteReader, of_files

REPOSITORY = pathlib.Path(__file__).parents[3]
OPTIONS = {"pools": None, "known_secrets": None, "versions": None, "provisioning_cidr": None,
           "provisioning_network": True, "skip_rules": []}
ROLE_VARIABLES = {"hosts": ["hosts_wait_for"], "cluster": [
    "cluster_kubernetes_version", "cluster_endpoint", "cluster_options", "cluster_image"]}
HOSTS = """\
baremetal:
  vars:
    bmc_username: admin
    bmc_password: canary-password
    bmh_boot_mode: legcy
  hosts:
    one:
      bmc_address: redfish-virtualmedia://198.51.100.1
      bmh_labels:
        rack: r1
        "a b": c
    two:
      bmc_address: "{{ scheme }}://198.51.100.2"
      bmh_description: "{{ nowhere }}"
      boot_mca: 00:5c:52:00:00:01
    three:
      bmc_address: redfish-virtualmedia://198.51.100.3
      bmh_online: [canary-password]
      bmh_boot_mode: true
"""


@pytest.fixture
def findings(tmp_path):
    """Return a callable that lints an inventory: text of the file → findings."""
    def call(text, clusters=(), children=None, **options):
        path = tmp_path / "hosts.yml"
        path.write_text(text)
        loader = DataLoader()
        inventory = InventoryManager(loader=loader, sources=[str(path)])
        variables = VariableManager(loader=loader, inventory=inventory)
        hostvars = HostVars(inventory, variables, loader)
        names = [host.name for host in inventory.get_hosts("baremetal")] if "baremetal" in inventory.groups else []
        own = dict((host.name, host.vars) for host in inventory.get_hosts())
        reader = SiteReader(hostvars, names, list(clusters), own, ROLE_VARIABLES, children)
        return reader.lint(dict(OPTIONS, base_dir=str(tmp_path), **options))
    return call


def places(found, rule):
    return [(item["subject"], item["field"], item["path"], item["line"]) for item in found if item["code"] == rule]


def test_findings_have_file_and_line(findings):
    found = findings(HOSTS)
    assert ("one", "bmh_labels.a b", "hosts.yml", 11) in places(found, "metadata")
    assert places(found, "template-error") == [
        ("two", "bmc_address", "hosts.yml", 13), ("two", "bmh_description", "hosts.yml", 14)]
    assert places(found, "unknown-variable") == [("two", "boot_mca", "hosts.yml", 15)]


def test_what_is_mistyped_of_a_machine_of_the_plane_is_found(findings, monkeypatch):
    """It would be ignored: images would not be served, or another cluster's plane installed."""
    monkeypatch.setitem(ROLE_VARIABLES, "machine", ["image_server_addresses", "backup_recipients", "hosts_action"])
    monkeypatch.setitem(ROLE_VARIABLES, "playbooks", ["host_action"])
    found = findings("""\
all:
  vars:
    metal3_irnoic: {cloud: metal3}
    host_action: reboot
  children:
    baremetal: {hosts: {one: {bmc_address: redfish-virtualmedia://198.51.100.1}}}
    management:
      hosts:
        bastion:
          management_plane:
            mode: cluster
            kubeconfg: /k
          image_server_adresses: [192.0.2.10]
          backup_recipients: []
        other:
          managment_plane: {mode: cluster}
""")
    assert places(found, "unknown-variable") == [
        ("one and 2 more", "metal3_irnoic", "hosts.yml", 3),
        ("bastion", "image_server_adresses", "hosts.yml", 13), ("other", "managment_plane", "hosts.yml", 16),
        ("bastion", "management_plane.kubeconfg", "hosts.yml", 12)]
    assert [item["hint"] for item in found if item["code"] == "unknown-variable"] == [
        f"perhaps {name} is meant" for name in ("metal3_ironic", "image_server_addresses", "management_plane")
    ] + ["remove it (perhaps kubeconfig is meant)"]


def test_a_mistyped_group_is_found(findings):
    """The playbook site leaves out what an inventory has no hosts for, and ends with success."""
    groups = "bare_metal: {hosts: {one: }}\ncluster: {hosts: {prod: }}\nmanagment: {hosts: {bastion: }}\n"
    found = [item for item in findings(groups) if item["code"] == "unknown-group"]
    assert [item["text"] for item in found] == [
        f"{name}: found a group that no playbook is for, expected the group {meant}; rename it, or add an empty group "
        f"{meant} if it is another one"
        for name, meant in (("bare_metal", "baremetal"), ("cluster", "clusters"), ("managment", "management"))]
    empty = groups + "baremetal:\nclusters: {}\nmanagement: {hosts: {}}\n"
    assert places(findings(empty), "unknown-group") == []
    assert places(findings("rack1: {hosts: {one: }}\nbare_metal: {}\n"), "unknown-group") == []


def test_a_finding_about_a_host_without_variables_is_in_its_inventory_file(findings):
    found = findings("baremetal: {hosts: {One_Two: {}}}")
    assert places(found, "host-name") == [("One_Two", "name", "hosts.yml", None)]


def test_a_variable_is_where_it_is_written_or_in_the_hosts_inventory_file(tmp_path, monkeypatch):
    (tmp_path / "hosts.yml").write_text(HOSTS)
    monkeypatch.chdir(tmp_path)
    loader = DataLoader()
    inventory = InventoryManager(loader=loader, sources=[str(tmp_path / "hosts.yml"), "four,"])
    hostvars = HostVars(inventory, VariableManager(loader=loader, inventory=inventory), loader)
    assert host_variables.places(hostvars, ["one", "three", "four"], "bmh_labels") == [
        {"name": "one", "path": "hosts.yml", "line": 9, "column": 7},
        {"name": "three", "path": "hosts.yml", "line": None, "column": None}]


def test_a_value_that_is_undefined_when_it_is_read_is_named_with_host_and_variable(findings, monkeypatch):
    """As ansible-core 2.19 leaves it where templates are not finished at once; hosts of one line are one finding."""
    templated = HostVarsVars.__getitem__

    def read(self, name):
        if name == "bmh_boot_mode":
            raise UndefinedError("'mode' is undefined")
        return templated(self, name)

    monkeypatch.setattr(HostVarsVars, "__getitem__", read)
    found = [item for item in findings(HOSTS) if item["code"] == "template-error" and item["field"] == "bmh_boot_mode"]
    assert [(item["subject"], item["actual"]) for item in found] == [
        (name, "'mode' is undefined") for name in ("one and 1 more", "three")]


def test_a_file_that_ansible_left_out_is_reported(tmp_path):
    (tmp_path / "site").mkdir()
    for name, text in {"hosts.yml": HOSTS, "clusters.yml": "clusters: {hosts: {prod: {", "notes.bak": "{",
                       "script": "no inventory: [", ".hidden.yml": "{"}.items():
        (tmp_path / "site" / name).write_text(text)
    (tmp_path / "site" / "group_vars").mkdir()
    (tmp_path / "site" / "group_vars" / "all.yml").write_text("a: b\n")
    loader = DataLoader()
    inventory = InventoryManager(loader=loader, sources=["localhost,", str(tmp_path / "site")])
    unread = inventory_files.unread(inventory)
    assert unread == [str(tmp_path / "site" / name) for name in ("clusters.yml", "script")]

    hostvars = HostVars(inventory, VariableManager(loader=loader, inventory=inventory), loader)
    found = SiteReader(hostvars, [], [], {}, ROLE_VARIABLES, unread=unread).lint(dict(OPTIONS, base_dir=str(tmp_path)))
    assert [(item["path"], item["line"], item["level"]) for item in found if item["code"] == "inventory-file"] == [
        ("site/clusters.yml", None, "error"), ("site/script", None, "error")]


VAULT_HINT = "give the vault's password, by --ask-vault-pass or --vault-password-file"
VAULTED = "$ANSIBLE_VAULT;1.1;AES256\n31306164\n"


@pytest.fixture
def file_findings(tmp_path):
    """Return a callable that writes files of variables beside HOSTS: their texts → findings, whether one ends all."""
    def call(files, source="", **options):
        for path, text in {"hosts.yml": HOSTS, **files}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        loader = DataLoader()
        inventory = InventoryManager(loader=loader, sources=[str(tmp_path / source)])
        found = inventory_files.of_variables(inventory, loader, GROUPS)
        return ([(item["path"], item["line"], item["level"], item["text"].partition(": ")[2]) for item in of_files(
            found, dict(OPTIONS, base_dir=str(tmp_path), **options))], any(item.ends for item in found))
    return call


@pytest.mark.parametrize("text, line, message", [
    ("a: b\nbmh_labels: {a: b\n", 3, "found YAML parsing failed: "),
    ("- a: b\n", None, "found list, expected variables, as name: value; correct it"),
    (VAULTED, None, "found a file that cannot be decrypted (")])
@pytest.mark.parametrize("path", ["group_vars/baremetal.yml", "host_vars/one/more.yml"])
def test_a_file_of_variables_that_cannot_be_read_is_named(file_findings, path, text, line, message):
    """Ansible ends with an error that names no file, or asks for no password."""
    (found,), ends = file_findings({path: text}, skip_rules=["inventory-file"])
    assert found[:3] == (path, line, "error") and found[3].startswith(message) and ends
    assert text != VAULTED or found[3].endswith(VAULT_HINT)


def test_a_file_of_variables_that_is_hidden_by_another_is_named(file_findings):
    files = {"group_vars/all.yml": "a: b\n", "group_vars/all/vault.yml": "c: d\n", "group_vars/baremetal.json": "{}\n",
             "group_vars/baremetal.yml": "", "group_vars/README.md": "", "group_vars/.hidden.yml": "{"}
    found, ends = file_findings(files)
    assert found == [(f"group_vars/{name}", None, "error", (
        f"found a file that is not read, because Ansible reads {taken} beside it, expected one of both for the group "
        f"{group}; move what is in it to {taken}"))
        for name, taken, group in [("all.yml", "all/", "all"), ("baremetal.json", "baremetal.yml", "baremetal")]]
    assert not ends


def test_a_file_of_variables_for_nobody_is_a_warning(file_findings, tmp_path):
    files = {"group_vars/bare_metal.yml": "a: b\n", "host_vars/tow/x.yml": "a: b\n", "host_vars/two.yml": "a: b\n",
             "host_vars/localhost.yml": "a: b\n", "group_vars/other.yml": "a: b\n", "group_vars/clusters.yml": "a: b\n"}
    found, ends = file_findings(files)
    assert found == [
        ("group_vars/bare_metal.yml", None, "warning", "found variables of the group bare_metal, which the inventory "
         "has not, expected a group of the inventory; rename it (perhaps baremetal is meant), or remove it"),
        ("group_vars/other.yml", None, "warning", "found variables of the group other, which the inventory has not, "
         "expected a group of the inventory; rename it, or remove it"),
        ("host_vars/tow", None, "warning", "found variables of the host tow, which the inventory has not, expected a "
         "host of the inventory; rename it, or remove it")]
    assert not ends
    assert file_findings(files, skip_rules=["variables-of-nobody"]) == ([], False)
    # Of another inventory beside it, or of a file that could not be read.
    assert file_findings(files, "hosts.yml") == ([], False)
    (tmp_path / "more.yml").write_text("bare_metal: {")
    assert file_findings(files) == ([], False)


def test_a_value_that_cannot_be_decrypted_asks_for_the_password(findings):
    found, = [item for item in findings(HOSTS.replace("bmc_password: canary-password", "bmc_password: !vault |\n      "
                                                      + VAULTED.replace("\n", "\n      ")))
              if item["code"] == "template-error" and item["field"] == "bmc_password"]
    assert found["hint"] == VAULT_HINT
    assert len(found["names"]) == 3


def test_a_line_that_hosts_share_is_reported_once(findings):
    found = findings(HOSTS)
    shared = [item for item in found if item["field"] == "bmh_boot_mode"]
    assert [(item["subject"], item["names"], item["line"]) for item in shared] == [
        ("one and 1 more", ["one", "two"], 5), ("three", ["three"], 19)]


def test_what_is_missing_is_reported_where_the_host_is(findings):
    text = "baremetal:\n  hosts:\n    one:\n      boot_mac: 00:5c:52:00:00:01\n      bmc_address: redfish://198.51.100.1\n"
    assert places(findings(text), "bmc-credentials") == [("one", "bmc", "hosts.yml", 5)]


def test_secrets_are_not_shown(findings):
    found = findings(HOSTS)
    assert "bmh_online" in [item["field"] for item in found if item["subject"] == "three" and item["code"] == "value"]
    assert "canary" not in repr(found)


def test_rules_can_be_left_out(findings):
    assert places(findings(HOSTS, skip_rules=["template-error"]), "template-error") == []


def test_a_host_that_is_a_cluster_too(findings):
    found = findings("baremetal:\n  hosts:\n    one:\n      bmc_address: ipmi://198.51.100.1\n", clusters=["one"])
    assert [item["subject"] for item in found if item["code"] == "host-and-cluster"] == ["one"]


def test_a_group_of_a_cluster_without_a_host(findings):
    assert places(findings(HOSTS, children=[("prod", [])]), "cluster-without-host") == [("prod", "", None, None)]


LENT = """\
management:
  hosts:
    bastion:
      provisioning_network_dhcp_ranges: [{first: "{{ net }}.10", last: "{{ net }}.99"}]
      net: "172.22.0"
baremetal:
  hosts:
    one: {bmc_address: "ipmi://198.51.100.1", boot_mac: "00:5c:52:00:00:01"}
clusters:
  hosts:
    prod:
      cluster_kubernetes_version: v1.35.4
      cluster_endpoint: {host: 172.22.0.20, holder: none}
      cluster_image: {url: "https://images.example/a.qcow2", checksum: "https://images.example/a.sha256"}
      cluster_control_plane: {replicas: 1}
      cluster_workers: {}
      cluster_dhcp:
        OWN
"""
ENDPOINT = ("prod", "cluster_endpoint.host", "hosts.yml", 13)


@pytest.mark.parametrize(("own", "expected"), [
    ("hosts: [{mac: '00:5c:52'}]", [("prod", "cluster_dhcp.hosts[0].mac", "hosts.yml", 18)]),
    ("ranges: [{first: 172.22.0.1, last: 172.22.0.30}]", [ENDPOINT]),
    ("ranges: []", []),
    # Nothing but the variable's name: nobody says what is lent.
    ("", []),
])
def test_what_dhcp_lends_is_checked(findings, own, expected):
    found = findings(LENT.replace("OWN", own), clusters=["prod"])
    assert places(found, "endpoint") == expected
    assert places(found, "unknown-variable") == []


def test_what_dhcp_lends_is_by_default_what_the_plane_serves(findings):
    text = LENT.replace("      cluster_dhcp:\n        OWN\n", "")
    assert places(findings(text, clusters=["prod"]), "endpoint") == [ENDPOINT]
    assert places(findings(text.replace("net: ", "nett: "), clusters=["prod"]), "endpoint") == []
    wrong = findings(text.replace(".99", ".999"), clusters=["prod"])
    assert [(item["subject"], item["field"]) for item in wrong if item["code"] == "endpoint"] == [
        ("prod", "cluster_dhcp.ranges[0].last")]


@pytest.mark.parametrize(("kubeconfig", "expected"), [
    ("/srv/rack1/kubeconfig", [ENDPOINT[:3] + (15,)]), ("/srv/rack2/kubeconfig", []), ("", [ENDPOINT[:3] + (15,)])])
def test_what_another_planes_machine_lends_does_not_count(findings, kubeconfig, expected):
    text = LENT.replace("      cluster_dhcp:\n        OWN\n", "").replace("  hosts:\n    bastion:\n", (
        "  hosts:\n    other: {management_plane: {mode: process, dir: /srv/rack2}}\n    bastion:\n"
        "      metal3_kubeconfig: /srv/rack1/kubeconfig\n"))
    found = findings(text + f"      metal3_kubeconfig: '{kubeconfig}'\n", clusters=["prod"])
    assert places(found, "endpoint") == expected


def test_a_mistyped_option_of_what_dhcp_lends_has_its_line(findings):
    found = findings(LENT.replace("OWN", "range: []"), clusters=["prod"])
    assert places(found, "unknown-variable") == [("prod", "cluster_dhcp.range", "hosts.yml", 18)]


# Variables of servers that other modules than baremetal_host read.
OTHERS = """\
baremetal:
  vars: {bmc_username: admin, bmc_password: canary-password}
  hosts:
    one:
      bmc_address: redfish-virtualmedia://198.51.100.1
      bmh_firmware_settings:
        Turbo: Enabled
        Scrub: [24]
        SysPassword: canary-password
      bmh_firmware_components:
        - {component: bios, url: "https://images.example/bios"}
        - component: bios
          url: ftp://images.example/bios
      bmh_update_policy:
        firmware_settings: onBoot
        firmware: onReboot
      bmh_expected:
        cpus_minimum: many
        memory_minimum: 1
        firmware: {bios: "2.4", bmc: }
        nics: [eno1, eno1]
        certificate: {days_minimum: -1}
    two:
      bmc_address: redfish-virtualmedia://198.51.100.2
      bmh_firmware_settings: {Turbo: Enabled}
      bmh_firmware_components: [{component: bmc, url: "https://images.example/bmc"}]
      bmh_update_policy: {firmware_updates: onReboot}
      bmh_expected: {nics: [eno1], certificate: {}, accounts: [admin], settings: {Turbo: Enabled}}
    three:
      bmc_address: redfish-virtualmedia://198.51.100.3
      bmh_firmware_settings: [Turbo]
      bmh_update_policy: onReboot
      bmh_expected: [cpus]
    four:
      bmc_address: redfish-virtualmedia://198.51.100.4
      bmh_firmware_settings: "{{ nowhere }}"
      bmh_update_policy: {}
"""


def test_variables_of_other_modules_are_checked_by_the_modules_own_rules(findings):
    found = findings(OTHERS)
    assert [(item["code"], item["subject"], item["field"], item["line"]) for item in found] == [
        ("template-error", "four", "bmh_firmware_settings", 36),
        ("unknown-variable", "one", "bmh_update_policy.firmware", 16),
        ("value", "one", "bmh_update_policy.firmware_settings", 15),
        ("policy", "one", "bmh_update_policy", 14),
        ("firmware-settings", "one", "bmh_firmware_settings.Scrub", 8),
        ("firmware-settings", "one", "bmh_firmware_settings.SysPassword", 9),
        ("firmware-components", "one", "bmh_firmware_components[1].component", 12),
        ("firmware-components", "one", "bmh_firmware_components[1].url", 13),
        ("value", "one", "bmh_expected.cpus_minimum", 18),
        ("unknown-variable", "one", "bmh_expected.memory_minimum", 19),
        ("compliance-profile", "one", "bmh_expected.firmware.bmc", 20),
        ("compliance-profile", "one", "bmh_expected.nics", 21),
        ("compliance-profile", "one", "bmh_expected.certificate.days_minimum", 22),
        ("value", "three", "bmh_update_policy", 32),
        ("value", "three", "bmh_firmware_settings", 31),
        ("value", "three", "bmh_expected", 33),
        ("policy", "four", "bmh_update_policy", 37)]
    assert "canary" not in repr(found)
    assert all(item["level"] == "error" for item in found)


def test_mistakes_of_an_expectation_name_the_module_that_has_the_options(findings):
    texts = dict((item["field"], item["text"]) for item in findings(OTHERS))
    assert "expected an option of metal3.baremetal.host_compliance" in texts["bmh_expected.memory_minimum"]
    assert "see ansible-doc metal3.baremetal.host_compliance" in texts["bmh_expected.cpus_minimum"]


def test_each_variable_of_another_module_has_its_rules():
    assert set(server_variables.VARIABLES) | {expectations.VARIABLE} == set(host_inventory.OTHERS)


def test_the_role_makes_entries_of_the_same_variables():
    made = re.findall(r"variable_entries\(hosts_names, '(\w+)'(?:, '(\w+)')?\)",
                      (REPOSITORY / "roles" / "hosts" / "vars" / "main.yml").read_text())
    assert dict((variable, option or None) for variable, option in made) == dict(
        (variable, option) for variable, (_kind, option) in server_variables.VARIABLES.items())


SEVERAL = """\
baremetal:
  hosts:
    one: {bmc_address: "redfish-virtualmedia://198.51.100.1", metal3_kubeconfig: a}
    two:
      bmc_address: redfish-virtualmedia://198.51.100.2
      metal3_namespace: site2
      metal3_kubeconfig: "{{ nowhere }}"
  vars: {bmc_username: admin, bmc_password: canary-password}
clusters:
  vars:
    cluster_kubernetes_version: v1.35.4
    cluster_image: {url: "https://images.example/a.qcow2", checksum: "https://images.example/a.sha256"}
    cluster_control_plane: {replicas: 1}
    cluster_workers: {}
  hosts:
    prod: {metal3_kubeconfig: a, cluster_endpoint: {host: 192.0.2.1, holder: none}}
    test: {metal3_namespace: site2, cluster_endpoint: {host: 192.0.2.2, holder: none}}
    lost: {metal3_kubeconfig: b, cluster_endpoint: {host: 192.0.2.3, holder: none}}
"""


def test_servers_of_several_planes_count_for_the_clusters_of_theirs(findings):
    found = findings(SEVERAL, clusters=["prod", "test", "lost"])
    assert [item[0] for item in places(found, "host-capacity")] == ["lost"]


MANAGED = """\
management:
  hosts:
    bastion:
      management_plane: {mode: process, name: rack1, dir: /var/lib/metal3/rack1, address: 192.0.2.10}
baremetal:
  hosts:
    one: {bmc_address: "redfish-virtualmedia://127.0.0.1/redfish/v1/Systems/1"}
clusters:
  hosts:
    prod:
      cluster_management: CHOSEN
      cluster_kubernetes_version: v1.35.4
      cluster_control_plane:
        replicas: 1
      cluster_workers: {a: {replicas: 1}}
    test:
      cluster_management: OTHER
"""


def test_a_site_that_is_to_manage_itself_is_checked(findings):
    found = findings(MANAGED.replace("CHOSEN", "true").replace("OTHER", "false"), clusters=["prod", "test"])
    assert places(found, "management-images") == [("prod", "bmo_deploy_kernel_url", "hosts.yml", 12)]
    assert places(found, "management-address") == [("one", "bmc_address", "hosts.yml", 7)]
    assert places(found, "management-size") == [("prod", "cluster_control_plane.replicas", "hosts.yml", 14)]
    assert places(found, "management-cluster") == []
    assert [item["level"] for item in found if item["code"] == "management-size"] == ["warning"]


def test_two_clusters_cannot_manage_a_site(findings):
    found = findings(MANAGED.replace("CHOSEN", "true").replace("OTHER", "true"), clusters=["prod", "test"])
    assert places(found, "management-cluster") == [
        ("prod", "cluster_management", "hosts.yml", 11), ("test", "cluster_management", "hosts.yml", 17)]
    assert [item for item in found if item["code"].startswith("management-")] == [
        item for item in found if item["code"] == "management-cluster"]


def test_clusters_are_reported_by_their_variables(findings):
    found = findings("""\
clusters:
  hosts:
    prod:
      cluster_kubernetes_version: v1.35
      image: {url: "https://images.example/a", checksum: "https://images.example/b"}
      cluster_endpont: {host: 198.51.100.9}
      cluster_options:
        pod_cidrs:
          - 10.244.0.0/16
          - 10.245.0.0/16
""", clusters=["prod"])
    lines = dict(((item["code"], item["field"]), item["line"]) for item in found)
    assert lines["version", "cluster_kubernetes_version"] == 4
    assert lines["unknown-variable", "image"] == 5
    assert lines["unknown-variable", "cluster_endpont"] == 6
    assert lines["network", "cluster_options.pod_cidrs"] == 8


def test_a_wrong_type_has_its_plain_name(findings):
    found = findings("""\
clusters:
  hosts:
    prod:
      cluster_endpoint: 5
      cluster_options: [a]
""", clusters=["prod"])
    assert [(item["field"], item["actual"]) for item in found if item["code"] == "value"] == [
        ("cluster_options", "list"), ("cluster_endpoint", "int")]


@pytest.mark.parametrize("more, is_reported", [
    ("", True), ("cluster_manifests: []", True), ("cluster_manifests: [a.yml]", False),
    ("cluster_options: {network_addon: none}", False), ("cluster_network_addon: flannel", False),
    ("cluster_network_addon: manifests", True), ("cluster_wait_for: nodes", False)])
def test_a_cluster_without_network_add_on(findings, more, is_reported):
    found = findings(f"clusters:\n  hosts:\n    prod:\n      cluster_kubernetes_version: v1.35.4\n      {more}\n",
                     clusters=["prod"])
    assert [place[0] for place in places(found, "network-add-on")] == (["prod"] if is_reported else [])


def test_without_the_loader_s_notes_there_is_no_line(findings, monkeypatch):
    monkeypatch.setattr(host_variables, "Origin", None)
    monkeypatch.setattr(host_variables, "VaultedValue", None)
    found = findings(HOSTS)
    assert found
    assert {(item["path"], item["line"], item["column"]) for item in found} == {("hosts.yml", None, None)}


def test_variables_by_themselves():
    variables = HostVariables({"a": 1, "password": "hidden-one", "b": {"token": "hidden-two"}},
                              {"a": 1, "password": "hidden-one", "b": {"token": "hidden-two"}})
    assert dict(variables) == {"a": 1, "password": "hidden-one", "b": {"token": "hidden-two"}}
    assert "c" not in variables
    assert variables.get("c") is None
    assert variables.secrets == {"hidden-one", "hidden-two"}


@pytest.mark.parametrize("text, shown", [
    ("seen 'p4ssword'", "seen '(hidden)'"), ("seen 'a long se...", "seen 'a long se..."),
    ("seen 'a long secret with...", "seen '(hidden)"), ("two\\nlines", "(hidden)"), ("two\nlines", "(hidden)")])
def test_hiding(text, shown):
    assert without_secrets(text, ["p4ssword", "a long secret with an end", "two\nlines", ""]) == shown


def test_the_machines_of_planes_are_read_once_for_all_clusters(findings, monkeypatch):
    """Each read of a variable is a template that Ansible renders."""
    def reads(clusters):
        counted = []
        templated = HostVarsVars.__getitem__

        def read(self, name):
            if name in ("management_plane", "provisioning_network_keepalived_address"):
                counted.append(name)
            return templated(self, name)

        text = LENT.replace("      cluster_dhcp:\n        OWN\n", "").replace("  hosts:\n    bastion:\n", (
            "  hosts:\n    bastion:\n      management_plane: {mode: process, dir: /srv/rack1}\n"
            "      provisioning_network_keepalived_address: 172.22.0.2/24\n"))
        text += "".join(f"    prod{number}: {{cluster_kubernetes_version: v1.35.4}}\n" for number in range(clusters))
        with monkeypatch.context() as patch:
            patch.setattr(HostVarsVars, "__getitem__", read)
            findings(text, clusters=["prod", *(f"prod{number}" for number in range(clusters))])
        return sorted(counted)

    few = reads(0)
    assert "management_plane" in few and "provisioning_network_keepalived_address" in few
    assert reads(5) == few


@pytest.mark.parametrize(("plane", "is_found"), [
    ("provisioning_network_keepalived_address: 172.22.0.2/24", True),
    ("provisioning_network_keepalived_address: '{{ nothing }}'", False),
    ("provisioning_network_keepalived_router_id: 51", False),
    ("{ironic_keepalived: true, ironic_provisioning_ip: 172.22.0.2}", False)])
def test_the_virtual_router_of_a_plane_is_compared_with_those_of_endpoints(findings, plane, is_found):
    """An endpoint that ends with .51 has the number that a plane has by default."""
    text = LENT.replace("      cluster_dhcp:\n        OWN\n", """\
      cluster_networks: {nodes: {interface: eno1, ipv4: {ranges: [{start: 172.22.0.60, end: 172.22.0.69}], prefix: 24}}}
""").replace("{host: 172.22.0.20, holder: none}", "{host: 172.22.0.51, holder: keepalived}")
    kept = text[text.index("baremetal:"):]
    found = findings(f"management:\n  hosts:\n    bastion:\n      {plane}\n{kept}", clusters=["prod"])
    assert [(item["subject"], item["field"], item["actual"]) for item in found if item["code"] == "cluster-duplicate"] \
        == ([("prod", "cluster_endpoint.virtual_router_id", "51, which the plane of bastion has for its address "
              "172.22.0.2 on the same network")] if is_found else [])


TWO_PLANES = """\
management:
  hosts:
    one:
      metal3_kubeconfig: /srv/rack1/kubeconfig
      provisioning_network_keepalived_address: 172.22.0.2/24
    two: &two
      metal3_kubeconfig: /srv/rack2/kubeconfig
      provisioning_network_keepalived_router_id: 51
      provisioning_network_keepalived_address: 172.22.0.3/24
      provisioning_network_keepalived_peers: []
    three: *two
"""


@pytest.mark.parametrize(("plane", "cluster", "is_found"), [
    ("/far/kubeconfig", "/own/kubeconfig", True), ("/own/kubeconfig", "/own/kubeconfig", False),
    ("/far/kubeconfig", "/far/kubeconfig", False)])
def test_the_virtual_router_of_a_plane_is_compared_with_those_of_another_planes_clusters(
        findings, plane, cluster, is_found):
    """Of its own it is compared at the cluster."""
    text = LENT.replace("      cluster_dhcp:\n        OWN\n", f"""\
      metal3_kubeconfig: {cluster}
      cluster_networks: {{nodes: {{interface: eno1, ipv4: {{ranges: [{{start: 172.22.0.60, end: 172.22.0.69}}],
        prefix: 24}}}}}}
""").replace("{host: 172.22.0.20, holder: none}", "{host: 172.22.0.51, holder: keepalived}")
    kept = text[text.index("baremetal:"):]
    found = findings("management:\n  hosts:\n    own: {metal3_kubeconfig: /own/kubeconfig}\n    bastion:\n"
                     f"      metal3_kubeconfig: {plane}\n"
                     f"      provisioning_network_keepalived_address: 172.22.0.2/24\n{kept}", clusters=["prod"])
    assert [(item["subject"], item["field"], item["actual"]) for item in found if item["code"] == "plane-duplicate"] \
        == ([("bastion", "provisioning_network_keepalived_router_id", "51, which cluster prod has for its address "
              "172.22.0.51 on the same network")] if is_found else [])
    assert any(item["code"] == "cluster-duplicate" for item in found) is not is_found


IRONIC_PLANES = """\
management:
  hosts:
    one:
      metal3_kubeconfig: /srv/rack1/kubeconfig
      provisioning_network_addresses: [172.22.0.11/24]
      ironic_provisioning_ip: 172.22.0.2
      ironic_keepalived: true
    two:
      metal3_kubeconfig: /srv/rack2/kubeconfig
      ironic_provisioning_ip: 172.22.0.3
      ironic_keepalived: true
"""


@pytest.mark.parametrize(("was", "by", "is_found"), [
    ("", "", True), ("172.22.0.11/24", "172.23.0.11/24", False), ("172.22.0.3", "172.22.0.2", False)])
def test_the_virtual_routers_of_two_ironics_are_compared(findings, was, by, is_found):
    """Both have the number 1, and their network is known by the machines."""
    assert places(findings(IRONIC_PLANES.replace(was, by) if was else IRONIC_PLANES), "plane-duplicate") == ([
        ("two", "ironic_keepalived", "hosts.yml", 11)] if is_found else [])


@pytest.mark.parametrize(("was", "by", "is_found"), [
    ("", "", True), ("id: 51", "id: 52", False), ("peers: []", "peers: [172.22.0.9]", False),
    ("172.22.0.3/24", "'{{ nothing }}'", False)])
def test_the_virtual_routers_of_two_planes_are_compared(findings, was, by, is_found):
    """All machines of a plane have the same: one finding."""
    assert places(findings(TWO_PLANES.replace(was, by) if was else TWO_PLANES), "plane-duplicate") == ([
        ("two", "provisioning_network_keepalived_router_id", "hosts.yml", 8)] if is_found else [])

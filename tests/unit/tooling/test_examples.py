# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Examples that users copy must pass the collection's own validation."""
from __future__ import annotations

import ast
import json
import os
import re

import pytest
from fakes.ansible_process import ansible_playbook
from tooling import ansible_yaml, module_options
from tooling.pages import GUIDES, PAGES, ROOT, blocks

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    spec as cluster_spec,
)

BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def inventories():
    """Yield ``(file, inventory)`` of the YAML blocks that are inventories."""
    for path in PAGES + GUIDES:
        for language, text in blocks(path):
            content = ansible_yaml.load(text) if language == "yaml" else None
            if isinstance(content, dict) and ("baremetal" in content or "clusters" in content):
                yield str(path.relative_to(ROOT)), content


def tasks_of(module):
    """Return the arguments that the examples of a module give it."""
    tree = ast.parse((ROOT / "plugins" / "modules" / (f"{module}.py")).read_text())
    text = next(node.value.value for node in tree.body
                if isinstance(node, ast.Assign) and node.targets[0].id == "EXAMPLES")
    tasks = ansible_yaml.load(text)
    return [task["metal3.baremetal." + module] for task in tasks if "metal3.baremetal." + module in task]


def problems(parameters):
    description, mistakes = cluster_description.read(parameters)
    return mistakes or cluster_validation.description_problems(description)


CLUSTERS = [pytest.param(file, name, group, id=f"{file}-{name}") for file, content in inventories()
            for name, group in ((content.get("clusters") or {}).get("children") or {}).items()]


@pytest.mark.parametrize("file, name, group", CLUSTERS)
def test_a_cluster_of_an_inventory(file, name, group):
    host, = group["hosts"]
    parameters = cluster_inventory.parameters(host, dict(group["vars"], group_names=["clusters", name]))
    assert parameters["name"] == name
    assert problems(parameters) == [], file


def lint(folder, **variables):
    """Return what the playbook lint prints for the inventory of a folder; the vault's variable is given, and others."""
    environment = dict((name, value) for name, value in os.environ.items() if not name.startswith("ANSIBLE_"))
    code, output, errors = ansible_playbook(
        ["-i", "mysite", "metal3.baremetal.lint", "-e", json.dumps({
            "vault_bmc_password": "a", "lint_strict": True, **variables})],
        folder, environment)
    assert code == 0, output + errors
    return output + errors


def test_the_lint_finds_nothing_in_the_readme_s_inventory(tmp_path):
    """As a user who copies it would run it."""
    text, = [text for text in BLOCK.findall((ROOT / "README.md").read_text()) if "baremetal:" in text]
    (tmp_path / "mysite").mkdir()
    (tmp_path / "mysite" / "hosts.yml").write_text(text)
    assert "15 servers, 1 cluster: 0 errors, 0 warnings" in lint(tmp_path)


def test_the_lint_finds_nothing_in_the_site_of_the_guides(tmp_path):
    """The files that the guides show below ``inventory/mysite``, all of them together."""
    for path in GUIDES:
        for _language, text in blocks(path):
            named = re.match(r"# inventory/(mysite/\S+)\n", text)
            if named:
                (tmp_path / named.group(1)).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / named.group(1)).write_text(text)
    # As the guide day2 gives them, out of the file that rotate_bmc_credentials has written.
    passwords = {f"rack1-0{number}": "b" for number in (1, 2, 3)}
    assert "8 servers, 1 cluster: 0 errors, 0 warnings" in lint(tmp_path, bmc_new_passwords=passwords)


def test_the_lint_finds_nothing_in_the_inventory_of_the_first_cluster(tmp_path):
    page, = [path for path in GUIDES if path.stem == "first_cluster"]
    text, = [text for _language, text in blocks(page) if text.startswith("# inventory/rack1/hosts.yml\n")]
    (tmp_path / "mysite").mkdir()
    (tmp_path / "mysite" / "hosts.yml").write_text(text)
    assert "20 servers, 1 cluster: 0 errors, 0 warnings" in lint(tmp_path)


def test_the_inventories_are_found():
    files = {parameter.values[0] for parameter in CLUSTERS}
    assert {"README.md", "roles/cluster/README.md", "docs/docsite/rst/clusters.rst"} <= files


@pytest.mark.parametrize("module, arguments", [
    pytest.param(module, arguments, id=f"{module}-{number}") for module in ("cluster", "cluster_template")
    for number, arguments in enumerate(tasks_of(module)) if arguments.get("state", "present") == "present"])
def test_the_description_of_a_modules_example(module, arguments):
    options = cluster_description.description_options()
    assert problems(dict((key, value) for key, value in arguments.items() if key in options)) == [], module


MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_have_options_that_fit(module):
    tree = ast.parse((ROOT / "plugins" / "modules" / f"{module}.py").read_text())
    text, = (node.value.value for node in tree.body
             if isinstance(node, ast.Assign) and node.targets[0].id == "EXAMPLES")
    wrong = []
    for name, arguments in module_options.tasks_of(ansible_yaml.load(text)):
        wrong += module_options.misfits(arguments, module_options.documented_options(name), f"{name}: ")
    assert wrong == []


# Variables whose content modules know: the module, and where in its options it is.
IN_MODULES = {
    **{f"{part}_options": ("plane_components", "parts") for part in ("cert_manager", "capi", "ipam", "bmo", "capm3")},
    "ironic_operator_options": ("plane_ironic_operator",), "ironic_database": ("plane_ironic", "database"),
    "ip_pools_list": ("ip_pool", "pools"), "ip_pools_claims": ("ip_claim", "claims"),
    "bmh_expected": ("host_compliance", "hosts", "expected"),
    "bmh_firmware_components": ("host_firmware_components", "hosts", "updates"),
    "metal3_ironic": ("ironic_node_info",), "mirror_files": ("mirror_gather", "files"),
    **{f"network_check_{kind}": ("network_check", kind) for kind in ("tcp", "tftp", "http", "dhcp")},
    "agent_image_downloads": ("agent_image", "downloads"),
    "agent_image_hardware_managers": ("agent_image", "hardware_managers"),
    "node_image_download": ("node_image", "download"),
    "node_image_kubernetes_repository": ("node_image", "kubernetes_repository"),
    **{f"cluster_{option}": ("cluster", option) for option in ("control_plane", "endpoint", "image", "metalstack")},
    "cluster_options": ("cluster",), "metalstack_firewall": ("metalstack_firewall", "firewalls"),
    "metalstack_control_plane": ("metalstack_machine", "machines"),
}
# Of these the role or another variable says the rest.
IN_PART = tuple(name for name in IN_MODULES
                if name.endswith("_options") or name.startswith(("cluster_", "metalstack_")))
PART_OPTIONS = module_options.documented_options("plane_components")["parts"]["suboptions"]
BY_NAME = {"cluster_workers": cluster_spec.pool_of_workers_options, "cluster_networks": cluster_spec.network_options,
           "cluster_standalone_machines": cluster_spec.standalone_machine_options}
HOST_OPTIONS = module_options.documented_options("baremetal_host")["hosts"]["suboptions"]
ROLE_OPTIONS = [entry_point.get("options") or {} for path in sorted((ROOT / "roles").glob("*/meta/argument_specs.yml"))
                for entry_point in ansible_yaml.read(path)["argument_specs"].values()]


def descriptions(variable):
    """Return what options a variable is described by; one that fits is enough."""
    found = [options[variable] for options in ROLE_OPTIONS if variable in options]
    if variable in IN_MODULES:
        module, *place = IN_MODULES[variable]
        option = {"type": "dict", "suboptions": module_options.documented_options(module)}
        for name in place:
            option = option["suboptions"][name]
        found = [option]
    elif variable in BY_NAME:
        found = []
    elif variable.startswith("bmh_") and variable[4:] in HOST_OPTIONS:
        # A text or the data itself, too.
        found = [{"type": "raw"} if variable.endswith("_data") else HOST_OPTIONS[variable[4:]]]
    return found


def wrong_variables(content):
    """Return what does not fit in the variables anywhere in a YAML document."""
    found = []
    for item in content if isinstance(content, list) else [content]:
        for name, value in item.items() if isinstance(item, dict) else ():
            # A role may take one of what its module takes a list of.
            one = {"type": "dict"} if name in IN_MODULES and isinstance(value, dict) else {}
            results = [module_options.misfits({name: value}, {name: {**option, **one}}, complete=name not in IN_PART)
                       for option in descriptions(name)]
            found += min(results, key=len) if results else wrong_variables(value)
            for key, described in value.items() if name in BY_NAME else ():
                found += module_options.misfits(described, BY_NAME[name](), f"{name}.{key}.")
            if name == "management_plane":
                found += module_options.misfits(
                    value.get("options") or {}, PART_OPTIONS, "management_plane.options.", complete=False)
    return found


@pytest.mark.parametrize("path", GUIDES + PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_variables_of_a_page_have_what_roles_and_modules_take(path):
    wrong = []
    for language, text in blocks(path):
        if language in ("yaml", "yaml+jinja"):
            wrong += wrong_variables(ansible_yaml.load(text))
    assert wrong == []


@pytest.mark.parametrize("content, found", [
    ({"bmo_options": {"namespace": "a", "spaces": 1}}, "bmo_options.spaces"),
    ({"all": {"children": {"prod": {"vars": {"cluster_options": {"node_nome": "host"}}}}}},
     "cluster_options.node_nome"),
    ({"management_plane": {"mode": "cluster", "options": {"image_registry": "a"}}},
     "management_plane.options.image_registry"),
    ({"cluster_workers": {"a": {"health_check": {"max_unhealty": 1}}}}, "cluster_workers.a.health_check.max_unhealty"),
    ({"bmh_boot_mode": "BIOS"}, "bmh_boot_mode=BIOS"),
    ({"ip_pools_claims": [{"pool": "a"}]}, "ip_pools_claims.name: missing"),
    ({"hosts_remove_by": "force"}, "hosts_remove_by=force"),
    ({"image_server_addresses": {"a": 1}}, "image_server_addresses: no list")])
def test_variables_that_do_not_fit_are_found(content, found):
    assert wrong_variables([content]) == [found]


def groups_of(content):
    """Yield the names of the groups of an inventory in YAML, with whether they have hosts or children."""
    for name, group in content.items() if isinstance(content, dict) else ():
        if isinstance(group, dict):
            yield name, bool(group.get("hosts") or group.get("children"))
            yield from groups_of(group.get("children"))


def test_each_group_that_the_guides_describe_has_hosts():
    """A playbook for a group without hosts ends with success, and has done nothing."""
    described, there = set(), set()
    for path in GUIDES:
        for _language, text in blocks(path):
            named = re.match(r"# inventory/mysite/(?:group_vars/(\w+)|\w+)\.yml\n", text)
            if named and named[1]:
                described.add(named[1])
            elif named:
                there |= {name for name, filled in groups_of(ansible_yaml.load(text)) if filled}
    assert {"management", "baremetal"} <= described
    assert described - {"all"} - there == set()


def test_the_guides_give_the_kubeconfig_to_servers_and_clusters_too():
    """Among the variables of the group management alone, others are written to the cluster of KUBECONFIG."""
    places = [text.partition("\n")[0] for path in GUIDES for language, text in blocks(path)
              if language == "yaml" and re.search(r"^metal3_kubeconfig:", text, re.MULTILINE)]
    assert len(places) >= 3
    assert [place for place in places if not place.endswith("group_vars/all.yml")] == []

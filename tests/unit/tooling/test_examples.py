# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Examples that users copy must pass the collection's own validation."""
from __future__ import annotations

import ast
import os
import re

import pytest
from fakes.ansible_process import ansible_playbook
from tooling import ansible_yaml
from tooling.pages import GUIDES, PAGES, ROOT, blocks

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
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


def lint(folder):
    """Return what the playbook lint prints for the inventory of a folder; the vault's variable is given."""
    environment = dict((name, value) for name, value in os.environ.items() if not name.startswith("ANSIBLE_"))
    code, output, errors = ansible_playbook(
        ["-i", "mysite", "metal3.baremetal.lint", "-e", "vault_bmc_password=a", "-e", "lint_strict=true"],
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
    assert "8 servers, 1 cluster: 0 errors, 0 warnings" in lint(tmp_path)


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

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Examples that people copy must pass the collection's own validation."""
from __future__ import annotations

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import (
    description as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation as cluster_validation

ROOT = pathlib.Path(__file__).parents[3]
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def inventories():
    """Yield ``(file, inventory)`` of the YAML blocks that are inventories."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "roles").rglob("*.md"))]:
        for text in BLOCK.findall(path.read_text()):
            content = yaml.safe_load(text)
            if isinstance(content, dict) and ("baremetal" in content or "clusters" in content):
                yield str(path.relative_to(ROOT)), content


def tasks_of(module):
    """Return the arguments that the examples of a module give it."""
    tree = ast.parse((ROOT / "plugins" / "modules" / (f"{module}.py")).read_text())
    text = next(node.value.value for node in tree.body
                if isinstance(node, ast.Assign) and node.targets[0].id == "EXAMPLES")
    return [task["metal3.baremetal." + module] for task in yaml.safe_load(text) if "metal3.baremetal." + module in task]


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


def test_the_lint_finds_nothing_in_the_readme_s_inventory(tmp_path):
    """As a user who copies it would run it; the vault's variable is given, since the vault is the user's."""
    text, = [text for text in BLOCK.findall((ROOT / "README.md").read_text()) if "baremetal:" in text]
    (tmp_path / "hosts.yml").write_text(text)
    environment = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(ROOT / ".build"), ANSIBLE_HOME=str(tmp_path / "home"))
    environment.pop("ANSIBLE_CONFIG", None)
    done = subprocess.run(
        [str(pathlib.Path(sys.executable).parent / "ansible-playbook"), "-i", "hosts.yml", "metal3.baremetal.lint",
         "-e", "vault_bmc_password=a", "-e", "lint_strict=true"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "15 servers, 1 cluster: 0 errors, 0 warnings" in done.stdout + done.stderr


def test_the_inventories_are_found():
    assert {"README.md", "roles/cluster/README.md"} <= {parameter.values[0] for parameter in CLUSTERS}


@pytest.mark.parametrize("module, arguments", [
    pytest.param(module, arguments, id="%s-%d" % (module, number)) for module in ("cluster", "cluster_template")
    for number, arguments in enumerate(tasks_of(module)) if arguments.get("state", "present") == "present"])
def test_the_description_of_a_modules_example(module, arguments):
    options = cluster_description.description_options()
    assert problems(dict((key, value) for key, value in arguments.items() if key in options)) == [], module

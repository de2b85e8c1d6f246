# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements and versions agree: execution environment, plugins' documentation, README, and what is tested."""
from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
PLUGINS = sorted((REPOSITORY / "plugins").rglob("*.py"))
# What a package is imported as, where its name is another; what comes with a package that requires it.
IMPORTED_AS = {"metal-python": {"metal_python"}, "PyYAML": {"yaml"}, "openstacksdk": {"openstack", "keystoneauth1"},
               "kubernetes": {"kubernetes", "urllib3", "websocket"}}


def environment():
    """Return package name → range, of the execution environment."""
    lines = (REPOSITORY / "meta" / "ee-requirements.txt").read_text().splitlines()
    return dict(re.fullmatch(r"([A-Za-z0-9-]+)(>=\S+)", line).groups() for line in lines if not line.startswith("#"))


def documented():
    """Return the entries of all ``requirements`` in the plugins' documentation, with their files."""
    found = []
    for path in PLUGINS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "DOCUMENTATION":
                entries = (yaml.safe_load(ast.literal_eval(node.value)) or {}).get("requirements") or []
                found += [(path.relative_to(REPOSITORY), entry) for entry in entries]
    return found


def test_the_documentation_names_the_ranges_of_the_execution_environment():
    wanted, seen = environment(), set()
    assert wanted
    for path, entry in documented():
        match = re.match(r"([A-Za-z0-9-]+)((?:\s*[<>=]+\s*[\d.]+)?)", entry)
        name = next((name for name in wanted if match and name.lower() == match.group(1).lower()), None)
        if name:
            assert match.group(2).replace(" ", "") == wanted[name], f"{path}: {entry}"
            seen.add(name)
    assert seen == set(wanted)


def test_the_readme_names_them_all():
    text = " ".join((REPOSITORY / "README.md").read_text().split())
    assert ", ".join(name + bounds for name, bounds in environment().items()) in text


def test_the_readme_names_the_versions_that_are_tested():
    modules = dict(re.findall(r"(?m)^\t(\S+) (v[\d.]+)", (REPOSITORY / "lab" / "engine" / "go.mod").read_text()))
    python = dict(re.findall(r"(?m)^([A-Za-z0-9-]+)==([\d.]+)", "\n".join(
        (REPOSITORY / path).read_text() for path in ("requirements.in", "lab/requirements.in"))))
    metal3 = "github.com/metal3-io/"
    lines = (REPOSITORY / "README.md").read_text().splitlines()
    cells = [line.split("|")[1:3] for line in lines if line.count("|") == 4]
    tested = dict((what.strip(), version.strip()) for what, version in cells)
    assert tested["ansible-core"] == python["ansible-core"]
    assert tested["Kubernetes"] == modules["k8s.io/kubernetes"]
    assert tested["Cluster API, CAPM3, IPAM"] == ", ".join(modules[name] for name in (
        "sigs.k8s.io/cluster-api", metal3 + "cluster-api-provider-metal3", metal3 + "ip-address-manager"))
    assert tested["Bare Metal Operator, Ironic"] == f"{modules[metal3 + 'baremetal-operator']}, {python['ironic']}"


def test_the_readme_fits_on_a_few_screens():
    assert len((REPOSITORY / "README.md").read_text().splitlines()) < 140


def test_what_is_tested_is_in_the_ranges():
    tested = dict((name.replace("_", "-"), version) for name, version in re.findall(
        r"(?m)^([A-Za-z0-9_-]+)==([\d.]+)", (REPOSITORY / "requirements.txt").read_text()))
    for name, bounds in environment().items():
        assert [int(part) for part in tested[name].split(".")] >= [int(part) for part in bounds[2:].split(".")]


def test_every_package_that_is_imported_is_required_and_the_other_way_round():
    # ansible-core brings Jinja2 along; certifi is that of Ironic's container, in which _elsewhere/trust.py runs.
    known = {"ansible", "ansible_collections", "certifi", "jinja2", "module_utils"} | set(sys.stdlib_module_names)
    imported = set()
    for path in PLUGINS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    required = set().union(*(IMPORTED_AS.get(name, {name}) for name in environment()))
    assert imported - known == required

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of roles and playbooks says what they are."""
from __future__ import annotations

import re

import pytest
from tooling import role_pages

# Variables that all playbooks share, and the inventory's own.
_SHARED = re.compile(r"metal3_\w+|groups|hostvars|hosts_names|ansible_\w+|lab_\w+|management_plane|inventory_hostname"
                     r"|cluster_workload_kubeconfig")


@pytest.fixture(scope="module")
def pages():
    return role_pages.pages()


@pytest.mark.parametrize("path", [role_pages.readme(role) for role in role_pages.roles()]
                         + [role_pages.REPOSITORY / "docs" / "playbooks.md"], ids=lambda path: path.parent.name)
def test_the_page_is_current(path, pages):
    assert path.read_text(encoding="utf-8") == pages[path], "run make docs-roles"


@pytest.mark.parametrize("role", role_pages.roles())
def test_the_reference_names_every_entry_point_and_variable(role):
    text = role_pages.readme(role).read_text(encoding="utf-8")
    for name, spec in role_pages.specs(role).items():
        assert f"`{name}`" in text
        for option in spec.get("options") or {}:
            assert f"| `{option}` |" in text
    undocumented = set(role_pages.defaults(role)) - {
        option for spec in role_pages.specs(role).values() for option in spec.get("options") or {}}
    assert not undocumented, f"defaults of {role} without an argument spec"


def test_every_playbook_is_described():
    described = role_pages.described()["playbooks"]
    assert set(described) == {path.stem for path in role_pages.PLAYBOOKS.glob("*.yml")}
    for name in described:
        text = (role_pages.PLAYBOOKS / f"{name}.yml").read_text(encoding="utf-8")
        assert ("tasks/confirmation_variable.yml" in text or name == "site") == ("confirms" in described[name]), name
        # What a playbook takes from the outside has a default or is omitted there, or is refused when it is missing.
        taken = set(re.findall(r"(?<![.\w])(\w+) \| default\(", text)) - {"ironic_audit_result"}
        own = {variable for variable in taken if not _SHARED.fullmatch(variable) and not variable.endswith("_result")}
        assert own <= {*described[name].get("variables", {}), *described[name].get("computes", [])}, name


def test_a_table_has_what_a_user_may_set():
    """What a playbook computes was among it, without a hint that setting it does harm."""
    page = role_pages.playbooks_page()
    for name, given in role_pages.described()["playbooks"].items():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert section, name
        for variable in given.get("computes", []):
            assert f"| `{variable}` |" not in section, (name, variable)
    assert "Computed by" not in page


def test_what_a_playbook_is_said_to_compute_is_in_it():
    texts = "".join(path.read_text(encoding="utf-8") for folder in (role_pages.PLAYBOOKS, role_pages.ROLES)
                    for path in folder.rglob("*.yml"))
    for name, given in role_pages.described()["playbooks"].items():
        for variable in given.get("computes", []):
            assert re.search(rf"(register: {variable}\b|\b{variable}:\s)", texts), (name, variable)


@pytest.mark.parametrize("text, expected", [
    ("Set O(hosts_force) to V(true).", "Set `hosts_force` to `true`."),
    ("The role P(metal3.baremetal.hosts#role).", "The role `metal3.baremetal.hosts`."),
    ("By default E(HOME) | I(x)", "By default `HOME` \\| *x*"),
    (["One.", "Two C(a)."], "One. Two `a`.")])
def test_markup_becomes_markdown(text, expected):
    assert role_pages.markdown(text) == expected

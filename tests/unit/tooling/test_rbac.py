# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/rbac: each rule is about a resource that the collection knows, and none gives more than it says."""
from __future__ import annotations

import pathlib

import pytest
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.providers import ALL_KINDS
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.reading import ADDRESS_RESOURCES
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

RBAC = pathlib.Path(__file__).parents[3] / "docs" / "rbac"
ROLES = dict((role["metadata"]["name"].removeprefix("metal3-baremetal-"), role["rules"])
             for role in ansible_yaml.read(RBAC / "roles.yml")["items"])
BINDINGS = ansible_yaml.read(RBAC / "bindings.yml")["items"]
SERVED = set((resource.group, resource.plural) for resource in (*KNOWN.values(), *ADDRESS_RESOURCES))
CLUSTER_SCOPED = set(resource.plural for resource in KNOWN.values() if not resource.namespaced)
WRITES = {"create", "patch", "delete"}
READS = {"get", "list", "watch"}


def granted(role):
    """Yield ``(group, resource, verb)`` of a role's rules."""
    for rule in ROLES[role]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield group, resource, verb


def test_there_are_the_roles_that_the_readme_names():
    assert sorted(ROLES) == ["clusters", "hosts", "overview", "resource-sets", "viewer"]
    readme = (RBAC / "README.md").read_text()
    assert all(f"`metal3-baremetal-{role}`" in readme for role in ROLES)


@pytest.mark.parametrize("role", sorted(ROLES))
def test_rules_are_about_known_resources_and_known_verbs(role):
    rules = list(granted(role))
    assert rules
    for group, resource, verb in rules:
        # Two groups in one rule: a plural of either of them.
        served = [known for known in SERVED if known[1] == resource.partition("/")[0]]
        assert served and group in set(known[0] for known in SERVED), (group, resource)
        assert verb in WRITES | READS, (resource, verb)


@pytest.mark.parametrize("role", ["overview", "viewer"])
def test_roles_that_only_read_write_nothing_and_read_no_secret(role):
    rules = list(granted(role))
    assert rules
    assert not [rule for rule in rules if rule[2] in WRITES or rule[1] == "secrets"]


@pytest.mark.parametrize("role", ["clusters", "viewer"])
def test_who_looks_at_clusters_may_list_all_that_a_cluster_is_made_of(role):
    # Without one of them cluster_info and the wait of the playbook cluster end with 403.
    lists = {(group, resource) for group, resource, verb in granted(role) if verb == "list"}
    wanted = {(KNOWN[kind].group, KNOWN[kind].plural) for kind in ALL_KINDS}
    assert wanted and not wanted - lists


def test_what_is_bound_in_the_whole_cluster_is_the_overview_alone():
    wide = [item["roleRef"]["name"] for item in BINDINGS if item["kind"] == "ClusterRoleBinding"]
    assert wide == ["metal3-baremetal-overview"]
    narrow = [item["roleRef"]["name"] for item in BINDINGS if item["kind"] == "RoleBinding"]
    assert sorted(narrow) == ["metal3-baremetal-clusters", "metal3-baremetal-hosts"]


def test_cluster_scoped_resources_in_namespaced_roles_are_read_by_name_only():
    scoped = [(role, resource, verb) for role in ("hosts", "clusters") for dummy, resource, verb in granted(role)
              if resource in CLUSTER_SCOPED]
    # Through a RoleBinding this is the namespace of the binding itself.
    assert scoped == [("hosts", "namespaces", "get")]

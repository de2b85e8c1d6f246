# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps an inventory's management from moving into its cluster."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import site_checks

PLANE = {"mode": "process", "name": "rack1", "dir": "/var/lib/metal3/rack1", "address": "192.0.2.10"}
CLUSTER = {
    "cluster_management": True, "cluster_kubernetes_version": "v1.35.4", "cluster_control_plane": {"replicas": 3},
    "cluster_workers": {"a": {"replicas": 1}}, "bmo_deploy_iso_url": "https://images.example.org/ipa.iso",
    "cluster_image": {"url": "https://images.example.org/node.qcow2", "checksum": "0" * 64},
    "management_plane": {"mode": "cluster", "certificates": "collection"}}
SERVER = {"bmc_address": "redfish-virtualmedia://198.51.100.1/redfish/v1/Systems/1"}


def found(cluster=(), managing=(), server=(), plane=(), manager="bastion"):
    managing = dict({"management_plane": dict(PLANE, **dict(plane))}, **dict(managing))
    return [(item.code, item.subject, item.field) for item in site_checks.problems(
        "prod-cluster", dict(CLUSTER, **dict(cluster)), manager, managing if manager else {},
        {"rack1-01": dict(SERVER, **dict(server))}, "/site/prod.kubeconfig")]


def test_a_good_site_has_no_problem():
    assert found() == []
    # As the playbook site has it after it has added its kubeconfig.
    assert found({"management_plane": {"mode": "cluster", "kubeconfig": "/site/prod.kubeconfig"}}) == []
    # Another server of the same machine stays when the plane is stopped.
    assert found({"bmo_deploy_iso_url": "https://192.0.2.10/ipa.iso"}) == []
    assert found({"bmo_deploy_iso_url": None, "ironic_cache_url": "https://images.example.org/agent"}) == []


@pytest.mark.parametrize("changes, expected", [
    ({"manager": None}, ("management-cluster", "prod-cluster", "cluster_management")),
    ({"plane": {"mode": "cluster"}}, ("management-cluster", "bastion", "management_plane.mode")),
    ({"plane": {"index": 0}}, ("management-cluster", "bastion", "management_plane.mode")),
    ({"plane": {"name": None}}, ("management-cluster", "bastion", "management_plane.name")),
    ({"plane": {"dir": ""}}, ("management-cluster", "bastion", "management_plane.dir")),
    ({"server": {"metal3_kubeconfig": "/k"}}, ("management-cluster", "rack1-01", "metal3_kubeconfig")),
    ({"cluster": {"management_plane": {"mode": "cluster", "kubeconfig": "/other"}}},
     ("management-cluster", "prod-cluster", "management_plane.kubeconfig")),
    ({"cluster": {"cluster_provider": "metalstack"}}, ("management-cluster", "prod-cluster", "cluster_provider")),
    ({"cluster": {"cluster_namespace": "other"}}, ("management-cluster", "prod-cluster", "namespace")),
    ({"cluster": {"cluster_kubernetes_version": "v1.31.2"}},
     ("management-version", "prod-cluster", "cluster_kubernetes_version")),
    ({"cluster": {"bmo_deploy_iso_url": None}}, ("management-images", "prod-cluster", "bmo_deploy_kernel_url")),
    ({"cluster": {"bmo_deploy_iso_url": "https://127.0.0.1/ipa.iso"}},
     ("management-address", "prod-cluster", "bmo_deploy_iso_url")),
    ({"cluster": {"bmo_ironic_external_url_v6": "https://[::1]:6183/ironic"}},
     ("management-address", "prod-cluster", "bmo_ironic_external_url_v6")),
    # The bootstrap plane's own image server.
    ({"cluster": {"cluster_image": {"url": "https://192.0.2.10:6183/images/node.qcow2"}}},
     ("management-address", "prod-cluster", "cluster_image.url")),
    ({"cluster": {"management_plane": {"mode": "cluster", "options": {"image_registry_mirror": "localhost:5000/m"}}}},
     ("management-address", "prod-cluster", "management_plane.options.image_registry_mirror")),
    ({"server": {"bmc_address": "redfish://[::1]:8000/redfish/v1/Systems/1"}},
     ("management-address", "rack1-01", "bmc_address")),
    ({"cluster": {"cluster_control_plane": {"replicas": 1}}},
     ("management-size", "prod-cluster", "cluster_control_plane.replicas")),
    ({"cluster": {"cluster_workers": {}}}, ("management-size", "prod-cluster", "cluster_workers")),
])
def test_each_mistake_is_named(changes, expected):
    assert found(**changes) == [expected]


@pytest.mark.parametrize("values, expected, fields", [
    ({"a": None, "b": False, "c": "no"}, None, []), ({"a": "true", "b": None}, "a", []),
    ({"a": True, "b": "yes"}, None, ["a", "b"]), ({"a": "perhaps"}, None, ["a"]),
    ({"a": {"x": 1}, "b": True}, None, ["a"])])
def test_one_cluster_is_chosen(values, expected, fields):
    chosen, problems = site_checks.chosen(dict((name, {"cluster_management": value}) for name, value in values.items()))
    assert chosen == expected and [problem.subject for problem in problems] == fields


def test_the_plane_in_the_cluster_keeps_its_own_options():
    assert site_checks.own_plane(CLUSTER, "/k") == {"mode": "cluster", "kubeconfig": "/k", "certificates": "collection"}
    # That of the bootstrap plane, which all hosts may have.
    assert site_checks.own_plane({"management_plane": PLANE}, "/k") == {"mode": "cluster", "kubeconfig": "/k"}

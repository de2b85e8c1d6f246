# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kubeconfig playbooks use when the inventory gives none, and what the playbook site reads of an inventory."""
from __future__ import annotations

import os

import pytest
from ansible.errors import AnsibleFilterError
from fakes.site_folder import config

from ansible_collections.metal3.baremetal.plugins.filter.management_kubeconfig import management_kubeconfig
from ansible_collections.metal3.baremetal.plugins.filter.management_site import management_site
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager.site_folder import SiteFolder

PLANE = {"mode": "process", "name": "rack1", "dir": "/plane", "address": "192.0.2.10"}


@pytest.fixture
def hostvars(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST"):
        monkeypatch.delenv(name, raising=False)
    return {"bastion": {"group_names": ["management"], "management_plane": PLANE},
            "one": {"group_names": ["baremetal"], "bmc_address": "redfish://198.51.100.1/redfish/v1/Systems/1"},
            "prod-cluster": {"group_names": ["clusters", "prod"], "cluster_management": True,
                             "cluster_endpoint": {"host": "192.0.2.9"}, "cluster_kubernetes_version": "v1.35.4",
                             "cluster_workers": {"a": {"replicas": 1}},
                             "bmo_deploy_iso_url": "https://images.example.org/ipa.iso"}}


@pytest.fixture
def folder(hostvars):
    return SiteFolder("rack1", "/plane", "metal3/prod")


def test_what_the_inventory_gives_counts(hostvars):
    assert management_kubeconfig(hostvars, "/given") == "/given"
    del hostvars["prod-cluster"], hostvars["bastion"]
    assert management_kubeconfig(hostvars) == "" and management_site(hostvars) == {}


@pytest.mark.parametrize("plane, path", [
    (PLANE, "/plane/kubeconfig"), ({"mode": "cluster", "kubeconfig": "/k"}, "/k"),
    ({"mode": "cluster", "kubeconfig": "/k", "context": "prod"}, ""), ({"mode": "cluster"}, ""),
    ({"mode": "process"}, ""), ("mistyped", ""), (None, "")])
def test_servers_go_to_the_one_plane_that_is_described(hostvars, monkeypatch, plane, path):
    """And not to the cluster that ~/.kube/config happens to lead to."""
    del hostvars["prod-cluster"]
    hostvars["bastion"]["management_plane"] = plane
    assert management_kubeconfig(hostvars) == path
    hostvars["other"] = {"group_names": ["management"], "management_plane": dict(PLANE, dir="/other")}
    assert management_kubeconfig(hostvars) == ""
    del hostvars["other"]
    for name in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "https://192.0.2.1:6443")
            assert management_kubeconfig(hostvars) == ""


def test_the_plane_that_was_recorded_is_found(hostvars, folder):
    assert management_kubeconfig(hostvars) == "/plane/kubeconfig"
    folder.record("bootstrap", False)
    assert management_kubeconfig(hostvars) == "/plane/kubeconfig"
    folder.keep_kubeconfig(config(), False)
    folder.record("cluster", False)
    assert management_kubeconfig(hostvars) == folder.kubeconfig
    os.chmod(folder.kubeconfig, 0o666)
    with pytest.raises(AnsibleFilterError, match=r"mode 0666"):
        management_kubeconfig(hostvars)


def test_a_site_without_a_bootstrap_plane_has_no_kubeconfig(hostvars):
    hostvars["bastion"]["management_plane"] = {"mode": "cluster", "kubeconfig": "/k"}
    with pytest.raises(AnsibleFilterError, match=r'management_plane.mode: found "cluster"'):
        management_kubeconfig(hostvars)


def test_the_site_is_what_the_playbook_needs(hostvars, folder):
    found = management_site(hostvars)
    assert (found["host"], found["cluster"], found["name"], found["plane_dir"], found["endpoint_host"],
            found["endpoint_port"]) == ("prod-cluster", "prod", "rack1", "/plane", "192.0.2.9", "6443")
    assert found["management_plane"] == {"mode": "cluster", "kubeconfig": folder.kubeconfig}
    assert len(found["warnings"]) == 1 and "cluster_control_plane.replicas" in found["warnings"][0]


def test_whether_the_cluster_manages_is_as_recorded(hostvars, folder):
    assert management_site(hostvars)["manages"] is False
    folder.keep_kubeconfig(config(), False)
    folder.record("cluster", False)
    assert management_site(hostvars)["manages"] is True


def test_all_mistakes_come_at_once_and_none_raises(hostvars):
    hostvars["one"]["metal3_kubeconfig"] = "/k"
    hostvars["prod-cluster"]["cluster_kubernetes_version"] = "v1.31.0"
    found = management_site(hostvars)
    assert found["refused"].startswith("2 problems, nothing was changed:") and found["host"] == "prod-cluster"

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook ``mirror_gather``: which images the planes of an inventory pull, by the roles that install them."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._mirror import service

PLAYBOOKS = Path(__file__).resolve().parents[3] / "playbooks"
IRONIC, CERT_MANAGER = "quay.io/metal3-io/ironic:v35.0.0", "quay.io/jetstack/cert-manager-controller:v1.21.2"
IN_A_CLUSTER = {"management_plane": {"mode": "cluster", "options": {"image_registry_mirror": "mirror.example"}},
                "ironic_mode": "cluster"}
RELEASE = {"cert_manager_options": {"manifests": "https://example.org/cert-manager.yaml", "version": "v1.21.2"}}
BOOTSTRAP = {"management_plane": {"mode": "process", "name": "rack1"}}


def images_of(folder, management, clusters=None, *arguments):
    """Return the images that an inventory's planes pull, by what the playbook gives to the module.

    :param management: variables of the hosts of group ``management`` by name
    :param clusters: those of ``clusters``
    """
    reading, gathering = ansible_yaml.read(PLAYBOOKS / "mirror_gather.yml")
    for task in reading["tasks"]:
        task["ansible.builtin.import_tasks"] = str(PLAYBOOKS / task["ansible.builtin.import_tasks"])
    given = next(task["metal3.baremetal.mirror_gather"] for task in gathering["tasks"]
                 if "metal3.baremetal.mirror_gather" in task)
    path = folder / "planes.json"
    gathering["tasks"] = [{"ansible.builtin.copy": {
        "content": "{{ %s | to_json }}" % given["planes"].strip("{} "), "dest": str(path), "mode": "0600"}}]
    inventory = {"all": {"children": {"management": {"hosts": management}, "clusters": {"hosts": clusters or {}}}}}
    code, output = playbook.play(
        folder, json.dumps(inventory), json.dumps([reading, gathering]), "play.yml", *arguments)
    assert code == 0, output
    return service.wanted([], [], [], None, planes=json.loads(path.read_text())).images


@pytest.mark.parametrize("variables, expected", [
    (IN_A_CLUSTER, [IRONIC]),
    (dict(IN_A_CLUSTER, ironic_image_version="v34.0.0", ironic_keepalived=True, ironic_mariadb="yes",
          ironic_cache_url="https://images.example", ironic_other_images={"mariadb": {"version": "v2"}}),
     ["quay.io/metal3-io/ironic-ipa-downloader:latest", "quay.io/metal3-io/ironic:v34.0.0",
      "quay.io/metal3-io/keepalived:latest", "quay.io/metal3-io/mariadb:v2"]),
    ({"management_plane": {"mode": "cluster"}}, []),
    (dict(IN_A_CLUSTER, ironic_by="operator", ironic_operator_options={
        "images": {"ironic": "mirror.example/quay.io/metal3-io/ironic:release-35.0", "deploy_ramdisk_branch": "master"},
        "networking": {"ip_address_manager": "keepalived"}, "deploy_ramdisk": {"disable_downloader": True},
        "overrides": {"containers": [{"name": "a", "image": "registry.example.org/exporter:v1"}, {"name": "b"}]}}),
     ["quay.io/metal3-io/ironic:release-35.0", "quay.io/metal3-io/keepalived:latest",
      "registry.example.org/exporter:v1"]),
    (dict(IN_A_CLUSTER, ironic_by="operator", ironic_operator_manifests="operator.yaml"),
     ["quay.io/metal3-io/ironic-ipa-downloader:latest", "quay.io/metal3-io/ironic-standalone-operator:release-0.9",
      "quay.io/metal3-io/ironic:release-35.0"]),
    (dict(IN_A_CLUSTER, ironic_by="operator", ironic_state="absent"), []),
    (dict(IN_A_CLUSTER, ironic_state="absent"), []), (dict(IN_A_CLUSTER, ironic_mode="external"), []),
    (BOOTSTRAP, []), ({}, [])])
def test_ironic_in_a_cluster_is_gathered_as_its_role_would_install_it(tmp_path, variables, expected):
    (tmp_path / "operator.yaml").write_text(json.dumps({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "operator"}, "spec": {"template": {"spec": {
            "containers": [{"image": "quay.io/metal3-io/ironic-standalone-operator:release-0.9"}]}}}}))
    assert images_of(tmp_path, {"bastion": variables}) == expected


@pytest.mark.parametrize("variables, version", [
    (RELEASE, "v1.21.2"),
    ({"cert_manager_source_dir": str(PLAYBOOKS.parent / "lab" / "engine" / "cert_manager")}, "v1.11.5"),
    ({}, None), (dict(RELEASE, cert_manager_mode="external"), None),
    (dict(RELEASE, cert_manager_state="absent"), None)])
def test_cert_manager_is_gathered_where_the_plane_installs_it(tmp_path, variables, version):
    found = images_of(tmp_path, {"bastion": dict({"management_plane": {"mode": "cluster"}}, **variables)})
    assert found == [f"quay.io/jetstack/cert-manager-{name}:{version}" for name in (
        "cainjector", "controller", "webhook") if version]


@pytest.mark.parametrize("variables, expected", [
    ({"cluster_management": True}, [CERT_MANAGER, IRONIC]), ({"cluster_management": False}, []), ({}, []),
    ({"cluster_management": True, "ironic_mode": "external"}, [CERT_MANAGER]),
    # As the playbook site has it, whatever all hosts have.
    ({"cluster_management": True, "ironic_mode": "process"}, [CERT_MANAGER, IRONIC])])
def test_the_cluster_that_a_site_moves_into_gets_a_plane(tmp_path, variables, expected):
    clusters = {"prod-cluster": dict(RELEASE, **variables), "other-cluster": {}}
    found = images_of(tmp_path, {"bastion": BOOTSTRAP}, clusters)
    assert [image for image in found if not image.startswith(("quay.io/jetstack/cert-manager-cainjector",
                                                              "quay.io/jetstack/cert-manager-webhook"))] == expected


def test_the_planes_of_all_hosts_count(tmp_path):
    two = {"one": IN_A_CLUSTER, "two": dict(IN_A_CLUSTER, ironic_image_version="v34.0.0")}
    assert images_of(tmp_path, two) == ["quay.io/metal3-io/ironic:v34.0.0", IRONIC]
    assert images_of(tmp_path, two, None, "-e", json.dumps({"mirror_plane_hosts": []})) == []


def test_no_inventory_is_needed(tmp_path):
    assert images_of(tmp_path, {}) == []


def test_a_run_without_some_planes_gathers_nothing(tmp_path):
    """An archive that lacks their images looks like a whole one."""
    inventory = json.dumps({"management": {"hosts": {"one": IN_A_CLUSTER, "two": IN_A_CLUSTER}}})
    first = "Check that all planes of the inventory were read"
    for arguments, unread in (["--limit", "two,localhost"], "one"), (["--start-at-task", first], "one, two"):
        code, output = playbook.play(tmp_path, inventory, "", "metal3.baremetal.mirror_gather", "-e",
                                     "mirror_archive=metal3.tar", *arguments)
        assert code != 0 and f"found {unread}, whose plane was not read" in " ".join(output.split()), output
    assert not list(tmp_path.glob("metal3.tar*"))


@pytest.mark.parametrize("option", ["folders", "image_lists"])
def test_paths_of_the_command_line_are_a_list_and_begin_where_ansible_was_started(tmp_path, option):
    gathering = ansible_yaml.read(PLAYBOOKS / "mirror_gather.yml")[-1]
    given = next(task["metal3.baremetal.mirror_gather"] for task in gathering["tasks"]
                 if "metal3.baremetal.mirror_gather" in task)
    path = tmp_path / "paths.json"
    play = {"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.copy": {
        "content": "{{ %s | list | to_json }}" % given[option].strip("{} "), "dest": str(path), "mode": "0600"}}]}
    code, output = playbook.play(tmp_path, "all: {hosts: {h1: {ansible_connection: local}}}", json.dumps([play]),
                                 "play.yml", "-e", f"mirror_{option}=one,/two")
    assert code == 0, output
    assert json.loads(path.read_text()) == [f"{tmp_path}/one", "/two"]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written of a cluster whose manifests Cluster API brings: the set and what it names, but for Secrets."""
from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import validation
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.inventory import field_names
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.manifests import (
    manifest_folder,
    resource_set,
    templated,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError

GOLDEN = Path(__file__).parent / "golden"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring"}}
SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "monitoring"},
            "data": {"a": "b"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "monitoring"},
          "stringData": {"password": "canary-1"}}
SET = "c1-manifests-reconcile"


def described(**changes):
    params = dict(yaml.safe_load((GOLDEN / "small.yml").read_text(encoding="utf-8")), **changes)
    checked = validation.check_description(params)
    assert (checked.mistakes, checked.problems) == ([], [])
    return checked


def given(manifests, strategy="Reconcile", names=None, **changes):
    return templated.templated(described(network_addon="none", **changes), manifests, strategy, names)


def titles(objects):
    return [f"{item['kind']} {item['metadata']['name']}" for item in objects]


def test_without_a_strategy_the_manifests_are_not_even_read():
    checked = described(network_addon="flannel")
    found = templated.templated(checked, ["/nowhere"], "none")
    assert found.objects == checked.objects and found.warnings == []
    assert "DaemonSet" in [item["kind"] for item in found.addon]


def test_the_set_and_its_configmaps_come_after_the_cluster():
    checked, found = described(network_addon="none"), given([SETTINGS, NAMESPACE])
    assert found.objects[:len(checked.objects)] == checked.objects and found.warnings == []
    bundle, made = found.objects[len(checked.objects):]
    assert [json.loads(text) for _key, text in sorted(bundle["data"].items())] == [NAMESPACE, SETTINGS]
    assert made["metadata"]["name"] == SET
    assert made["spec"]["resources"] == [{"kind": "ConfigMap", "name": bundle["metadata"]["name"]}]
    # The module cluster makes the same of the same.
    assert [bundle, made] == resource_set.objects("metal3", "c1", "Reconcile", [SETTINGS, NAMESPACE])


def test_the_network_add_on_is_brought_by_the_set_and_by_nobody_else():
    found = templated.templated(described(network_addon="flannel"), [], "ApplyOnce")
    held = [json.loads(text)["kind"] for item in found.objects if item["kind"] == "ConfigMap"
            for text in item["data"].values()]
    assert "DaemonSet" in held and found.addon == []


def test_a_cluster_that_gets_no_network_add_on_is_warned_of():
    found = templated.templated(described(network_addon="manifests"), [SETTINGS], "Reconcile")
    assert [line for line in found.warnings if "no manifest brings a network add-on" in line]


def test_secrets_are_named_and_left_out():
    found = given([SECRET, NAMESPACE])
    assert [item for item in found.objects if item["kind"] == "Secret"] == []
    encoded = base64.b64encode(b"canary-1").decode()
    assert not any(word in json.dumps(found) for word in ("canary-1", encoded, base64.b64encode(
        json.dumps(SECRET, sort_keys=True, separators=(",", ":")).encode()).decode()))
    name, = [item["name"] for item in found.objects[-1]["spec"]["resources"] if item["kind"] == "Secret"]
    assert found.warnings == [
        f"cluster metal3/c1: the Secret {name} is not written, because it has Secrets of the manifests (Secret "
        "monitoring/login): create it with them in the namespace metal3, with the type "
        "addons.cluster.x-k8s.io/resource-set, by what your repository keeps secrets with; until then Cluster API "
        "brings the rest"]


def test_the_folder_names_them_in_their_order_and_has_no_secret(tmp_path):
    found = given([SECRET, NAMESPACE])
    result = manifest_folder.write(str(tmp_path), found.objects, "", False)
    assert "canary-1" not in json.dumps(result)
    index = yaml.safe_load((tmp_path / "kustomization.yaml").read_text())["resources"]
    assert index[-2].startswith("configmap-c1-manifests-") and index[-1] == f"clusterresourceset-{SET}.yaml"
    assert [yaml.safe_load((tmp_path / name).read_text()) for name in index] == found.objects
    assert not list(tmp_path.glob("secret-*"))
    assert manifest_folder.write(str(tmp_path), found.objects, "", False)["changed"] is False


def test_manifests_that_changed_leave_the_former_ones_out(tmp_path):
    manifest_folder.write(str(tmp_path), given([NAMESPACE]).objects, "", False)
    before, = tmp_path.glob("configmap-*")
    result = manifest_folder.write(str(tmp_path), given([NAMESPACE, SETTINGS]).objects, "", False)
    index = yaml.safe_load((tmp_path / "kustomization.yaml").read_text())["resources"]
    assert before.name not in index and before.exists()
    assert [line for line in result["warnings"] if before.name in line and "described no more" in line]


@pytest.mark.parametrize(("manifests", "changes", "text"), [
    (["/nowhere.yml"], {}, 'manifests[0] (/nowhere.yml): found No such file or directory'),
    ([{"kind": "Namespace"}], {}, "apiVersion: not set"),
    ([dict(SETTINGS, data={"a": "b" * 900 * 1024})], {}, "at most 819200 bytes"),
    ([NAMESPACE], {"api_version": "v1beta1"},
     "cluster_resource_set: found Reconcile, expected none with cluster_options.api_version: v1beta1"),
    ([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "f"}, "data": {
        "net-conf.json": '{"Network": "10.0.0.0/16"}'}}], {}, "10.0.0.0/16, the pods' network of ConfigMap f"),
])
def test_manifests_that_cannot_be_brought_are_refused(manifests, changes, text):
    with pytest.raises(RefusedError) as caught:
        given(manifests, names=field_names({}), **changes)
    assert text in str(caught.value)


INVENTORY = """\
all:
  children:
    clusters:
      children:
        prod:
          hosts: {prod-host: }
          vars:
            cluster_kubernetes_version: v1.35.4
            cluster_endpoint: {host: 192.0.2.1, holder: none}
            cluster_image: {url: "https://images.example/node.raw", checksum: "%s"}
            cluster_network_addon: flannel
            cluster_resource_set: ApplyOnce
            cluster_manifests: [%s]
"""


def test_the_playbook_writes_them(tmp_path):
    inventory = INVENTORY % ("0" * 64, json.dumps(SECRET))
    code, output = playbook.play(tmp_path, inventory, "", "metal3.baremetal.cluster_template", "-e",
                                 f"cluster_template_directory={tmp_path}/out", "--diff", "-vvv")
    assert code == 0 and playbook.recap(output)["prod-host"] == (1, 0), output
    assert "is not written, because it has Secrets of the manifests" in output
    assert "canary-1" not in output
    folder = tmp_path / "out" / "prod"
    assert not (folder / "workload").exists() and (folder / "clusterresourceset-prod-manifests-applyonce.yaml").exists()
    assert "canary-1" not in "".join(path.read_text() for path in folder.iterdir())
    assert '"kind":"DaemonSet"' in "".join(path.read_text() for path in folder.glob("configmap-*"))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's API server and its webhooks validate what is rendered, and upstream's own template is the measure."""
from __future__ import annotations

import base64
import copy
import json
import os
import ssl
import subprocess
import textwrap
import urllib.request
from pathlib import Path

import pytest
import yaml
from operator_account import kubectl
from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import (
    objects as cluster_render,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion import objects as conversion
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.conversion import older as cluster_v1beta1
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN, resource_for

GOLDEN = REPOSITORY / "tests" / "unit" / "cluster" / "golden"
SITE = GOLDEN.parent / "conversion" / "site.manifest"
TEMPLATE = Path(__file__).parent / "data" / "clusterctl-cluster.template"
TEMPLATE_MODULE = "github.com/metal3-io/cluster-api-provider-metal3"


def golden(name):
    return list(yaml.safe_load_all((GOLDEN / name / "objects.manifest").read_text()))


def try_out(lab, item):
    """Let the API server validate an object without storing it, and return it as it would be stored."""
    return lab.kube.apply(resource_for(item["apiVersion"], item["kind"]), item["metadata"]["namespace"], item,
                          dry_run=True)


@pytest.fixture(scope="module", autouse=True)
def _namespace(lab):
    """The namespace of a golden file that is not the lab's own."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "site"}}
    lab.kube.apply(KNOWN["Namespace"], None, body)
    yield
    lab.kube.delete(KNOWN["Namespace"], None, "site")


# What is for another provider is in the file of that provider.
@pytest.mark.parametrize("name", sorted({path.parent.name for path in GOLDEN.glob("*/objects.manifest")}
                                        - {"metalstack"}))
def test_the_api_server_takes_all_that_is_rendered_and_drops_nothing(lab, name):
    items = golden(name)
    assert items
    for item in items:
        stored = try_out(lab, item)
        assert covers(stored["spec"], item["spec"]), (f"{item['kind']} {item['metadata']['name']}: asked for "
                                                      f"{item['spec']}, stored {stored['spec']}")


def covers(stored, wanted):
    """Say whether all that is wanted is stored, whatever defaults were added.

    The version in a v1beta1 reference is not compared: Cluster API puts the referenced kind's storage version there.
    """
    if isinstance(wanted, dict):
        return isinstance(stored, dict) and all(
            key in stored and (key == "apiVersion" or covers(stored[key], value)) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(stored, list) and len(stored) == len(wanted) and all(map(covers, stored, wanted))
    return stored == wanted


def test_the_api_server_would_refuse_what_is_wrong(lab):
    plane = next(item for item in golden("small") if item["kind"] == "KubeadmControlPlane")
    plane["spec"]["replicas"] = 2
    with pytest.raises(KubeError, match="even number"):
        try_out(lab, plane)
    template = next(item for item in golden("small") if item["kind"] == "Metal3DataTemplate")
    template["spec"]["metaData"]["fromHostInterfaces"] = [{"key": "mac"}]
    with pytest.raises(KubeError, match="interface must be specified"):
        try_out(lab, template)


# What CTLPLANE_KUBEADM_EXTRA_CONFIG and WORKERS_KUBEADM_EXTRA_CONFIG hold at a site, and the options that say the same.
EXTRA = {
    "preKubeadmCommands": ["systemctl enable --now crio"], "postKubeadmCommands": ["echo done"],
    "ntp": {"enabled": True, "servers": ["ntp.example.org"]},
    "files": [{"path": "/etc/motd", "owner": "root:root", "permissions": "0644", "content": "hello"}],
    "users": [{"name": "metal3", "sudo": "ALL=(ALL) NOPASSWD:ALL", "sshAuthorizedKeys": ["ssh-ed25519 AAAA one"]}]}
SAME = {"pre_commands": EXTRA["preKubeadmCommands"], "post_commands": EXTRA["postKubeadmCommands"],
        "ntp_servers": EXTRA["ntp"]["servers"], "files": [{"path": "/etc/motd", "content": "hello"}],
        "users": EXTRA["users"]}


@pytest.mark.parametrize(("extra", "same"), [({}, {}), (EXTRA, SAME)], ids=["plain", "extra"])
def test_upstreams_template_with_the_same_values_gives_the_same_objects(lab, extra, same):
    pins = (REPOSITORY / "lab" / "engine" / "go.mod").read_text()
    pinned = next(line.split()[1] for line in pins.splitlines() if line.split()[:1] == [TEMPLATE_MODULE])
    assert f"{TEMPLATE_MODULE} {pinned}," in TEMPLATE.read_text(), f"copy the template of {pinned} again"
    params = yaml.safe_load((GOLDEN / "upstream.yml").read_text())
    description, mistakes = cluster_description.read(dict(params, **same))
    assert mistakes == []
    ours = [cluster_v1beta1.downgrade(item) if item["apiVersion"].startswith("infrastructure.") else item
            for item in cluster_render.render(description)]
    assert canonical(ours) == canonical(generated(lab, params, extra))


def generated(lab, params, extra):
    """Return what ``clusterctl generate cluster`` makes of upstream's template.

    :param extra: what all machines have besides, as a part of a KubeadmConfigSpec
    """
    lines = yaml.safe_dump(extra) if extra else ""
    image = params["image"]
    values = {
        "CLUSTER_APIENDPOINT_HOST": params["endpoint"]["host"], "CLUSTER_APIENDPOINT_PORT": "6443",
        "NODE_DRAIN_TIMEOUT": str(params["node_drain_timeout_seconds"]),
        "IMAGE_URL": image["url"], "IMAGE_CHECKSUM": image["checksum"], "IMAGE_CHECKSUM_TYPE": image["checksum_type"],
        "IMAGE_FORMAT": image["format"], "CTLPLANE_KUBEADM_EXTRA_CONFIG": textwrap.indent(lines, " " * 4),
        "WORKERS_KUBEADM_EXTRA_CONFIG": textwrap.indent(lines, " " * 6),
    }
    command = [
        os.path.join(lab.figures["engine_dir"], "bin", "clusterctl"), "generate", "cluster", params["name"],
        "--from", str(TEMPLATE), "--kubeconfig", str(lab.dir / "kubeconfig"), "--target-namespace", "metal3",
        "--kubernetes-version", params["kubernetes_version"],
        "--control-plane-machine-count", str(params["control_plane"]["replicas"]),
        "--worker-machine-count", str(params["workers"]["nodepool-0"]["replicas"])]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, CLUSTERCTL_DISABLE_VERSIONCHECK="true", **values)).stdout
    return list(yaml.safe_load_all(text))


def canonical(items):
    """Return objects with the names that are a matter of taste replaced: templates, owners, the pool's label."""
    items = copy.deepcopy(items)
    names = {}
    for item in items:
        if item["kind"] == "KubeadmControlPlane":
            names[("KubeadmControlPlane", item["metadata"]["name"])] = "plane"
            reference = item["spec"]["machineTemplate"]["spec"]["infrastructureRef"]
            names[(reference["kind"], reference["name"])] = "plane"
        if item["kind"] == "MachineDeployment":
            names[("MachineDeployment", item["metadata"]["name"])] = "pool"
            machine = item["spec"]["template"]["spec"]
            for reference in (machine["infrastructureRef"], machine["bootstrap"]["configRef"]):
                names[(reference["kind"], reference["name"])] = "pool"
            labels = item["spec"]["selector"]["matchLabels"]
            assert labels == item["spec"]["template"]["metadata"]["labels"]
            assert labels.pop("cluster.x-k8s.io/cluster-name") == item["spec"]["clusterName"]
            assert len(labels) == 1, "one label besides the cluster's names the pool"
            item["spec"]["selector"]["matchLabels"] = item["spec"]["template"]["metadata"]["labels"] = "the pool's"
    for item in items:
        if item["kind"] == "Metal3MachineTemplate":
            role = names[("Metal3MachineTemplate", item["metadata"]["name"])]
            names[("Metal3DataTemplate", item["spec"]["template"]["spec"]["dataTemplate"]["name"])] = role
    result = {}
    for item in items:
        item["metadata"].pop("labels", None)
        item["metadata"]["name"] = names.get((item["kind"], item["metadata"]["name"]), item["metadata"]["name"])
        if item["kind"] == "Metal3MachineTemplate":
            reference = item["spec"]["template"]["spec"]["dataTemplate"]
            reference["name"] = names[("Metal3DataTemplate", reference["name"])]
        key = (item["kind"], item["metadata"]["name"])
        assert key not in result
        result[key] = renamed(item, names)
    return result


def renamed(value, names):
    """Replace the names in references, dicts with kind and name."""
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    value = dict((key, renamed(item, names)) for key, item in value.items())
    if "kind" in value and "name" in value:
        value["name"] = names.get((value["kind"], value["name"]), value["name"])
    return value


def of_webhook(lab, item):
    """Return an object of v1beta1 as its kind's conversion webhook makes it, without what the API server adds.

    None for a kind without one.
    """
    resource = resource_for(item["apiVersion"], item["kind"])
    definition = lab.kube.get(KNOWN["CustomResourceDefinition"], None, f"{resource.plural}.{resource.group}")
    if definition["spec"]["conversion"]["strategy"] == "None":
        # Of Metal3ClusterTemplate CAPM3 1.13 has a conversion that no webhook calls.
        return None
    config = definition["spec"]["conversion"]["webhook"]["clientConfig"]
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {
        "uid": "1", "desiredAPIVersion": f"{resource.group}/v1beta2", "objects": [item]}}
    request = urllib.request.Request(config["url"], json.dumps(review).encode(), {"Content-Type": "application/json"})
    context = ssl.create_default_context(cadata=base64.b64decode(config["caBundle"]).decode())
    with urllib.request.urlopen(request, timeout=30, context=context) as answer:
        response = json.load(answer)["response"]
    assert response["result"]["status"] == "Success", response["result"]
    converted, = response["convertedObjects"]
    return converted


def said(value):
    """Return a value without what says nothing: Go leaves it out, a manifest may have it."""
    if isinstance(value, dict):
        found = dict((key, said(entry)) for key, entry in value.items())
        return dict((key, entry) for key, entry in found.items() if entry not in (None, False, 0, "", {}, []))
    return [said(entry) for entry in value] if isinstance(value, list) else value


def manifests_of_v1beta1():
    """Return what a site has written, and what is rendered in v1beta1."""
    items = [item for item in yaml.safe_load_all(SITE.read_text()) if item]
    items += [item for name in ("full-v1beta1", "six", "standalone-v1beta1") for item in golden(name)]
    return [item for item in items if item["apiVersion"].endswith("x-k8s.io/v1beta1")]


def test_manifests_are_converted_as_upstream_converts_them(lab):
    compared = 0
    for item in manifests_of_v1beta1():
        found = conversion.convert(item)
        if found.kept_because:
            continue
        theirs = of_webhook(lab, item)
        if theirs is None:
            continue
        if item["kind"] == "MachineHealthCheck" and "remediation" in theirs["spec"]:
            # Upstream leaves the version of a reference to a kind of another project as it is.
            reference = theirs["spec"]["remediation"].get("templateRef") or {}
            assert not reference or reference["apiVersion"].endswith("/v1beta1")
            reference.update(dict.fromkeys(set(reference) & {"apiVersion"}, "infrastructure.cluster.x-k8s.io/v1beta2"))
        title = f"{item['kind']} {item['metadata']['name']}"
        assert (found.obj["apiVersion"], said(found.obj["spec"])) == (theirs["apiVersion"], said(theirs["spec"])), title
        compared += 1
    assert compared > 30


def test_the_api_server_takes_all_that_is_converted(lab):
    for item in (conversion.convert(item).obj for item in yaml.safe_load_all(SITE.read_text()) if item):
        stored = try_out(lab, item)
        assert covers(stored["spec"], item["spec"]), f"{item['kind']} {item['metadata']['name']}"


BROUGHT = {"cluster_resource_set": "Reconcile", "cluster_manifests": [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "brought"}}]}


@pytest.mark.parametrize(("more", "kinds"), [({}, set()), (BROUGHT, {"ConfigMap", "ClusterResourceSet"})],
                         ids=["the cluster", "with a ClusterResourceSet"])
def test_a_folder_of_manifests_is_what_kustomize_takes(lab, tmp_path, monkeypatch, more, kinds):
    """The lab's own cluster, by the playbook; the API server and its webhooks try what kubectl makes of the folder."""
    monkeypatch.setenv("LAB_CLUSTER", "workload")
    extra = {"cluster_template_directory": str(tmp_path), **more}
    lab.playbook("cluster_template", "--diff", extra=extra).ok()
    made = kubectl(lab, "kustomize", str(tmp_path / "workload"))
    assert made.returncode == 0, made.stderr
    items = list(yaml.safe_load_all(made.stdout))
    assert {"Cluster", "KubeadmControlPlane", "MachineDeployment", "Metal3Cluster", *kinds} <= {
        item["kind"] for item in items}
    for item in items:
        part = "data" if item["kind"] == "ConfigMap" else "spec"
        assert covers(try_out(lab, item)[part], item[part]), f"{item['kind']} {item['metadata']['name']}"
    assert lab.playbook("cluster_template", extra=extra).ok().changed() == 0

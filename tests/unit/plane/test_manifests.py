# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue, manifests

PROVIDER, OPERATOR = catalogue.BY_NAME["ipam"], catalogue.BY_NAME["bmo"]


def shipped():
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "m", "namespace": "ipam-system"},
         "spec": {"template": {"spec": {"serviceAccountName": "ipam-manager", "containers": []}}}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "labels": {"a": "b"}}},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
         "metadata": {"name": "baremetalhosts.metal3.io"}},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
         "metadata": {"name": "hardwaredata.metal3.io"}},
    ]


@pytest.mark.parametrize("text,values,expected", [
    ("a ${NAME:=:8443} b", {}, "a :8443 b"),
    ("a ${NAME:=:8443} b", {"NAME": ""}, "a :8443 b"),
    ("a ${NAME:-x}", {"NAME": "y"}, "a y"),
    ("a ${NAME=x}", {"NAME": ""}, "a "),
    ("a ${NAME-x}", {}, "a x"),
    ("a ${NAME}", {"NAME": "y"}, "a y"),
    ("K: ${NAME:='false'}", {}, "K: 'false'"),
    ("$(NAME) $NAME", {}, "$(NAME) $NAME"),
])
def test_substitute(text, values, expected):
    assert manifests.substitute(text, values) == expected


def test_substitute_names_all_that_is_missing():
    with pytest.raises(manifests.ManifestError, match="no value for ONE, TWO"):
        manifests.substitute("${TWO} ${ONE} ${TWO} ${THREE:=3}")


def test_a_provider_is_labelled_as_clusterctl_does():
    made = manifests.complete(shipped(), PROVIDER, "v1.13.2")
    for obj in made:
        assert obj["metadata"]["labels"]["clusterctl.cluster.x-k8s.io"] == ""
        assert obj["metadata"]["labels"]["cluster.x-k8s.io/provider"] == "ipam-metal3"
    assert made[0]["kind"] == "Namespace" and made[0]["metadata"]["name"] == "ipam-system"
    entry = made[-1]
    assert entry["kind"] == "Provider"
    assert entry["metadata"]["namespace"] == "ipam-system"
    assert entry["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/core"] == "inventory"
    assert (entry["type"], entry["providerName"], entry["version"]) == ("IPAMProvider", "metal3", "v1.13.2")


def test_what_is_no_provider_gets_the_labels_for_moving_only():
    made = dict((obj["metadata"]["name"], obj) for obj in manifests.complete(shipped(), OPERATOR, "v0.13.2"))
    assert set(made["baremetalhosts.metal3.io"]["metadata"]["labels"]) == {
        "clusterctl.cluster.x-k8s.io", "clusterctl.cluster.x-k8s.io/move",
        "clusterctl.cluster.x-k8s.io/move-hierarchy"}
    assert set(made["hardwaredata.metal3.io"]["metadata"]["labels"]) == {
        "clusterctl.cluster.x-k8s.io", "clusterctl.cluster.x-k8s.io/move"}
    assert set(made) & {"firmwareschemas.metal3.io", "preprovisioningimages.metal3.io"} == set()
    assert made["s"]["metadata"]["labels"] == {"a": "b"}
    assert not [obj for obj in made.values() if obj["kind"] == "Provider"]


def test_the_service_account_is_the_deployments():
    assert manifests.service_account(shipped()) == ("ipam-system", "ipam-manager")
    with pytest.raises(manifests.ManifestError, match="expected one Deployment, found 0"):
        manifests.service_account(shipped()[1:])


def test_a_chart_gets_its_version_and_its_definitions(tmp_path):
    module, helm = tmp_path / "module", tmp_path / "helm"
    chart = module / manifests.CHART_FOLDER
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.template.yaml").write_text("name: cert-manager\nversion: v0.1.0\nappVersion: v0.1.0\n")
    (module / manifests.CHART_DEFINITIONS).mkdir()
    (module / manifests.CHART_DEFINITIONS / "crd-issuers.yaml").write_text("kind: CustomResourceDefinition\n")
    helm.write_text('#!/bin/sh\ncat "$3/Chart.yaml" > "%s"\nls "$3/templates" >> "%s"\nenv | grep HELM_ > "%s"\n'
                    "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\n'\n" % (
                        tmp_path / "seen", tmp_path / "seen", tmp_path / "environ"))
    helm.chmod(0o755)
    manifests.render_chart("v1.11.5", str(module), str(helm), str(tmp_path / "work"), str(tmp_path / "made.yaml"))
    assert [obj["kind"] for obj in manifests.load(tmp_path / "made.yaml")] == ["Namespace", "ConfigMap"]
    seen = (tmp_path / "seen").read_text()
    assert "version: v1.11.5" in seen and "appVersion: v1.11.5" in seen and "crd-issuers.yaml" in seen
    assert str(tmp_path / "work") in (tmp_path / "environ").read_text()
    helm.write_text("#!/bin/sh\necho no such value >&2\nexit 3\n")
    with pytest.raises(manifests.ManifestError, match=r"helm template failed \(exit code 3\): no such value"):
        manifests.render_chart("v1.11.5", str(module), str(helm), str(tmp_path / "work"), str(tmp_path / "made.yaml"))

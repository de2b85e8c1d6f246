# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a management plane: what each is, whatever the mode it runs in; pure data.

A part's version is no fact of this file: it is what ``lab/engine/go.mod`` pins its module to, or what the user says of
manifests of their own.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..._metal3.ironic_place import IRONIC_DEPLOYMENT, IRONIC_NAMESPACE

CLUSTER_API = "sigs.k8s.io/cluster-api"
CAPM3 = "github.com/metal3-io/cluster-api-provider-metal3"
IPAM = "github.com/metal3-io/ip-address-manager"
BMO = "github.com/metal3-io/baremetal-operator"
CERT_MANAGER = "github.com/cert-manager/cert-manager"

PROVIDER_LABEL = "cluster.x-k8s.io/provider"
CLUSTERCTL_LABEL = "clusterctl.cluster.x-k8s.io"
MOVE_LABEL = CLUSTERCTL_LABEL + "/move"
MOVE_HIERARCHY_LABEL = CLUSTERCTL_LABEL + "/move-hierarchy"
CORE_LABEL = CLUSTERCTL_LABEL + "/core"
# Of upstream's manifests of Ironic; the last two end the names of their variants with keepalived and with MariaDB.
IRONIC_CONFIG_MAP, MARIADB_PASSWORD = "ironic-bmo-configmap", "mariadb-password"
IRONIC_KEEPALIVED, IRONIC_MARIADB = "_keepalived", "_mariadb"


class Metrics(NamedTuple):
    """How a part's manager serves its metrics for Prometheus, at ``/metrics``.

    :ivar port: name of the container's port
    :ivar is_secure: whether it is HTTPS, and only for who may get ``/metrics``; else it is HTTP for everybody
    :ivar address_flag: flag of its address, or None
    :ivar insecure_flag: flag that makes it HTTP for everybody, or None
    """

    port: str
    is_secure: bool
    address_flag: str | None = None
    insecure_flag: str | None = None


class Part(NamedTuple):
    """One part of the plane.

    :ivar name: as options name it
    :ivar title: as messages name it
    :ivar module: the Go module that its version is pinned by
    :ivar folder: where its ``config/default`` is in the module; None when it has no kustomization
    :ivar program: name of its manager's program in the engine's ``bin``
    :ivar images: name of a Deployment → image of upstream's release, without a tag
    :ivar namespace: the one that upstream's manifests put it into
    :ivar label: value of the label ``cluster.x-k8s.io/provider``; None for what is no provider to clusterctl
    :ivar type: its type in clusterctl's inventory, or None
    :ivar provider_name: its name in clusterctl's inventory, or None
    :ivar contract: version of the Cluster API contract that it implements, or None
    :ivar needs: names of parts that must be there before it
    :ivar managed: apiVersion and kind of what it must not be removed under
    :ivar flags: settings that its manager takes as a flag: setting → flag
    :ivar probe: an object that its webhook takes, created by a dry run to see whether the webhook answers
    :ivar metrics: a Metrics, None for what serves none
    """

    name: str
    title: str
    module: str
    folder: str | None
    program: str
    images: dict[str, str]
    namespace: str
    label: str | None
    type: str | None
    provider_name: str | None
    contract: str | None
    needs: tuple[str, ...]
    managed: tuple[tuple[str, str], ...]
    flags: dict[str, str]
    probe: dict[str, Any]
    metrics: Metrics | None = None


def _probe(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind,
            "metadata": {"name": "metal3-baremetal-probe", "namespace": "default"}, "spec": spec}


_LEADER, _GATES, _LOG = (
    {"leader_election": "--leader-elect"}, {"feature_gates": "--feature-gates"}, {"log_level": "--v"})
_CAPI_FLAGS = dict(_LEADER, **_GATES, **_LOG)
_METAL3 = "infrastructure.cluster.x-k8s.io/v1beta2"
# Of Cluster API's util/flags/manager.go, which all but BMO (main.go) and cert-manager use.
_METRICS = Metrics("metrics", True, "--diagnostics-address", "--insecure-diagnostics")

PARTS = (
    Part("cert_manager", "cert-manager", CERT_MANAGER, None, "cert-manager-controller", {
        "cert-manager": "quay.io/jetstack/cert-manager-controller",
        "cert-manager-cainjector": "quay.io/jetstack/cert-manager-cainjector",
        "cert-manager-webhook": "quay.io/jetstack/cert-manager-webhook",
    }, "cert-manager", None, None, None, None, (), (("cert-manager.io/v1", "Certificate"),),
        dict(_GATES, **_LOG), _probe("cert-manager.io/v1", "Issuer", {"selfSigned": {}}),
        Metrics("http-metrics", False)),
    Part("capi", "Cluster API", CLUSTER_API, "", "cluster-api", {
        "capi-controller-manager": "registry.k8s.io/cluster-api/cluster-api-controller",
    }, "capi-system", "cluster-api", "CoreProvider", "cluster-api", "v1beta2", (),
        (("cluster.x-k8s.io/v1beta2", "Cluster"), ("cluster.x-k8s.io/v1beta2", "Machine")),
        _CAPI_FLAGS, _probe("cluster.x-k8s.io/v1beta2", "Cluster", {"paused": True, "infrastructureRef": {
            "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3Cluster", "name": "probe"}}), _METRICS),
    Part("cabpk", "kubeadm bootstrap provider", CLUSTER_API, "bootstrap/kubeadm", "cluster-api-bootstrap-kubeadm", {
        "capi-kubeadm-bootstrap-controller-manager": "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
    }, "capi-kubeadm-bootstrap-system", "bootstrap-kubeadm", "BootstrapProvider", "kubeadm", "v1beta2", ("capi",),
        (("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig"),),
        _CAPI_FLAGS, _probe("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", {"format": "cloud-config"}),
        _METRICS),
    Part("kcp", "kubeadm control plane provider", CLUSTER_API, "controlplane/kubeadm",
         "cluster-api-control-plane-kubeadm", {
             "capi-kubeadm-control-plane-controller-manager":
                 "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
         }, "capi-kubeadm-control-plane-system", "control-plane-kubeadm", "ControlPlaneProvider", "kubeadm", "v1beta2",
         ("capi",), (("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane"),), _CAPI_FLAGS,
         _probe("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", {
             "version": "v1.35.0", "replicas": 1, "machineTemplate": {"spec": {"infrastructureRef": {
                 "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3MachineTemplate", "name": "probe"}}}}),
         _METRICS),
    Part("ipam", "IP address manager", IPAM, "", "ip-address-manager", {
        "ipam-controller-manager": "quay.io/metal3-io/ip-address-manager",
    }, "metal3-ipam-system", "ipam-metal3", "IPAMProvider", "metal3", "v1beta2", ("capi",),
        (("ipam.metal3.io/v1alpha1", "IPPool"), ("ipam.metal3.io/v1alpha1", "IPClaim")),
        dict(_LEADER, **_LOG), _probe("ipam.metal3.io/v1alpha1", "IPPool", {"namePrefix": "probe", "pools": []}),
        _METRICS),
    Part("bmo", "Bare Metal Operator", BMO, "", "baremetal-operator", {
        "baremetal-operator-controller-manager": "quay.io/metal3-io/baremetal-operator",
    }, IRONIC_NAMESPACE, None, None, None, None, (),
        (("metal3.io/v1alpha1", "BareMetalHost"),),
        {"leader_election": "--enable-leader-election"},
        _probe("metal3.io/v1alpha1", "BareMetalHost", {"online": False}), Metrics("https", True, "--metrics-addr")),
    Part("capm3", "Cluster API provider Metal3", CAPM3, "", "cluster-api-provider-metal3", {
        "capm3-controller-manager": "quay.io/metal3-io/cluster-api-provider-metal3",
    }, "capm3-system", "infrastructure-metal3", "InfrastructureProvider", "metal3", "v1beta2", ("capi", "ipam", "bmo"),
        ((_METAL3, "Metal3Cluster"), (_METAL3, "Metal3Machine")),
        dict(_LEADER, **_LOG), _probe(_METAL3, "Metal3Cluster", {
            "controlPlaneEndpoint": {"host": "192.0.2.1", "port": 6443}, "cloudProviderEnabled": False}), _METRICS),
)
BY_NAME = dict((part.name, part) for part in PARTS)
NAMES = tuple(BY_NAME)
# Not among them: how it is run differs from plane to plane.
IRONIC = Part("ironic", "Ironic", BMO, None, "", {IRONIC_DEPLOYMENT: "quay.io/metal3-io/ironic"}, IRONIC_NAMESPACE,
              None, None, None, None, (), (("metal3.io/v1alpha1", "BareMetalHost"),), {}, {})
# Names of what others may have installed and somebody adopts.
ADOPTABLE = (*NAMES, IRONIC.name)
# What has a kustomization in its module.
RENDERED = tuple(part for part in PARTS if part.folder is not None)

# clusterctl makes this definition on "clusterctl init"; the core provider's manifest carries it here.
INVENTORY_DEFINITION = (CLUSTER_API, "cmd/clusterctl/config/manifest/clusterctl-api.yaml")
INVENTORY_OWNER = "capi"

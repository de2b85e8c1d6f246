# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of Metal³, metal-stack and Cluster API beside those of Kubernetes: group, version, plural."""
from __future__ import annotations

from .._kube.kinds import resources
from .._kube.kinds.resources import Older, Resource, table
from .conversion import stored

# What the groups of all kinds of Metal³ and Cluster API end with.
GROUPS = ("metal3.io", "cluster.x-k8s.io")
# On what is of a cluster (Cluster API, api/core/v1beta2: ClusterNameLabel).
CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name"
CAPI_VERSION = "v1beta2"
# cluster-api-provider-metal-stack 0.8, api/v1alpha1.
METALSTACK_VERSION = "v1alpha1"
METAL3_VERSION = "v1alpha1"
# Of Cluster API and CAPM3 up to 1.10; v1alpha1 of Cluster API's IPAM.
OLD_CAPI_VERSION = "v1beta1"
OLDER = (Older(OLD_CAPI_VERSION, stored.newer, stored.older, stored.older_patch),)
OLDER_IPAM = (*OLDER, OLDER[0]._replace(version="v1alpha1"))

KNOWN: dict[str, Resource] = dict(resources.KNOWN, **dict((resource.kind, resource) for resource in (
    table("clusterctl.cluster.x-k8s.io", "v1alpha3", ("providers", "Provider", True))
    + table("metal3.io", METAL3_VERSION,
            ("baremetalhosts", "BareMetalHost", True), ("hardwaredata", "HardwareData", True),
            ("hostfirmwaresettings", "HostFirmwareSettings", True), ("firmwareschemas", "FirmwareSchema", True),
            ("hostfirmwarecomponents", "HostFirmwareComponents", True),
            ("hostupdatepolicies", "HostUpdatePolicy", True), ("dataimages", "DataImage", True),
            ("preprovisioningimages", "PreprovisioningImage", True),
            ("bmceventsubscriptions", "BMCEventSubscription", True), ("hostclaims", "HostClaim", True),
            ("hostdeploypolicies", "HostDeployPolicy", True))
    # Of the Ironic operator.
    + table("ironic.metal3.io", METAL3_VERSION, ("ironics", "Ironic", True))
    + table("ipam.metal3.io", METAL3_VERSION,
            ("ippools", "IPPool", True), ("ipclaims", "IPClaim", True), ("ipaddresses", "IPAddress", True))
    # Its IPAddress shares its kind's name with IPAM's own and is listed by _ipam/reading.py only.
    + table("ipam.cluster.x-k8s.io", CAPI_VERSION, ("ipaddressclaims", "IPAddressClaim", True), older=OLDER_IPAM)
    + table("cluster.x-k8s.io", CAPI_VERSION,
            ("clusters", "Cluster", True), ("machines", "Machine", True), ("machinesets", "MachineSet", True),
            ("machinedeployments", "MachineDeployment", True), ("machinehealthchecks", "MachineHealthCheck", True),
            ("clusterclasses", "ClusterClass", True),
            older=OLDER)
    + table("addons.cluster.x-k8s.io", CAPI_VERSION,
            ("clusterresourcesets", "ClusterResourceSet", True),
            ("clusterresourcesetbindings", "ClusterResourceSetBinding", True))
    + table("bootstrap.cluster.x-k8s.io", CAPI_VERSION,
            ("kubeadmconfigs", "KubeadmConfig", True), ("kubeadmconfigtemplates", "KubeadmConfigTemplate", True),
            older=OLDER)
    + table("controlplane.cluster.x-k8s.io", CAPI_VERSION,
            ("kubeadmcontrolplanes", "KubeadmControlPlane", True),
            ("kubeadmcontrolplanetemplates", "KubeadmControlPlaneTemplate", True),
            older=OLDER)
    + table("infrastructure.cluster.x-k8s.io", CAPI_VERSION,
            ("metal3clusters", "Metal3Cluster", True), ("metal3clustertemplates", "Metal3ClusterTemplate", True),
            ("metal3machines", "Metal3Machine", True),
            ("metal3machinetemplates", "Metal3MachineTemplate", True),
            ("metal3datatemplates", "Metal3DataTemplate", True), ("metal3datas", "Metal3Data", True),
            ("metal3dataclaims", "Metal3DataClaim", True), ("metal3remediations", "Metal3Remediation", True),
            ("metal3remediationtemplates", "Metal3RemediationTemplate", True),
            older=OLDER)
    + table("infrastructure.cluster.x-k8s.io", METALSTACK_VERSION,
            ("metalstackclusters", "MetalStackCluster", True), ("metalstackmachines", "MetalStackMachine", True),
            ("metalstackmachinetemplates", "MetalStackMachineTemplate", True),
            ("metalstackfirewalldeployments", "MetalStackFirewallDeployment", True),
            ("metalstackfirewalltemplates", "MetalStackFirewallTemplate", True))
)))


def resource_for(api_version: str, kind: str) -> Resource:
    """Return the resource of an object's ``apiVersion`` and ``kind``; see :func:`resources.resource_for`."""
    return resources.resource_for(api_version, kind, KNOWN)

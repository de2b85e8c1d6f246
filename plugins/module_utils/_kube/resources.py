# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes resources this collection reads and writes: known paths instead of API discovery."""
from __future__ import annotations

from collections import namedtuple
from typing import Any
from urllib.parse import quote

from .errors import KubeError


class Resource(namedtuple("Resource", ["group", "version", "plural", "kind", "namespaced"])):
    """One kind of object, with what is needed to build its URL.

    ``group`` is empty for the core API; ``namespaced`` is a boolean.
    """

    __slots__ = ()

    @property
    def api_version(self) -> str:
        """``group/version``, or the bare version in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: Any = None) -> str:
        """Return the URL path of the collection, of one object, or of a subresource.

        :param namespace: namespace name; None means all namespaces, or a cluster-scoped kind
        :param name: object name, or None for the collection
        :param subresource: for example ``status``
        :raises KubeError: when a name can't be an object's; it may come from another object
        """
        parts = ["apis", self.group] if self.group else ["api"]
        parts.append(self.version)
        if self.namespaced and namespace:
            parts += ["namespaces", _segment(namespace)]
        parts.append(self.plural)
        if name:
            parts.append(_segment(name))
        if subresource:
            parts.append(subresource)
        return "/" + "/".join(parts)


def _segment(name: str) -> str:
    """Return a name as one part of a path.

    The API server itself undoes escapes before it looks for slashes, so that those are refused, as it refuses them.
    """
    if name in (".", "..") or "/" in name or "%" in name:
        raise KubeError(f"found the name {name}, expected one without / and %, for there can be no such object", 404,
                        "NotFound")
    return quote(name, safe=":", errors="replace")


def _table(group: Any, version: Any, *kinds: Any) -> Any:
    return [Resource(group, version, plural, kind, namespaced) for plural, kind, namespaced in kinds]


CAPI_VERSION = "v1beta2"
METAL3_VERSION = "v1alpha1"

KNOWN = dict((resource.kind, resource) for resource in (
    _table("", "v1", ("namespaces", "Namespace", False), ("secrets", "Secret", True),
           ("configmaps", "ConfigMap", True), ("serviceaccounts", "ServiceAccount", True),
           ("services", "Service", True), ("nodes", "Node", False), ("pods", "Pod", True))
    + _table("apps", "v1", ("deployments", "Deployment", True), ("daemonsets", "DaemonSet", True))
    + _table("apiextensions.k8s.io", "v1", ("customresourcedefinitions", "CustomResourceDefinition", False))
    + _table("admissionregistration.k8s.io", "v1",
             ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False),
             ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False),
             ("validatingadmissionpolicies", "ValidatingAdmissionPolicy", False),
             ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", False))
    + _table("rbac.authorization.k8s.io", "v1",
             ("clusterroles", "ClusterRole", False), ("clusterrolebindings", "ClusterRoleBinding", False),
             ("roles", "Role", True), ("rolebindings", "RoleBinding", True))
    + _table("clusterctl.cluster.x-k8s.io", "v1alpha3", ("providers", "Provider", True))
    + _table("metal3.io", METAL3_VERSION,
             ("baremetalhosts", "BareMetalHost", True), ("hardwaredata", "HardwareData", True),
             ("hostfirmwaresettings", "HostFirmwareSettings", True), ("firmwareschemas", "FirmwareSchema", True),
             ("hostfirmwarecomponents", "HostFirmwareComponents", True),
             ("hostupdatepolicies", "HostUpdatePolicy", True), ("dataimages", "DataImage", True),
             ("preprovisioningimages", "PreprovisioningImage", True),
             ("bmceventsubscriptions", "BMCEventSubscription", True), ("hostclaims", "HostClaim", True),
             ("hostdeploypolicies", "HostDeployPolicy", True))
    + _table("ipam.metal3.io", METAL3_VERSION,
             ("ippools", "IPPool", True), ("ipclaims", "IPClaim", True), ("ipaddresses", "IPAddress", True))
    # Its IPAddress shares its kind's name with IPAM's own and is listed by ipam_service only.
    + _table("ipam.cluster.x-k8s.io", CAPI_VERSION, ("ipaddressclaims", "IPAddressClaim", True))
    + _table("cluster.x-k8s.io", CAPI_VERSION,
             ("clusters", "Cluster", True), ("machines", "Machine", True), ("machinesets", "MachineSet", True),
             ("machinedeployments", "MachineDeployment", True), ("machinehealthchecks", "MachineHealthCheck", True))
    + _table("bootstrap.cluster.x-k8s.io", CAPI_VERSION,
             ("kubeadmconfigs", "KubeadmConfig", True), ("kubeadmconfigtemplates", "KubeadmConfigTemplate", True))
    + _table("controlplane.cluster.x-k8s.io", CAPI_VERSION,
             ("kubeadmcontrolplanes", "KubeadmControlPlane", True))
    + _table("infrastructure.cluster.x-k8s.io", CAPI_VERSION,
             ("metal3clusters", "Metal3Cluster", True), ("metal3machines", "Metal3Machine", True),
             ("metal3machinetemplates", "Metal3MachineTemplate", True),
             ("metal3datatemplates", "Metal3DataTemplate", True), ("metal3datas", "Metal3Data", True),
             ("metal3dataclaims", "Metal3DataClaim", True), ("metal3remediations", "Metal3Remediation", True),
             ("metal3remediationtemplates", "Metal3RemediationTemplate", True))
))


def resource_for(api_version: str, kind: str) -> Resource:
    """Return the resource of an object's ``apiVersion`` and ``kind``.

    :param api_version: for example ``metal3.io/v1alpha1``; its version wins over the table's
    :param kind: for example ``BareMetalHost``
    :raises KeyError: when the kind is not in the table or is there with another group
    """
    group, _slash, version = api_version.rpartition("/")
    resource = KNOWN[kind]
    if resource.group != group:
        raise KeyError(f"{api_version}/{kind}")
    return resource._replace(version=version)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kinds a cluster has in the management plane, by who gives it its machines; pure."""
from __future__ import annotations

from typing import NamedTuple

from .spec import METAL3, METALSTACK

_CORE = ("Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "Machine", "KubeadmConfig")
# Cluster API's own way to bring objects into a cluster.
RESOURCE_SET = "ClusterResourceSet"
# Of a cluster by ClusterClass, beside the templates that plain clusters have too.
CLASS_KINDS = ("ClusterClass", "KubeadmControlPlaneTemplate", "Metal3ClusterTemplate")


class Provider(NamedTuple):
    """The kinds of one infrastructure provider, with those of Cluster API.

    :param name: value of the option ``provider``
    :param title: how messages call its controllers
    :param cluster_kind: kind of what the Cluster refers to
    :param machine_kind: kind of what a Machine refers to
    :param workflow_kinds: what a Snapshot of a cluster is made of
    :param template_kinds: what nothing deletes by itself when the cluster goes
    :param beside_kinds: what else is read before a change
    :param class_kinds: what a cluster by ClusterClass has beside ``template_kinds``; none where such a cluster cannot
        be described
    :param install: how the provider gets into the management plane
    """

    name: str
    title: str
    cluster_kind: str
    machine_kind: str
    workflow_kinds: tuple[str, ...]
    template_kinds: tuple[str, ...]
    beside_kinds: tuple[str, ...]
    class_kinds: tuple[str, ...]
    install: str


_METAL3 = Provider(
    METAL3, "CAPM3", "Metal3Cluster", "Metal3Machine",
    (*_CORE, "Metal3Cluster", "Metal3Machine", "Metal3Data", "Metal3DataClaim", "Metal3Remediation", "BareMetalHost",
     "IPClaim"),
    ("Metal3DataTemplate", "Metal3MachineTemplate", "KubeadmConfigTemplate", "MachineHealthCheck",
     "Metal3RemediationTemplate", "IPPool"),
    ("HardwareData", RESOURCE_SET), CLASS_KINDS,
    "install the management plane first (playbook metal3.baremetal.install)")
_METALSTACK = Provider(
    METALSTACK, "the provider of metal-stack", "MetalStackCluster", "MetalStackMachine",
    (*_CORE, "MetalStackCluster", "MetalStackMachine", "MetalStackFirewallDeployment"),
    ("MetalStackMachineTemplate", "KubeadmConfigTemplate", "MachineHealthCheck", "MetalStackFirewallDeployment",
     "MetalStackFirewallTemplate"),
    (RESOURCE_SET,), (),
    "install cluster-api-provider-metal-stack first (clusterctl init --infrastructure metal-stack)")
_BY_NAME = {METAL3: _METAL3, METALSTACK: _METALSTACK}


def provider_of(name: str | None) -> Provider:
    """Return a provider.

    :param name: value of the option ``provider``; that of Metal³ when it is not set, or a mistake
    """
    return _BY_NAME.get(str(name), _METAL3)


def provider_of_cluster(cluster: dict | None) -> Provider:
    """Return the provider that a stored Cluster's ``infrastructureRef`` names; that of Metal³ for any other kind.

    :param cluster: the Cluster, or None
    """
    kind = (((cluster or {}).get("spec") or {}).get("infrastructureRef") or {}).get("kind")
    return next((provider for provider in _BY_NAME.values() if provider.cluster_kind == kind), _METAL3)


def with_classes(provider: Provider) -> Provider:
    """Return a provider for clusters by ClusterClass: with the kinds that a class of it is made of."""
    return provider._replace(template_kinds=(*provider.template_kinds, *provider.class_kinds))


def without_classes(provider: Provider) -> Provider:
    """Return a provider for plain clusters."""
    return provider._replace(
        template_kinds=tuple(kind for kind in provider.template_kinds if kind not in provider.class_kinds))


ALL_KINDS = tuple(dict.fromkeys(kind for provider in _BY_NAME.values() for kind in provider.workflow_kinds))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The listed objects of one cluster, indexed the way the deployment workflow walks them; pure.

Objects are in v1beta2 (``kube.resources``), whatever version they were written in.
"""
from __future__ import annotations

from ..._common.texts.plain_text import gist
from ..._metal3 import kinds
from ..description.providers import ALL_KINDS, provider_of_cluster
from . import remediations

CLUSTER_LABEL = kinds.CLUSTER_LABEL
DEPLOYMENT_LABEL = "cluster.x-k8s.io/deployment-name"
CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
SET_LABEL = "cluster.x-k8s.io/set-name"
# By these Cluster API knows whose Machine it is.
OWNER_LABELS = (CONTROL_PLANE_LABEL, DEPLOYMENT_LABEL, SET_LABEL)
# Cluster API, api/core/v1beta2/common_types.go.
CLONED_FROM = "cluster.x-k8s.io/cloned-from-name"
# Of a single object, which its controller leaves alone then, its deletion included (api/core/v1beta2/common_types.go).
PAUSED_ANNOTATION = "cluster.x-k8s.io/paused"
# CAPM3, baremetal/metal3machine_manager.go: HostAnnotation, "<namespace>/<name>".
HOST_ANNOTATION = "metal3.io/BareMetalHost"
# How many characters of what a condition says are shown.
_MESSAGE_LIMIT = 200


class Snapshot:
    """One cluster among the listed objects of its namespace.

    :param objects: dict of kind to list of objects
    :param cluster: name of the cluster
    """

    def __init__(self, objects, cluster):
        self.cluster_name = cluster
        self._by_name = dict(
            (kind, dict((item["metadata"]["name"], item) for item in objects.get(kind) or [])) for kind in ALL_KINDS)
        consumers = [(_metal3_machine_of(host), host) for host in self.all("BareMetalHost")]
        self._host_by_consumer = dict((name, host) for name, host in consumers if name)

    def get(self, kind, name):
        """Return an object by name, or None."""
        return self._by_name[kind].get(name)

    def all(self, kind):
        """Return all listed objects of a kind, in order of their names."""
        return [self._by_name[kind][name] for name in sorted(self._by_name[kind])]

    def mine(self, kind):
        """Return the objects of a kind that carry the cluster's label."""
        return [item for item in self.all(kind)
                if (item["metadata"].get("labels") or {}).get(CLUSTER_LABEL) == self.cluster_name]

    @property
    def cluster(self):
        """The Cluster, or None."""
        return self.get("Cluster", self.cluster_name)

    @property
    def provider(self):
        """The Provider whose resources the Cluster refers to."""
        return provider_of_cluster(self.cluster)

    @property
    def infrastructure(self):
        """The Metal3Cluster or MetalStackCluster that the Cluster refers to, or None."""
        reference = ((self.cluster or {}).get("spec") or {}).get("infrastructureRef") or {}
        return self.get(self.provider.cluster_kind, reference.get("name"))

    @property
    def has_cloud_provider(self):
        """Whether CAPM3 leaves the provider IDs of Nodes to a cloud controller."""
        return bool(((self.infrastructure or {}).get("spec") or {}).get("cloudProviderEnabled"))

    @property
    def control_plane(self):
        """The KubeadmControlPlane that the Cluster refers to, or None."""
        reference = ((self.cluster or {}).get("spec") or {}).get("controlPlaneRef") or {}
        return self.get("KubeadmControlPlane", reference.get("name"))

    def owners(self):
        """Return the KubeadmControlPlane and the MachineDeployments, the control plane first.

        After them the standalone Machines: each is the owner of itself.
        """
        return ([self.control_plane] if self.control_plane else []) + self.mine("MachineDeployment") + [
            machine for machine in self.mine("Machine") if is_standalone(machine)]

    def machines_of(self, owner):
        """Return the Machines of a KubeadmControlPlane or a MachineDeployment; of a standalone Machine itself."""
        if owner["kind"] == "Machine":
            return [owner]
        if owner["kind"] == "KubeadmControlPlane":
            return [machine for machine in self.mine("Machine") if is_control_plane(machine)]
        return [machine for machine in self.mine("Machine")
                if machine["metadata"]["labels"].get(DEPLOYMENT_LABEL) == owner["metadata"]["name"]]

    def owner_of(self, machine):
        """Return the KubeadmControlPlane or MachineDeployment of a Machine, None when it has neither."""
        name = machine["metadata"]["name"]
        return next((owner for owner in self.owners() if owner["kind"] != "Machine" and any(
            item["metadata"]["name"] == name for item in self.machines_of(owner))), None)

    def metal3_machine(self, machine):
        """Return the Metal3Machine of a Machine, or None."""
        return self.get("Metal3Machine", (machine["spec"].get("infrastructureRef") or {}).get("name"))

    def infrastructure_machine(self, machine):
        """Return the Metal3Machine or MetalStackMachine of a Machine, or None."""
        return self.get(self.provider.machine_kind, (machine["spec"].get("infrastructureRef") or {}).get("name"))

    def remediation(self, machine):
        """Return the Metal3Remediation of a Machine, or None."""
        return remediations.remediation_of(machine, self.all("Metal3Remediation"))

    def node_of(self, name):
        """Return the name of the Node that the Machine of a name has become, None while it is none."""
        return node_name(self.get("Machine", name))

    def bootstrap_config(self, machine):
        """Return the KubeadmConfig of a Machine, or None."""
        reference = (machine["spec"].get("bootstrap") or {}).get("configRef") or {}
        return self.get("KubeadmConfig", reference.get("name"))

    def host(self, metal3_machine):
        """Return the BareMetalHost that a Metal3Machine was given, or None."""
        if metal3_machine is None:
            return None
        metadata = metal3_machine["metadata"]
        named = (metadata.get("annotations") or {}).get(HOST_ANNOTATION)
        if named:
            return self.get("BareMetalHost", named.rpartition("/")[2])
        # CAPM3 writes the host's consumerRef first, and the annotation when that is stored.
        return self._host_by_consumer.get(metadata["name"])

    def deleted_host(self, metal3_machine):
        """Return the name of the BareMetalHost that a Metal3Machine was given and that is not there any more, or None.

        CAPM3 asks for it again and again, and gives the Metal3Machine no other one (baremetal/metal3machine_manager.go:
        Update). One of the same name that is enrolled again it takes.
        """
        metadata = (metal3_machine or {}).get("metadata") or {}
        namespace, _slash, name = ((metadata.get("annotations") or {}).get(HOST_ANNOTATION) or "").rpartition("/")
        # Of another namespace nothing is read.
        is_read = namespace == metadata.get("namespace", namespace)
        return name if name and is_read and self.get("BareMetalHost", name) is None else None


def _metal3_machine_of(host):
    """Return the name of the Metal3Machine that a host's consumerRef names, or None."""
    consumer = (host.get("spec") or {}).get("consumerRef") or {}
    return consumer.get("name") if consumer.get("kind") == "Metal3Machine" else None


def is_control_plane(machine):
    """Say whether a Machine belongs to the control plane."""
    return CONTROL_PLANE_LABEL in (machine["metadata"].get("labels") or {})


def is_standalone(machine):
    """Say whether nothing owns a Machine that would make another in its place.

    Cluster API labels those of a MachineDeployment and of a MachineSet (api/core/v1beta2/machine_types.go). One that is
    only just made has the labels, but no owner of its own yet.
    """
    labels = machine["metadata"].get("labels") or {}
    return not any(label in labels for label in OWNER_LABELS)


def message(entry, fallback):
    """Return what a condition says, on one line, or another text when it says nothing.

    :param entry: the condition
    """
    # A condition of an owner lists all its machines, line by line; the tree shows them all.
    return gist(entry.get("message") or "", _MESSAGE_LIMIT) or fallback


def node_name(machine):
    """Return the name of a Machine's Node, None while it is none or when there is no Machine."""
    return (((machine or {}).get("status") or {}).get("nodeRef") or {}).get("name")


def is_paused(cluster):
    """Say whether a Cluster is paused, so that Cluster API and its providers do nothing with it; None is not."""
    return bool(((cluster or {}).get("spec") or {}).get("paused"))


def is_paused_alone(obj):
    """Say whether an object of Cluster API is paused by its annotation."""
    return PAUSED_ANNOTATION in (obj["metadata"].get("annotations") or {})


def cloned_from(obj):
    """Return the name of the template that an object was made of, None when it is not known."""
    return ((obj or {}).get("metadata", {}).get("annotations") or {}).get(CLONED_FROM)


def is_of(machine, wanted, snapshot, when_unknown=False):
    """Say whether a Machine is as a MachineDeployment's template says.

    :param wanted: ``spec`` of the template
    :param snapshot: a workflow Snapshot
    :param when_unknown: what counts where the Machine does not say of which template it is made
    """
    spec, config = machine.get("spec") or {}, (wanted.get("bootstrap") or {}).get("configRef")
    pairs = [(spec.get(field), wanted.get(field)) for field in ("version", "failureDomain")]
    pairs += [(cloned_from(obj), (reference or {}).get("name")) for obj, reference in (
        (snapshot.infrastructure_machine(machine), wanted.get("infrastructureRef")),
        (snapshot.bootstrap_config(machine), config))]
    return all(found == expected or (when_unknown and found is None) for found, expected in pairs)

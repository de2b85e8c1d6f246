# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster's etcd is meant: what Cluster API has of it in the management cluster, and how it is reached."""
from __future__ import annotations

import ssl
from typing import Any, NamedTuple

from .._cluster.workflow.snapshot import CLUSTER_LABEL, CONTROL_PLANE_LABEL, node_name
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._kube.api.cluster_clock import ahead_seconds_of
from .._kube.api.workload_client import secret_title, workload_client
from .._kube.kinds.resources import KNOWN as BASE
from .._kube.objects.finalizers import is_going
from .._metal3.kinds import KNOWN
from . import client_certificate
from .errors import EtcdError
from .member import Member, Status

Object = dict[str, Any]


class Site(NamedTuple):
    """A cluster as the management cluster knows it.

    :ivar cluster: the Cluster
    :ivar control_plane: its KubeadmControlPlane
    :ivar machines: the Machines of the control plane, in order of their names
    :ivar authority: SHA-256 of the certificate of its authority
    """

    cluster: Object
    control_plane: Object
    machines: list[Object]
    authority: str

    @property
    def namespace(self) -> str:
        """Return the namespace."""
        return self.cluster["metadata"]["namespace"]

    @property
    def name(self) -> str:
        """Return the name."""
        return self.cluster["metadata"]["name"]

    def nodes(self) -> list[str]:
        """Return the names of the control plane's Nodes."""
        names = [node_name(machine) for machine in self.machines
                 if not is_going(machine)]
        return [name for name in names if name]


def subject_of(namespace: str, name: str) -> str:
    """Return what messages call a cluster."""
    return f"cluster {namespace}/{name}"


def read(client: Any, namespace: str, name: str) -> Site:
    """Return what the management cluster knows of a cluster.

    :param client: a KubeClient of the management cluster
    :raises RefusedError: when there is none, or kubeadm does not run its control plane
    :raises EtcdError: when its authority can't be read
    """
    cluster = client.get(KNOWN["Cluster"], namespace, name)
    if cluster is None:
        raise RefusedError([Problem("etcd-cluster", subject_of(namespace, name), "", "no Cluster", "one",
                                    "correct the name, or the namespace")])
    reference = (cluster.get("spec") or {}).get("controlPlaneRef") or {}
    control_plane = client.get(KNOWN["KubeadmControlPlane"], namespace, reference.get("name") or "-") \
        if reference.get("kind") == "KubeadmControlPlane" else None
    if control_plane is None:
        raise RefusedError([Problem(
            "etcd-control-plane", subject_of(namespace, name), "",
            f"a control plane of kind {reference.get('kind') or '(none)'}", "a KubeadmControlPlane",
            "save its data by the means of who runs it")])
    machines = [machine for machine in client.list(KNOWN["Machine"], namespace, f"{CLUSTER_LABEL}={name}")[0]
                if CONTROL_PLANE_LABEL in (machine["metadata"].get("labels") or {})]
    title = f"Secret {namespace}/{name}-ca"
    authority = client_certificate.fingerprint(client.get(BASE["Secret"], namespace, f"{name}-ca"), title)
    return Site(cluster, control_plane, sorted(machines, key=lambda item: item["metadata"]["name"]), authority)


def context_of(client: Any, site: Site) -> ssl.SSLContext:
    """Return what a connection to the cluster's etcd is made with.

    :raises EtcdError: when its etcd is not managed by Cluster API
    """
    name = client_certificate.secret_name(site.name)
    return client_certificate.tls_context(client.get(BASE["Secret"], site.namespace, name),
                                          f"Secret {site.namespace}/{name}", ahead_seconds_of(client))


def workload_of(client: Any, site: Site) -> Any:
    """Return a KubeClient of the cluster.

    :raises EtcdError: when it has no kubeconfig
    """
    found = workload_client(client, site.namespace, site.name)
    if found is None:
        raise EtcdError(f"{secret_title(site.namespace, site.name)}: found none, expected one; wait until the control "
                        "plane is initialized (playbook metal3.baremetal.cluster)")
    return found


def healthy_member(workload: Any, nodes: list[str], context: ssl.SSLContext) -> tuple[Member, Status]:
    """Return a member that has all that was written, and its status.

    :param nodes: names of the control plane's Nodes
    :raises EtcdError: when there is none, with what each has said
    """
    said = []
    for node in nodes:
        member = Member(workload, node, context)
        try:
            status = member.status()
            if not status.wrong and member.is_up_to_date():
                return member, status
            said.append(f"etcd on Node {node}: {status.wrong or 'not up to date'}")
        except EtcdError as exc:
            said.append(str(exc))
    raise EtcdError("found no member of etcd that answers, expected one: " + ("; ".join(said) or "no Node is known"))

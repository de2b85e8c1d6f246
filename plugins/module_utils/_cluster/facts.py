# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a description is compared with: what its namespace holds, and what the credentials can read of the rest."""
from __future__ import annotations

from .._kube import bulk
from .._kube.advice import reading_failed
from .._kube.errors import KubeError
from .._kube.plan import by_name
from .._metal3.kinds import KNOWN
from .checks.preflight import Facts
from .needs import of_parameter
from .workflow.snapshot import Snapshot

_CRD = KNOWN["CustomResourceDefinition"]
_CRDS = ("clusters.cluster.x-k8s.io", "metal3clusters.infrastructure.cluster.x-k8s.io")


def facts_of_namespace(objects, addresses, snapshot, neighbours=()):
    """Return the Facts that the objects of the cluster's namespace show.

    :param objects: dict of kind to list of objects
    :param addresses: IPAddresses of both kinds
    :param snapshot: the cluster's Snapshot
    :param neighbours: needs of clusters that are made in the same run, see ``cluster_needs``
    """
    return Facts(
        snapshot=snapshot, hosts=objects["BareMetalHost"],
        hardware=by_name(objects["HardwareData"]), pools=by_name(objects["IPPool"]),
        addresses=addresses, claims=objects["IPClaim"] + objects["IPAddressClaim"],
        metal3_clusters=objects["Metal3Cluster"], providers={}, served=None,
        neighbours=[(of_parameter(item), Snapshot(objects, item["name"])) for item in neighbours])


def with_the_rest(client, facts, subject):
    """Add what lies outside of the namespace: clusters elsewhere, versions of the providers and of their resources.

    Who has rights in one namespace only may not read it. That is reported, and the other checks are made.

    :param subject: the cluster, as warnings name it
    :returns: ``(facts, warnings)``
    :raises KubeError: when the API server can't be asked
    """
    reads = (
        ("metal3_clusters", lambda: client.list(KNOWN["Metal3Cluster"])[0], (KNOWN["Metal3Cluster"], "list"),
         "the endpoint is not compared with those of clusters in other namespaces"),
        ("providers", lambda: _providers(client), (KNOWN["Provider"], "list"),
         "the versions of Kubernetes, Cluster API and CAPM3 are not compared"),
        ("served", lambda: _served(client), (_CRD, "get"),
         "whether Cluster API and CAPM3 serve api_version is not checked"),
    )
    found, warnings = {}, []
    for (field, _call, (resource, verb), lack), outcome in zip(reads, bulk.run([read[1] for read in reads])):
        if outcome.error is None:
            found[field] = outcome.value
        elif outcome.error.status == 403:
            warnings.append("%s: %s: %s" % (subject, lack, reading_failed(
                outcome.error, resource, None, client.server, verb)))
        else:
            raise outcome.error
    return facts._replace(**found), warnings


def _providers(client):
    """Return the versions of the installed providers, as clusterctl notes them; none without clusterctl."""
    try:
        items = client.list(KNOWN["Provider"])[0]
    except KubeError as exc:
        if exc.status == 404:
            return {}
        raise
    return dict((item["metadata"]["name"], item.get("version")) for item in items)


def _served(client):
    crds = [client.get(_CRD, None, name) for name in _CRDS]
    return dict((crd["metadata"]["name"], [version["name"] for version in crd["spec"]["versions"] if version["served"]])
                for crd in crds if crd)

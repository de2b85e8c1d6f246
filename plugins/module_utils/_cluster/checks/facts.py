# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a description is compared with: what its namespace holds, and what the credentials can read of the rest."""
from __future__ import annotations

from ..._common.addresses.virtual_router import others_of
from ..._kube.api import bulk
from ..._kube.kinds import served
from ..._kube.reconcile.plan import by_name
from ..._kube.responses.advice import reading_failed
from ..._metal3.kinds import KNOWN
from ..description.needs import of_parameter
from ..description.providers import provider_of
from ..description.spec import METAL3
from ..workflow.snapshot import Snapshot
from .preflight import Facts

_CRD = KNOWN["CustomResourceDefinition"]


def facts_of_namespace(objects, addresses, snapshot, neighbours=(), provider=None, dhcp=None,
                       routers=()):
    """Return the Facts that the objects of the cluster's namespace show.

    :param objects: dict of kind to list of objects
    :param addresses: IPAddresses of both kinds
    :param snapshot: the cluster's Snapshot
    :param neighbours: needs of clusters that are made in the same run, see ``cluster_needs``
    :param provider: the Provider of the cluster, by default that of Metal³
    :param dhcp: what DHCP lends, see ``checks.reservation``
    :param routers: virtual routers of planes and others, see ``virtual_router.others_options``
    """
    provider = provider or provider_of(METAL3)

    def found(kind):
        return objects.get(kind) or []

    return Facts(
        snapshot=snapshot, hosts=found("BareMetalHost"),
        hardware=by_name(found("HardwareData")), pools=by_name(found("IPPool")),
        addresses=addresses, claims=found("IPClaim") + found("IPAddressClaim"),
        clusters=found(provider.cluster_kind), providers={}, served=None,
        neighbours=[(of_parameter(item), Snapshot(objects, item["name"])) for item in neighbours], dhcp=dhcp,
        routers=others_of(routers))


def with_the_rest(client, facts, subject, provider=None):
    """Add what lies outside of the namespace: clusters elsewhere, versions of the providers and of their resources.

    Who has rights in one namespace only may not read it. That is reported, and the other checks are made.

    :param subject: the cluster, as warnings name it
    :param provider: the Provider of the cluster, by default that of Metal³
    :returns: ``(facts, warnings)``
    :raises KubeError: when the API server can't be asked
    """
    provider = provider or provider_of(METAL3)
    infrastructure = KNOWN[provider.cluster_kind]
    reads = (
        ("clusters", lambda: client.list(infrastructure)[0], (infrastructure, "list"),
         "the endpoint is not compared with those of clusters in other namespaces"),
        ("providers", lambda: _providers(client), (KNOWN["Provider"], "list"),
         f"the versions of Kubernetes, Cluster API and {provider.title} are not compared"),
        ("served", lambda: _served(client, infrastructure), (_CRD, "get"),
         f"whether Cluster API and {provider.title} serve api_version is not checked"),
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
    return dict((item["metadata"]["name"], item.get("version")) for item in served.listed(client, KNOWN["Provider"]))


def _served(client, infrastructure):
    names = ("clusters.cluster.x-k8s.io", f"{infrastructure.plural}.{infrastructure.group}")
    crds = [client.get(_CRD, None, name) for name in names]
    return dict((crd["metadata"]["name"], [version["name"] for version in crd["spec"]["versions"] if version["served"]])
                for crd in crds if crd)

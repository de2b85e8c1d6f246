# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions fit together: Cluster API, CAPM3, the workload's Kubernetes; pure.

Source: Cluster API's book, "Supported versions matrix", as of Cluster API 1.13; for 1.9 and 1.10 as of 1.10.
"""
from __future__ import annotations

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._metal3.kinds import CAPI_VERSION, OLD_CAPI_VERSION
from ..description.providers import provider_of
from ..description.spec import METAL3, METALSTACK
from ..description.version_number import parse

# Cluster API minor: first and last Kubernetes minor of a workload cluster.
_WORKLOAD = {9: (26, 32), 10: (27, 33), 11: (28, 34), 12: (29, 36), 13: (30, 36)}
# Its first minor whose status has the conditions and numbers of v1beta2.
_OLDEST = (1, 9)
# By how many minor versions a kubelet may be older than the API servers.
_KUBELETS_BEHIND = 3
_SHOWN = 6
# First patch of a Cluster API minor that knows a Kubernetes minor.
_FIRST_PATCH = {(9, 32): 1, (10, 33): 1, (11, 34): 1, (12, 35): 1, (12, 36): 8, (13, 36): 1}


def newest_providers():
    """Return the newest Cluster API and CAPM3 of the table, for a site that does not say which it has."""
    minor = max(_WORKLOAD)
    patch = max([first for (core, _kubernetes), first in _FIRST_PATCH.items() if core == minor], default=0)
    version = f"v1.{minor}.{patch}"
    return {"cluster-api": version, "infrastructure-metal3": version}


def version_problems(description, providers, served):
    """Return what does not fit.

    :param description: the cluster's description
    :param providers: dict of provider name (``cluster-api``, ``infrastructure-metal3`` …) to its version; only those
        that are known
    :param served: dict of CRD name to the list of versions that it serves; None when nobody can be asked
    """
    subject = description.subject
    found = []
    provider = provider_of(description.provider)
    for crd in ("clusters.cluster.x-k8s.io", f"{provider.cluster_kind.lower()}s.infrastructure.cluster.x-k8s.io"):
        if served is None:
            break
        if crd not in served:
            found.append(Problem(
                "version", subject, "", f"no resource {crd}",
                f"Cluster API and {provider.title} in the management cluster", provider.install))
        elif provider.name == METALSTACK and not crd.startswith("clusters."):
            continue
        elif description.api_version not in served[crd]:
            found += _older(description, provider, crd, served[crd], providers)
    kubernetes = parse(description.kubernetes_version)
    core = parse(providers.get("cluster-api"))
    if core and kubernetes:
        found += _workload(subject, description.kubernetes_version, kubernetes, core)
    infrastructure = parse(providers.get("infrastructure-metal3"))
    if provider.name == METAL3 and core and infrastructure and core[:2] != infrastructure[:2]:
        both = f"CAPM3 {providers['infrastructure-metal3']} with Cluster API {providers['cluster-api']}"
        found.append(Problem("version", subject, "", both, "the same minor version of both",
                             "CAPM3 is built and tested against the Cluster API of its own minor version"))
    return found


def _older(description, provider, crd, served, providers):
    """Return what keeps a cluster from being written in a version that is not the described one.

    A plane that serves only v1beta1 is written in it whatever the description says.
    """
    subject, core = description.subject, parse(providers.get("cluster-api"))
    if description.api_version != CAPI_VERSION or OLD_CAPI_VERSION not in served:
        return [Problem("version", subject, "api_version", shown(description.api_version),
                        f"one of {', '.join(served)}, which {crd} serves")]
    if core and core[:2] < _OLDEST:
        return [Problem("version", subject, "", f"Cluster API {providers['cluster-api']}",
                        f"Cluster API v{_OLDEST[0]}.{_OLDEST[1]} or newer, whose status has what is waited for",
                        "upgrade Cluster API")]
    if provider.name == METAL3 and not description.by_topology:
        return []
    what = "a cluster with a topology" if description.by_topology else f"a cluster of {provider.title}"
    upgrade = f"upgrade {'Cluster API' if crd.startswith('clusters.') else provider.title}"
    return [Problem("version", subject, "", f"{what}, and {crd} in {', '.join(served)} only",
                    f"{CAPI_VERSION}, in which alone it is written",
                    f"{upgrade}, or make a plain cluster" if description.by_topology else upgrade)]


def upgrade_problems(description, current, machines=()):
    """Return why a change of the Kubernetes version is refused (kubeadm: one minor at a time, never down).

    :param current: the version of the control plane as it is, None for a new cluster
    :param machines: ``(name, version, whether it is of the control plane)`` of the Machines that there are: an upgrade
        that was not carried out to its end has not reached all of them
    """
    old, new = parse(current), parse(description.kubernetes_version)
    if not old or not new or old == new:
        return []
    subject = description.subject
    if new < old:
        return [Problem("version", subject, "kubernetes_version", shown(description.kubernetes_version),
                        f"{current} or newer, for kubeadm does not downgrade",
                        f"set kubernetes_version to {current}")]
    if new[0] != old[0] or new[1] > old[1] + 1:
        return [Problem("version", subject, "kubernetes_version", shown(description.kubernetes_version),
                        f"at most one minor version after {current}", "upgrade step by step")]
    # A patch of the same minor version makes nothing worse, and may be what lets an upgrade end.
    return _behind(subject, description.kubernetes_version, new, current, machines) if new[1] > old[1] else []


def _behind(subject, text, new, current, machines):
    """Return the problem of Machines that are too old for a control plane of a version.

    By Kubernetes' version skew policy. Cluster API compares the version that owners describe; only for a cluster with
    a topology it looks whether all of them have it (``validateTopologyVersionUpdate``).
    """
    for is_plane, limit, hint in (
            (True, 1, f"set it to {current} and let that upgrade end first: the API servers of a cluster are at most "
             "one minor version apart"),
            (False, _KUBELETS_BEHIND, "upgrade these machines first, or delete them: older kubelets do not work with "
             "the API server")):
        late = sorted((parse(version), version, name) for name, version, of_plane in machines
                      if of_plane == is_plane and parse(version) and parse(version)[:2] < (new[0], new[1] - limit))
        if late:
            names = few([name for _numbers, _version, name in late], _SHOWN)
            return [Problem("version", subject, "kubernetes_version", shown(text),
                            f"at most {limit} minor version{'' if limit == 1 else 's'} after {late[0][1]}, the oldest "
                            f"version of Machine {names}", hint)]
    return []


def _workload(subject, text, kubernetes, core):
    limits = _WORKLOAD.get(core[1]) if core[0] == 1 else None
    if limits is None:
        return []
    first, last = limits
    if kubernetes[0] != 1 or not first <= kubernetes[1] <= last:
        return [Problem(
            "version", subject, "kubernetes_version", shown(text),
            f"v1.{first} to v1.{last}, which Cluster API v1.{core[1]} supports",
            "choose one of these" + ("" if kubernetes[1] < first else ", or upgrade the plane first"))]
    patch = _FIRST_PATCH.get((core[1], kubernetes[1]), 0)
    if core[2] < patch:
        return [Problem(
            "version", subject, "kubernetes_version", shown(text), f"Cluster API v1.{core[1]}.{patch} or newer for it",
            "upgrade Cluster API")]
    return []

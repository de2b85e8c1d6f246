# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what there is, once, and compares a cluster's description with it."""
from __future__ import annotations

from typing import Any, NamedTuple

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.objects.finalizers import staying_problems
from ..._kube.pods import deployment_pod
from ..._kube.responses.advice import reading_failed
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import CAPI_VERSION, KNOWN
from ..checks.addon import addon_problems
from ..checks.facts import facts_of_namespace, with_the_rest
from ..checks.metalstack import provider_problems
from ..checks.network_questions import NetworkQuestions
from ..checks.preflight import Facts, preflight_problems
from ..checks.topology import change_problems, class_problems
from ..description.model import ClusterDescription
from ..description.providers import with_classes
from ..render import standalone as cluster_standalone
from ..render.health import with_template_version
from ..workflow.reading import read_all
from ..workflow.snapshot import Snapshot
from ..writing import ownership as cluster_ownership
from .resource_set_service import ResourceSets
from .run import ClusterRun


class CheckedCluster(NamedTuple):
    """What was read for a run, which nothing was found wrong with.

    :param description: the cluster's description
    :param desired: the objects that it asks for
    :param manifests: objects for the new cluster
    :param objects: stored objects of the namespace by kind
    :param snapshot: of the cluster, from the same objects
    :param facts: what the description was compared with
    :param resource_sets: the cluster's ClusterResourceSet
    :param network: what is still being asked of the network, None when nothing is
    :param unread: warnings about what could not be read
    """

    description: ClusterDescription
    desired: list[dict[str, Any]]
    manifests: list[dict[str, Any]]
    objects: dict[str, list[dict[str, Any]]]
    snapshot: Snapshot
    facts: Facts
    resource_sets: ResourceSets
    network: NetworkQuestions | None
    unread: list[str]

    def network_problems(self) -> list:
        """Wait for what the network answers and return its problems."""
        if not self.network:
            return []
        found = self.network.problems(is_new=self.snapshot.cluster is None)
        self.unread.extend(self.network.warnings)
        return found


def check(run: ClusterRun) -> CheckedCluster:
    """Read what there is, once, and compare the description with it.

    :raises RefusedError: with all that is wrong, what the network says included
    """
    described = run.read()
    description, desired = described.description, described.objects
    manifests = run.manifests(None).objects()
    network = NetworkQuestions(run.subject, description, run.options["image_ca_file"],
                               deployment_pod.of_options(run.options.get("ironic_pod"))) \
        if run.options["check_network"] else None
    if description.by_topology:
        run.writes.provider = with_classes(run.provider)
    objects, addresses = read_all(run.client, run.namespace, run.provider)
    version = run.client.version_of(KNOWN["Metal3RemediationTemplate"])
    if version != CAPI_VERSION and run.client.version_of(KNOWN["MachineHealthCheck"]) == CAPI_VERSION:
        # CAPM3 1.11 and 1.12 beside a Cluster API that is newer than they are.
        desired = with_template_version(desired, version)
    snapshot = Snapshot(objects, run.name)
    facts, unread = facts_of_namespace(objects, addresses, snapshot, run.options.get("neighbours", ()),
                                       run.provider, run.options.get("dhcp"),
                                       run.options.get("virtual_routers", ())), []
    if run.options["check_hosts"]:
        facts, unread = with_the_rest(run.client, facts, run.subject, run.provider)
    resource_sets = ResourceSets(run, manifests, objects)
    found = provider_problems(description, snapshot.cluster) + addon_problems(description, manifests)
    found += change_problems(description, snapshot.cluster, run.options["prune"])
    if description.cluster_class:
        found += _of_class(run, description, unread)
    found += preflight_problems(description, facts) if run.options["check_hosts"] else []
    found += cluster_ownership.problems(run.subject, description, desired, objects, run.options.get("adopt"))
    found += resource_sets.problems(description)
    # With the rest, since hosts and addresses that are missing may be those that are about to be given back.
    found += staying_problems(cluster_standalone.without_stored(description, desired, objects)[0], objects)
    checked = CheckedCluster(description, desired, manifests, objects, snapshot, facts, resource_sets, network,
                             unread)
    if found:
        raise RefusedError(found + checked.network_problems(), run.names)
    return checked


def _of_class(run: ClusterRun, description: ClusterDescription, unread: list[str]) -> list[Problem]:
    """Return what a description asks of a class of the user's that the class has not."""
    about = description.cluster_class or {}
    kind, namespace = KNOWN["ClusterClass"], about.get("namespace") or run.namespace
    try:
        return class_problems(description, run.client.get(kind, namespace, about["name"]))
    except KubeError as exc:
        if exc.status != 403:
            raise
        unread.append(f"{run.subject}: whether the ClusterClass has what is asked of it is not checked: "
                      f"{reading_failed(exc, kind, namespace, run.client.server, 'get')}")
        return []

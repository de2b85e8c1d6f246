# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a cluster by ClusterClass, and for changes between that and a plain one; pure.

Source: Cluster API 1.13, ``internal/webhooks/cluster.go``, ``exp/topology/desiredstate``.
"""
from __future__ import annotations

from typing import Any

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription, Group
from ..description.spec import METALSTACK, REMEDIATION_OF_CONTROL_PLANE, machine_options
from ..workflow.topology import is_by_topology, kept_pools

CODE = "topology"
_ONLY_OF_CLASS = ("machine_class", "class_variables")
# What a Cluster's topology says itself, or what is looked at before: all else of its machines the class says.
_BESIDE_CLASS = ("machine_labels", "machine_annotations", "node_drain_timeout_seconds", "node_deletion_timeout_seconds",
                 "node_volume_detach_timeout_seconds", "max_surge", "max_unavailable", "rollout_after", "health_check",
                 "remediation", "deletion_order", "min_ready_seconds", "minimum_memory_mebibytes",
                 "minimum_root_disk_gigabytes")
_OF_CLASS = ("networks", "failure_domains", "label_sync_prefixes", "node_ip_network", "registry_mirrors",
             "supported_links", "cloud_provider_enabled", "provider_id_by_kubelet")
_OF_ENDPOINT = ("holder", "interface", "virtual_router_id", "image")
_NEITHER = "describe such a cluster without topology and cluster_class"


def topology_problems(subject: str, description: ClusterDescription) -> list[Problem]:
    """Return the problems of what concerns classes, for a cluster with or without one.

    :param subject: the cluster, for the problems
    """
    found = []
    if not description.cluster_class:
        for group in description.groups:
            found += [_refused(subject, f"{group.field}.{option}", "a value", "nothing without cluster_class",
                               "remove it, or name the class in cluster_class")
                      for option in _ONLY_OF_CLASS if group.get(option) is not None]
    if not description.by_topology:
        return found
    if description.topology is False:
        found.append(_refused(subject, "topology", "false", "true, or nothing, with cluster_class",
                              "remove one of them"))
    if description.provider == METALSTACK:
        found.append(_refused(subject, "provider", shown(description.provider), "metal3 with topology or cluster_class",
                              f"the provider of metal-stack has no template of a cluster: {_NEITHER}"))
    if description.api_version != "v1beta2":
        found.append(_refused(subject, "api_version", shown(description.api_version),
                              "v1beta2 with topology or cluster_class", "leave api_version out"))
    if description.standalone_machines or description.absent_standalone_machines:
        found.append(_refused(subject, "standalone_machines", "a value", "nothing with topology or cluster_class",
                              f"Cluster API makes the machines of a topology only in pools: {_NEITHER}"))
    for group in description.groups:
        if group.get("machine_name_template") and not group.is_control_plane and not group.is_standalone:
            found.append(_refused(subject, description.option_path(group, "machine_name_template"), "a value",
                                  "nothing for workers with topology or cluster_class",
                                  "a class has no place for it: set it in control_plane only"))
        if (group.get("remediation") or {}).get("max_in_flight") is not None and not group.is_control_plane \
                and not (group.get("health_check") or {}).get("enabled"):
            found.append(_refused(
                subject, f"{description.option_path(group, 'remediation')}.max_in_flight", "a value",
                "nothing without health_check with topology or cluster_class",
                "set health_check beside it, which has its place in a topology, or remove it"))
    return found + (_with_class(subject, description) if description.cluster_class else [])


def _with_class(subject: str, description: ClusterDescription) -> list[Problem]:
    hint = "the class says it: give it to the class, by a variable where it has one (cluster_class.variables)"
    found = [_refused(subject, option, "a value", "nothing with cluster_class", hint)
             for option in _OF_CLASS if getattr(description, option)]
    if description.node_name != "machine":
        found.append(_refused(subject, "node_name", shown(description.node_name), "nothing with cluster_class", hint))
    found += [_refused(subject, f"endpoint.{option}", "a value", "nothing with cluster_class", hint)
              for option in _OF_ENDPOINT if (description.endpoint or {}).get(option) not in (None, "none")]
    for group in description.groups:
        found += [_refused(subject, path, "a value", "nothing with cluster_class", hint)
                  for path in _paths_of_class(description, group)]
    if description.groups[0].get("machine_class"):
        found.append(_refused(subject, "control_plane.machine_class", "a value", "nothing",
                              "a class has one control plane: name classes of pools only"))
    return list(dict.fromkeys(found))


def _paths_of_class(description: ClusterDescription, group: Group) -> list[str]:
    options = [option for option in machine_options() if option not in _BESIDE_CLASS]
    if group.is_control_plane:
        options += ["max_surge", "certificate_renewal_days"]
    found = [description.option_path(group, option) for option in options if group.get(option) not in (
        None, [], {}, False)]
    given = (group.get("remediation") or {}) if group.is_control_plane else {}
    return found + [f"{description.option_path(group, 'remediation')}.{name}" for name in REMEDIATION_OF_CONTROL_PLANE
                    if given.get(name) is not None]


def change_problems(description: ClusterDescription, cluster: dict[str, Any] | None, prune: bool) -> list[Problem]:
    """Return why Cluster API could not bring a stored cluster to a description.

    :param cluster: the stored Cluster, or None
    :param prune: whether what is not described any more goes
    """
    if cluster is None:
        return []
    subject, stored = description.subject, is_by_topology(cluster)
    if stored != description.by_topology:
        # Without, its own webhook: "classRef cannot be set on an existing Cluster"; with: "cannot be removed".
        return [_refused(
            subject, "cluster_class" if description.cluster_class else "topology",
            "a class" if description.by_topology else "no class",
            "a topology, as the cluster has it" if stored else "no topology, for the cluster was made without",
            "set topology: true, or the class in cluster_class" if stored else
            "Cluster API gives no topology to a cluster that is there: make another cluster, or remove the option")]
    kept = kept_pools(description, cluster, prune)
    return [_refused(
        subject, "workers", "no description of %s" % ", ".join(kept), "every pool that the cluster has, with topology",
        "the Cluster holds the pools itself: describe them, or say that they go (state: absent, or workers: {} for "
        "all)")] if kept else []


def class_problems(description: ClusterDescription, stored: dict[str, Any] | None) -> list[Problem]:
    """Return what a description asks of a class of the user's that the class has not.

    :param stored: the ClusterClass, None when there is none
    """
    subject, about = description.subject, description.cluster_class or {}
    name = f"{about.get('namespace') or description.namespace}/{about['name']}"
    if stored is None:
        # Cluster API would make the Cluster and wait for the class.
        return [_refused(subject, "cluster_class.name", f"{name}, which is no ClusterClass", "a class that is there",
                         "correct name or namespace, or make the class first")]
    spec = stored.get("spec") or {}
    classes = sorted(item["class"] for item in (spec.get("workers") or {}).get("machineDeployments") or [])
    variables = sorted(item["name"] for item in spec.get("variables") or [])
    found = []
    for group in description.groups[1:]:
        wanted = group.get("machine_class") or group.name
        if wanted not in classes:
            found.append(_refused(subject, f"{group.field}.machine_class", shown(wanted), _one_of(classes, name),
                                  f"name one of them, or add {wanted} to the ClusterClass"))
    given = [("cluster_class.variables", about.get("variables"))]
    given += [(f"{group.field}.class_variables", group.get("class_variables")) for group in description.groups]
    for field, values in given:
        found += [_refused(subject, f"{field}.{variable}", "a value", _one_of(variables, name),
                           "remove it, or add it to the ClusterClass")
                  for variable in sorted(values or {}) if variable not in variables]
    return found


def _one_of(names: list[str], of_class: str) -> str:
    return f"one of {', '.join(names) or '(none)'}, which ClusterClass {of_class} has"


def gate_problem(subject: str, message: str) -> Problem | None:
    """Return what to do about a refusal of Cluster API whose feature for classes is switched off, None for others.

    :param message: of the refusal
    """
    if "ClusterTopology feature flag" not in message:
        return None
    return _refused(subject, "topology", "a class", "Cluster API with its feature gate ClusterTopology, which is off",
                    "set capi_cluster_topology: true and run the playbook that starts the plane (install), or describe "
                    "the cluster without a class")


def _refused(subject: str, field: str, found: str | None, expected: str, hint: str) -> Problem:
    return Problem(CODE, subject, field, found, expected, hint)

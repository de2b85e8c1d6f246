# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster by ClusterClass: its class and templates out of the plain rendering, and a Cluster with a topology; pure.

The class is named after its content as its templates are, ``<cluster>-<hash>``, and never changes. So a change of the
description is one write, of the Cluster: version, templates and numbers change at once. Were the class changed in
place, Cluster API would begin to replace machines by the new image with the old version, or the other way round.

Source: Cluster API 1.13, ``api/core/v1beta2/clusterclass_types.go`` and ``exp/topology/desiredstate``.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..description.model import ClusterDescription, Group
from ..workflow.topology import CLASS_ANNOTATION
from . import autoscaler as cluster_autoscaler
from .health import health_check
from .parts import (
    CAPI,
    CONTROLPLANE,
    INFRASTRUCTURE,
    VERSION,
    content_name,
    deletion,
    deletion_order,
    made,
    present,
    remediation,
    rollout,
)

Object = dict[str, Any]

# As in the plain rendering: ``<cluster>``, ``<cluster>-control-plane``, ``<cluster>-<pool>``.
_CLUSTER_NAMING = "{{ .cluster.name }}"
_CONTROL_PLANE_NAMING = "{{ .cluster.name }}-control-plane"
_POOL_NAMING = "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}"
# Made by Cluster API of the class and of the Cluster's topology.
_OF_TOPOLOGY = ("Metal3Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineHealthCheck")
# Of a control plane: in the Cluster's topology, or said by the class in another place.
_NOT_OF_TEMPLATE = ("replicas", "version", "machineTemplate")


def of_plain(description: ClusterDescription, items: Iterable[Object]) -> list[Object]:
    """Return the objects of a cluster with a class of its own, in the order in which they are best written.

    :param items: the objects of the same cluster without a topology
    """
    items = _with_whole_names(items)
    infrastructure = next(item for item in items if item["kind"] == "Metal3Cluster")
    plane = next(item for item in items if item["kind"] == "KubeadmControlPlane")
    pools = [item for item in items if item["kind"] == "MachineDeployment"]
    cluster_template = _cluster_template(description, infrastructure)
    plane_template = _plane_template(description, plane)
    spec: Object = {
        "infrastructure": {"templateRef": _template_ref(cluster_template), "naming": {"template": _CLUSTER_NAMING}},
        "controlPlane": {
            "templateRef": _template_ref(plane_template),
            "machineInfrastructure": {"templateRef": _named(plane["spec"]["machineTemplate"]["spec"])},
            "naming": {"template": _CONTROL_PLANE_NAMING}}}
    if pools:
        spec["workers"] = {"machineDeployments": [_pool_class(description, pool) for pool in pools]}
    made_class = made(description, CAPI, "ClusterClass", content_name(description.name, spec), spec)
    name = made_class["metadata"]["name"]
    cluster = _cluster(description, {"name": name}, {CLASS_ANNOTATION: name})
    of_class = [item for item in items if item["kind"] in ("Metal3MachineTemplate", "KubeadmConfigTemplate")]
    rest = [item for item in items if item not in of_class and item["kind"] not in (*_OF_TOPOLOGY, "Cluster")]
    return [cluster_template, plane_template, *of_class, made_class, cluster, *rest]


def of_class(description: ClusterDescription) -> list[Object]:
    """Return the objects of a cluster with a class that the user has made."""
    about = description.cluster_class or {}
    cluster = _cluster(description, present({"name": about["name"], "namespace": about.get("namespace")}), {})
    variables = _variables(about.get("variables"))
    if variables:
        cluster["spec"]["topology"]["variables"] = variables
    return [cluster] + [item for group in description.groups for item in health_check(description, group)
                        if item["kind"] not in _OF_TOPOLOGY]


def owners(items: Iterable[Object]) -> list[Object]:
    """Return the owners of machines that Cluster API is to make, with the names of the class's templates in them.

    :param items: the objects of the same cluster without a topology
    """
    return [item for item in _with_whole_names(items) if item["kind"] in ("KubeadmControlPlane", "MachineDeployment")]


def _with_whole_names(items: Iterable[Object]) -> list[Object]:
    """Return the objects with Metal3MachineTemplates that are named after all that they hold.

    With a topology nothing of them changes in place: whatever of a template changes makes Cluster API take another.
    """
    names, result = {}, []
    for item in items:
        if item["kind"] == "Metal3MachineTemplate":
            old = item["metadata"]["name"]
            names[old] = content_name(old.rpartition("-")[0], item["spec"])
            item = dict(item, metadata=dict(item["metadata"], name=names[old]))
        result.append(item)
    return [_renamed(item, names) for item in result]


def _renamed(item: Object, names: Mapping[str, str]) -> Object:
    inner = {"KubeadmControlPlane": "machineTemplate", "MachineDeployment": "template"}.get(item["kind"])
    if inner is None:
        return item
    outer = item["spec"][inner]
    reference = outer["spec"]["infrastructureRef"]
    outer = dict(outer, spec=dict(outer["spec"], infrastructureRef=dict(reference, name=names[reference["name"]])))
    return dict(item, spec=dict(item["spec"], **{inner: outer}))


def _cluster_template(description: ClusterDescription, infrastructure: Object) -> Object:
    template = present({"metadata": present({"annotations": infrastructure["metadata"].get("annotations")}),
                        "spec": infrastructure["spec"]})
    spec = {"template": template}
    return made(description, INFRASTRUCTURE, "Metal3ClusterTemplate", content_name(description.name, spec), spec)


def _plane_template(description: ClusterDescription, plane: Object) -> Object:
    inner = dict((key, value) for key, value in plane["spec"].items() if key not in _NOT_OF_TEMPLATE)
    inner["rollout"] = dict((key, value) for key, value in (inner.get("rollout") or {}).items() if key != "after")
    spec = {"template": {"spec": present(inner)}}
    return made(description, CONTROLPLANE, "KubeadmControlPlaneTemplate",
                content_name(plane["metadata"]["name"], spec), spec)


def _pool_class(description: ClusterDescription, pool: Object) -> Object:
    machine = pool["spec"]["template"]["spec"]
    return {"class": pool["metadata"]["name"][len(description.name) + 1:], "naming": {"template": _POOL_NAMING},
            "bootstrap": {"templateRef": _template_ref_of(machine["bootstrap"]["configRef"])},
            "infrastructure": {"templateRef": _named(machine)}}


def _named(spec: Mapping[str, Any]) -> Object:
    return _template_ref_of(spec["infrastructureRef"])


def _template_ref_of(reference: Mapping[str, Any]) -> Object:
    # A class's references have an apiVersion, others an apiGroup.
    return {"apiVersion": f"{reference['apiGroup']}/{VERSION}", "kind": reference["kind"], "name": reference["name"]}


def _template_ref(template: Object) -> Object:
    return {"apiVersion": template["apiVersion"], "kind": template["kind"], "name": template["metadata"]["name"]}


def _cluster(description: ClusterDescription, class_ref: Object, annotations: Mapping[str, str]) -> Object:
    topology = {"classRef": class_ref, "version": description.kubernetes_version,
                "controlPlane": _control_plane(description, description.groups[0], annotations)}
    pools = [_pool(description, group, annotations) for group in description.groups[1:]]
    if pools:
        topology["workers"] = {"machineDeployments": pools}
    return made(description, CAPI, "Cluster", description.name, {
        "clusterNetwork": {
            "pods": {"cidrBlocks": description.pod_cidrs}, "services": {"cidrBlocks": description.service_cidrs},
            "serviceDomain": description.service_domain},
        "topology": topology})


def _control_plane(description: ClusterDescription, group: Group, annotations: Mapping[str, str]) -> Object:
    return dict(_common(description, group, annotations), replicas=group.initial_replicas,
                **present({"rollout": present({"after": group.get("rollout_after")})}))


def _pool(description: ClusterDescription, group: Group, annotations: Mapping[str, str]) -> Object:
    # Without a number Cluster API would take one machine once nobody owns the number any more.
    number = {} if group.get("autoscaler") else {"replicas": group.initial_replicas}
    return {"name": group.name, "class": group.get("machine_class") or group.name, **number,
            **_common(description, group, {**annotations, **cluster_autoscaler.pool_annotations(group)}),
            **present({"failureDomain": group.get("failure_domain"),
                       "minReadySeconds": group.get("min_ready_seconds"),
                       "rollout": rollout(group, group.get("max_surge"), group.get("max_unavailable"))})}


def _common(description: ClusterDescription, group: Group, annotations: Mapping[str, str]) -> Object:
    check = next((item["spec"] for item in health_check(description, group) if item["kind"] == "MachineHealthCheck"),
                 {})
    return present({
        "metadata": present({"labels": group.get("machine_labels"),
                             "annotations": {**(group.get("machine_annotations") or {}), **annotations}}),
        "deletion": {**deletion(group), **deletion_order(group)},
        "healthCheck": present({"checks": check.get("checks"), "remediation": {
            **check.get("remediation", {}), **({} if group.is_control_plane else remediation(group))}}),
        "variables": present({"overrides": _variables(group.get("class_variables"))})})


def _variables(given: Mapping[str, Any] | None) -> list[Object]:
    return [{"name": name, "value": value} for name, value in sorted((given or {}).items())]

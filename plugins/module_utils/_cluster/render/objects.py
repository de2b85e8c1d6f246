# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All objects of a cluster from its description; pure, in v1beta2.

Templates are immutable and named after their content, ``<cluster>-<group>-<hash>``: a change makes a new template and
moves the reference to it, so that the controllers roll the machines (Cluster API, "Updating machine templates"). What
CAPM3 takes up without a new machine is not in the name (:func:`with_changes_in_place`).
"""
from __future__ import annotations

from ..._common.options.field_checks import text_of
from ..._host.description import selector as host_selector
from ..._metal3.conversion.older import downgrade
from ..description.image_format import image_format
from ..description.providers import provider_of
from ..description.spec import METALSTACK
from ..workflow.snapshot import CLUSTER_LABEL, DEPLOYMENT_LABEL
from . import autoscaler as cluster_autoscaler
from . import kubeadm as cluster_kubeadm
from . import metalstack as cluster_metalstack
from . import network as cluster_network
from . import standalone as cluster_standalone
from . import topology as cluster_topology
from .health import health_check
from .parts import (
    BOOTSTRAP,
    CAPI,
    CONTROLPLANE,
    INFRASTRUCTURE,
    common_labels,
    content_name,
    deletion,
    deletion_order,
    made,
    present,
    reference,
    remediation,
    rollout,
)

LABEL_SYNC_ANNOTATION = "metal3.io/metal3-label-sync-prefixes"
MACHINE_TEMPLATE_KINDS = ("Metal3MachineTemplate", "MetalStackMachineTemplate")
TEMPLATE_KINDS = ("Metal3DataTemplate", *MACHINE_TEMPLATE_KINDS, "KubeadmConfigTemplate")


def render(description):
    """Return the objects of a cluster in the order in which they are best written.

    :param description: as returned by ``cluster_description.read``
    :returns: list of objects of the description's ``api_version``
    """
    if description.cluster_class:
        return cluster_topology.of_class(description)
    objects = _plain(description)
    return cluster_topology.of_plain(description, objects) if description.topology else [
        _in_version(item, description.api_version) for item in objects]


def owners(description):
    """Return the owners of machines as Cluster API makes them of a topology, referring to the class's templates."""
    return cluster_topology.owners(_plain(description))


def _plain(description):
    objects = [_cluster(description), *_infrastructure(description)]
    machines, checks = [], []
    for group in description.groups:
        templates, owner = _group(description, group)
        objects += templates
        machines.append(owner)
        checks += [] if group.is_standalone else health_check(description, group)
    return objects + machines + checks


def _infrastructure(description):
    if description.provider == METALSTACK:
        return [_of_metalstack(description, kind, description.name, spec(description)) for kind, spec in (
            ("MetalStackCluster", cluster_metalstack.cluster_spec),
            ("MetalStackFirewallTemplate", cluster_metalstack.firewall_template_spec),
            ("MetalStackFirewallDeployment", cluster_metalstack.firewall_deployment_spec))]
    return [_metal3_cluster(description)] + cluster_network.pools(description)


def _of_metalstack(description, kind, name, spec):
    return dict(made(description, INFRASTRUCTURE, kind, name, spec),
                apiVersion=f"{INFRASTRUCTURE}/{cluster_metalstack.VERSION}")


def _in_version(obj, version):
    if _has_bonds(obj):
        return downgrade(obj)
    # Stored without the empty values, no Metal3Machine could be made of the template.
    return downgrade(obj) if version == "v1beta1" and not loses_values(obj) else obj


def loses_values(obj):
    """Say whether an object has values that CAPM3 1.13 drops when it converts or updates: the empty list of Exists.

    Its CRDs require it, in both versions.
    """
    if obj["kind"] not in ("Metal3MachineTemplate", "Metal3Machine"):
        return False
    machine = obj["spec"] if obj["kind"] == "Metal3Machine" else obj["spec"]["template"]["spec"]
    expressions = (machine.get("hostSelector") or {}).get("matchExpressions") or []
    return any(not entry.get("values") for entry in expressions)


def _has_bonds(obj):
    """Say whether an object can only be written in v1beta1.

    CAPM3 1.13's v1beta2 CRD requires bond parameters and types their values as objects, so that it refuses both a bond
    without parameters and every parameter that Linux knows.
    """
    links = (obj["spec"].get("networkData") or {}).get("links") or {}
    return obj["kind"] == "Metal3DataTemplate" and bool(links.get("bonds"))


def data_template_name(description, group):
    """Return the name of a group's Metal3DataTemplate, with which the names of its machines' IPClaims begin."""
    return _data_template(description, group)["metadata"]["name"]


def with_changes_in_place(spec, group):
    """Return a Metal3MachineTemplate's spec with what CAPM3 takes up without a new machine, as the group has it.

    Its webhook allows a change of both. ``nodeReuse`` is read when a host is given back, for a worker from the template
    that the machine was made of; the cleaning mode is copied from there to the Metal3Machine whenever it changes
    (``baremetal/metal3machine_manager.go``, ``metal3machinetemplate_manager.go``). Without the field CAPM3 leaves the
    Metal3Machines, and so the BareMetalHosts, as they are.
    """
    machine = dict(spec["template"]["spec"], automatedCleaningMode=group.get("automated_cleaning_mode") or "metadata")
    if machine["automatedCleaningMode"] == "host":
        del machine["automatedCleaningMode"]
    return dict(spec, nodeReuse=bool(group.get("node_reuse")), template=dict(spec["template"], spec=machine))


def _cluster(description):
    name = description.name
    control_plane = description.groups[0].owner
    return made(description, CAPI, "Cluster", name, {
        "clusterNetwork": {
            "pods": {"cidrBlocks": description.pod_cidrs},
            "services": {"cidrBlocks": description.service_cidrs},
            "serviceDomain": description.service_domain,
        },
        "controlPlaneRef": reference(CONTROLPLANE, "KubeadmControlPlane", control_plane),
        "infrastructureRef": reference(INFRASTRUCTURE, provider_of(description.provider).cluster_kind, name),
    })


def _metal3_cluster(description):
    spec = {"controlPlaneEndpoint": {"host": description.endpoint["host"], "port": description.endpoint["port"]},
            "cloudProviderEnabled": description.cloud_provider_enabled}
    if description.failure_domains:
        spec["failureDomains"] = [
            present({"name": domain["name"], "controlPlane": domain["control_plane"],
                     "attributes": domain.get("attributes")}) for domain in description.failure_domains]
    annotations = {}
    if description.label_sync_prefixes:
        annotations[LABEL_SYNC_ANNOTATION] = ",".join(description.label_sync_prefixes)
    return made(description, INFRASTRUCTURE, "Metal3Cluster", description.name, spec, annotations=annotations)


def _group(description, group):
    prefix = group.owner
    if group.is_standalone:
        return _standalone(description, group)
    templates = _machine_templates(description, group)
    machine = templates[-1]
    if group.is_control_plane:
        return templates, _control_plane(description, group, machine)
    bootstrap = _template(description, BOOTSTRAP, "KubeadmConfigTemplate", prefix, {
        "template": {"spec": cluster_kubeadm.config_spec(description, group)}})
    return [*templates, bootstrap], _machine_deployment(description, group, machine, bootstrap)


def _standalone(description, group):
    """Return what a standalone Machine refers to, and the Machine."""
    name, data = group.owner, _data_template(description, group)
    infrastructure = _machine_spec(group, data["metadata"]["name"])
    infrastructure = with_changes_in_place({"template": {"spec": infrastructure}}, group)["template"]["spec"]
    config = cluster_kubeadm.config_spec(description, group)
    spec = present({
        "clusterName": description.name, "version": description.kubernetes_version,
        "failureDomain": group.get("failure_domain"), "deletion": deletion(group),
        "bootstrap": {"configRef": reference(BOOTSTRAP, "KubeadmConfig", name)},
        "infrastructureRef": reference(INFRASTRUCTURE, "Metal3Machine", name)})
    annotations = dict(group.get("machine_annotations") or {}, **{
        cluster_standalone.MADE_OF: cluster_standalone.made_of(spec, infrastructure, config)})
    return [data, made(description, INFRASTRUCTURE, "Metal3Machine", name, infrastructure),
            made(description, BOOTSTRAP, "KubeadmConfig", name, config)], made(
        description, CAPI, "Machine", name, spec, dict(group.get("machine_labels") or {}, **common_labels(description)),
        annotations)


def _machine_templates(description, group):
    """Return the templates of a group's machines, the one that their owner refers to last."""
    if description.provider == METALSTACK:
        spec = cluster_metalstack.machine_template_spec(group)
        return [_of_metalstack(description, "MetalStackMachineTemplate", content_name(group.owner, spec), spec)]
    data = _data_template(description, group)
    return [data, _machine_template(description, group, data["metadata"]["name"])]


def _template(description, group, kind, prefix, spec):
    return made(description, group, kind, content_name(prefix, spec), spec)


def _data_template(description, group):
    return _template(description, INFRASTRUCTURE, "Metal3DataTemplate", group.owner, present({
        "clusterName": description.name,
        "metaData": cluster_network.meta_data(description, group),
        "networkData": cluster_network.network_data(description, group),
    }))


def _machine_template(description, group, data_template):
    spec = {"template": {"spec": _machine_spec(group, data_template)}}
    result = _template(description, INFRASTRUCTURE, "Metal3MachineTemplate", group.owner,
                       with_changes_in_place(spec, {}))
    result["spec"] = with_changes_in_place(spec, group)
    return result


def _machine_spec(group, data_template):
    spec = {"dataTemplate": {"name": data_template}}
    selector = present({
        "matchLabels": dict((key, text_of(value)) for key, value in (group.get("host_selector") or {}).items()),
        # The CRD requires values, of Exists and DoesNotExist too.
        "matchExpressions": [{"key": entry["key"],
                              "operator": host_selector.as_controllers_read(entry["operator"]),
                              "values": entry.get("values") or []}
                             for entry in group.get("host_selector_expressions") or []],
    })
    if selector:
        spec["hostSelector"] = selector
    if group.get("custom_deploy"):
        spec["customDeploy"] = {"method": group.get("custom_deploy")}
    image = group.get("image")
    if image:
        spec["image"] = present({"url": image["url"], "checksumType": image.get("checksum_type"),
                                 "diskFormat": image_format(image)})
        # Required by the CRD, empty for a live-iso.
        spec["image"]["checksum"] = image.get("checksum") or ""
    return spec


def _control_plane(description, group, machine):
    template = {"spec": present({
        "infrastructureRef": reference(INFRASTRUCTURE, machine["kind"], machine["metadata"]["name"]),
        "deletion": deletion(group)})}
    metadata = present({"labels": group.get("machine_labels"), "annotations": group.get("machine_annotations")})
    if metadata:
        template["metadata"] = metadata
    surge = 1 if group.get("max_surge") is None else group.get("max_surge")
    spec = {
        "replicas": group.initial_replicas, "version": description.kubernetes_version, "machineTemplate": template,
        "kubeadmConfigSpec": cluster_kubeadm.config_spec(description, group), "rollout": rollout(group, surge, None),
        **present({"remediation": remediation(group)})}
    if group.get("machine_name_template"):
        spec["machineNaming"] = {"template": group.get("machine_name_template")}
    return made(description, CONTROLPLANE, "KubeadmControlPlane", group.owner, spec)


def _machine_deployment(description, group, machine, bootstrap):
    name = group.owner
    labels = {CLUSTER_LABEL: description.name, DEPLOYMENT_LABEL: name}
    metadata = {"labels": dict(group.get("machine_labels") or {}, **labels)}
    if group.get("machine_annotations"):
        metadata["annotations"] = group.get("machine_annotations")
    spec = present({
        "clusterName": description.name,
        "replicas": group.get("replicas"),
        "selector": {"matchLabels": labels},
        "rollout": rollout(group, group.get("max_surge"), group.get("max_unavailable")),
        "remediation": remediation(group),
        "deletion": deletion_order(group),
        "template": {"metadata": metadata, "spec": present({
            "clusterName": description.name,
            "version": description.kubernetes_version,
            "failureDomain": group.get("failure_domain"),
            "deletion": deletion(group),
            "minReadySeconds": group.get("min_ready_seconds"),
            "bootstrap": {"configRef": reference(BOOTSTRAP, "KubeadmConfigTemplate", bootstrap["metadata"]["name"])},
            "infrastructureRef": reference(INFRASTRUCTURE, machine["kind"], machine["metadata"]["name"]),
        })}})
    if group.get("machine_name_template"):
        spec["machineNaming"] = {"template": group.get("machine_name_template")}
    return made(description, CAPI, "MachineDeployment", name, spec, {DEPLOYMENT_LABEL: name},
                cluster_autoscaler.pool_annotations(group))

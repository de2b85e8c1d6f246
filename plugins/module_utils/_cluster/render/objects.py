# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All objects of a cluster from its description; pure, in v1beta2.

Templates are immutable and named after their content, ``<cluster>-<group>-<hash>``: a change makes a new template and
moves the reference to it, so that the controllers roll the machines (Cluster API, "Updating machine templates"). What
CAPM3 takes up without a new machine is not in the name (:func:`with_changes_in_place`).
"""
from __future__ import annotations

import hashlib
import json

from ..._common.field_checks import text_of
from ..._host import selector as host_selector
from ..._host.objects import MANAGED_BY_LABEL, MANAGER
from ..checks import image as cluster_image
from ..providers import provider_of
from ..spec import METALSTACK
from ..workflow.snapshot import CLUSTER_LABEL, CONTROL_PLANE_LABEL, DEPLOYMENT_LABEL
from . import kubeadm as cluster_kubeadm
from . import metalstack as cluster_metalstack
from . import network as cluster_network
from . import standalone as cluster_standalone
from .v1beta1 import downgrade

CAPI = "cluster.x-k8s.io"
BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
CONTROLPLANE = "controlplane.cluster.x-k8s.io"
INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
VERSION = "v1beta2"

# Cluster API, api/core/v1beta2/common_types.go: with both, its webhook leaves replicas to the autoscaler.
AUTOSCALER_ANNOTATIONS = (("min_size", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"),
                          ("max_size", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"))
LABEL_SYNC_ANNOTATION = "metal3.io/metal3-label-sync-prefixes"
MACHINE_TEMPLATE_KINDS = ("Metal3MachineTemplate", "MetalStackMachineTemplate")
TEMPLATE_KINDS = ("Metal3DataTemplate", *MACHINE_TEMPLATE_KINDS, "KubeadmConfigTemplate")
HASH_LENGTH = 8
# Node conditions whose absence, by Cluster API's documentation, means an unhealthy machine.
_UNHEALTHY_CONDITIONS = (("Ready", "Unknown", 300), ("Ready", "False", 300))


def render(description):
    """Return the objects of a cluster in the order in which they are best written.

    :param description: as returned by ``cluster_description.read``
    :returns: list of objects of the description's ``api_version``
    """
    objects = [_cluster(description), *_infrastructure(description)]
    machines, checks = [], []
    for group in description.groups:
        templates, owner = _group(description, group)
        objects += templates
        machines.append(owner)
        checks += [] if group.is_standalone else _health_check(description, group)
    objects += machines + checks
    return [_in_version(item, description.api_version) for item in objects]


def _infrastructure(description):
    if description.provider == METALSTACK:
        return [_of_metalstack(description, kind, description.name, spec(description)) for kind, spec in (
            ("MetalStackCluster", cluster_metalstack.cluster_spec),
            ("MetalStackFirewallTemplate", cluster_metalstack.firewall_template_spec),
            ("MetalStackFirewallDeployment", cluster_metalstack.firewall_deployment_spec))]
    return [_metal3_cluster(description)] + cluster_network.pools(description)


def _of_metalstack(description, kind, name, spec):
    return dict(_object(description, INFRASTRUCTURE, kind, name, spec),
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


def content_name(prefix, spec):
    """Return ``prefix-hash`` for the content of a template; the same content always has the same name."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]}"


def common_labels(description):
    """Return the labels of every object of a cluster, by which they are known as the collection's own."""
    return {CLUSTER_LABEL: description.name, MANAGED_BY_LABEL: MANAGER}


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


def _object(description, group, kind, name, spec, labels=None, annotations=None):
    metadata = {"name": name, "namespace": description.namespace,
                "labels": dict(common_labels(description), **(labels or {}))}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": f"{group}/{VERSION}", "kind": kind, "metadata": metadata, "spec": spec}


def _ref(group, kind, name):
    return {"apiGroup": group, "kind": kind, "name": name}


def _present(fields):
    return dict((key, value) for key, value in fields.items() if value not in (None, "", [], {}))


def _cluster(description):
    name = description.name
    control_plane = description.groups[0].owner
    return _object(description, CAPI, "Cluster", name, {
        "clusterNetwork": {
            "pods": {"cidrBlocks": description.pod_cidrs},
            "services": {"cidrBlocks": description.service_cidrs},
            "serviceDomain": description.service_domain,
        },
        "controlPlaneRef": _ref(CONTROLPLANE, "KubeadmControlPlane", control_plane),
        "infrastructureRef": _ref(INFRASTRUCTURE, provider_of(description.provider).cluster_kind, name),
    })


def _metal3_cluster(description):
    spec = {"controlPlaneEndpoint": {"host": description.endpoint["host"], "port": description.endpoint["port"]},
            "cloudProviderEnabled": description.cloud_provider_enabled}
    if description.failure_domains:
        spec["failureDomains"] = [
            _present({"name": domain["name"], "controlPlane": domain["control_plane"],
                      "attributes": domain.get("attributes")}) for domain in description.failure_domains]
    annotations = {}
    if description.label_sync_prefixes:
        annotations[LABEL_SYNC_ANNOTATION] = ",".join(description.label_sync_prefixes)
    return _object(description, INFRASTRUCTURE, "Metal3Cluster", description.name, spec, annotations=annotations)


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
    spec = _present({
        "clusterName": description.name, "version": description.kubernetes_version,
        "failureDomain": group.get("failure_domain"), "deletion": _deletion(group),
        "bootstrap": {"configRef": _ref(BOOTSTRAP, "KubeadmConfig", name)},
        "infrastructureRef": _ref(INFRASTRUCTURE, "Metal3Machine", name)})
    annotations = dict(group.get("machine_annotations") or {}, **{
        cluster_standalone.MADE_OF: cluster_standalone.made_of(spec, infrastructure, config)})
    return [data, _object(description, INFRASTRUCTURE, "Metal3Machine", name, infrastructure),
            _object(description, BOOTSTRAP, "KubeadmConfig", name, config)], _object(
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
    return _object(description, group, kind, content_name(prefix, spec), spec)


def _data_template(description, group):
    return _template(description, INFRASTRUCTURE, "Metal3DataTemplate", group.owner, _present({
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
    selector = _present({
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
        spec["image"] = _present({"url": image["url"], "checksumType": image.get("checksum_type"),
                                  "diskFormat": cluster_image.image_format(image)})
        # Required by the CRD, empty for a live-iso.
        spec["image"]["checksum"] = image.get("checksum") or ""
    return spec


def _deletion(group):
    return _present({"nodeDrainTimeoutSeconds": group.get("node_drain_timeout_seconds"),
                     "nodeDeletionTimeoutSeconds": group.get("node_deletion_timeout_seconds"),
                     "nodeVolumeDetachTimeoutSeconds": group.get("node_volume_detach_timeout_seconds")})


def _rollout(group, max_surge, max_unavailable):
    rolling = _present({"maxSurge": _count(max_surge), "maxUnavailable": _count(max_unavailable)})
    return _present({"strategy": {"type": "RollingUpdate", "rollingUpdate": rolling} if rolling else None,
                     "before": _present({"certificatesExpiryDays": group.get("certificate_renewal_days")}),
                     "after": group.get("rollout_after")})


def _count(value):
    """Return a number as a number and a percentage as text, whatever the templating made of it."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _control_plane(description, group, machine):
    template = {"spec": _present({
        "infrastructureRef": _ref(INFRASTRUCTURE, machine["kind"], machine["metadata"]["name"]),
        "deletion": _deletion(group)})}
    metadata = _present({"labels": group.get("machine_labels"), "annotations": group.get("machine_annotations")})
    if metadata:
        template["metadata"] = metadata
    surge = 1 if group.get("max_surge") is None else group.get("max_surge")
    spec = {
        "replicas": group.initial_replicas, "version": description.kubernetes_version, "machineTemplate": template,
        "kubeadmConfigSpec": cluster_kubeadm.config_spec(description, group), "rollout": _rollout(group, surge, None)}
    if group.get("machine_name_template"):
        spec["machineNaming"] = {"template": group.get("machine_name_template")}
    return _object(description, CONTROLPLANE, "KubeadmControlPlane", group.owner, spec)


def _machine_deployment(description, group, machine, bootstrap):
    name = group.owner
    labels = {CLUSTER_LABEL: description.name, DEPLOYMENT_LABEL: name}
    metadata = {"labels": dict(group.get("machine_labels") or {}, **labels)}
    if group.get("machine_annotations"):
        metadata["annotations"] = group.get("machine_annotations")
    spec = _present({
        "clusterName": description.name,
        "replicas": group.get("replicas"),
        "selector": {"matchLabels": labels},
        "rollout": _rollout(group, group.get("max_surge"), group.get("max_unavailable")),
        "template": {"metadata": metadata, "spec": _present({
            "clusterName": description.name,
            "version": description.kubernetes_version,
            "failureDomain": group.get("failure_domain"),
            "deletion": _deletion(group),
            "bootstrap": {"configRef": _ref(BOOTSTRAP, "KubeadmConfigTemplate", bootstrap["metadata"]["name"])},
            "infrastructureRef": _ref(INFRASTRUCTURE, machine["kind"], machine["metadata"]["name"]),
        })}})
    if group.get("machine_name_template"):
        spec["machineNaming"] = {"template": group.get("machine_name_template")}
    sizes = group.get("autoscaler")
    annotations = dict((annotation, str(sizes[option])) for option, annotation in AUTOSCALER_ANNOTATIONS if sizes)
    return _object(description, CAPI, "MachineDeployment", name, spec, {DEPLOYMENT_LABEL: name}, annotations)


def _health_check(description, group):
    check = group.get("health_check")
    if not check or not check["enabled"]:
        return []
    name = group.owner
    if group.is_control_plane:
        selector = {CLUSTER_LABEL: description.name, CONTROL_PLANE_LABEL: ""}
    else:
        selector = {CLUSTER_LABEL: description.name, DEPLOYMENT_LABEL: name}
    conditions = check.get("unhealthy_conditions") or [
        {"type": kind, "status": status, "timeout_seconds": seconds} for kind, status, seconds in _UNHEALTHY_CONDITIONS]
    objects, remediation = [], {}
    if check.get("reboot_retry_limit"):
        objects.append(_object(description, INFRASTRUCTURE, "Metal3RemediationTemplate", name, {
            "template": {"spec": {"strategy": {
                "type": "Reboot", "retryLimit": check["reboot_retry_limit"],
                "timeoutSeconds": check.get("reboot_timeout_seconds") or 600}}}}))
        # Unlike other references, this one has an apiVersion (MachineHealthCheckRemediationTemplateReference).
        remediation["templateRef"] = {"apiVersion": f"{INFRASTRUCTURE}/{VERSION}",
                                      "kind": "Metal3RemediationTemplate", "name": name}
    if check.get("max_unhealthy") is not None:
        remediation["triggerIf"] = {"unhealthyLessThanOrEqualTo": _count(check["max_unhealthy"])}
    spec = {
        "clusterName": description.name, "selector": {"matchLabels": selector},
        "checks": {
            "nodeStartupTimeoutSeconds": check["node_startup_timeout_seconds"],
            "unhealthyNodeConditions": [{"type": entry["type"], "status": entry["status"],
                                         "timeoutSeconds": entry["timeout_seconds"]} for entry in conditions]}}
    if remediation:
        spec["remediation"] = remediation
    objects.append(_object(description, CAPI, "MachineHealthCheck", name, spec))
    return objects

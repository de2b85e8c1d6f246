# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubeadm configuration of a group of machines, as Cluster API's v1beta2 KubeadmConfigSpec; pure."""
from __future__ import annotations

import json

from ..description.model import merge
from ..description.spec import KUBE_VIP, METALSTACK
from . import endpoint as cluster_endpoint
from . import registries as cluster_registries
from .network import node_ip_template
from .parts import present

PATCHES_DIRECTORY = "/etc/kubernetes/patches"
KUBELET_PATCH = PATCHES_DIRECTORY + "/kubeletconfiguration0+strategic.json"
KUBE_PROXY_FILE = "/etc/kubernetes/kube-proxy-configuration.json"
_KUBE_PROXY_COMMAND = "if %(first)s; then (echo ---; cat %(source)s; echo) >> %(file)s; fi"
# As the provider's own templates have it: the cloud controller gives nodes their provider IDs.
_EXTERNAL = {"controllerManager": {"extraArgs": [{"name": "cloud-provider", "value": "external"}]}}
# CAPM3 finds the Node of a machine by this label (docs/api.md, node-labels).
UUID_LABEL = "metal3.io/uuid={{ ds.meta_data.uuid }}"
# What CAPM3 writes into the spec of Machine and Metal3Machine; its meta data of a machine holds all but the scheme.
PROVIDER_ID = "metal3://{{ ds.meta_data.providerid }}"
NODE_NAME = "{{ ds.meta_data.name }}"


def config_spec(description, group):
    """Return the KubeadmConfigSpec of a group.

    :param description: the cluster's description
    :param group: one of ``cluster_description.groups``
    """
    control_plane = group.is_control_plane
    registration = _node_registration(description, group)
    spec = {}
    local = _local_endpoint(description)
    if control_plane:
        shared = _EXTERNAL if description.provider == METALSTACK else {}
        cluster = merge(shared, group.get("cluster_configuration") or {})
        if cluster:
            spec["clusterConfiguration"] = cluster
        init = dict(_configuration(group, registration), **local)
        spec["initConfiguration"] = merge(init, group.get("init_configuration") or {})
    join = _configuration(group, registration)
    if control_plane:
        join["controlPlane"] = local
    spec["joinConfiguration"] = merge(join, group.get("join_configuration") or {})
    spec.update(present({
        "files": _configuration_files(group) + cluster_endpoint.files(description, group)
        + cluster_registries.files(description) + [_file(entry) for entry in group.get("files") or []],
        "bootCommands": group.get("boot_commands"),
        "preKubeadmCommands": _pre_commands(description, group, control_plane),
        "postKubeadmCommands": cluster_endpoint.commands_after(description, group) + list(
            group.get("post_commands") or []),
        "users": _users(group),
        "mounts": group.get("mounts"),
        "diskSetup": group.get("disk_setup"),
        "format": cluster_endpoint.user_data_format(description, group),
    }))
    if group.get("ntp_servers"):
        spec["ntp"] = {"enabled": True, "servers": group.get("ntp_servers")}
    return spec


def _local_endpoint(description):
    """Return what of kubeadm's configuration says where the API server of a machine answers; empty for its default.

    On a machine of metal-stack kubeadm could take the endpoint for the machine's own address: both are on the loopback
    device. The provider's own templates have it this way.
    """
    if description.provider != METALSTACK or description.endpoint.get("holder") != KUBE_VIP:
        return {}
    local = "127.0.0.1" if ":" not in description.endpoint["host"] else "::1"
    return {"localAPIEndpoint": {"advertiseAddress": local, "bindPort": description.endpoint["port"]}}


def _node_registration(description, group):
    registration = {"kubeletExtraArgs": _kubelet_arguments(description, group)}
    if description.provider != METALSTACK:
        # There a node has its host name, by which the cloud controller finds it, and Ignition renders no template.
        registration["name"] = NODE_NAME
    registration.update(present({
        "criSocket": group.get("cri_socket"),
        "ignorePreflightErrors": _unique(group.get("ignore_preflight_errors")),
    }))
    if group.get("node_taints") is not None:
        # An empty list says: no taint, not even a control plane's own.
        registration["taints"] = group.get("node_taints")
    return registration


def _kubelet_arguments(description, group):
    arguments = dict((name, _text(value)) for name, value in (group.get("kubelet_extra_args") or {}).items())
    labels = [] if description.provider == METALSTACK else [UUID_LABEL]
    labels += [f"{name}={_text(value)}" for name, value in sorted((group.get("node_labels") or {}).items())]
    if arguments.get("node-labels"):
        labels.append(arguments["node-labels"])
    if labels:
        arguments["node-labels"] = ",".join(labels)
    node_ip = node_ip_template(description, group)
    if node_ip:
        arguments.setdefault("node-ip", node_ip)
    if description.cloud_provider_enabled or description.provider == METALSTACK:
        arguments.setdefault("cloud-provider", "external")
    if description.provider_id_by_kubelet:
        arguments.setdefault("provider-id", PROVIDER_ID)
    return [{"name": name, "value": arguments[name]} for name in sorted(arguments)]


def _configuration(group, registration):
    result = {"nodeRegistration": registration}
    if group.get("kubelet_configuration"):
        result["patches"] = {"directory": PATCHES_DIRECTORY}
    if group.get("skip_phases"):
        result["skipPhases"] = _unique(group.get("skip_phases"))
    return result


def generated_paths(description, group):
    """Return the paths of the files that a group's machines have beside those that are described."""
    return [entry["path"] for entry in _configuration_files(group)] + cluster_endpoint.paths(description, group) \
        + cluster_registries.paths(description)


def _configuration_files(group):
    files = []
    if group.get("kubelet_configuration"):
        files.append(_generated(KUBELET_PATCH, _document(
            "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", group.get("kubelet_configuration"))))
    if group.is_control_plane and group.get("kube_proxy_configuration"):
        files.append(_generated(KUBE_PROXY_FILE, _document(
            "kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration", group.get("kube_proxy_configuration"))))
    return files


def _document(api_version, kind, fields):
    return json.dumps(dict(fields, apiVersion=api_version, kind=kind), sort_keys=True)


def _generated(path, content):
    return {"path": path, "owner": "root:root", "permissions": "0644", "content": content}


def _file(entry):
    result = {"path": entry["path"], "owner": entry.get("owner") or "root:root",
              "permissions": entry.get("permissions") or "0644"}
    if entry.get("content_secret"):
        result["contentFrom"] = {"secret": {"name": entry["content_secret"]["name"],
                                            "key": entry["content_secret"]["key"]}}
    else:
        result["content"] = entry.get("content") or ""
    result.update(present({"encoding": entry.get("encoding"), "append": entry.get("append") or None}))
    return result


def _pre_commands(description, group, control_plane):
    # Before the user's own, which may pull images.
    commands = cluster_registries.commands(description) + cluster_endpoint.commands(description, group) \
        + list(group.get("pre_commands") or [])
    if control_plane and group.get("kube_proxy_configuration"):
        path, first = cluster_endpoint.first_machine(description, group)
        commands.append(_KUBE_PROXY_COMMAND % {"file": path, "first": first, "source": KUBE_PROXY_FILE})
    return commands


def _users(group):
    users = list(group.get("users") or [])
    if group.get("ssh_authorized_keys"):
        users.append({"name": group.get("ssh_user") or "metal3", "sudo": "ALL=(ALL) NOPASSWD:ALL",
                      "lockPassword": True, "shell": "/bin/bash",
                      "sshAuthorizedKeys": _unique(group.get("ssh_authorized_keys"))})
    return users


def _unique(values):
    return list(dict.fromkeys(values or []))


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)

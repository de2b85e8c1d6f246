# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of flannel for a cluster, from its description; pure.

Fields: flannel's Documentation/configuration.md and backends.md, and what its manager asks of the API server
(pkg/subnet/kube/kube.go). Names are those of upstream's manifest, so that one takes over the other's objects.
"""
from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from typing import Any

from ..description.spec import FLANNEL_CNI_CONFIGURATIONS, description_options
from . import images

NAMESPACE = "kube-flannel"
DAEMON_SET = "kube-flannel-ds"
CONFIG_MAP = "kube-flannel-cfg"
_NAME = "flannel"
_LABELS = {"k8s-app": "flannel", "tier": "node", "app": "flannel"}
# A DaemonSet's selector can't be changed: it is upstream's.
_SELECTOR = {"tier": "node", "app": "flannel"}
_CONFIG_DIR = "/etc/kube-flannel"
_CNI_PLUGIN_DIR, _CNI_DIR = "/opt/cni/bin", "/etc/cni/net.d"
_INSTALL = FLANNEL_CNI_CONFIGURATIONS[0]
_CNI_FILE = {
    "name": "cbr0", "cniVersion": "0.3.1",
    "plugins": [{"type": "flannel", "delegate": {"hairpinMode": True, "isDefaultGateway": True}},
                {"type": "portmap", "capabilities": {"portMappings": True}}],
}


def options_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of flannel with their defaults.

    :param given: the option ``flannel`` of a description
    """
    known = description_options()["flannel"]["options"]
    return dict((name, (given or {}).get(name, known[name].get("default"))) for name in known)


def objects(pod_cidrs: list[str], given: Mapping[str, Any] | None, registry: str | None) -> list[dict[str, Any]]:
    """Return the objects in the order in which they are needed.

    :param pod_cidrs: the pods' networks, one of each address family at most
    :param given: the option ``flannel`` of a description
    :param registry: its option ``image_registry``
    """
    options = options_of(given)
    data = {"net-conf.json": json.dumps(_network(pod_cidrs, options), sort_keys=True)}
    if options["cni_configuration"] == _INSTALL:
        data["cni-conf.json"] = json.dumps(_CNI_FILE, sort_keys=True)
    group = "rbac.authorization.k8s.io"
    return [
        _object("v1", "Namespace", NAMESPACE, labels=dict(
            _LABELS, **{"pod-security.kubernetes.io/enforce": "privileged"})),
        _object("v1", "ServiceAccount", _NAME, NAMESPACE),
        _object(group + "/v1", "ClusterRole", _NAME, rules=[
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]}]),
        _object(group + "/v1", "ClusterRoleBinding", _NAME,
                roleRef={"apiGroup": group, "kind": "ClusterRole", "name": _NAME},
                subjects=[{"kind": "ServiceAccount", "name": _NAME, "namespace": NAMESPACE}]),
        _object("v1", "ConfigMap", CONFIG_MAP, NAMESPACE, data=data),
        _object("apps/v1", "DaemonSet", DAEMON_SET, NAMESPACE, spec={
            "selector": {"matchLabels": _SELECTOR},
            "template": {"metadata": {"labels": _LABELS}, "spec": _pod(options, registry, data)}}),
    ]


def _network(pod_cidrs, options):
    result = {"EnableNFTables": options["nftables"], "Backend": {"Type": options["backend"]}, "EnableIPv4": False}
    for text in pod_cidrs:
        if ipaddress.ip_network(text).version == 4:
            result.update(Network=text, EnableIPv4=True)
        else:
            result.update(IPv6Network=text, EnableIPv6=True)
    return result


def _pod(options, registry, data):
    image = images.reference(images.FLANNEL, registry, options["image"])
    arguments = ["--ip-masq", "--kube-subnet-mgr"]
    if options["interface"]:
        arguments.append("--iface=" + options["interface"])
    pod: dict[str, Any] = {
        "hostNetwork": True, "priorityClassName": "system-node-critical", "serviceAccountName": _NAME,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
        "containers": [{
            "name": "kube-flannel", "image": image, "command": ["/opt/bin/flanneld"], "args": arguments,
            "env": [_field("POD_NAME", "metadata.name"), _field("POD_NAMESPACE", "metadata.namespace"),
                    {"name": "EVENT_QUEUE_DEPTH", "value": "5000"}],
            "resources": {"requests": {"cpu": "100m", "memory": "50Mi"}},
            "securityContext": {"privileged": False, "capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
            "volumeMounts": [{"name": "run", "mountPath": "/run/flannel"},
                             {"name": "flannel-cfg", "mountPath": _CONFIG_DIR},
                             {"name": "xtables-lock", "mountPath": "/run/xtables.lock"}],
        }],
        "volumes": [{"name": "run", "hostPath": {"path": "/run/flannel", "type": "DirectoryOrCreate"}},
                    {"name": "flannel-cfg", "configMap": {"name": CONFIG_MAP}},
                    {"name": "xtables-lock", "hostPath": {"path": "/run/xtables.lock", "type": "FileOrCreate"}}],
    }
    if "cni-conf.json" in data:
        plugin = images.reference(images.FLANNEL_CNI_PLUGIN, registry, options["cni_plugin_image"])
        pod["initContainers"] = [
            _copy("install-cni-plugin", plugin, "/flannel", _CNI_PLUGIN_DIR + "/flannel",
                  [{"name": "cni-plugin", "mountPath": _CNI_PLUGIN_DIR}]),
            _copy("install-cni", image, _CONFIG_DIR + "/cni-conf.json", _CNI_DIR + "/10-flannel.conflist",
                  [{"name": "cni", "mountPath": _CNI_DIR}, {"name": "flannel-cfg", "mountPath": _CONFIG_DIR}])]
        pod["volumes"] += [{"name": "cni-plugin", "hostPath": {"path": _CNI_PLUGIN_DIR, "type": "DirectoryOrCreate"}},
                           {"name": "cni", "hostPath": {"path": _CNI_DIR, "type": "DirectoryOrCreate"}}]
    return pod


def _copy(name, image, source, target, mounts):
    return {"name": name, "image": image, "command": ["cp"], "args": ["-f", source, target], "volumeMounts": mounts}


def _field(name, path):
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _object(api_version, kind, name, namespace=None, labels=None, **rest):
    metadata = {"name": name, "labels": dict(labels or _LABELS)}
    if namespace:
        metadata["namespace"] = namespace
    return dict({"apiVersion": api_version, "kind": kind, "metadata": metadata}, **rest)

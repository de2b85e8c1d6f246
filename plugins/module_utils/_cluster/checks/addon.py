# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster needs beside its machines to become available, and which of its manifests brings it; pure."""
from __future__ import annotations

import ipaddress
import json

from ..._common.documents.document_text import from_json
from ..._common.documents.tolerant import dict_in
from ..._common.problems.problem import Problem
from ..description.spec import METALSTACK

_WORKLOADS = ("DaemonSet", "Deployment")
# Key of flannel's ConfigMap; its pods refuse to start, or route elsewhere, when it does not fit the cluster.
_FLANNEL_KEY = "net-conf.json"
_FLANNEL_NETWORKS = ("Network", "IPv6Network")
# Part of the names of cloud controllers' programs and images.
_CLOUD_CONTROLLER = "cloud-controller"
_METAL_CCM = "metal-ccm"


def addon_problems(description, objects):
    """Return what of the manifests does not fit the cluster.

    :param description: one without problems of its own
    :param objects: the manifests' objects
    """
    pods = [ipaddress.ip_network(text) for text in description.pod_cidrs]
    found = []
    for name, networks in _flannel(objects):
        for network in networks:
            same = [cidr for cidr in pods if cidr.version == network.version]
            if network not in same:
                found.append(Problem(
                    "network-add-on-mismatch", description.subject, "pod_cidrs",
                    ", ".join(map(str, same)) or None, f"{network}, the pods' network of ConfigMap {name}",
                    "give both the same network"))
    return found


def _flannel(objects):
    """Yield ``(name, networks)`` of each ConfigMap that is flannel's; what can't be read is flannel's to refuse."""
    for item in objects:
        text = dict_in(item, "data").get(_FLANNEL_KEY) if item.get("kind") == "ConfigMap" else None
        try:
            content = from_json(text) if isinstance(text, str) else None
            networks = [ipaddress.ip_network(content[key]) for key in _FLANNEL_NETWORKS
                        if isinstance(content, dict) and isinstance(content.get(key), str)]
        except ValueError:
            continue
        yield dict_in(item, "metadata").get("name"), networks


def addon_warnings(description, objects):
    """Return what the cluster lacks to become available, as lines.

    :param description: one without problems of its own
    :param objects: the manifests' objects
    """
    subject = description.subject
    return [f"{subject}: {field}: {text}" for field, text in missing(description, objects)]


def missing(description, objects):
    """Return ``(field, text)`` for each part that the cluster lacks to become available; parameters as above."""
    found = []
    pods = [_pod(item) for item in objects if item.get("kind") in _WORKLOADS]
    # A network add-on works in the nodes' own network, before pods have one.
    if description.network_addon == "manifests" and not any(pod.get("hostNetwork") for pod in pods):
        found.append(("network_addon",
                      "no manifest brings a network add-on, without which nodes do not become ready and the cluster "
                      "not available: set network_addon to flannel, add it to the manifests (variable "
                      "cluster_manifests), or set network_addon to none when something else brings it"))
    controlled = any(_CLOUD_CONTROLLER in json.dumps(pod, default=str) for pod in pods)
    if description.provider == METALSTACK and not controlled and not any(
            _METAL_CCM in json.dumps(pod, default=str) for pod in pods):
        found.append(("provider",
                      "no manifest brings metal-ccm, metal-stack's cloud controller, without which no Node gets its "
                      "provider ID and Cluster API links no Node to its Machine: add it to the manifests (variable "
                      "cluster_manifests)"))
    elif description.cloud_provider_enabled and not controlled:
        found.append(("cloud_provider_enabled",
                      "no manifest brings a cloud controller, without which no Node gets its provider ID and CAPM3 "
                      "links no Node to its Machine: add it to the manifests (variable cluster_manifests), or leave "
                      "cloud_provider_enabled out"))
    return found


def _pod(item):
    return dict_in(dict_in(dict_in(item, "spec"), "template"), "spec")

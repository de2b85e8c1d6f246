# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A ClusterResourceSet, by which Cluster API itself brings a cluster's manifests into it; pure.

The manifests are in ConfigMaps, those that are Secrets in Secrets, each named after its content: whether Cluster API
has applied this content is then said by the names in its ClusterResourceSetBinding.
"""
from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.problems.problem import Problem
from ..._host.description.objects import MANAGED_BY_LABEL, MANAGER
from ..._kube.kinds.resources import KNOWN, group_of
from ..._kube.objects.conditions import condition
from ..._kube.objects.finalizers import is_going
from ..._kube.objects.titles import full_title, title_of
from ..._manifests import order
from ..render.parts import VERSION, content_name
from ..workflow.snapshot import CLUSTER_LABEL

Object = dict[str, Any]

GROUP = "addons.cluster.x-k8s.io"
KIND, BINDING = "ClusterResourceSet", "ClusterResourceSetBinding"
BUNDLES = ("ConfigMap", "Secret")
NONE = "none"
# Upstream's words (api/addons/v1beta2/clusterresourceset_types.go). Neither strategy nor selector can be changed.
STRATEGIES = ("ApplyOnce", "Reconcile")
CHOICES = (NONE, *STRATEGIES)
# By which the objects of this file are found again.
LABEL = "metal3.baremetal/resource-set"
# Cluster API takes Secrets of this type only.
SECRET_TYPE = "addons.cluster.x-k8s.io/resource-set"
# The API server takes 1 MiB for all data of a ConfigMap or Secret.
BUNDLE_BYTES = 800 * 1024
# What is in a namespace and is in no table of this collection; what names none is then in "default".
_NAMESPACED = frozenset([
    ("apps", "StatefulSet"), ("apps", "ReplicaSet"), ("batch", "Job"), ("batch", "CronJob"), ("", "LimitRange"),
    ("", "PersistentVolumeClaim"), ("", "Endpoints"), ("", "ReplicationController"), ("", "PodTemplate"),
    ("networking.k8s.io", "Ingress"), ("autoscaling", "HorizontalPodAutoscaler"),
    ("discovery.k8s.io", "EndpointSlice")])


def selector(cluster: str) -> str:
    """Return the label selector of what this file makes for a cluster."""
    return f"{LABEL}={cluster},{MANAGED_BY_LABEL}={MANAGER}"


def problems(subject: str, manifests: Iterable[Object]) -> list[Problem]:
    """Return what is wrong with manifests that Cluster API is to bring into a cluster.

    :param subject: what messages call the cluster
    """
    return [Problem("manifest-too-large", subject, "manifests",
                    f"{title_of(item)} of {len(_text(item))} bytes as JSON",
                    f"at most {BUNDLE_BYTES} bytes, as a ConfigMap takes them",
                    "leave resource_set out, or bring this object in another way")
            for item in manifests if len(_text(item)) > BUNDLE_BYTES]


def objects(namespace: str, cluster: str, strategy: str, manifests: list[Object]) -> list[Object]:
    """Return the ConfigMaps and Secrets with manifests, and last the ClusterResourceSet that names them.

    :param strategy: one of :data:`CHOICES`
    :param manifests: objects of the workload cluster; none of them has a :func:`problems`
    :returns: list of objects of the management cluster, empty without a strategy or without manifests
    """
    if strategy == NONE or not manifests:
        return []
    # Namespaces before what is in them: Cluster API goes through the list, and through the data by their names.
    placed = [item for wave in order.waves([_placed(item, manifests) for item in manifests]) for item in wave]
    bundles = [_bundle(namespace, cluster, kind, part) for kind in BUNDLES
               for part in _parts([item for item in placed if _is_secret(item) == (kind == "Secret")])]
    name = f"{cluster}-manifests-{strategy.lower()}"
    return [*bundles, {
        "apiVersion": f"{GROUP}/{VERSION}", "kind": KIND, "metadata": _metadata(namespace, cluster, name), "spec": {
            "clusterSelector": {"matchLabels": {CLUSTER_LABEL: cluster}}, "strategy": strategy,
            "resources": [{"kind": item["kind"], "name": item["metadata"]["name"]} for item in bundles]}}]


def held(bundle: Object) -> list[str]:
    """Return the objects in a Secret of :func:`objects`, as ``kind namespace/name``."""
    found = [from_json(base64.b64decode(text)) for _key, text in sorted(bundle["data"].items())]
    return [full_title(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in found]


def undescribed(stored: Iterable[Object], desired: Iterable[Object]) -> list[Object]:
    """Return what an earlier run has made and the description has no more.

    :param stored: objects that :func:`selector` finds
    :param desired: what :func:`objects` has returned
    """
    wanted = set((item["kind"], item["metadata"]["name"]) for item in desired)
    return [item for item in stored if (item["kind"], item["metadata"]["name"]) not in wanted and not is_going(item)]


def unapplied(binding: Object | None, desired: Iterable[Object]) -> list[str]:
    """Return which ConfigMaps and Secrets Cluster API has not applied yet, as ``kind name``.

    :param binding: the cluster's ClusterResourceSetBinding, or None
    :param desired: what :func:`objects` has returned
    """
    wanted = list(desired)
    sets = set(item["metadata"]["name"] for item in wanted if item["kind"] == KIND)
    # As texts: a list in their place has no hash.
    applied = set((str(resource.get("kind")), str(resource.get("name")))
                  for entry in dicts_in(dict_in(binding, "spec"), "bindings")
                  if str(entry.get("clusterResourceSetName")) in sets
                  for resource in dicts_in(entry, "resources") if resource.get("applied") is True)
    return [title_of(item) for item in wanted
            if item["kind"] in BUNDLES and (item["kind"], item["metadata"]["name"]) not in applied]


def complaint(stored: Object | None) -> str:
    """Return why Cluster API has not applied a ClusterResourceSet, as it says itself; empty when it says nothing.

    :param stored: the ClusterResourceSet, or None
    """
    found = condition(stored, "ResourcesApplied")
    text = found.get("message") or found.get("reason") or "" if found.get("status") == "False" else ""
    return " ".join(text.split())


def _bundle(namespace: str, cluster: str, kind: str, items: list[Object]) -> Object:
    data = dict((f"{number:04d}.json", _text(item)) for number, item in enumerate(items))
    metadata = _metadata(namespace, cluster, content_name(f"{cluster}-manifests", data))
    if kind == "ConfigMap":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "type": SECRET_TYPE, "data": dict(
        (key, base64.b64encode(text.encode()).decode()) for key, text in data.items())}


def _parts(items: list[Object]) -> list[list[Object]]:
    """Return objects in lists each of which has room in one ConfigMap, in their order."""
    parts: list[list[Object]] = []
    left = 0
    for item in items:
        size = len(_text(item))
        if not parts or size > left:
            parts.append([])
            left = BUNDLE_BYTES
        parts[-1].append(item)
        left -= size
    return parts


def _text(item: Object) -> str:
    return json.dumps(item, sort_keys=True, separators=(",", ":"))


def _metadata(namespace: str, cluster: str, name: str) -> Object:
    labels = {CLUSTER_LABEL: cluster, MANAGED_BY_LABEL: MANAGER, LABEL: cluster}
    return {"name": name, "namespace": namespace, "labels": labels}


def _is_secret(item: Object) -> bool:
    return item["kind"] == "Secret" and group_of(item) == ""


def _placed(item: Object, manifests: list[Object]) -> Object:
    """Return an object with the namespace that it goes to: Cluster API knows no default one."""
    if item["metadata"].get("namespace") or not _is_namespaced(item, manifests):
        return item
    return dict(item, metadata=dict(item["metadata"], namespace="default"))


def _is_namespaced(item: Object, manifests: list[Object]) -> bool:
    group, kind = group_of(item), item["kind"]
    known = KNOWN.get(kind)
    if known is not None and known.group == group:
        return known.namespaced
    # Of a kind that nothing here defines, an object without a namespace is one of the whole cluster.
    return (group, kind) in _NAMESPACED or any(
        other["kind"] == "CustomResourceDefinition" and other["spec"]["group"] == group
        and other["spec"]["names"]["kind"] == kind and other["spec"].get("scope") == "Namespaced"
        for other in manifests)

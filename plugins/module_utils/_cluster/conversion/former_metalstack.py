# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the resources of cluster-api-provider-metalstack 0.4 (2021, v1alpha3 and v1alpha4) to inventory variables; pure.

Source: its ``api/v1alpha4``. That provider is not kept any more; today's has other kinds, and no place for some fields.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._common.options.field_checks import show, type_name
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._kube.objects.titles import title_of
from ..description.spec import METALSTACK
from ..workflow.snapshot import CONTROL_PLANE_LABEL

CODE = "metalstack-former"
VERSIONS = ("v1alpha3", "v1alpha4")
GROUP = "infrastructure.cluster.x-k8s.io"
_PROVIDER_ID = re.compile(r"metalstack:///?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})")
_OF_CLUSTER = {"controlPlaneEndpoint", "projectID", "partition", "publicNetworkID", "privateNetworkID", "firewallSpec"}
_OF_MACHINE = {"image", "machineType", "providerID", "sshKeys", "tags", "partition"}
_OF_FIREWALL = {"image", "machineType", "providerID", "sshKeys"}
# By which Ansible knows a template.
_TEMPLATE = re.compile(r"\{[{%#]")
_KINDS = ("MetalStackCluster", "MetalStackMachine", "MetalStackMachineTemplate", "MetalStackFirewall", "Cluster",
          "KubeadmControlPlane", "MachineDeployment", "Machine", "KubeadmConfigTemplate", "KubeadmConfig")


def translate(objects: Sequence[Any]) -> tuple[dict[str, Any], list[str], list[Problem]]:
    """Return what one cluster's former resources are in this collection's variables.

    :param objects: the resources, as they are in their manifest
    :returns: ``(variables, warnings, problems)``: variables of the roles ``cluster`` and ``metalstack``; lines on what
        has no place any more; what keeps the resources from being read, with which the variables are empty
    """
    problems = [problem for number, item in enumerate(objects) for problem in _readable(number, item)]
    if problems:
        return {}, [], problems
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for item in objects:
        by_kind.setdefault(item["kind"], []).append(item)
    clusters = by_kind.get("MetalStackCluster", [])
    if len(clusters) != 1:
        return {}, [], [Problem(CODE, "resources", "kind", f"{len(clusters)} of kind MetalStackCluster", "one",
                                "give the resources of one cluster at a time")]
    return _Translation(by_kind, clusters[0]).result()


def _readable(number: int, item: Any) -> list[Problem]:
    subject = f"resource {number + 1}"
    if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict) \
            or not isinstance(item["metadata"].get("name"), str) or not isinstance(item.get("spec") or {}, dict):
        return [Problem(CODE, subject, "", type_name(item), "a resource with kind, metadata.name and spec",
                        "give the documents of its manifest")]
    kind, version = str(item.get("kind")), str(item.get("apiVersion"))
    subject = f"{kind} {item['metadata']['name']}"
    if kind not in _KINDS:
        return [Problem(CODE, subject, "kind", show(kind), f"one of {', '.join(_KINDS)}", "leave it out")]
    if kind.startswith("MetalStack") and version not in [f"{GROUP}/{known}" for known in VERSIONS]:
        return [Problem(CODE, subject, "apiVersion", show(version),
                        " or ".join(f"{GROUP}/{known}" for known in VERSIONS),
                        "resources of today's provider need no translation")]
    return []


class _Translation:
    """One cluster's resources, and what was found while they were read."""

    def __init__(self, by_kind: Mapping[str, list[Mapping[str, Any]]], cluster: Mapping[str, Any]) -> None:
        self._by_kind = by_kind
        self._cluster = cluster
        self._warnings: list[str] = []
        self._problems: list[Problem] = []

    def result(self) -> tuple[dict[str, Any], list[str], list[Problem]]:
        """Return variables, warnings and problems."""
        spec, metadata = self._spec(self._cluster, _OF_CLUSTER), self._cluster["metadata"]
        variables: dict[str, Any] = {
            "cluster_name": self._name(), "cluster_namespace": metadata.get("namespace") or "default",
            "cluster_provider": METALSTACK,
            "metalstack_project": self._text(self._cluster, spec, "projectID"),
            "metalstack_partition": self._text(self._cluster, spec, "partition")}
        about = {"project": variables["metalstack_project"], "partition": variables["metalstack_partition"],
                 "firewall": self._firewall(spec, variables)}
        if spec.get("privateNetworkID"):
            about["node_network"] = variables["metalstack_node_network"] = spec["privateNetworkID"]
        variables["cluster_metalstack"] = about
        variables.update(self._endpoint(spec), **self._kubernetes())
        variables.update(self._groups(variables["metalstack_partition"]))
        variables.update(self._pinned(variables))
        self._problems += [Problem(
            CODE, "resources", path, show(text), "a text without {{, {% and {#, by which an inventory knows a template",
            "find out who has written it, and correct the resource")
            for path, text in _texts(variables) if _TEMPLATE.search(text)]
        return ({} if self._problems else variables), self._warnings, self._problems

    def _warn(self, item: Mapping[str, Any], field: str, text: str) -> None:
        self._warnings.append(plain(f"{title_of(item)}: {field}: {text}"))

    def _spec(self, item: Mapping[str, Any], known: set[str], path: str = "spec") -> dict[str, Any]:
        spec: Any = item
        for key in path.split("."):
            spec = spec.get(key) if isinstance(spec, dict) else None
        spec = spec if isinstance(spec, dict) else {}
        for field in sorted(set(spec) - known):
            self._warn(item, f"{path}.{field}", "unknown, and left out")
        return spec

    def _text(self, item: Mapping[str, Any], spec: Mapping[str, Any], field: str, path: str = "spec") -> str:
        value = spec.get(field)
        if not isinstance(value, str) or not value:
            self._problems.append(Problem(CODE, title_of(item), f"{path}.{field}",
                                          None if value in (None, "") else show(value), "a text", "set it"))
            return ""
        return value

    def _name(self) -> str:
        clusters = self._by_kind.get("Cluster") or []
        return str((clusters[0] if clusters else self._cluster)["metadata"]["name"])

    def _firewall(self, spec: Mapping[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        item, path = self._cluster, "spec.firewallSpec"
        found = self._by_kind.get("MetalStackFirewall") or []
        if not spec.get("firewallSpec") and found:
            item, path = found[0], "spec"
        firewall = self._spec(item, _OF_FIREWALL, path)
        result = {"size": self._text(item, firewall, "machineType", path),
                  "image": self._text(item, firewall, "image", path),
                  "networks": [self._text(self._cluster, spec, "publicNetworkID")]}
        if firewall.get("sshKeys"):
            self._warn(item, f"{path}.sshKeys", "the provider allocates firewalls without SSH keys")
        self._warn(item, path, "it had no rules, and today's provider allocates no firewall without: set "
                   "cluster_metalstack.firewall.rules")
        server = self._server(item, firewall, path)
        if server:
            variables["metalstack_firewall"] = dict(result, id=server)
        return result

    def _endpoint(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        endpoint = spec.get("controlPlaneEndpoint") or {}
        network = {"metalstack_ip_network": spec.get("publicNetworkID") or ""}
        # Cluster API's zero values stand for nothing.
        if not isinstance(endpoint, dict) or not endpoint.get("host"):
            return dict(network, cluster_endpoint={"holder": "kube-vip"})
        self._warn(self._cluster, "spec.controlPlaneEndpoint", "the control plane machine itself had the address; now "
                   "kube-vip announces it from each (cluster_endpoint.holder)")
        return dict(network, metalstack_ip={"address": endpoint["host"]}, cluster_endpoint={
            "host": endpoint["host"], "port": endpoint.get("port") or 6443, "holder": "kube-vip"})

    def _kubernetes(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for item in self._by_kind.get("KubeadmControlPlane", [])[:1]:
            result["cluster_kubernetes_version"] = item["spec"].get("version")
        network = ((self._by_kind.get("Cluster") or [{}])[0].get("spec") or {}).get("clusterNetwork") or {}
        options = {}
        for field, option in (("pods", "pod_cidrs"), ("services", "service_cidrs")):
            blocks = (network.get(field) or {}).get("cidrBlocks")
            if blocks:
                options[option] = blocks
        if options:
            result["cluster_options"] = options
        for kind in ("KubeadmControlPlane", "KubeadmConfigTemplate", "KubeadmConfig"):
            for item in self._by_kind.get(kind, []):
                field = "spec.kubeadmConfigSpec" if kind == "KubeadmControlPlane" else "spec"
                if kind != "KubeadmControlPlane" or item["spec"].get("kubeadmConfigSpec"):
                    self._warn(item, field, "kubeadm's configuration of that time is not translated: what of it is "
                               "still wanted belongs into the options of cluster_control_plane and cluster_workers")
        return result

    def _groups(self, partition: str) -> dict[str, Any]:
        result: dict[str, Any] = {}
        planes = self._by_kind.get("KubeadmControlPlane", [])
        if planes:
            spec = planes[0]["spec"]
            # v1alpha3, then v1alpha4.
            reference = spec.get("infrastructureTemplate") or (spec.get("machineTemplate") or {}).get(
                "infrastructureRef") or {}
            result["cluster_control_plane"] = dict(
                self._template(planes[0], reference, partition), replicas=spec.get("replicas") or 1)
        workers = {}
        for item in self._by_kind.get("MachineDeployment", []):
            reference = ((item["spec"].get("template") or {}).get("spec") or {}).get("infrastructureRef") or {}
            name = str(item["metadata"]["name"]).removeprefix(self._name() + "-")
            workers[name] = dict(self._template(item, reference, partition), replicas=item["spec"].get("replicas") or 1)
        if workers:
            result["cluster_workers"] = workers
        return result

    def _template(self, owner: Mapping[str, Any], reference: Mapping[str, Any], partition: str) -> dict[str, Any]:
        found = next((item for item in self._by_kind.get("MetalStackMachineTemplate", [])
                      if item["metadata"]["name"] == reference.get("name")), None)
        if found is None:
            self._problems.append(Problem(
                CODE, title_of(owner), "infrastructureRef", show(reference.get("name") or ""),
                "one of the MetalStackMachineTemplates", "give its template too"))
            return {}
        path = "spec.template.spec"
        spec = self._spec(found, _OF_MACHINE, path)
        if spec.get("providerID"):
            self._problems.append(Problem(
                CODE, title_of(found), f"{path}.providerID", show(spec["providerID"]),
                "nothing: a template is for several machines", "give the machine itself, a MetalStackMachine"))
        return self._machine(found, spec, path, partition)

    def _machine(self, item: Mapping[str, Any], spec: Mapping[str, Any], path: str, partition: str,
                 takes_tags: bool = False) -> dict[str, Any]:
        result = {"metalstack_size": self._text(item, spec, "machineType", path),
                  "metalstack_image": self._text(item, spec, "image", path)}
        if spec.get("sshKeys"):
            result["ssh_authorized_keys"] = spec["sshKeys"]
        if spec.get("tags") and not takes_tags:
            self._warn(item, f"{path}.tags", "the provider writes tags of its own alone")
        if spec.get("partition") and spec["partition"] != partition:
            self._problems.append(Problem(CODE, title_of(item), f"{path}.partition", show(spec["partition"]),
                                          f"{partition}, the cluster's", "a cluster is in one partition"))
        return result

    def _pinned(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return single machines; those with a providerID are chosen by their id, as today's provider can't."""
        groups: dict[str, list[dict[str, Any]]] = {}
        planes = set(item["metadata"]["name"] for item in self._by_kind.get("Machine", [])
                     if CONTROL_PLANE_LABEL in (item["metadata"].get("labels") or {}))
        owners = dict(((item["spec"].get("infrastructureRef") or {}).get("name"), item["metadata"]["name"])
                      for item in self._by_kind.get("Machine", []))
        for item in self._by_kind.get("MetalStackMachine", []):
            spec = self._spec(item, _OF_MACHINE)
            # Of a machine that this collection allocates itself tags have a place.
            machine = self._machine(item, spec, "spec", variables["metalstack_partition"], takes_tags=True)
            entry = {"name": item["metadata"]["name"], "size": machine["metalstack_size"],
                     "image": machine["metalstack_image"]}
            if spec.get("sshKeys"):
                entry["ssh_keys"] = spec["sshKeys"]
            if spec.get("tags"):
                entry["tags"] = spec["tags"]
            server = self._server(item, spec, "spec")
            if server:
                entry["id"] = server
            owner = owners.get(item["metadata"]["name"])
            is_plane = owner in planes or CONTROL_PLANE_LABEL in (item["metadata"].get("labels") or {})
            groups.setdefault("metalstack_control_plane" if is_plane else "metalstack_workers", []).append(entry)
        return groups

    def _server(self, item: Mapping[str, Any], spec: Mapping[str, Any], path: str) -> str:
        given = spec.get("providerID")
        if not given:
            return ""
        match = _PROVIDER_ID.fullmatch(str(given))
        if not match:
            self._problems.append(Problem(CODE, title_of(item), f"{path}.providerID", show(given),
                                          "metalstack://<UUID of a machine>", "correct it"))
            return ""
        self._warn(item, f"{path}.providerID", "today's provider takes no certain machine: role metalstack allocates "
                   "it by its id")
        return match.group(1)


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and text of all texts of variables, keys among them."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and _TEMPLATE.search(key):
                yield path, key
            else:
                yield from _texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _texts(item, f"{path}[{number}]")

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machines of an owner were made of before a rollout, as it is noted, and the owner as it was then; pure.

Of a KubeadmControlPlane the kubeadm configuration belongs to it, which is in no template. Of a cluster by ClusterClass
it is the class and the version: what the class names says the rest. With a class of the user's it is the version, the
class and what the topology gives it: variables, classes of pools and their failure domains.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..._metal3.conversion.objects import NEW, OLD, convert
from ..._metal3.conversion.older import downgrade
from ..render.objects import TEMPLATE_KINDS
from ..workflow.snapshot import cloned_from
from ..workflow.topology import CLASS_ANNOTATION, noted_class, pools_of, topology_of
from .rollout import references

Object = dict[str, Any]

_VERSION = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]*")
_CONFIG = "kubeadmConfigSpec"
# Of a note: the version of Cluster API in whose form its configuration is.
_CONFIG_VERSION = "configVersion"
# What of a topology with a class of the user's decides on machines.
_SHARED, _OF_GROUP = ("classRef", "variables"), ("class", "variables", "failureDomain")


def of_entry(entry: Any) -> Object | None:
    """Return what an owner's machines were made of before an entry was written; None when it changes nothing of it.

    :param entry: the ``kube.plan.Entry`` of a plain cluster's KubeadmControlPlane or MachineDeployment
    """
    if entry.current is None or not entry.changes:
        return None
    spec = entry.current.get("spec") or {}
    if entry.resource.kind == "MachineDeployment":
        machine = (spec.get("template") or {}).get("spec") or {}
        return _machine(machine.get("version"), machine.get("infrastructureRef"),
                        (machine.get("bootstrap") or {}).get("configRef"), machine.get("failureDomain"))
    (kind, name), = references(entry.current)
    # Of the configuration what this collection has written: the rest is the API server's.
    before, after = ((side.get("spec") or {}) for side in (entry.before, entry.after))
    return dict(_machine(spec.get("version"), {"kind": kind, "name": name} if name else None),
                config=before.get(_CONFIG) or after.get(_CONFIG), **{_CONFIG_VERSION: entry.resource.version})


def of_machine(machine: Object, snapshot: Any) -> Object:
    """Return what a MachineDeployment's Machine was made of.

    :param snapshot: a workflow Snapshot
    """
    infrastructure, config = snapshot.infrastructure_machine(machine), snapshot.bootstrap_config(machine)
    spec = machine.get("spec") or {}
    return _machine(spec.get("version"), _template_of(infrastructure), _template_of(config), spec.get("failureDomain"))


def of_class(cluster: Object | None) -> Object | None:
    """Return what a cluster by ClusterClass is made of; None of another one."""
    name, topology = noted_class(cluster), topology_of(cluster)
    if name:
        return {"class": name, "version": topology.get("version")}
    if not (topology.get("classRef") or {}).get("name"):
        return None
    return {"version": topology.get("version"), "topology": {
        **_picked(topology, _SHARED), "controlPlane": _picked(topology.get("controlPlane"), _OF_GROUP),
        "pools": dict((pool["name"], _picked(pool, _OF_GROUP)) for pool in pools_of(cluster))}}


def _picked(part: Mapping[str, Any] | None, keys: Iterable[str]) -> Object:
    return dict((key, (part or {})[key]) for key in keys if key in (part or {}))


def _template_of(obj: Object | None) -> Object | None:
    name = cloned_from(obj)
    return {"kind": f"{(obj or {}).get('kind')}Template", "name": name} if name else None


def _machine(version: Any, infrastructure: Mapping[str, Any] | None, bootstrap: Mapping[str, Any] | None = None,
             failure_domain: Any = None) -> Object:
    found = {"version": version, "infrastructure": _reference(infrastructure), "bootstrap": _reference(bootstrap),
             "failureDomain": failure_domain}
    return dict((key, value) for key, value in found.items() if value)


def _reference(reference: Mapping[str, Any] | None) -> Object | None:
    return {"kind": reference.get("kind"), "name": reference.get("name")} if reference else None


def no_way_back(noted: Iterable[Object | None], cluster: Object | None) -> str:
    """Return why a rollback is not possible, and what is instead; empty when it is.

    :param noted: what owners were made of before, as it is noted
    :param cluster: the stored Cluster
    """
    noted = list(noted)
    if any(former is None for former in noted):
        return "to go back, describe what was there before and run again (what it was is not noted, so rollback can't)"
    if topology_of(cluster) and any(has_another_version(former, cluster) for former in noted if former):
        return ("there is no way back to the former Kubernetes version, since Cluster API takes none for a cluster "
                "with a topology: describe an image and a configuration that work with "
                f"{topology_of(cluster).get('version')}, and run again")
    return ""


def has_another_version(former: Object, cluster: Object | None) -> bool:
    """Say whether what is noted has another Kubernetes version than a Cluster's topology."""
    return former.get("version") != topology_of(cluster).get("version")


def lacks(kind: str, former: Object | None, templates: Mapping[tuple[str, str], Object],
          stored_version: str | None = None, api_version: str = NEW) -> str | None:
    """Return why an owner can't be made as it was, in words, or None.

    Anybody may have written the note.

    :param kind: of the owner; ``Cluster`` of a cluster by ClusterClass
    :param former: as it is noted
    :param templates: the cluster's own templates and classes that are stored, ``{(kind, name): object}``
    :param stored_version: of Kubernetes, that of the stored topology
    :param api_version: in which the owner is written now, for example ``v1beta2``
    """
    if former is None:
        return "what it was made of before is not noted"
    version = former.get("version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        return "the noted Kubernetes version is none"
    if kind == "Cluster" and version != stored_version:
        # ``validateTopologyVersionUpdate``, and without it ``DefaultAndValidateUpgradePlans``.
        return f"its topology has {stored_version}, and Cluster API takes no lower version, such as {version} of before"
    if kind == "Cluster" and "topology" in former:
        return None if _is_topology(former["topology"]) else "what is noted of its topology is none"
    if kind == "Cluster":
        return None if ("ClusterClass", former.get("class")) in templates else \
            "the ClusterClass that is noted is not there any more"
    if kind == "KubeadmControlPlane" and not isinstance(former.get("config"), dict):
        return "its former kubeadm configuration is not noted"
    if kind == "KubeadmControlPlane" and _config_in(former, api_version) is None:
        return f"its former kubeadm configuration is noted in another version than {api_version}, and does not fit it"
    if not isinstance(former.get("failureDomain", ""), str):
        return "the noted failure domain is none"
    for part in ("infrastructure",) if kind == "KubeadmControlPlane" else ("infrastructure", "bootstrap"):
        reference = former.get(part)
        key = (reference.get("kind"), reference.get("name")) if isinstance(reference, dict) else None
        if key is None or key[0] not in TEMPLATE_KINDS or key not in templates:
            return f"the {part} template that is noted is not there any more"
    return None


def _is_topology(noted: Any) -> bool:
    """Say whether a note has the shape of what :func:`of_class` writes; what it names the API server checks."""
    if not isinstance(noted, dict) or not isinstance(noted.get("classRef"), dict):
        return False
    groups = [noted.get("controlPlane"), *(noted["pools"].values() if isinstance(noted.get("pools"), dict) else [None])]
    return all(isinstance(group, dict) and set(group) <= set(_OF_GROUP) for group in groups) \
        and set(noted) <= {*_SHARED, "controlPlane", "pools"}


def _config_in(former: Mapping[str, Any], api_version: str) -> Object | None:
    """Return the noted kubeadm configuration as a version of Cluster API has it; None when it has no place there.

    The description may have had another ``api_version`` when the rollout was stopped. Earlier releases did not note it.
    """
    noted = former.get(_CONFIG_VERSION, api_version)
    if noted == api_version:
        return former["config"]
    obj = {"apiVersion": f"bootstrap.cluster.x-k8s.io/{noted}", "kind": "KubeadmConfig", "metadata": {},
           "spec": former["config"]}
    try:
        found = {OLD: _converted, NEW: downgrade}[noted](obj)
    except (KeyError, TypeError, ValueError, AttributeError):
        # Anybody may have written it.
        return None
    return found["spec"] if found is not None else None


def _converted(obj: Object) -> Object | None:
    found = convert(obj)
    return None if found.mistakes else found.obj


def owner_as_before(owner: Object, former: Object, replicas: Any) -> Object:
    """Return a rendered owner with what its machines were made of before, and its present number of them.

    :param owner: a rendered KubeadmControlPlane or MachineDeployment
    :param former: as :func:`lacks` has found nothing wrong with
    """
    spec = dict(owner["spec"])
    if "replicas" in spec and replicas is not None:
        spec["replicas"] = replicas
    if owner["kind"] == "KubeadmControlPlane":
        template = spec["machineTemplate"]
        # In v1beta1 nothing is between.
        inner = template.get("spec", template)
        machine = dict(inner, infrastructureRef=_named(inner["infrastructureRef"], former["infrastructure"]))
        config = _config_in(former, owner["apiVersion"].rpartition("/")[2])
        spec.update({"version": former["version"], _CONFIG: config,
                     "machineTemplate": dict(template, spec=machine) if "spec" in template else machine})
        return dict(owner, spec=spec)
    template = spec["template"]
    machine = dict(template["spec"], version=former["version"], infrastructureRef=_named(
        template["spec"]["infrastructureRef"], former["infrastructure"]), bootstrap={"configRef": _named(
            template["spec"]["bootstrap"]["configRef"], former["bootstrap"])})
    machine.pop("failureDomain", None)
    if former.get("failureDomain"):
        machine["failureDomain"] = former["failureDomain"]
    spec["template"] = dict(template, spec=machine)
    return dict(owner, spec=spec)


def _named(reference: Object, former: Mapping[str, Any]) -> Object:
    return dict(reference, kind=former["kind"], name=former["name"])


def cluster_as_before(cluster: Object, former: Object) -> Object:
    """Return a rendered Cluster with the class and the version of before; all of its groups note that class.

    With a class of the user's with its variables of before, and those of the groups that were there.
    """
    topology = dict(topology_of(cluster), version=former["version"])
    if "topology" in former:
        noted = former["topology"]
        topology = _replaced(topology, _SHARED, noted)
        topology["controlPlane"] = _replaced(topology["controlPlane"], _OF_GROUP, noted["controlPlane"])
        if topology.get("workers"):
            topology["workers"] = dict(topology["workers"], machineDeployments=[
                _replaced(pool, _OF_GROUP, noted["pools"][pool["name"]]) if pool["name"] in noted["pools"] else pool
                for pool in pools_of(cluster)])
        return dict(cluster, spec=dict(cluster["spec"], topology=topology))
    topology["classRef"] = dict(topology["classRef"], name=former["class"])
    topology["controlPlane"] = _noting(topology["controlPlane"], former["class"])
    if topology.get("workers"):
        topology["workers"] = dict(topology["workers"], machineDeployments=[
            _noting(pool, former["class"]) for pool in pools_of(cluster)])
    return dict(cluster, spec=dict(cluster["spec"], topology=topology))


def _replaced(part: Mapping[str, Any], keys: Iterable[str], noted: Mapping[str, Any]) -> Object:
    """Return a part with what is noted of some keys, and without those of them that are not."""
    return {**dict((key, value) for key, value in part.items() if key not in keys), **_picked(noted, keys)}


def _noting(group: Mapping[str, Any], name: str) -> Object:
    metadata = group.get("metadata") or {}
    return dict(group, metadata=dict(metadata, annotations=dict(
        metadata.get("annotations") or {}, **{CLASS_ANNOTATION: name})))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a namespace ``clusterctl move`` takes along, and in which order; pure.

The rules are those of clusterctl 1.13 (``cmd/clusterctl/client/cluster/objectgraph.go``): what is labelled, what
belongs to it by owner references, and Secrets that are a cluster's by their name.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.options.field_checks import is_name
from ..._kube.kinds.resources import KNOWN, Resource, group_of
from ..._kube.objects.finalizers import is_going
from ..._metal3.kinds import GROUPS
from ..._plane.parts.catalogue import CLUSTERCTL_LABEL, MOVE_HIERARCHY_LABEL, MOVE_LABEL

Object = dict[str, Any]

HOST = ("metal3.io", "BareMetalHost")
# Kinds that clusterctl takes with all that belongs to them, whatever their labels.
CLUSTER = ("cluster.x-k8s.io", "Cluster")
_ROOTS = (CLUSTER, ("cluster.x-k8s.io", "ClusterClass"),
          ("addons.cluster.x-k8s.io", "ClusterResourceSet"))
# The Ironic operator's kinds are the plane itself, and no part of what it manages, in whatever namespace they are.
_OF_THE_PLANE = ("ironic.metal3.io",)
# What the name of a cluster's Secret ends with (``util/secret/consts.go``).
_PURPOSES = ("kubeconfig", "ca", "etcd", "proxy", "sa")
# Controllers make them again for each host, and nobody writes them.
MADE_AGAIN = ("FirmwareSchema", "PreprovisioningImage")


class Kind(NamedTuple):
    """A kind as clusterctl finds it.

    :ivar resource: the Resource, in the version that is stored
    :ivar found: whether clusterctl looks for its objects at all
    :ivar forced: whether each of its objects is moved
    :ivar hierarchy: whether what belongs to its objects is moved, too
    """

    resource: Resource
    found: bool
    forced: bool
    hierarchy: bool


def kinds(definitions: Iterable[Object]) -> list[Kind]:
    """Return the kinds of a plane whose objects are in namespaces, and those that clusterctl looks for in any case.

    :param definitions: CustomResourceDefinitions of all groups
    """
    result = []
    for definition in definitions:
        spec, labels = definition["spec"], definition["metadata"].get("labels") or {}
        if spec["scope"] != "Namespaced" or not (CLUSTERCTL_LABEL in labels or spec["group"].endswith(GROUPS)):
            continue
        stored = next((version["name"] for version in spec["versions"] if version.get("storage")), None)
        if stored is None or spec["group"] in (CLUSTERCTL_LABEL, *_OF_THE_PLANE):
            continue
        hierarchy = MOVE_HIERARCHY_LABEL in labels or (spec["group"], spec["names"]["kind"]) in _ROOTS
        result.append(Kind(Resource(spec["group"], stored, spec["names"]["plural"], spec["names"]["kind"], True),
                           CLUSTERCTL_LABEL in labels, hierarchy or MOVE_LABEL in labels, hierarchy))
    return result + [Kind(KNOWN[name], True, False, False) for name in ("Secret", "ConfigMap")]


def key(obj: Object) -> tuple[str, str, str]:
    """Return what an object is in both planes: its group, kind and name."""
    return group_of(obj), obj["kind"], obj["metadata"]["name"]


def title(of: tuple[str, str, str]) -> str:
    """Return a key as messages have it."""
    return f"{of[1]} {of[2]}"


def file_name(obj: Object) -> str:
    """Return a file's name for an object (``objectgraph.go``: getFilename).

    :raises ValueError: for a name that no object has, as in a backup that somebody made by hand
    """
    group, kind, name = key(obj)
    if not is_name(name) or "/" in kind or "/" in group:
        raise ValueError(title((group, kind, name)))
    return f"{kind}_{name}_{group}.yaml"


class Graph:
    """The objects of a namespace and what becomes of them.

    :param objects: all objects of the kinds, of one namespace
    :param known: the Kinds, from :func:`kinds`
    """

    def __init__(self, objects: Iterable[Object], known: Iterable[Kind]) -> None:
        self._kinds = dict(((item.resource.group, item.resource.kind), item) for item in known)
        self._all = list(objects)
        self._objects = dict((obj["metadata"]["uid"], obj) for obj in self._all if self._kind(obj).found)
        self._owners = dict((uid, self._owners_of(obj)) for uid, obj in self._objects.items())
        self._moved = self._reached()

    def _kind(self, obj: Object) -> Kind:
        return self._kinds[key(obj)[:2]]

    def _has(self, obj: Object, what: str, label: str) -> bool:
        return bool(getattr(self._kind(obj), what)) or label in (obj["metadata"].get("labels") or {})

    def _owners_of(self, obj: Object) -> frozenset[str]:
        owners = frozenset(owner["uid"] for owner in obj["metadata"].get("ownerReferences") or [])
        if owners or obj["kind"] != "Secret":
            return owners
        cluster, _dash, purpose = obj["metadata"]["name"].rpartition("-")
        if purpose not in _PURPOSES:
            return owners
        return frozenset(uid for uid, item in self._objects.items()
                         if key(item) == (*CLUSTER, cluster))

    def _reached(self) -> set[str]:
        reached = set(uid for uid, obj in self._objects.items() if self._has(obj, "hierarchy", MOVE_HIERARCHY_LABEL))
        pending = list(reached)
        owned: dict[str, list[str]] = {}
        for uid, owners in self._owners.items():
            for owner in owners:
                owned.setdefault(owner, []).append(uid)
        while pending:
            fresh = [uid for uid in owned.get(pending.pop(), []) if uid not in reached]
            reached.update(fresh)
            pending += fresh
        return reached | set(uid for uid, obj in self._objects.items() if self._has(obj, "forced", MOVE_LABEL))

    @property
    def groups(self) -> list[list[Object]]:
        """The objects that are moved, owners before what they own; within a group in any order."""
        left, placed, result = dict((uid, self._objects[uid]) for uid in self._moved), set(), []
        while left:
            # As clusterctl has it: what has an owner that is not moved, or is not there, stays, too.
            group = [uid for uid in left if self._owners[uid] <= placed]
            if not group:
                break
            result.append([left.pop(uid) for uid in sorted(group, key=lambda uid: key(self._objects[uid]))])
            placed.update(group)
        return result

    @property
    def moved(self) -> list[Object]:
        """The objects that are moved."""
        return [obj for group in self.groups for obj in group]

    def of(self, kind: str) -> list[Object]:
        """Return the moved objects of a kind, by name."""
        return sorted((obj for obj in self.moved if obj["kind"] == kind), key=lambda obj: obj["metadata"]["name"])

    @property
    def left_behind(self) -> list[Object]:
        """Objects of Metal³ and Cluster API that stay, and are not made again by controllers."""
        uids = set(obj["metadata"]["uid"] for obj in self.moved)
        return [obj for obj in self._all if obj["metadata"]["uid"] not in uids and key(obj)[0].endswith(GROUPS)
                and obj["kind"] not in MADE_AGAIN and not self._is_remnant(obj)]

    def _is_remnant(self, obj: Object) -> bool:
        """Say whether an object is being deleted and nothing that it belongs to is there any more.

        CAPM3 1.13 leaves its finalizer on a Metal3Remediation whose Machine is gone.
        """
        owners = set(owner.get("uid") for owner in obj["metadata"].get("ownerReferences") or [])
        return is_going(obj) and bool(owners) and owners.isdisjoint(item["metadata"]["uid"] for item in self._all)


def unlabelled(obj: Object, known: Iterable[Kind]) -> bool:
    """Say whether clusterctl does not even look for objects of this kind."""
    return any(not item.found for item in known if (item.resource.group, item.resource.kind) == key(obj)[:2])


def by_key(objects: Iterable[Object]) -> Mapping[tuple[str, str, str], Object]:
    """Return objects by their key."""
    return dict((key(obj), obj) for obj in objects)

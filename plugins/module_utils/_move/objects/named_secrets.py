# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that hosts, and the configurations of nodes, name, and whether they go along with them; pure.

clusterctl moves a Secret for its owners, for its name (``<cluster>-kubeconfig``) or for a label, never because
something names it. Source: ``kubeadmconfig_types.go`` of Cluster API 1.13.
"""
from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..._host.description.named_secrets import named_secrets
from ..._plane.parts.catalogue import MOVE_LABEL
from .graph import HOST, Graph, key

Object = dict[str, Any]

# Kinds with a configuration of nodes, and where in their ``spec`` it is.
_CONFIGURATIONS: Mapping[str, tuple[str, ...]] = {
    "KubeadmConfig": (), "KubeadmConfigTemplate": ("template", "spec"),
    "KubeadmControlPlane": ("kubeadmConfigSpec",),
    "KubeadmControlPlaneTemplate": ("template", "spec", "kubeadmConfigSpec")}


class Left(NamedTuple):
    """A Secret that an object names and that does not go along with it.

    :ivar obj: the object
    :ivar field: path of the field that names it
    :ivar name: of the Secret
    :ivar secret: the Secret, None when there is none
    :ivar owner: kind and name of the first owner that does not go along, empty without one
    """

    obj: Object
    field: str
    name: str
    secret: Object | None
    owner: str


def of_configuration(obj: Object) -> list[tuple[str, str]]:
    """Return the Secrets that a configuration of nodes names, as (path of the field, name); none of other kinds."""
    where = _CONFIGURATIONS.get(obj["kind"])
    if where is None:
        return []
    spec = _at(obj.get("spec") or {}, where)
    found = [(".".join(("spec", *where, field)), _at(item, (source, "secret")).get("name"))
             for field, source in (("files", "contentFrom"), ("users", "passwdFrom"))
             for item in _items(spec.get(field))]
    return [(field, name) for field, name in found if isinstance(name, str) and name]


def left(moving: Graph, objects: Iterable[Object]) -> list[Left]:
    """Return the Secrets that moved hosts and configurations name and that do not go along with them.

    :param moving: what goes
    :param objects: all that the namespace has
    """
    going = set(obj["metadata"]["uid"] for obj in moving.moved)
    secrets = dict((key(obj)[2], obj) for obj in objects if key(obj)[:2] == ("", "Secret"))
    return [Left(obj, field, name, secrets.get(name), _owner(secrets.get(name), going))
            for obj in moving.moved for field, name in _named(obj)
            if name not in secrets or secrets[name]["metadata"]["uid"] not in going]


def labelled(found: Iterable[Left], moving: Graph) -> list[Object]:
    """Return the Secrets that stay as a backup has them, each once: with the label by which clusterctl takes them.

    :param found: of :func:`left`
    :param moving: what goes; other owners would be missed where they arrive, and the Secret collected as garbage
    """
    going = set(obj["metadata"]["uid"] for obj in moving.moved)
    return [_labelled(secret, going) for _name, secret in sorted(
        dict((item.name, item.secret) for item in found if item.secret is not None).items())]


def _labelled(secret: Object, going: set[str]) -> Object:
    made = copy.deepcopy(secret)
    metadata = made["metadata"]
    metadata["labels"] = dict(metadata.get("labels") or {}, **{MOVE_LABEL: ""})
    owners = [owner for owner in metadata.pop("ownerReferences", None) or [] if owner.get("uid") in going]
    if owners:
        metadata["ownerReferences"] = owners
    return made


def _named(obj: Object) -> Iterator[tuple[str, str]]:
    yield from named_secrets(obj) if key(obj)[:2] == HOST else of_configuration(obj)


def _owner(secret: Object | None, going: set[str]) -> str:
    owners = (secret or {"metadata": {}})["metadata"].get("ownerReferences") or []
    return next((f"{owner.get('kind')} {owner.get('name')}" for owner in owners if owner.get("uid") not in going), "")


def _at(value: Any, path: Iterable[str]) -> Mapping[str, Any]:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

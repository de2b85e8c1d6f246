# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of a plane's definitions and objects for a rehearsal, and what of them has not come through it; pure."""
from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..._host.description import annotations as host_annotations
from ..._kube.kinds.resources import LAST_APPLIED, TOKEN_TYPE
from ..._metal3.kinds import GROUPS
from ..._plane.parts.catalogue import CLUSTERCTL_LABEL
from .graph import key

Object = dict[str, Any]

# What an API server writes, and what an object that arrives elsewhere cannot have.
_SET_BY_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
                  "deletionTimestamp", "deletionGracePeriodSeconds")
# Written by whoever moves, on each object that goes: Cluster API's and Metal³'s webhooks allow its deletion by it
# (``cmd/clusterctl/api/v1alpha3/annotations.go``).
DELETE_FOR_MOVE = CLUSTERCTL_LABEL + "/delete-for-move"
# The kind whose updates BMO flashes unless its status, which is not taken along, says that they are flashed.
FIRMWARE = "HostFirmwareComponents"
# The kind that CAPM3 begins from the start without its status, with a reboot of the server.
REMEDIATION = "Metal3Remediation"
_EMPTY: tuple[Any, ...] = ({}, [], "", None)
_DIGEST_DIGITS = 16
# Secrets whose values the API server reads (``ValidateSecret``).
_JSON_KEYS = (".dockercfg", ".dockerconfigjson")


def definitions(found: Iterable[Object]) -> list[Object]:
    """Return copies of the definitions that a move is about, as an API server without webhooks takes them.

    :param found: CustomResourceDefinitions of all groups, as they were read
    """
    result = []
    for item in found:
        metadata, spec = item["metadata"], item["spec"]
        if not (CLUSTERCTL_LABEL in (metadata.get("labels") or {}) or spec["group"].endswith(GROUPS)):
            continue
        kept = dict((name, value) for name, value in spec.items() if name != "conversion")
        result.append({"apiVersion": item["apiVersion"], "kind": item["kind"], "spec": kept, "metadata": {
            "name": metadata["name"], "labels": metadata.get("labels") or {},
            "annotations": metadata.get("annotations") or {}}})
    return result


def objects(found: Iterable[Object], salt: bytes) -> list[Object]:
    """Return copies of objects: hosts held, values of Secrets replaced by what they can be compared by.

    :param found: objects as they were read; uids and owners stay, for :func:`owned_by`
    :param salt: random bytes, the same for what is to be compared
    """
    result = []
    for obj in found:
        if obj["kind"] == "Secret":
            if obj.get("type") == TOKEN_TYPE:
                # A controller makes it, and it is bound to an account that a rehearsal has not.
                continue
            obj = _without_values(obj, salt)
        result.append(held(obj))
    return result


def held(obj: Object, what_for: str = host_annotations.FOR_MOVE) -> Object:
    """Return a host as it is moved, with its status in the annotation from which the operator takes it.

    :param what_for: the value of its pause; restored, it keeps one that is somebody else's
    """
    if obj["kind"] != "BareMetalHost":
        return obj
    other = host_annotations.pause_of_others(obj) if what_for == host_annotations.FOR_RESTORE else None
    annotations = dict(host_annotations.of(obj), **{host_annotations.PAUSED: what_for if other is None else other})
    status = host_annotations.saved_status(obj)
    if status:
        annotations[host_annotations.STATUS] = status
    return dict(obj, metadata=dict(obj["metadata"], annotations=annotations))


def updates_of(obj: Object) -> list[Any]:
    """Return the updates of firmware that an object asks for, as a backup may hold it; none for other kinds."""
    updates = (obj.get("spec") or {}).get("updates") if obj["kind"] == FIRMWARE else None
    return updates if isinstance(updates, list) else []


def without_updates(obj: Object) -> Object:
    """Return an object as it arrives without its status: updates of firmware would be flashed once more."""
    return dict(obj, spec=dict(obj.get("spec") or {}, updates=[])) if obj["kind"] == FIRMWARE else obj


def is_stripped(obj: Object) -> bool:
    """Return whether an object has clusterctl's mark in place of all annotations that it had: it is about to go."""
    return list(host_annotations.of(obj)) == [DELETE_FOR_MOVE]


def _without_values(secret: Object, salt: bytes) -> Object:
    # kubectl keeps all that it has applied in an annotation, values, too.
    metadata = dict(secret["metadata"], annotations=dict(
        (name, value) for name, value in host_annotations.of(secret).items() if name != LAST_APPLIED))
    # What is empty is no secret, and a fault that the operator finds.
    return dict(secret, metadata=metadata, data=dict(
        (name, _digest(name, value, salt) if value else value) for name, value in (secret.get("data") or {}).items()))


def _digest(name: str, value: Any, salt: bytes) -> str:
    text = hmac.new(salt, f"{name}={value}".encode(), hashlib.sha256).hexdigest()
    content = json.dumps({"auths": {text: {}}} if name == _JSON_KEYS[1] else {text: {}}) if name in _JSON_KEYS else text
    return base64.b64encode(content.encode()).decode()


def waves(found: Iterable[Object]) -> list[list[Object]]:
    """Return objects in the order in which they can be created: owners before what they own.

    :param found: objects with their uids
    """
    left = dict((obj["metadata"]["uid"], obj) for obj in found)
    result: list[list[Object]] = []
    while left:
        # Owners that own each other would wait for ever: they go together.
        wave = [obj for obj in left.values() if not any(uid in left for uid in _owners(obj))] or list(left.values())
        for obj in wave:
            del left[obj["metadata"]["uid"]]
        result.append(wave)
    return result


def _owners(obj: Object) -> list[str]:
    return [str(owner.get("uid")) for owner in obj["metadata"].get("ownerReferences") or []]


def created(obj: Object, uids: Mapping[str, str]) -> Object:
    """Return an object as it is created, without what its API server sets.

    :param uids: uid of an owner where it comes from → its uid where it is created
    """
    metadata = dict((name, value) for name, value in obj["metadata"].items() if name not in _SET_BY_SERVER)
    if metadata.get("ownerReferences"):
        metadata["ownerReferences"] = [dict(owner, uid=uids.get(owner.get("uid", ""), owner.get("uid")))
                                       for owner in metadata["ownerReferences"]]
    return dict(obj, metadata=metadata)


def has_status(known: Iterable[Object]) -> set[tuple[str, str, str]]:
    """Return (group, version, kind) of the kinds whose status is written by a request of its own.

    :param known: CustomResourceDefinitions
    """
    return set((item["spec"]["group"], version["name"], item["spec"]["names"]["kind"]) for item in known
               for version in item["spec"]["versions"] if "status" in (version.get("subresources") or {}))


def differences(before: Object, after: Object) -> tuple[list[str], list[str]]:
    """Return the fields that an object has lost or that are others, and those that it has besides.

    Status does not count: a move takes none along, and that of hosts is an annotation by then.

    :param before: the object where it was
    :param after: the same where it has arrived
    :returns: paths of fields; no values, which may be secret
    """
    lost: list[str] = []
    added: list[str] = []
    _compare("", _comparable(before), _comparable(after), lost, added)
    return lost, added


def digest(obj: Object, secret: bytes) -> str:
    """Return by what the content of an object is known again: all but its metadata and status.

    :param secret: random bytes, without which nobody can try out what a Secret may hold
    """
    content = dict((name, value) for name, value in _comparable(obj).items() if name != "metadata")
    text = json.dumps(_without_empty(content), sort_keys=True, separators=(",", ":"))
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()[:_DIGEST_DIGITS]


def _without_empty(value: Any) -> Any:
    # As for differences: what is empty and what is not there are the same to controllers.
    if isinstance(value, Mapping):
        kept = ((name, _without_empty(item)) for name, item in value.items())
        return dict((name, item) for name, item in kept if item not in _EMPTY)
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


def _comparable(obj: Object) -> Object:
    metadata = dict((name, value) for name, value in obj["metadata"].items() if name not in _SET_BY_SERVER)
    annotations = dict((name, value) for name, value in (metadata.get("annotations") or {}).items()
                       if name != DELETE_FOR_MOVE)
    metadata["annotations"] = annotations
    # Uids are others over there.
    metadata["ownerReferences"] = dict(
        (f"{owner.get('kind')}/{owner.get('name')}", dict(
            (name, value) for name, value in owner.items() if name not in ("uid", "apiVersion")))
        for owner in metadata.get("ownerReferences") or [])
    metadata["finalizers"] = dict.fromkeys(metadata.get("finalizers") or [], True)
    result = dict((name, value) for name, value in obj.items() if name not in ("apiVersion", "status"))
    spec = result.get("spec")
    if key(obj)[1] == "Cluster" and isinstance(spec, dict):
        # clusterctl's own, while it moves.
        result["spec"] = dict((name, value) for name, value in spec.items() if name != "paused")
    return dict(result, metadata=metadata)


def _compare(path: str, before: Any, after: Any, lost: list[str], added: list[str]) -> None:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(set(before) | set(after)):
            where = f"{path}.{name}" if path else str(name)
            if name not in after:
                # What is empty and what is not there are the same to controllers.
                if before[name] not in _EMPTY:
                    lost.append(f"{where} (lost)")
            elif name not in before:
                if after[name] not in _EMPTY:
                    added.append(where)
            else:
                _compare(where, before[name], after[name], lost, added)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after)):
            _compare(f"{path}[{number}]", one, other, lost, added)
    elif before != after:
        lost.append(f"{path} (changed)")

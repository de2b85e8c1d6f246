# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an API server answers, checked for what all code relies on: objects, lists and events of a watch."""
from __future__ import annotations

import re
from typing import Any

from ..._common.documents.document_text import from_json
from .errors import KubeError, error_from_answer

# What to do about an answer that no API server gives.
NOT_KUBERNETES = "correct host or kubeconfig, or the proxy before the API server"
# They become parts of paths.
_GROUP_VERSION = re.compile(r"[a-z0-9][a-z0-9.-]*/[a-z0-9]+")
_RESOURCE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_EVENTS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")


def _invalid(subject: str, text: str) -> KubeError:
    return KubeError(f"{subject}: the answer is invalid: {text}", reason="InvalidAnswer",
                     next_step=NOT_KUBERNETES)


def decode(data: bytes) -> Any:
    """Return the content of an answer: JSON as Python has it, other content as text.

    :param data: bytes
    """
    if not data:
        return {}
    try:
        return from_json(data)
    except ValueError:
        return data.decode(errors="replace")


def read_object(value: Any, subject: str) -> dict[str, Any]:
    """Return an object with a name, whose metadata, spec, status and data are mappings where they are there.

    :param value: what the server answered
    :param subject: what was asked for, for messages
    :raises KubeError: when it is none
    """
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        raise _invalid(subject, "found no metadata, expected a Kubernetes object")
    metadata = value["metadata"]
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise _invalid(subject, "found no metadata.name, expected a Kubernetes object")
    for name in ("namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"):
        _expect(metadata, name, str, subject, metadata["name"], "metadata.")
    for name in ("labels", "annotations"):
        _expect(metadata, name, dict, subject, metadata["name"], "metadata.")
        if any(not isinstance(item, str) for item in (metadata.get(name) or {}).values()):
            raise _invalid(subject, f"{metadata['name'][:100]}: metadata.{name}: expected texts")
    for name, kind in (("finalizers", str), ("ownerReferences", dict)):
        _expect(metadata, name, list, subject, metadata["name"], "metadata.")
        if any(not isinstance(item, kind) for item in metadata.get(name) or []):
            raise _invalid(subject, f"{metadata['name'][:100]}: metadata.{name}: expected entries of one type")
    for name in ("spec", "status"):
        _expect(value, name, dict, subject, metadata["name"])
        if name in value and value[name] is None:
            # As the API server stores it: without the field.
            del value[name]
    return value


def _expect(parent: dict[str, Any], name: str, kind: Any, subject: str, title: str, prefix: str = "") -> None:
    value = parent.get(name)
    if value is not None and not isinstance(value, kind):
        raise _invalid(subject, f"{title[:100]}: {prefix}{name}: found {type(value).__name__}, expected "
                                f"{kind.__name__}")


def list_subject(resource: Any, namespace: str | None) -> str:
    """Return what errors of a LIST name."""
    return f"{resource.kind} list in {namespace or 'all namespaces'}"


def read_list(answer: Any, resource: Any,
              namespace: str | None) -> tuple[list[dict[str, Any]], str | None, str | None]:
    """Return ``(items, resourceVersion, continue token)`` of a LIST, every item with its apiVersion and kind.

    :param answer: what the server answered
    :param resource: the Resource that was asked for
    :param namespace: None for all namespaces
    :raises KubeError: when it is no list
    """
    subject = list_subject(resource, namespace)
    metadata = answer.get("metadata") or {}
    # Go writes null for a list without elements.
    items = answer.get("items", ()) or []
    if not isinstance(metadata, dict) or not isinstance(items, list) or "items" not in answer:
        raise _invalid(subject, "found no items, expected a list")
    token, version = metadata.get("continue"), metadata.get("resourceVersion")
    for name, value in (("continue", token), ("resourceVersion", version)):
        if value is not None and not isinstance(value, str):
            raise _invalid(subject, f"metadata.{name}: found {type(value).__name__}, expected text")
    for item in items:
        read_object(item, subject)
        item.setdefault("apiVersion", resource.api_version)
        item.setdefault("kind", resource.kind)
    return items, version, token


def read_event(line: bytes, subject: str) -> dict[str, Any]:
    """Return an event of a watch, ``{"type": …, "object": …}``.

    :param line: bytes
    :param subject: what is watched, for messages
    :raises KubeError: when it is none, or says that the watch failed
    """
    event = decode(line)
    kind = event.get("type") if isinstance(event, dict) else None
    body = event.get("object") if isinstance(event, dict) else None
    if kind not in _EVENTS or not isinstance(body, dict):
        raise _invalid(subject, f"found no event, expected one of {', '.join(_EVENTS)}")
    if kind == "ERROR":
        status = body.get("code")
        raise error_from_answer(status if isinstance(status, int) else 500, body, subject)
    metadata = body.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("resourceVersion"), str):
        raise _invalid(subject, "found an event without resourceVersion, expected one")
    if kind != "BOOKMARK":
        read_object(body, subject)
    return event


def read_group_versions(answer: dict[str, Any], subject: str) -> list[str]:
    """Return the versions of all API groups, such as ``apps/v1``, those of a group in the server's order.

    :param subject: what was asked for, for messages
    :raises KubeError: when it is no list of groups
    """
    found: list[str] = []
    groups = answer.get("groups")
    for group in groups if isinstance(groups, list) else [None]:
        versions = group.get("versions") if isinstance(group, dict) else None
        for version in versions if isinstance(versions, list) else [None]:
            name = version.get("groupVersion") if isinstance(version, dict) else None
            if not isinstance(name, str) or not _GROUP_VERSION.fullmatch(name):
                raise _invalid(subject, "found no groups with versions, expected a list of them")
            found.append(name)
    return found


def read_resources(answer: dict[str, Any], subject: str) -> list[dict[str, Any]]:
    """Return the entries of a list of resources that an API group serves, each with name, kind, namespaced and verbs.

    :param subject: what was asked for, for messages
    :raises KubeError: when it is none
    """
    items = answer.get("resources", ()) or []
    if not isinstance(items, list) or "resources" not in answer or not all(
            isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("kind"), str)
            and _RESOURCE_NAME.fullmatch(item["name"]) for item in items):
        raise _invalid(subject, "found no resources, expected a list of them")
    return [dict(item, namespaced=bool(item.get("namespaced")),
                 verbs=[verb for verb in item.get("verbs") or [] if isinstance(verb, str)]
                 if isinstance(item.get("verbs"), list) else []) for item in items]

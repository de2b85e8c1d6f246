# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From files, texts and structures to a checked list of Kubernetes objects."""
from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .._common.documents.document_text import from_yaml_all
from .._common.documents.tolerant import dict_in
from .._common.files import regular_file
from .._common.options.field_checks import show, shown
from .._common.problems.problem import Problem
from .._kube.objects.titles import title_of

# More than ten times what the largest manifests have.
LONGEST_BYTES = 64 * 1024 * 1024


def read(sources: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Return ``(objects, problems)`` of manifests.

    :param sources: list of paths of files, texts of YAML documents (unlike paths with a line break) and objects
    :returns: list of objects, those in Lists one by one; list of problems, one line each
    """
    objects, problems = [], []
    for number, source in enumerate(sources, 1):
        title = f"manifests[{number - 1}]"
        if isinstance(source, dict):
            documents = [source]
        elif isinstance(source, str):
            if "\n" not in source:
                title = f"manifests[{number - 1}] ({source})"
            documents, found = _documents(source, title)
            problems += found
        else:
            documents = []
            problems.append(Problem("manifest", title, None, type(source).__name__, "a path, a text or an object",
                                    "see the option's documentation"))
        for document in documents:
            items = [document]
            if isinstance(document, dict) and document.get("kind") == "List":
                items = document.get("items") or []
                if not isinstance(items, list):
                    problems.append(Problem("manifest", title, "items", type(items).__name__, "a list of objects",
                                            "correct the document"))
                    continue
            for item in items:
                found = _faults(title, item)
                problems += found
                if not found:
                    objects.append(item)
    return objects, problems


def _documents(source: Any, title: str) -> Any:
    """Return the YAML documents of a path or a text, and problems."""
    try:
        if "\n" not in source:
            source = regular_file.whole(os.path.expanduser(source), LONGEST_BYTES)
        return from_yaml_all(source), []
    except OSError as exc:
        return [], [
            Problem("manifest", title, None, exc.strerror or str(exc), "a file that can be read", "correct the path")
        ]
    # Also of a path with a zero.
    except ValueError as exc:
        return [], [Problem("manifest", title, None, str(exc), "YAML documents", "correct them")]


def _faults(title: str, item: Any) -> list[Problem]:
    if not isinstance(item, dict):
        return [Problem(
            "manifest", title, None, type(item).__name__, "an object with apiVersion, kind and metadata.name",
            "correct the document")]
    metadata = dict_in(item, "metadata")
    subject = f"{title}: {item.get('kind') or 'object'} {metadata.get('name') or 'without a name'}"
    found = [Problem("manifest", subject, field, shown(value), "a text", "set it")
             for field, value in (("apiVersion", item.get("apiVersion")), ("kind", item.get("kind")),
                                  ("metadata.name", metadata.get("name")))
             if not isinstance(value, str) or not value]
    found += [
        Problem(
            "manifest", subject, field, type(value).__name__, "a mapping" if kind is dict else "a text", "correct it")
        for field, value, kind in (
            ("metadata.namespace", metadata.get("namespace"), str),
            ("stringData", item.get("stringData"), dict),
            ("data", item.get("data"), dict),
        )
        if value is not None
        and not isinstance(value, kind)
        and (field == "metadata.namespace" or item.get("kind") in ("Secret", "ConfigMap"))
    ]
    if item.get("kind") == "CustomResourceDefinition" and not found:
        spec = dict_in(item, "spec")
        names = dict_in(spec, "names")
        if not (spec.get("group") and spec.get("versions") and names.get("plural") and names.get("kind")
                and spec.get("scope")):
            found.append(Problem(
                "manifest", subject, "spec", "an incomplete definition", "group, scope, names and versions",
                "complete it"))
    return found


def placed(objects: list[dict[str, Any]], resources: Mapping[tuple[str, str], Any], namespace: str) -> tuple[Any, Any]:
    """Return ``(objects, problems)``: each object with the namespace that it belongs into.

    :param objects: from :func:`read`
    :param resources: dict of ``(apiVersion, kind)`` to Resource or None, see ``kube.discovery.resolve``
    :param namespace: namespace of objects that name none
    """
    result, problems, seen = [], [], {}
    for obj in objects:
        resource = resources[(obj["apiVersion"], obj["kind"])]
        subject = title_of(obj)
        if resource is None:
            problems.append(Problem(
                "manifest", subject, "apiVersion", show(obj["apiVersion"]), "a kind that the API server serves",
                "add its CustomResourceDefinition to the manifests, or correct the version"))
            continue
        metadata = dict(obj["metadata"])
        metadata["namespace"] = metadata.get("namespace") or namespace
        if not resource.namespaced:
            del metadata["namespace"]
        key = (resource.group, resource.kind, metadata.get("namespace"), metadata["name"])
        if key in seen:
            problems.append(Problem("manifest", subject, "metadata.name", "the same object twice", "each object once",
                                    "remove one of them"))
        seen[key] = True
        result.append(_without_text(dict(obj, metadata=metadata)))
    return result, problems


def _without_text(obj: dict[str, Any]) -> Any:
    """Return a Secret with its ``stringData``, which the server never gives back, as ``data``."""
    if obj["kind"] != "Secret" or not obj.get("stringData"):
        return obj
    data = dict(obj.get("data") or {})
    data.update((key, base64.b64encode(str(value).encode()).decode()) for key, value in obj["stringData"].items())
    return dict(((key, value) for key, value in obj.items() if key != "stringData"), data=data)


def title(obj: dict[str, Any]) -> str:
    """Return how an object is named in messages: ``Kind namespace/name``."""
    metadata = obj["metadata"]
    return f"{obj['kind']} {metadata['namespace'] + '/' if metadata.get('namespace') else ''}{metadata['name']}"

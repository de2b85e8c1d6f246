# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options of plane_provider must hold, before a file or an object is written; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._common.documents.tolerant import dict_in
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.connection.connection_values import is_text
from ..._metal3.kinds import resource_for

_PORTS = ("webhook", "health", "metrics")
_HINT = "set management_plane to what the plane's lab.json holds"


def problems(management_plane: dict[str, Any], providers: list[str], objects: list[dict[str, Any]]) -> list[Problem]:
    """Return the problems of a management plane and of further objects.

    :param management_plane: the option ``management_plane``
    :param providers: names of the providers that run on it
    :param objects: the option ``objects``
    """
    # Without providers, only objects are applied.
    found = figure_problems(management_plane, ("dir", "engine_dir") if providers else ("dir",))
    url = dict_in(management_plane, "urls").get("kubernetes")
    if providers and not is_text(url):
        found.append(_figure("urls.kubernetes", url, "the URL of the API server"))
    ports = dict_in(management_plane, "ports")
    found += [_figure(f"ports.{name}", ports.get(name), "1 to 65535")
              for name in (f"{provider}_{part}" for provider in dict.fromkeys(providers) for part in _PORTS)
              if not _is_port(ports.get(name))]
    for index, item in enumerate(objects):
        found += _object_problems(f"objects[{index}]", item)
    return found


def figure_problems(management_plane: dict[str, Any], folders: Iterable[str]) -> list[Problem]:
    """Return the problems of a management plane's folders and of the versions that it is to have.

    :param management_plane: the option ``management_plane``
    :param folders: fields that must hold a path
    """
    found = [_figure(name, management_plane.get(name), "a path") for name in folders
             if not is_text(management_plane.get(name))]
    versions = management_plane.get("versions")
    if versions is not None and not (isinstance(versions, dict) and all(
            version is None or isinstance(version, str) for version in versions.values())):
        found.append(_figure("versions", versions, "part's name and version"))
    return found


def _figure(name: str, value: Any, expected: str) -> Problem:
    return Problem("plane-figures", "", f"management_plane.{name}", _shown(value), expected, _HINT)


def _object_problems(path: str, item: dict[str, Any]) -> list[Problem]:
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        return [Problem("plane-object", "", f"{path}.metadata", _shown(metadata), "a dictionary with name",
                        f"set {path}.metadata.name")]
    texts = {"apiVersion": item.get("apiVersion"), "kind": item.get("kind"), "metadata.name": metadata.get("name")}
    found = [Problem("plane-object", "", f"{path}.{field}", _shown(value), "a text", f"set {path}.{field}")
             for field, value in texts.items() if not is_text(value)]
    found += [Problem("plane-object", "", f"{path}.{field}", type(item[field]).__name__, "a dictionary", "correct it")
              for field in ("data", "stringData", "spec") if not isinstance(item.get(field, {}), dict)]
    if found:
        return found
    try:
        resource = resource_for(item["apiVersion"], item["kind"])
    except KeyError:
        return [Problem("plane-object", "", f"{path}.kind", show(f"{texts['apiVersion']} {texts['kind']}"),
                        "a kind of Kubernetes, Cluster API or Metal³ that this collection knows",
                        "correct apiVersion and kind, or apply the object by the module manifests")]
    namespace = metadata.get("namespace")
    if resource.namespaced and not is_text(namespace):
        return [Problem("plane-object", "", f"{path}.metadata.namespace", _shown(namespace), "a namespace",
                        f"set {path}.metadata.namespace")]
    if not resource.namespaced and namespace is not None:
        return [Problem("plane-object", "", f"{path}.metadata.namespace", _shown(namespace),
                        f"none: a {texts['kind']} is in no namespace", "remove it")]
    return []


def _is_port(value: Any) -> bool:
    # A boolean is an integer to Python.
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 65535


def _shown(value: Any) -> str | None:
    """Return a value as Problems take it: never a structure, which may hold a secret."""
    if value is None:
        return None
    return type(value).__name__ if isinstance(value, (dict, list)) else show(value)

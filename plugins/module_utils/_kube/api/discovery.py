# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resource of a kind: from the table, from a definition that is about to be applied, else asked of the server.

Also all kinds that a namespace may have objects of.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kinds.resources import Resource, resource_for
from ..responses.answers import read_group_versions, read_resources
from ..responses.errors import KubeError
from . import bulk

# What the server must serve of a kind to delete it with its namespace.
_GOES = {"list", "delete"}


def resolve(client: Any, objects: list[dict[str, Any]], run: Callable[..., Any] = bulk.run) -> dict[Any, Any]:
    """Return the resource of each kind among objects.

    :param client: a KubeClient
    :param objects: list of objects; CustomResourceDefinitions among them count as served
    :param run: callable that takes a list of calls and returns their ``bulk.Outcome``
    :returns: dict of ``(apiVersion, kind)`` to Resource, None for a kind that nothing serves
    :raises KubeError: when the server can't be asked
    """
    found = _defined(objects)
    unknown = set()
    for key in set((obj["apiVersion"], obj["kind"]) for obj in objects) - set(found):
        try:
            found[key] = resource_for(*key)
        except KeyError:
            unknown.add(key)
    versions = sorted(set(api_version for api_version, _kind in unknown))
    served = {}
    for api_version, outcome in zip(versions, run([_asker(client, version) for version in versions])):
        if outcome.error is not None:
            raise outcome.error
        served.update(((api_version, resource.kind), resource) for resource in outcome.value)
    found.update((key, served.get(key)) for key in unknown)
    return found


def _defined(objects: list[dict[str, Any]]) -> dict[Any, Any]:
    """Return the resources that CustomResourceDefinitions define."""
    result = {}
    for obj in objects:
        if obj["kind"] != "CustomResourceDefinition":
            continue
        spec = obj["spec"]
        for version in spec["versions"]:
            resource = Resource(spec["group"], version["name"], spec["names"]["plural"], spec["names"]["kind"],
                                spec["scope"] == "Namespaced")
            result[(resource.api_version, resource.kind)] = resource
    return result


def namespaced(client: Any, run: Callable[..., Any] = bulk.run) -> list[Resource]:
    """Return the resources whose objects go with a namespace that is deleted, each in one version.

    :param client: a KubeClient
    :param run: as for :func:`resolve`
    :raises KubeError: when the server can't be asked, or what serves a group does not answer
    """
    versions = ["v1", *read_group_versions(client.request("GET", "/apis", subject="API groups"), "API groups")]
    found: dict[tuple[str, str], Resource] = {}
    for outcome in run([_asker(client, version, deletable=True) for version in versions]):
        if outcome.error is not None:
            raise outcome.error
        for resource in outcome.value:
            if resource.namespaced:
                found.setdefault((resource.group, resource.kind), resource)
    return list(found.values())


def _asker(client: Any, api_version: str, deletable: bool = False) -> Callable[..., Any]:
    group, dummy, version = api_version.rpartition("/")
    path = f"/apis/{api_version}" if group else f"/api/{version}"
    subject = f"resources of {api_version}"

    def call() -> list[Resource]:
        try:
            items = read_resources(client.request("GET", path, subject=subject), subject)
        except KubeError as exc:
            if exc.status == 404:
                return []
            raise
        # Subresources are listed as plural/name.
        return [Resource(group, version, item["name"], item["kind"], item["namespaced"])
                for item in items if "/" not in item["name"] and (not deletable or set(item["verbs"]) >= _GOES)]
    return call

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads all that a namespace of a plane has, one LIST for each kind."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from ..._kube.api import bulk, cluster_identity
from ..._kube.kinds.resources import Resource
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from . import graph, record

Object = dict[str, Any]

_NAMESPACE = KNOWN["Namespace"]


class Contents(NamedTuple):
    """What an API server of a rehearsal begins with.

    :ivar definitions: CustomResourceDefinitions as they were read
    :ivar providers: entries of clusterctl's inventory as they were read
    """

    definitions: list[Object]
    providers: list[Object]


class Side:
    """One of the two planes, as it was read.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :raises KubeError: when the API server can't be asked
    """

    def __init__(self, client: Any, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        definitions = client.list(KNOWN["CustomResourceDefinition"])[0]
        self.definitions: list[Object] = definitions
        self.kinds = graph.kinds(definitions)
        # (group, kind) → versions that are served.
        self.served: Mapping[tuple[str, str], list[str]] = dict(
            ((item["spec"]["group"], item["spec"]["names"]["kind"]),
             [version["name"] for version in item["spec"]["versions"] if version.get("served", True)])
            for item in definitions)
        self.resources = dict(((item.resource.group, item.resource.kind), item.resource) for item in self.kinds)
        self.uid = cluster_identity.uid_of(client)
        self.read()

    def read(self) -> None:
        """Read the objects of the namespace (again).

        :raises KubeError: when the API server can't be asked
        """
        answers = bulk.run([self._lister(item.resource) for item in self.kinds])
        for answer in answers:
            if answer.error is not None:
                raise answer.error
        self.objects: list[Object] = [obj for answer in answers for obj in answer.value]
        self.by_key = graph.by_key(self.objects)
        self.record = record.read(self.by_key.get(record.KEY))
        self._once: dict[Hashable, Any] = {}

    def once(self, key: Hashable, read: Callable[[], Any]) -> Any:
        """Return what was read for a key since :meth:`read`, so that what a result says is what was checked.

        :param read: callable that reads it
        """
        if key not in self._once:
            self._once[key] = read()
        return self._once[key]

    def deployment(self, namespace: str, name: str) -> Object | None:
        """Return a Deployment of any namespace, None without one; one read serves all questions, see :meth:`once`.

        :raises KubeError: when the API server can't be asked
        """
        found: Object | None = self.once(("Deployment", namespace, name), lambda: self.client.get(
            KNOWN["Deployment"], namespace, name))
        return found

    def has_namespace(self) -> bool:
        """Return whether the namespace is there; one read serves all questions, see :meth:`once`.

        :raises KubeError: when the API server can't be asked
        """
        return bool(self.once("Namespace", lambda: self.client.get(_NAMESPACE, None, self.namespace) is not None))

    def make_namespace(self) -> None:
        """Create the namespace unless it is there, by the right to create alone: an apply would want more.

        :raises KubeError: when the API server can't be asked or refuses
        """
        if self.has_namespace():
            return
        try:
            self.client.create(_NAMESPACE, None, {
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        except KubeError as exc:
            # Somebody else has made it meanwhile.
            if exc.status != 409:
                raise
        self._once["Namespace"] = True

    def keep(self, config: Object) -> None:
        """Keep the ConfigMap of a record as it was written, in place of the one that was read."""
        self.by_key = {**self.by_key, record.KEY: config}
        self.record = record.read(config)

    def _lister(self, resource: Resource) -> Any:
        return lambda: self.client.list(resource, self.namespace)[0]

    def graph(self) -> graph.Graph:
        """Return what of the namespace is moved."""
        return graph.Graph(self.objects, self.kinds)

    def contents(self) -> Contents:
        """Return what a rehearsal's API server must have of this plane: its definitions and clusterctl's inventory.

        :raises KubeError: when the API server can't be asked
        """
        return Contents(self.definitions, self.client.list(KNOWN["Provider"])[0])

    def host(self, name: str) -> Object | None:
        """Return a host of the namespace, None when there is none of the name."""
        return self.by_key.get((*graph.HOST, name))

    def clusters(self) -> list[Object]:
        """Return the Clusters of the namespace."""
        return [obj for obj in self.objects if graph.key(obj)[:2] == graph.CLUSTER]

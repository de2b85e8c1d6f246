# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a plane goes into files, and under which names; pure.

What an API server answers is data: names that it gives to pods, containers and objects become names of files.
"""
from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .._cluster.workflow.rollout_stop import NOTE
from .._common.documents.tolerant import dicts_in
from .._common.redaction import redaction
from .._kube.kinds.resources import LAST_APPLIED, Resource
from .._metal3.kinds import GROUPS, KNOWN

Object = dict[str, Any]

# In this order a pod starts them.
_CONTAINERS = (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses"),
               ("ephemeralContainers", "ephemeralContainerStatuses"))
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
# File systems take 255 bytes, a suffix included; a namespace and a name of Kubernetes may have more.
_LONGEST_SEGMENT = 200


class Log(NamedTuple):
    """A log of a container.

    :ivar namespace: of the pod
    :ivar pod: its name
    :ivar container: the container's name
    :ivar previous: whether it is the log of the run before the present one
    """

    namespace: str
    pod: str
    container: str
    previous: bool


def logs_of(pod: Object) -> Iterator[Log]:
    """Yield the logs of a pod: of each container, and of the run before of each that was started again.

    :param pod: a Pod as the API server has it
    """
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    for listed, reported in _CONTAINERS:
        restarts = dict((str(item.get("name")), item.get("restartCount")) for item in dicts_in(status, reported))
        for name in [item.get("name") for item in dicts_in(spec, listed)]:
            if not isinstance(name, str) or not name:
                continue
            log = Log(metadata.get("namespace") or "", metadata["name"], name, False)
            yield log
            count = restarts.get(name)
            if isinstance(count, int) and count > 0:
                yield log._replace(previous=True)


def kinds(definitions: Iterable[Object]) -> list[Resource]:
    """Return the kinds of Metal³ and Cluster API, in the version that is stored, else in one that is served.

    :param definitions: CustomResourceDefinitions of all groups
    """
    found = []
    for definition in definitions:
        spec = definition.get("spec") or {}
        names, versions = spec.get("names") or {}, dicts_in(spec, "versions")
        served = sorted((item for item in versions if item.get("served", True)),
                        key=lambda item: not item.get("storage"))
        if served and str(spec.get("group")).endswith(GROUPS):
            found.append(Resource(spec["group"], served[0]["name"], names["plural"], names["kind"],
                                  spec.get("scope") == "Namespaced"))
    return found


def known_kinds() -> list[Resource]:
    """Return the kinds that this collection knows, for credentials that must not list definitions."""
    return [resource for resource in KNOWN.values() if resource.group.endswith(GROUPS)]


def shown(obj: Object) -> Object:
    """Return an object without what nobody reads, and with its secrets hidden.

    :param obj: an object as the API server has it
    """
    metadata = dict((key, value) for key, value in obj["metadata"].items() if key != "managedFields")
    if isinstance(metadata.get("annotations"), dict):
        # They repeat the object as a text, in which secrets have no field of their own.
        metadata["annotations"] = dict((key, value) for key, value in metadata["annotations"].items()
                                       if key not in (LAST_APPLIED, NOTE))
    hidden: Object = redaction.hidden(dict(obj, metadata=metadata))
    return hidden


def in_order(events: Iterable[Object]) -> list[Object]:
    """Return events by the time at which they were reported last."""
    return sorted(events, key=lambda event: str(
        event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or ""))


def segment(text: str) -> str:
    """Return a text as one part of a file's path: no separator, not ``..``, not too long, not empty.

    :param text: a name of any origin
    """
    safe = _UNSAFE.sub("_", text)
    if not safe.strip("."):
        safe = "_" * max(1, len(safe))
    if len(safe) <= _LONGEST_SEGMENT:
        return safe
    return f"{safe[:_LONGEST_SEGMENT]}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


class Paths:
    """Relative paths of files, none of which is given out twice."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, folders: Iterable[str], name: str, suffix: str = "") -> str:
        """Return the path of a file.

        :param folders: names of the folders that it is in, of any origin
        :param name: its name without the suffix, of any origin
        :param suffix: of this collection
        """
        base = "/".join([*(segment(folder) for folder in folders), segment(name)])
        path, number = base + suffix, 1
        # Two names may differ only by what was replaced; some file systems know no upper case.
        while path.lower() in self._taken:
            number += 1
            path = f"{base}-{number}{suffix}"
        self._taken.add(path.lower())
        return path

    def of_log(self, log: Log) -> str:
        """Return the path of a container's log."""
        return self.of(("pods", log.namespace, log.pod), log.container, ".previous.log" if log.previous else ".log")

    def of_object(self, obj: Object, resource: Resource) -> str:
        """Return the path of an object."""
        kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        namespace = obj["metadata"].get("namespace")
        name = obj["metadata"]["name"]
        return self.of(("objects", kind), f"{namespace}.{name}" if namespace else name, ".yaml")

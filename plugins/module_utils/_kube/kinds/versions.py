# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which version of a kind is asked of an API server: the resource's own, else the newest older one that is served.

An API server is asked what it serves when it has answered that it does not know what was asked for, so that those
that serve the newest version are asked nothing.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, TypeVar

from ..responses.answers import read_resources
from ..responses.errors import KubeError
from .resources import Older, Resource

Value = TypeVar("Value")
# What is asked for, and the Older of its version when that is not the one of the resource that was given.
Asked = tuple[Resource, Optional[Older]]


class Versions:
    """The versions of kinds that one API server serves; safe to share between threads.

    :param request: callable that sends a request, see :meth:`Transport.request`
    """

    def __init__(self, request: Callable[..., Any]) -> None:
        self._request = request
        self._chosen: dict[Resource, Asked] = {}
        # Groups with version, and their kinds, that were found to be served.
        self._served: set[tuple[str, str]] = set()

    def asked(self, resource: Resource) -> Asked:
        """Return what is asked for in place of a resource, by what is known so far."""
        return self._chosen.get(resource, (resource, None))

    def run(self, resource: Resource, send: Callable[[Resource, Older | None], Value]) -> Value:
        """Return what a call returns for a resource in the version that is served.

        :param send: callable that takes what is asked for and sends a request, a second time when it raises a
            KubeError of status 404 and an older version is served alone
        :raises KubeError: what the call raises
        """
        asked = self.asked(resource)
        try:
            return send(*asked)
        except KubeError as exc:
            found = self._instead(resource) if exc.status == 404 and asked[1] is None and resource.older else None
            if found is None:
                raise
            self._chosen[resource] = found
        return send(*found)

    def _instead(self, resource: Resource) -> Asked | None:
        """Return the older resource that is served while the resource itself is not."""
        if self._serves(resource):
            return None
        for older in resource.older:
            candidate = resource._replace(version=older.version, older=())
            if self._serves(candidate):
                return candidate, older
        return None

    def _serves(self, resource: Resource) -> bool:
        if (resource.api_version, resource.kind) not in self._served:
            subject = f"resources of {resource.api_version}"
            try:
                found = read_resources(self._request("GET", f"/apis/{resource.api_version}", subject=subject), subject)
            except KubeError as exc:
                # Who may not ask learns what the first answer said.
                if exc.status not in (403, 404):
                    raise
                return False
            self._served.update((resource.api_version, item["kind"]) for item in found)
        return (resource.api_version, resource.kind) in self._served


def read(asked: Asked, obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object that was read in the version that the caller knows."""
    return obj if asked[1] is None else asked[1].read(obj)


def written(asked: Asked, obj: dict[str, Any], subject: str) -> dict[str, Any]:
    """Return an object in the version in which it is written.

    :raises KubeError: when it can't be written in that version
    """
    return _said(asked, subject, lambda older: older.write(obj, older.version), obj)


def patched(asked: Asked, patch: dict[str, Any], subject: str) -> dict[str, Any]:
    """Return a merge patch in the version in which it is sent; see :func:`written`."""
    return _said(asked, subject, lambda older: older.patch(patch), patch)


def _said(asked: Asked, subject: str, convert: Callable[[Older], dict[str, Any]],
          given: dict[str, Any]) -> dict[str, Any]:
    resource, older = asked
    if older is None:
        return given
    try:
        return convert(older)
    except ValueError as exc:
        raise KubeError(f"{subject}: the API server serves it in {resource.version} only, and {exc}", None,
                        "Configuration", next_step="upgrade the management plane") from exc

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run over parts in a cluster works with: the parts, what there is of their kinds, and its writes."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._kube.api.discovery import resolve
from ..._kube.kinds import served
from ..._kube.reconcile.plan import DELETE, Entry, deletion
from ..._kube.reconcile.reconcile import Written, raise_refused
from ..._manifests.service import ManifestsService, ManifestsWrites
from ..._metal3.kinds import resource_for
from ..parts.catalogue import IRONIC, PARTS, Part
from ..upgrade import rules as upgrade
from . import objects

Object = dict[str, Any]

INTERVAL_SECONDS = 0.5
# How many objects a message names.
NAMED = 5


class ComponentsError(ReportedError):
    """Parts were not installed or removed in time; the message says which, and why."""


def of_others(going: list[Entry]) -> list[Problem]:
    """Return problems with objects that this collection has not applied."""
    label, value = objects.OWNER_LABEL
    found = [(entry, ((entry.current or {})["metadata"].get("labels") or {}).get(label)) for entry in going]
    return [Problem("part-of-others", entry.title, f"metadata.labels.{label}", owner, value,
                    "remove the part by what has installed it") for entry, owner in found if owner != value]


class ComponentsWrites(ManifestsWrites):
    """The writes of one run over parts, which deletes only what this collection has applied."""

    def problems_again(self, entry: Entry, stored: Object | None) -> list[Any]:
        """Return why an object that others changed meanwhile must not be deleted."""
        return of_others([deletion(entry.resource, stored)]) if entry.action == DELETE and stored else []


class ComponentsRun(ManifestsService):
    """What one run over parts of the plane, in one cluster, works with.

    :param client: a KubeClient
    :param params: the parameters of the module ``plane_components``
    :param shipped: part's name → its objects as they are shipped and its version, see ``sources.read``
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, client: Any, params: Object, shipped: dict[str, tuple[list[Object], str]], check_mode: bool,
                 progress: Any, sleep: Callable[[float], Any] = time.sleep,
                 clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(client, [], "default", check_mode, progress, sleep, clock)
        self.params, self.shipped = params, shipped
        # A removal has no such option.
        self.seconds_left = params["wait_timeout_seconds"] if params.get("wait") else 0
        self.steps: list[upgrade.Step] = []
        # Title of an object → name of its part.
        self.part_of: dict[str, str] = {}
        self.parts = [part for part in (*PARTS, IRONIC) if part.name in shipped]

    def writes_of(self, client: Any, check_mode: bool, progress: Any,
                  sleep: Callable[[float], Any]) -> ManifestsWrites:
        """Return the writes of the run."""
        return ComponentsWrites(client, check_mode, progress, sleep, self._resource_of)

    def refuse(self, lists: Iterable[list[Problem]]) -> None:
        """Go on only when no list holds a problem.

        :raises RefusedError: with all of them
        """
        found = [problem for items in lists for problem in items]
        if found:
            raise RefusedError(found)

    def chosen(self) -> list[tuple[Part, Object]]:
        """Return parts and their settings, in the catalogue's order."""
        settings = dict((item["name"], item) for item in self.params["parts"])
        return [(part, settings[part.name]) for part in self.parts]

    def listed(self, api_version: str, kind: str, selector: str | None = None,
               namespace: str | None = None) -> list[Object]:
        """Return the objects of a kind in a namespace, or in all of them; none of one that is not served."""
        try:
            resource = resource_for(api_version, kind)
        except KeyError:
            resource = resolve(self.client, [{"apiVersion": api_version, "kind": kind}], self.writes.persist)[
                api_version, kind]
        if resource is None:
            return []
        return served.listed(self.client, resource, namespace, selector)

    def deleted(self, due: list[Entry]) -> list[Written]:
        """Delete objects; return what has become of each.

        :raises KubeError: with all that the API server refuses
        """
        written = self.writes.write(due)
        raise_refused(self.client, written)
        return written

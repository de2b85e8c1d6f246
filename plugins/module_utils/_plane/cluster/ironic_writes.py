# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes of Ironic in a cluster, of which the Secrets with logins rest on what the new logins were decided by.

Two runs at once that rotate would store the password of one and the password file of the other.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._kube.kinds.resources import Resource
from ..._kube.objects.precondition import identity
from ..._kube.reconcile.plan import Entry
from .components import ComponentsWrites

Object = dict[str, Any]


class IronicWrites(ComponentsWrites):
    """The writes of one run.

    :ivar decided_by: name of a Secret with logins → as it was read when new ones were decided, None for none; of what
        this run has written since, as it is stored
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 resource_of: Callable[[str, str], Resource]) -> None:
        super().__init__(client, check_mode, progress, sleep, resource_of)
        self.decided_by: dict[str, Object | None] = {}

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Send one entry on the condition that it rests on."""
        if not self._is_decided(entry):
            return super().send(entry, dry_run)
        stored = super().send(entry._replace(current=self.decided_by[entry.name]), dry_run)
        if not dry_run:
            self.decided_by[entry.name] = stored
        return stored

    def problems_again(self, entry: Entry, stored: Object | None) -> list[Any]:
        """Return why an object that others changed meanwhile must not be written or deleted."""
        if not self._is_decided(entry) or _same(stored, self.decided_by[entry.name]):
            return super().problems_again(entry, stored)
        if stored is not None and stored.get("data") == (entry.desired or {}).get("data"):
            # Stored by an attempt whose answer was lost.
            self.decided_by[entry.name] = stored
            return []
        return ["another run has replaced what it holds since this one has read it; wait until that run has ended, "
                "then run again"]

    def _is_decided(self, entry: Entry) -> bool:
        return entry.resource.kind == "Secret" and entry.desired is not None and entry.name in self.decided_by


def _same(stored: Object | None, before: Object | None) -> bool:
    return stored is before is None or (
        stored is not None and before is not None and identity(stored) == identity(before))

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks on objects that controllers write to meanwhile: each patch is made for the object as it is by then."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile, raise_refused
from ..._kube.reconcile.report import difference
from . import node


class Patches(Reconcile):
    """Merge patches, each of which is computed again when the object has changed.

    :param make: callable that takes an object and returns its patch, None for nothing to do
    """

    def __init__(self, client, check_mode, progress, sleep, make):
        super().__init__(client, check_mode, progress, sleep)
        self._make = make

    def entry(self, resource: Any, obj: dict[str, Any]) -> Entry:
        """Return the entry of an object."""
        patch, metadata = self._make(obj), obj["metadata"]
        return Entry(resource, metadata.get("namespace"), metadata["name"], UPDATE if patch else UNCHANGED, None, obj,
                     node.before(obj, patch or {}), patch or {}, patch or {})

    def apply(self, resource: Any, objects: Iterable[dict[str, Any]], diff: list[dict[str, Any]],
              done: dict[str, Any]) -> None:
        """Write the patches of objects.

        :param diff: gets the difference of each that has changed, also when others were refused
        :param done: what the run has done so far; its ``changed`` becomes true when something was stored
        :raises KubeError: with all that the API server refuses
        """
        written = self.write([self.entry(resource, obj) for obj in objects])
        changed = [item for item in written if item.changed]
        diff += [difference(item.entry) for item in changed]
        done["changed"] = done["changed"] or (bool(changed) and not self.check_mode)
        raise_refused(self.client, written)

    def plan_again(self, entry, stored):
        """Return the entry for the object as it is by now."""
        return self.entry(entry.resource, stored) if stored else entry._replace(action=UNCHANGED)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks on objects that controllers write to meanwhile: each patch is made for the object as it is by then."""
from __future__ import annotations

from typing import Any

from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile
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

    def plan_again(self, entry, stored):
        """Return the entry for the object as it is by now."""
        return self.entry(entry.resource, stored) if stored else entry._replace(action=UNCHANGED)

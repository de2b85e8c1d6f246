# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes of the password in credentials Secrets, and of nothing else in them."""
from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile
from ..state.reading import SECRET, secret_of
from . import rotation_rules as rules


class SecretWrites(Reconcile):
    """Writes of the password in Secrets.

    :param passwords: ``{name of the Secret: the password that it is to have}``
    :param read: ``{name: Secret}`` as they were checked
    """

    def __init__(self, client: Any, progress: Any, sleep: Callable[[float], Any], passwords: Mapping[str, str],
                 read: Mapping[str, Any]):
        super().__init__(client, False, progress, sleep)
        self._passwords, self._read = passwords, read

    def entry(self, secret: Any) -> Entry:
        """Return the entry of a Secret as it was read."""
        metadata = secret["metadata"]
        new = base64.b64encode(self._passwords[metadata["name"]].encode()).decode()
        old = (secret.get("data") or {}).get("password")
        return Entry(SECRET, metadata["namespace"], metadata["name"], UNCHANGED if old == new else UPDATE, None, secret,
                     {"data": {"password": old}}, {"data": {"password": new}}, {"data": {"password": new}})

    def read_again(self, entry: Entry) -> Any:
        """Return the Secret in its shape."""
        return secret_of(self.client, entry.namespace or "", entry.name)

    def problems_again(self, entry: Entry, stored: Any) -> list[str]:
        """Return why the Secret as it is by now must not be written."""
        if stored is None:
            return ["the Secret was deleted"]
        username, password = rules.credentials_of(stored)
        before = rules.credentials_of(self._read[entry.name])
        if username != before[0] or password not in (before[1], self._passwords[entry.name]):
            return ["the Secret holds other credentials"]
        return []

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for the Secret as it is by now."""
        return self.entry(stored)

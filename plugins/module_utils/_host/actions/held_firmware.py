# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks whether servers that are held off stay off, or are switched on once more for their firmware."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.documents.object_shape import of_kind
from ..._kube.reconcile.plan import by_name
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..state import firmware_due

# A wait looks at each host each second.
_FRESH_SECONDS = 5


class HeldFirmware:
    """Reads what is pending at the firmware of hosts, for as long as it keeps them from being held.

    :param client: a KubeClient
    :param namespace: of the hosts
    :param clock: monotonic clock, in seconds
    :ivar warnings: that it may not be read
    """

    def __init__(self, client: Any, namespace: str, clock: Callable[[], float]) -> None:
        self._client, self._namespace, self._clock = client, namespace, clock
        self._policies: tuple[float, dict[str, Any]] | None = None
        # By host: when it was looked at, and what was found.
        self._found: dict[str, tuple[float, str]] = {}
        self.warnings: list[str] = []

    def lacking(self, host: dict[str, Any]) -> str:
        """Return what BMO does at a host that is held before it stays off, empty for nothing.

        :param host: a BareMetalHost that is off
        :raises KubeError: when the API server refuses for good
        """
        if not firmware_due.comes_first(host) or self.warnings:
            return ""
        name = host["metadata"]["name"]
        at, found = self._found.get(name, (0.0, ""))
        if not found or self._clock() - at >= _FRESH_SECONDS:
            found = self._look(name)
            self._found[name] = self._clock(), found
        return found

    def _look(self, name: str) -> str:
        try:
            policy = self._read_policies().get(name)
            texts = [firmware_due.due(kind, of_kind(self._client.get(KNOWN[kind], self._namespace, name), kind))
                     for kind, field in firmware_due.POLICY_FIELDS.items() if firmware_due.is_allowed(policy, field)]
        except KubeError as exc:
            if exc.status == 403:
                self.warnings.append("whether firmware of servers that are held is changed before, for which BMO "
                                     f"switches them on, was not looked at: {exc.message}")
            elif exc.status != 404:
                if not exc.retriable:
                    raise
                return f"whether its firmware is changed before could not be read ({exc.cause})"
            # Without a right, or a plane that has not the kind.
            return ""
        return next(filter(None, texts), "")

    def _read_policies(self) -> dict[str, Any]:
        now = self._clock()
        if self._policies is None or now - self._policies[0] >= _FRESH_SECONDS:
            found = self._client.list(KNOWN[firmware_due.POLICY], self._namespace)[0]
            self._policies = now, by_name([of_kind(item, firmware_due.POLICY) for item in found])
        return self._policies[1]

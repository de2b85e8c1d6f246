# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of hosts that are waited for together: which have come during the wait, and which are from before it; pure."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .error_count import ErrorCount, error_count
from .goals import error_of

Host = Mapping[str, Any]


class HostErrors:
    """Errors of hosts during a wait for all of them.

    :param hosts: BareMetalHosts as they were when the wait began
    """

    def __init__(self, hosts: Collection[Host] = ()) -> None:
        self._counts: dict[Any, ErrorCount] = {}
        self._first: dict[Any, str] = {}
        self.look(hosts)

    def look(self, hosts: Collection[Host]) -> None:
        """Take the hosts' newest states; one that was not there before begins with what it has."""
        for host in hosts:
            if _key(host) not in self._counts:
                self._counts[_key(host)], self._first[_key(host)] = ErrorCount(host), error_of(host)[1]
            self._counts[_key(host)].look(host)

    def counted(self, host: Host) -> int:
        """Return how many errors of a host count: those of the wait; all of them while none has come during it."""
        count, known = error_count(host), self._counts.get(_key(host))
        return count - known.old if known is not None and count > known.old else count

    def is_old(self, host: Host) -> bool:
        """Say whether a host's present error is in the words of the one that it had when the wait began."""
        message = error_of(host)[1]
        return bool(message) and self._first.get(_key(host)) == message


def _key(host: Host) -> Any:
    return host["metadata"]["name"], host["metadata"].get("uid")

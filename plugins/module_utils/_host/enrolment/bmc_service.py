# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detaching hosts while their BMC changes, and attaching them again; the reason is in ``host_bmc_change.py``."""
from __future__ import annotations

from typing import Any, Callable

from ..._kube.objects.precondition import uid_of
from ..actions.actions import ACTIONS
from ..state import goals as host_goals
from ..state.wait import follow_hosts
from . import bmc_change as host_bmc_change
from .reconcile import Attaching, Detaching, HostRules, annotating

# Ironic may be asking the old BMC just now, and gives up after a minute or so.
DETACH_SECONDS = 180


class BmcChange:
    """The hosts of one run that are detached for a change of their BMC.

    :param client: a KubeClient
    :param rules: HostRules
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, rules: HostRules, progress: Any, clock: Callable[[], float],
                 sleep: Callable[[float], Any]):
        self._client = client
        self._rules = rules
        self._namespace = rules.namespace
        self._progress = progress
        self._clock = clock
        self._sleep = sleep
        self._seen = {}

    def detach(self, outcomes, current):
        """Detach the hosts whose BMC changes; one that can't be detached gets an ``error`` and is attached again.

        :param outcomes: list of ``host_service.Outcome``; ``current`` of those that are detached is brought up to date
        :param current: what was read: ``hosts`` and ``secrets`` by name; hosts are brought up to date
        :returns: names of those that are detached now, a set
        """
        values = dict((item.name, host_bmc_change.detaching(item.host, item.current))
                      for item in outcomes if item.current is not None)
        due = [item for item in outcomes if values.get(item.name) is not None]
        if not due:
            return set()
        self._progress.event(f"detaching {len(due)} hosts for the change of their BMC: "
                             f"{', '.join(item.name for item in due)}")
        writes = Detaching(self._client, self._progress, self._sleep, self._rules,
                           dict((item.name, item) for item in due), current.secrets)
        answers = writes.write([annotating(self._namespace, item.current, values[item.name]) for item in due])
        histories, begun = {}, []
        for item, answer in zip(due, answers):
            if answer.error is not None:
                item.error = answer.error.message
                continue
            if answer.entry.patch is None:
                # Somebody else has changed the BMC in the same way, or detached the host.
                continue
            begun.append(item)
            histories[item.name] = host_goals.HostHistory(
                "detached", item.current, self._clock(), tolerated=("detached",), patience_seconds=DETACH_SECONDS,
                is_reached=lambda bmh: bmh is not None and ACTIONS["detach"].reached(None, bmh, None),
                uid=uid_of(item.current))
            histories[item.name].update(answer.value, self._clock())
        silence = follow_hosts(self._client, self._namespace, histories, self._clock() + DETACH_SECONDS,
                               self._progress, self._clock)
        now = self._clock()
        for item in begun:
            item.error = histories[item.name].error(DETACH_SECONDS, now, silence)
            self._seen[item.name] = histories[item.name].bmh
            if not item.error:
                item.current = current.hosts[item.name] = histories[item.name].bmh
        self.attach([item for item in begun if item.error])
        return set(item.name for item in begun if not item.error)

    def attach(self, outcomes):
        """Attach hosts again; ``stored`` of each is brought up to date."""
        writes = Attaching(self._client, False, self._progress, self._sleep)
        answers = writes.write([annotating(self._namespace, item.stored or item.current, None) for item in outcomes])
        for item, answer in zip(outcomes, answers):
            if answer.error is None:
                item.stored = answer.value
            else:
                item.error = (f"{item.error or 'the host is still detached'}; {answer.error.message}; attach the host "
                              "(baremetal_host_action, action attach)")

    def lacking(self, name, bmh):
        """Return what is to come until BMO has registered a host again that was detached; empty for all others."""
        detached = self._seen.get(name)
        return "" if detached is None or ACTIONS["attach"].reached(detached, bmh, None) else \
            "BMO has not yet registered the host again after the change of its BMC"

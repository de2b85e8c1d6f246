# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detaching hosts while their BMC changes, and attaching them again; the reason is in ``host_bmc_change.py``."""
from __future__ import annotations

from .host_reading import BMH
from .host_wait import HostWait
from .kube import bulk
from .metal3 import host_annotations, host_bmc_change, host_goals
from .metal3.host_actions import ACTIONS

# Ironic may be asking the old BMC just now, and gives up after a minute or so.
DETACH_SECONDS = 180


class BmcChange:
    """The hosts of one run that are detached for a change of their BMC.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, namespace, progress, clock, sleep):
        self._client = client
        self._namespace = namespace
        self._progress = progress
        self._clock = clock
        self._sleep = sleep
        self._seen = {}

    def detach(self, outcomes):
        """Detach the hosts whose BMC changes; one that can't be detached gets an ``error`` and is attached again.

        :param outcomes: list of objects with ``name``, ``host`` (the entry), ``current`` and ``error``
        :returns: names of those that are detached now, a set
        """
        values = dict((item.name, host_bmc_change.detaching(item.host, item.current))
                      for item in outcomes if item.current is not None)
        due = [item for item in outcomes if values.get(item.name) is not None]
        if not due:
            return set()
        self._progress.event("detaching %d hosts for the change of their BMC: %s" % (
            len(due), ", ".join(item.name for item in due)))
        answers = self._annotate(due, values)
        histories = {}
        for item, answer in zip(due, answers):
            if answer.error is not None:
                item.error = answer.error.message
                continue
            histories[item.name] = host_goals.HostHistory(
                "detached", item.current, self._clock(), tolerated=("detached",), patience_seconds=DETACH_SECONDS,
                is_reached=lambda bmh: bmh is not None and ACTIONS["detach"].reached(None, bmh, None))
            histories[item.name].update(answer.value, self._clock())
        wait = HostWait(self._client, self._namespace, self._progress, self._clock)
        wait.run(histories, self._clock() + DETACH_SECONDS)
        for item in due:
            if item.name in histories:
                item.error = wait.error(histories[item.name], DETACH_SECONDS)
                self._seen[item.name] = histories[item.name].bmh
        self.attach([item for item in due if item.error])
        return set(item.name for item in due if not item.error)

    def attach(self, outcomes):
        """Attach hosts again; ``stored`` of each is brought up to date."""
        for item, answer in zip(outcomes, self._annotate(outcomes, {})):
            if answer.error is None:
                item.stored = answer.value
            else:
                item.error = "%s; %s; attach the host (baremetal_host_action, action attach)" % (
                    item.error or "the host is still detached", answer.error.message)

    def is_attached(self, name, bmh):
        """True when BMO has registered a host again that was detached, and for all others."""
        detached = self._seen.get(name)
        return detached is None or ACTIONS["attach"].reached(detached, bmh, None)

    def _annotate(self, outcomes, values):
        def patcher(name):
            body = {"metadata": {"annotations": {host_annotations.DETACHED: values.get(name)}}}
            return lambda: self._client.patch(BMH, self._namespace, name, body)

        return bulk.persist([patcher(item.name) for item in outcomes], self._progress.event, self._sleep)

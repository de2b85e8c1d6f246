# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what belongs to a cluster: one LIST of each kind, or a watch on each."""
from __future__ import annotations

import contextlib
import queue
import threading
import time

from .._ipam.service import ADDRESS_RESOURCES, CLAIM_RESOURCES
from .._kube import bulk
from .._kube.errors import KubeError
from .._kube.follow import follow
from .._metal3.kinds import KNOWN
from .workflow.snapshot import KINDS, Snapshot

TEMPLATE_KINDS = ("Metal3DataTemplate", "Metal3MachineTemplate", "KubeadmConfigTemplate", "MachineHealthCheck",
                  "Metal3RemediationTemplate", "IPPool")
_MORE = ("HardwareData",)


def read_all(client, namespace):
    """Return ``(objects, addresses)``: dict of kind to list of objects, and the IPAddresses of both kinds.

    :raises KubeError: when the API server can't be asked, or lacks the management plane's kinds
    """
    resources = [KNOWN[kind] for kind in KINDS + TEMPLATE_KINDS + _MORE]
    resources += list(ADDRESS_RESOURCES) + [CLAIM_RESOURCES["IPAddressClaim"]]
    outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    values = [outcome.value for outcome in outcomes]
    objects = dict(zip(KINDS + TEMPLATE_KINDS + _MORE, values))
    objects["IPAddressClaim"] = values[-1]
    return objects, values[-3] + values[-2]


def _listed(client, resource, namespace):
    try:
        return client.list(resource, namespace)[0]
    except KubeError as exc:
        if exc.status == 404 and resource.group.startswith("ipam."):
            return []
        if exc.status == 404:
            raise KubeError("the API server %s does not know %ss; install the management plane first (playbook "
                            "metal3.baremetal.install)" % (client.server, resource.kind), 404) from exc
        raise


def snapshot_of(client, namespace, cluster):
    """Return the Snapshot of a cluster as it is now."""
    resources = [KNOWN[kind] for kind in KINDS]
    outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return Snapshot(dict(zip(KINDS, [outcome.value for outcome in outcomes])), cluster)


class Watcher:
    """Follows several kinds at once and gives the newest state of all.

    :param client: a KubeClient
    :param namespace: namespace name
    :param kinds: names of the kinds
    :param deadline: reading of ``clock`` at which to stop
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, client, namespace, kinds, deadline, clock=time.monotonic):
        self._deadline = deadline
        self._clock = clock
        self._lock = threading.Lock()
        self._objects = dict((kind, None) for kind in kinds)
        self._unreachable = dict.fromkeys(kinds)
        self._events = queue.Queue()
        self._stopped = threading.Event()
        for kind in kinds:
            threading.Thread(target=self._follow, args=(client, namespace, kind), daemon=True).start()

    def _follow(self, client, namespace, kind):
        try:
            for step in follow(client, KNOWN[kind], namespace, self._deadline, clock=self._clock):
                if self._stopped.is_set():
                    return
                with self._lock:
                    self._unreachable[kind] = step.unreachable_seconds
                    if step.listed:
                        self._objects[kind] = list(step.objects.values())
                if step.changed:
                    self._events.put(None)
        except Exception as exc:
            # A refusal, or a defect on this thread: either must end the wait, not leave it with what was known last.
            self._events.put(exc)

    def steps(self, tick_seconds=1.0):
        """Yield ``(objects, unreachable seconds)`` when something changed, at least every ``tick_seconds``.

        ``objects`` is None until all kinds have been listed.

        :raises KubeError: when the server refuses for good
        :raises Exception: whatever else ended one of the watches
        """
        while self._clock() < self._deadline:
            self._drain(min(tick_seconds, max(self._deadline - self._clock(), 0.01)))
            with self._lock:
                lost = [seconds for seconds in self._unreachable.values() if seconds is not None]
                complete = all(items is not None for items in self._objects.values())
                objects = dict(self._objects) if complete else None
            yield objects, max(lost) if lost else None

    def _drain(self, timeout_seconds):
        found = []
        # An error must not be taken for the queue's own, so it is raised outside.
        with contextlib.suppress(queue.Empty):
            found.append(self._events.get(timeout=timeout_seconds))
            while True:
                found.append(self._events.get_nowait())
        for error in found:
            if error is not None:
                raise error

    def close(self):
        """Stop following."""
        self._stopped.set()

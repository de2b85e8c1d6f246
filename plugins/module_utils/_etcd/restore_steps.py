# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a restore waits, and how it changes what Cluster API changes at the same time."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .._cluster.maintenance.patches import Patches
from .._common.texts.formats import duration
from .._kube.reconcile.reconcile import raise_refused
from .._kube.responses.errors import KubeError
from .._kube.responses.patient_poll import poll
from .._metal3.kinds import KNOWN
from .errors import EtcdError

Object = dict[str, Any]

_INTERVAL_SECONDS = 2


class RestoreSteps:
    """The waits and patches of one restore.

    :param client: a KubeClient of the management cluster
    :param namespace: that of the cluster
    :param subject: what messages call the cluster
    :param done: dict whose ``changed`` is set by each change
    :param progress: a Progress
    :param deadline: when the time of all waits is up, by the clock
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, namespace: str, subject: str, done: dict[str, Any], progress: Any, deadline: float,
                 clock: Callable[[], float], sleep: Callable[[float], Any]):
        self._client, self._namespace, self._subject, self._done = client, namespace, subject, done
        self._progress, self._deadline, self._clock, self._sleep = progress, deadline, clock, sleep

    def patch(self, kind: str, obj: Object, make: Callable[[Object], Object | None]) -> None:
        """Write a merge patch, computed again for the object as it is by then when it has changed.

        :raises EtcdError: when the object is gone
        """
        writes = Patches(self._client, False, self._progress, self._sleep, make)
        # What was waited for an hour is not lost by a server that restarts meanwhile.
        current, = self.wait(lambda: [self._client.get(KNOWN[kind], self._namespace, obj["metadata"]["name"])],
                             f"{kind} {self._namespace}/{obj['metadata']['name']} is read")
        if current is None or current["metadata"]["uid"] != obj["metadata"]["uid"]:
            raise EtcdError(f"{kind} {self._namespace}/{obj['metadata']['name']}: found none any more, expected the "
                            "one that was read; look who has deleted it, then run again")
        written = writes.write([writes.entry(KNOWN[kind], current)])
        self._done["changed"] = self._done["changed"] or any(item.changed for item in written)
        raise_refused(self._client, written)

    def patch_all(self, kind: str, objects: Iterable[Object], make: Callable[[Object], Object | None]) -> None:
        """Write the merge patches of many objects side by side; those that are gone by now are left out.

        :param objects: as they were just read
        :raises KubeError: with all that the API server refuses
        """
        writes = Patches(self._client, False, self._progress, self._sleep, make)
        written = writes.write([writes.entry(KNOWN[kind], obj) for obj in objects])
        self._done["changed"] = self._done["changed"] or any(item.changed for item in written)
        raise_refused(self._client, [item for item in written if item.error is None or item.error.status != 404])

    def wait(self, look: Callable[[], Any], what: str) -> Any:
        """Look until there is something, and return it.

        :param what: what is waited for, as messages say it
        :raises EtcdError: when the time is up
        """
        began_at = self._clock()
        with self.named(what):
            for step in poll(look, self._deadline, _INTERVAL_SECONDS, self._clock, self._sleep):
                if step.objects:
                    return step.objects
                waited = duration(self._clock() - began_at)
                self._progress.status(f"waiting: {what}", waited if step.error is None else
                                      f"{waited}, no answer ({step.error.cause})")
        raise EtcdError(f"{self._subject}: not in time: {what}; see what holds it up, then run again: what was done "
                        "stays, and the next run goes on or begins again by itself")

    @contextlib.contextmanager
    def named(self, what: str) -> Iterator[None]:
        """Have an API server's refusal say what was being done."""
        try:
            yield
        except KubeError as exc:
            raise EtcdError(f"{self._subject}: {what}: {exc.message}") from exc

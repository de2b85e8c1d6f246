# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are killed between any two of their writes, and the same or another run afterwards."""
from __future__ import annotations

import copy
import json
import threading

# More than any run writes.
_ALL = 10 ** 6
_WRITING = ("apply", "patch", "delete", "request")
# What each write changes, and what says only when it was.
_OF_SERVER = ("uid", "resourceVersion", "managedFields", "generation")
_NOTE = "metal3.baremetal/rollout-stopped"
_TIMES = ("metal3.baremetal/maintenance-begun", "metal3.baremetal/maintenance-took-seconds")


class Killed(BaseException):
    """The run ends here, as by a signal: nothing of it comes afterwards."""


class Life:
    """How many writes a run still makes before it is killed; of all servers that it writes to.

    :param writes: so many are stored
    """

    def __init__(self, writes=_ALL):
        self._left = writes
        self._lock = threading.Lock()
        self.written = 0

    def of(self, server):
        """Return a server, as the run that has this life sees it."""
        return _Mortal(server, self)

    def write(self, call):
        """Make one write, or end the run."""
        with self._lock:
            if self.written >= self._left:
                raise Killed
            self.written += 1
            return call()


class _Mortal:
    def __init__(self, server, life):
        self._server, self._life = server, life

    def __getattr__(self, name):
        found = getattr(self._server, name)
        if name not in _WRITING:
            return found

        def call(*args, **more):
            reads = more.get("dry_run") or (name == "request" and args[0] == "GET")
            return found(*args, **more) if reads else self._life.write(lambda: found(*args, **more))

        return call


def state(*servers):
    """Return what servers store, without what differs from run to run: versions, and the times of notes."""
    return [dict((key, _plain(item)) for key, item in server.objects.items()) for server in servers]


def _plain(item):
    item = copy.deepcopy(item)
    metadata = dict((key, value) for key, value in item["metadata"].items() if key not in _OF_SERVER)
    annotations = dict((key, value) for key, value in (metadata.pop("annotations", None) or {}).items()
                       if key not in _TIMES)
    if _NOTE in annotations:
        annotations[_NOTE] = dict(json.loads(annotations[_NOTE]), at="")
    return dict(item, metadata=dict(metadata, **({"annotations": annotations} if annotations else {})))


def each_kill(make, act, again=None, whole=None):
    """Let a run be killed before each of its writes, and another one come; check that all is as without the kill.

    :param make: callable that returns the servers as they are before, a tuple
    :param act: callable that takes them and makes the run that is killed
    :param again: the one that comes afterwards, by default the same
    :param whole: callable that takes the servers and does what the state is compared with, by default ``act``
    :returns: how many writes the run makes
    """
    life, servers = Life(), make()
    act(*map(life.of, servers))
    if whole is not None:
        servers = make()
        whole(*servers)
    wanted = state(*servers)
    for number in range(life.written):
        servers, short = make(), Life(number)
        try:
            act(*map(short.of, servers))
        except Killed:
            pass
        else:
            raise AssertionError(f"the run was not killed after {number} writes")
        (again or act)(*servers)
        assert state(*servers) == wanted, f"killed after {number} of {life.written} writes"
    return life.written

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A watch on several kinds: complete when all are listed, ended by whatever ends one of them."""
from __future__ import annotations

import threading
import time

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.reading import Watcher
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.errors import KubeError


class Server:
    """Answers LISTs with what it was given for each kind; an error is raised."""

    def __init__(self, **lists):
        self.lists = lists
        self.end = threading.Event()

    def list(self, resource, _namespace, _selector):
        answer = self.lists[resource.kind]
        if isinstance(answer, Exception):
            raise answer
        return answer, "1"

    def watch(self, *_arguments):
        self.end.wait(20)
        return ()


def first(server, kinds, wanted):
    watcher = Watcher(server, "metal3", kinds, time.monotonic() + 20)
    try:
        return next(objects for objects, dummy in watcher.steps(tick_seconds=0.05) if wanted(objects))
    finally:
        watcher.close()
        server.end.set()


def test_objects_are_there_when_all_kinds_are_listed():
    machine = {"metadata": {"name": "m1", "resourceVersion": "1"}}
    objects = first(Server(Machine=[machine], Cluster=[]), ("Machine", "Cluster"), lambda seen: seen is not None)
    assert objects == {"Machine": [machine], "Cluster": []}


@pytest.mark.parametrize("error", [KubeError("forbidden", 403, "Forbidden"), TypeError("a defect")])
def test_a_refusal_or_a_defect_of_one_watch_ends_the_wait(error):
    with pytest.raises(type(error), match=str(error)):
        first(Server(Machine=[], Cluster=error), ("Machine", "Cluster"), lambda seen: False)

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A watch on several kinds: complete when all are listed, ended by whatever ends one of them."""
from __future__ import annotations

import threading
import time

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.follow import follow_kinds
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN


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
    steps = follow_kinds(server, [KNOWN[kind] for kind in kinds], "metal3", time.monotonic() + 20, tick_seconds=0.05)
    try:
        return next(step for step in steps if wanted(step))
    finally:
        server.end.set()


def test_objects_can_be_trusted_when_all_kinds_are_listed():
    machine = {"metadata": {"name": "m1", "resourceVersion": "1"}}
    step = first(Server(Machine=[machine], Cluster=[]), ("Machine", "Cluster"), lambda step: step.listed)
    assert step.objects == {"Machine": {"m1": machine}, "Cluster": {}}


def test_a_kind_that_is_not_answered_is_reported_beside_one_that_is():
    server = Server(Machine=[], Cluster=KubeError("no answer"))
    step = first(server, ("Machine", "Cluster"), lambda step: step.unreachable_seconds is not None)
    assert str(step.error) == "no answer" and not step.listed


@pytest.mark.parametrize("error", [KubeError("forbidden", 403, "Forbidden"), TypeError("a defect")])
def test_a_refusal_or_a_defect_of_one_watch_ends_the_wait(error):
    with pytest.raises(type(error), match=str(error)):
        first(Server(Machine=[], Cluster=error), ("Machine", "Cluster"), lambda step: False)

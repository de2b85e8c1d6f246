# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""At which steps of the deployment workflow machines were while a test went on, by every change of their objects."""
from __future__ import annotations

import time

import background
from support import NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.providers import provider_of
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.spec import METAL3
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.steps import machine_steps
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.follow import follow_kinds
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

_MOST_SECONDS = 3600
# Cluster API has linked Machine and Node.
_HAS_NODE = 14


class StepWatch:
    """Follows a cluster while the block runs.

    :ivar courses: name of an owner of one machine → the numbers of the steps that it was at, in their order
    """

    def __init__(self, lab, cluster):
        self._lab, self._cluster = lab, cluster
        self.courses, self._error = {}, None

    def running(self):
        """Return a context in which it follows the cluster."""
        return background.running("steps", self._work)

    def ends_complete(self):
        """Return the courses, each of which must have gone forward only, and to the end.

        A Node that is there may be Ready, not Ready and Ready again on a busy machine.
        """
        assert self._error is None, self._error
        for owner, course in self.courses.items():
            until_node = [step for step in course if step < _HAS_NODE]
            assert course[:len(until_node)] == sorted(until_node) and course[-1] == 15, (owner, course)
        return self.courses

    def _work(self, ended):
        resources = [KNOWN[kind] for kind in provider_of(METAL3).workflow_kinds]
        try:
            for step in follow_kinds(self._lab.kube, resources, NAMESPACE, time.monotonic() + _MOST_SECONDS):
                if step.listed:
                    self._note(dict((kind, list(found.values())) for kind, found in step.objects.items()))
                if ended.is_set():
                    return
        except Exception as error:
            # On this thread nobody would hear of it.
            self._error = error

    def _note(self, objects):
        snapshot = Snapshot(objects, self._cluster)
        if snapshot.cluster is None:
            return
        for found in machine_steps(snapshot):
            course = self.courses.setdefault(found["owner"], [])
            if course[-1:] != [found["step"]]:
                course.append(found["step"])

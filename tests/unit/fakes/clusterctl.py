# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clusterctl that moves between two API servers in memory, and dies when it is told to."""
from __future__ import annotations

import copy

from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import graph


class Killed(Exception):
    """A clusterctl that was killed."""


class Clusterctl:
    """Does what ``clusterctl move`` does, one write a step, and dies after ``steps`` of them."""

    def __init__(self, here, there, steps=None):
        self.here, self.there, self.left = here, there, steps
        self.runs = 0

    def _step(self):
        if self.left is not None:
            if not self.left:
                raise Killed
            self.left -= 1

    def __call__(self, *_arguments):
        self.runs += 1
        known = graph.kinds([item for (kind, _name), item in self.here.objects.items()
                             if kind == "CustomResourceDefinition"])
        names = {(item.resource.group, item.resource.kind) for item in known}
        moving = graph.Graph([item for item in self.here.objects.values() if graph.key(item)[:2] in names], known).moved
        clusters = [item for item in moving if item["kind"] == "Cluster"]
        assert not any(item["spec"].get("paused") for item in clusters), "clusterctl refuses paused clusters"
        for cluster in clusters:
            self._step()
            self.here.objects["Cluster", cluster["metadata"]["name"]]["spec"]["paused"] = True
        for item in moving:
            self._step()
            copied = copy.deepcopy(self.here.objects[item["kind"], item["metadata"]["name"]])
            copied.pop("status", None)
            copied["metadata"].update(
                uid="new-" + copied["metadata"]["uid"], creationTimestamp="2026-11-24T00:00:02Z",
                managedFields=[{"manager": "kubectl", "time": "2026-11-24T00:00:01Z"}])
            self.there.objects[item["kind"], item["metadata"]["name"]] = copied
        for item in reversed(moving):
            self._step()
            del self.here.objects[item["kind"], item["metadata"]["name"]]
        for cluster in clusters:
            self._step()
            self.there.objects["Cluster", cluster["metadata"]["name"]]["spec"].pop("paused")

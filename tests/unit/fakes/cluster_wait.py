# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wait for a cluster that is over at once, and fails when a test says so."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import WaitFailedError


class Waits:
    """Takes the place of the class ClusterWait, and is the wait itself.

    ``fails`` names the owner, or the goal, that is not reached; ``meanwhile`` is called before that. ``asked`` is what
    was waited for: what ``note`` returns of the name of an owner, or of the goal, and the goal.
    """

    timeline, began_at = (), 0.0

    def __init__(self, fails=None, note=lambda name, _goal: name):
        self.fails, self.asked, self.meanwhile, self._note = fails, [], lambda: None, note

    def __call__(self, *dummy, **dummy_options):
        return self

    def until_rolled(self, _kind, name, goal, _seconds):
        self._until(name, goal)

    def until_followed(self, _seconds):
        self._until("followed", "followed")

    def until(self, goal, _seconds):
        self._until(goal, goal)

    def _until(self, name, goal):
        self.asked.append(self._note(name, goal))
        if name == self.fails:
            self.meanwhile()
            raise WaitFailedError("it does not come", [])

    @staticmethod
    def clock():
        return 1.0

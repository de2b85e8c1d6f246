# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long hosts stay in each provisioning state on their way to available."""
from __future__ import annotations

import statistics

GOAL = "available"
# What a host is in before the operator has written a status.
UNSEEN = "not looked at yet"
ORDER = (UNSEEN, "unmanaged", "registering", "inspecting", "preparing")


class Phases:
    """Notes when each host comes to another state.

    Seconds are those of the caller's clock since the measurement began.
    """

    def __init__(self):
        self._entered = {}
        self.errors = {}

    def note(self, name, host, seconds):
        """Take in a BareMetalHost as it is at a time."""
        status = host.get("status") or {}
        state = (status.get("provisioning") or {}).get("state") or UNSEEN
        steps = self._entered.setdefault(name, [])
        if not steps or steps[-1][1] != state:
            steps.append((seconds, state))
        message = status.get("errorMessage")
        if message:
            self.errors.setdefault(name, message)

    def reached(self):
        """Return ``{host: seconds}`` of those that have been available."""
        found = {}
        for name, steps in self._entered.items():
            times = [seconds for seconds, state in steps if state == GOAL]
            if times:
                found[name] = times[0]
        return found

    def table(self):
        """Return ``[(state, hosts, median, ninth decile, maximum)]`` in seconds; a state entered twice is one."""
        spent = {}
        for steps in self._entered.values():
            own = {}
            for (began, state), (ended, _next) in zip(steps, steps[1:]):
                own[state] = own.get(state, 0.0) + ended - began
            for state, seconds in own.items():
                spent.setdefault(state, []).append(seconds)
        order = [state for state in ORDER if state in spent] + sorted(set(spent) - set(ORDER))
        return [(state, len(spent[state]), statistics.median(spent[state]), _ninth_decile(spent[state]),
                 max(spent[state])) for state in order]


def _ninth_decile(values):
    return statistics.quantiles(values, n=10, method="inclusive")[-1] if len(values) > 1 else values[0]

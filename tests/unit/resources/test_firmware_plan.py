# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers are rebooted for their firmware, and which the run leaves to later."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.firmware_plan import plan


def facts(name, state="provisioned", power="on", pending=True):
    return {"name": name, "host_state": state, "host_power": power, "pending": [{}] if pending else []}


# What the modules answer: of h9 nothing, as it is not enrolled.
ANSWERS = [facts("h1"), facts("h2", power="off"), facts("h3", pending=False), facts("h4"), facts("h5", "available"),
           facts("h6", power="held"), facts("h7", power="starting"), facts("h8", power="starting"), {"name": "h9"}]
POLICIES = [{"name": name, "firmware_settings": "onReboot", "firmware_updates": "onPreparing" if name == "h1" else
             "onReboot"} for name in ("h1", "h2", "h3", "h5", "h6", "h7")]


@pytest.mark.parametrize("reboot, what, names", [
    # Of h1 only the settings change with a reboot, of h4 nothing; h2 is switched off; at h3 nothing is due. BMO would
    # start h6 although it is held, so its reboot has to be tried, and refused, before anything is written. BMO is about
    # to start h7 and h8, as after a service that failed; of h8 nothing changes by that.
    ("hard", "reboot", ["h1", "h6"]),
    ("hard", "settings_later", ["h2", "h4", "h8"]),
    ("hard", "components_later", ["h1", "h2", "h4", "h8"]),
    # h3 and h4 are on, and go on as they are when they are rebooted; h7 changes when BMO starts it.
    ("hard", "unaffected", ["h3", "h4", "h8"]),
    ("never", "reboot", []),
    ("never", "settings_later", ["h1", "h2", "h4", "h6", "h8"]),
])
def test_who_is_rebooted_and_who_is_left_to_later(reboot, what, names):
    assert plan(ANSWERS, ANSWERS, POLICIES, reboot)[what] == names


def test_a_step_that_was_left_out_reboots_nobody():
    assert plan([], [], POLICIES, "hard") == {"reboot": [], "settings_later": [], "components_later": [],
                                              "unaffected": []}

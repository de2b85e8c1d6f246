# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Knobs: what is taken, what is refused."""
from __future__ import annotations

import pytest
from machine_room.knobs import KNOBS, Knobs


def test_all_are_off_at_first():
    knobs = Knobs()
    assert not any(knobs.get(name) for name in KNOBS)
    assert knobs.dump() == {}


def test_setting_some_leaves_the_others():
    knobs = Knobs({"slow_power": 5})
    knobs.set({"bmc_unavailable": True})
    assert knobs.dump() == {"slow_power": 5, "bmc_unavailable": True}
    knobs.set({"slow_power": 0})
    assert knobs.dump() == {"bmc_unavailable": True}
    knobs.clear()
    assert knobs.dump() == {}


@pytest.mark.parametrize("values, text", [
    ({"bmc_down": True}, "unknown knob bmc_down"),
    ({"slow_power": True}, "slow_power"),
    ({"slow_power": -1}, "0 to 3600"),
    ({"slow_power": "5"}, "slow_power"),
    ({"disk_missing": 1}, "disk_missing"),
])
def test_a_mistake_changes_nothing(values, text):
    knobs = Knobs({"write_error": True})
    with pytest.raises(ValueError, match=text):
        knobs.set(dict(values, bmc_unreachable=True))
    assert knobs.dump() == {"write_error": True}

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ironic sends to the real agent is what was recorded; test_agent_recording.py holds simulated ones to that.

With LAB_RECORD_AGENT=1 in the environment it is recorded anew.
"""
from __future__ import annotations

import json
import os

import agent_recording
import pytest
from virtual_site import BOOT_SECONDS, MEDIA, inventory_arguments

pytestmark = pytest.mark.metal


@pytest.fixture(scope="module")
def seen(lab, tmp_path_factory):
    """The commands of a virtual server's whole way, ``{phase: commands}``; it is available again."""
    hints = {"rotational": False, "min_size_gigabytes": 9}
    arguments = inventory_arguments(tmp_path_factory.mktemp("recorded"), {MEDIA: {"bmh_root_device_hints": hints}})
    found = agent_recording.of_way(lab, MEDIA, arguments, BOOT_SECONDS)
    if os.environ.get("LAB_RECORD_AGENT"):
        agent_recording.RECORDED.write_text(json.dumps(found, indent=1) + "\n")
    return found


@pytest.mark.parametrize("phase", agent_recording.PHASES)
def test_the_real_agent_is_sent_and_answers_what_was_recorded(seen, phase):
    assert seen[phase] and seen[phase] == agent_recording.recorded()[phase]

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic sends a simulated server's agent the commands that it sends the real one, and has answers of that form."""
from __future__ import annotations

import agent_recording
import pytest

# By virtual media, as the server of test_virtual_agent.py.
NAME = "server-02"


@pytest.fixture(scope="module")
def expected():
    """What was recorded of the real agent."""
    return agent_recording.recorded()


@pytest.fixture(scope="module")
def found(lab, expected):
    """The commands of a simulated server's whole way; it is available again."""
    image = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    inventory = lab.inventory({NAME: {"bmh_image": {
        "url": image, "checksum": image + ".sha256", "checksum_type": "sha256", "format": "raw"}}})
    return agent_recording.of_way(lab, NAME, ("-i", inventory), 900)


@pytest.mark.parametrize("phase", agent_recording.PHASES)
def test_a_simulated_agent_is_sent_and_answers_what_the_real_one_is_sent_and_answers(found, expected, phase):
    assert found[phase] == expected[phase]

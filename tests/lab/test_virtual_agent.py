# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ironic sends to the real agent is what was recorded; test_agent_recording.py holds simulated ones to that.

With LAB_RECORD_AGENT=1 in the environment it is recorded.
"""
from __future__ import annotations

import json
import os
from pathlib import Path

import agent_recording
import pytest
from virtual_site import BOOT_SECONDS, HTTP, MEDIA, inventory_arguments

pytestmark = pytest.mark.metal


@pytest.fixture(scope="module")
def found(lab, tmp_path_factory):
    """The commands of a virtual server's whole way; it is available again."""
    records = bool(os.environ.get(agent_recording.RECORD))
    if not records:
        # Not only after half an hour.
        agent_recording.recorded()
    hints = {"rotational": False, "min_size_gigabytes": 9}
    arguments = inventory_arguments(tmp_path_factory.mktemp("recorded"), {MEDIA: {"bmh_root_device_hints": hints}})
    commands = agent_recording.of_way(lab, MEDIA, arguments, BOOT_SECONDS)
    if records:
        agent_recording.RECORDED.write_text(json.dumps(commands, indent=1) + "\n")
    return commands


@pytest.mark.parametrize("phase", agent_recording.PHASES)
def test_the_real_agent_is_sent_and_answers_what_was_recorded(found, phase):
    assert found[phase] == agent_recording.recorded()[phase]


def test_the_agent_executes_steps_once_a_server_is_provisioned_and_fails_in_none(found):
    steps = {phase: [command["step"] for command in commands if "step" in command] for phase, commands in found.items()}
    assert steps == {"enroll": [], "provision": ["deploy.erase_devices_metadata", "deploy.write_image"],
                     "deprovision_hosts": ["deploy.erase_devices_metadata"]}
    assert not [command for commands in found.values() for command in commands if command["failed"]]


def test_cards_without_an_address_do_not_hold_the_agent_up(lab, room):
    """Of six cards DHCP knows the one that the server boots from; the console is that of its inspection."""
    assert [bool(nic.get("address")) for nic in lab.servers[HTTP]["nics"]] == [True] + [False] * 5
    path = Path(room.server(HTTP)["serial_log"])
    # A grown one becomes the first of these (lab/machine_room/console.py).
    printed = "".join(part.read_text(errors="replace") for part in (Path(f"{path}.1"), path) if part.exists())
    assert "Starting ironic-python-agent" in printed
    assert "Failed to start systemd-networkd-wait-online.service" not in printed

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated agent keeps the contract of the real one, as the package ironic-python-agent has it."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def contract():
    """Both sides, reported by the real agent's Python."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(HERE.parents[1] / "lab"))
    finished = subprocess.run([os.environ["METAL3_AGENT_PYTHON"], str(HERE / "agent_contract.py")], env=environment,
                              check=True, capture_output=True, text=True, timeout=120)
    return json.loads(finished.stdout)


def test_every_command_is_simulated_or_listed_with_a_reason(contract):
    agent, room = contract["agent"]["commands"], contract["machine_room"]
    assert {"clean.execute_clean_step", "deploy.execute_deploy_step", "service.execute_service_step",
            "image.install_bootloader", "standby.prepare_image", "standby.power_off"} <= set(room["commands"])
    assert set(agent) == set(room["commands"]) | set(room["commands_not_simulated"])
    assert not set(room["commands"]) & set(room["commands_not_simulated"])
    assert all(len(reason) > 20 for reason in room["commands_not_simulated"].values())


def test_commands_take_the_same_parameters_in_the_same_way(contract):
    agent = contract["agent"]["commands"]
    simulated_commands = contract["machine_room"]["commands"]
    assert simulated_commands
    for name, simulated in simulated_commands.items():
        assert simulated == agent[name], name


@pytest.mark.parametrize("phase", ["clean", "deploy", "service"])
def test_every_step_is_simulated_or_listed_with_a_reason(contract, phase):
    agent, room = contract["agent"]["steps"][phase], contract["machine_room"]
    assert set(agent) == set(room["steps"][phase]) | (set(agent) & set(room["steps_not_simulated"]))
    assert room["steps"][phase]
    for name, step in room["steps"][phase].items():
        assert step == agent[name], name
        assert name not in room["steps_not_simulated"]


def test_no_step_is_listed_that_the_agent_lacks(contract):
    known = {name for steps in contract["agent"]["steps"].values() for name in steps}
    listed = set(contract["machine_room"]["steps_not_simulated"])
    assert listed and listed <= known


def test_answers_have_the_agents_shape(contract):
    agent, results = contract["agent"], contract["machine_room"]["results"]
    for name, result in results.items():
        assert set(result) == set(agent["result"]), name
        assert result["command_name"] == name.split(".")[1]
        assert result["command_status"] in agent["statuses"]
    assert results["image.install_bootloader"]["command_status"] == "SUCCEEDED"


@pytest.mark.parametrize("phase", ["clean", "deploy", "service"])
def test_steps_are_reported_by_hardware_manager_with_its_version(contract, phase):
    answer = contract["machine_room"]["results"][f"{phase}.get_{phase}_steps"]["command_result"]
    assert set(answer) == {f"{phase}_steps", "hardware_manager_version"}
    assert list(answer[f"{phase}_steps"]) == ["GenericHardwareManager"]


def test_a_step_that_is_not_simulated_fails_as_in_the_agent(contract):
    result = contract["machine_room"]["results"]["clean.execute_clean_step"]
    assert result["command_status"] == "FAILED"
    assert set(result["command_error"]) == set(contract["agent"]["error"])


def test_errors_and_statuses_are_the_agents(contract):
    for part in ("error", "busy", "statuses"):
        assert contract["machine_room"][part] == contract["agent"][part]


def test_inventory_has_all_fields_of_the_agents_inventory(contract):
    agent, room = contract["agent"]["inventory"], contract["machine_room"]["inventory"]
    assert {"CPU", "BlockDevice", "NetworkInterface"} <= set(agent)
    for name, fields in agent.items():
        if name != "inventory":
            assert set(room[name]) == set(fields), name
    # The agent adds some only for hardware that a simulated server does not have.
    assert set(room["inventory"]) <= set(agent["inventory"])
    assert {"interfaces", "cpu", "disks", "memory", "bmc_address", "system_vendor", "boot"} <= set(room["inventory"])


def test_root_device_hints_choose_the_same_disk(contract):
    expected = contract["agent"]["choices"]
    different = [(hints, disk, found) for hints, disk, found in zip(
        contract["hints"], expected, contract["machine_room"]["choices"]) if disk != found]
    assert not different
    assert len({disk for disk in expected if disk}) == 3

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines as the client of Ironic 39.0.0 has written them."""
from __future__ import annotations

import agent_log
import agent_recording
import pytest

NODE, OTHER = "11111111-2222-3333-4444-555555555555", "66666666-2222-3333-4444-555555555555"
STEP = "{'clean_result': None, 'clean_step': {'step': 'erase_devices_metadata', 'interface': 'deploy', 'args': {}}}"


def line(text, function, node=NODE):
    return (f"2026-11-28 06:52:39.835 17769 DEBUG ironic.drivers.modules.agent_client [None req-1 - - - - - -] "
            f"{text.replace('NODE', node)} {function} /venv/ironic/drivers/modules/agent_client.py:269")


def sent(command, wait="false", node=NODE):
    return line(f"Executing agent command {command} for node NODE with params "
                f"{{'wait': '{wait}', 'agent_token': '***'}}", "_command", node)


def answered(command, result="None", error="None", status="200", node=NODE):
    return line(f"Agent command {command} for node NODE returned result {result}, error {error}, "
                f"HTTP status code {status}", "_command", node)


def status(*entries, node=NODE):
    text = "; ".join(f'{name}: result "{result}", error "{error}"' for name, result, error in entries)
    return line("Status of agent commands for node NODE: " + text, "get_commands_status", node)


def found(*lines):
    return agent_log.commands("\n".join(("Ironic starts", *lines)), NODE)


def test_a_command_that_is_waited_for_has_its_answers_keys():
    steps = "{'clean_steps': {'Manager': []}, 'hardware_manager_version': {}}"
    assert found(sent("clean.get_clean_steps", "true"), answered("clean.get_clean_steps", steps)) == [
        {"command": "clean.get_clean_steps", "waits": True, "failed": False,
         "answer": ["clean_steps", "hardware_manager_version"]}]


@pytest.mark.parametrize("polls", [1, 3])
def test_a_step_has_the_answer_of_its_end_however_often_it_is_asked_for(polls):
    name = "clean.execute_clean_step"
    running = status(("get_clean_steps", "{'clean_steps': {}}", "None"), ("execute_clean_step", "None", "None"))
    done = status(("get_clean_steps", "{'clean_steps': {}}", "None"), ("execute_clean_step", STEP, "None"))
    assert found(sent(name), answered(name), *[running] * polls, done) == [
        {"command": name, "waits": False, "failed": False, "step": "deploy.erase_devices_metadata",
         "answer": ["clean_result", "clean_step"]}]


def test_a_quick_step_that_is_done_when_it_is_answered_is_the_same():
    name = "clean.execute_clean_step"
    assert found(sent(name), answered(name, STEP)) == found(
        sent(name), answered(name), status(("execute_clean_step", STEP, "None")))


def test_of_two_commands_of_a_name_the_newer_one_has_the_last_answer():
    name = "image.install_bootloader"
    commands = found(sent(name), answered(name), status(("install_bootloader", "{'a': 1}", "None")),
                     sent(name), answered(name),
                     status(("install_bootloader", "{'a': 1}", "None"), ("install_bootloader", "{'b': 1}", "None")))
    assert [command["answer"] for command in commands] == [["a"], ["b"]]


def test_quotes_and_semicolons_in_an_answer_change_nothing():
    text = "{'result': 'prepare_image: it\\'s \"x\"; ok, error none'}"
    assert found(sent("standby.prepare_image"), answered("standby.prepare_image"),
                 status(("sync", "None", "None"), ("prepare_image", text, "None")))[0]["answer"] == ["result"]


def test_a_command_that_was_refused_as_the_agent_was_busy_counts_once():
    name = "clean.execute_clean_step"
    again = (sent(name), answered(name))
    assert found(sent(name), answered(name, status="409"), *again) == found(*again)


def test_a_command_without_an_answer_that_is_sent_again_counts_once():
    again = (sent("standby.sync", "true"), answered("standby.sync"))
    assert found(sent("standby.sync", "true"), *again) == found(*again)
    assert found(*again, *again) == found(*again) * 2


def test_a_failure_shows():
    error = "{'type': 'TypeError', 'code': 500, 'message': 'unexpected parameter', 'details': ''}"
    assert found(sent("standby.sync", "true"), answered("standby.sync", error=error))[0]["failed"] is True
    name = "deploy.execute_deploy_step"
    assert found(sent(name), answered(name), status(("execute_deploy_step", "None", error)))[0]["failed"] is True


def test_of_a_command_that_ends_the_agent_no_answer_counts():
    name = "standby.power_off"
    assert found(sent(name)) == found(sent(name), answered(name, "{'result': 'power_off: '}")) == [
        {"command": name, "waits": False, "failed": False}]


def test_another_nodes_commands_are_left_out():
    lines = [sent("standby.sync", "true"), answered("standby.sync")]
    others = [sent("log.collect_system_logs", "true", OTHER), answered("log.collect_system_logs", "{}", node=OTHER),
              status(("sync", "{'x': 1}", "None"), node=OTHER)]
    assert found(lines[0], *others, lines[1]) == found(*lines)


def test_without_a_recording_the_test_says_how_to_make_one(monkeypatch, tmp_path):
    monkeypatch.setattr(agent_recording, "REPOSITORY", tmp_path)
    monkeypatch.setattr(agent_recording, "RECORDED", tmp_path / "agent_commands.json")
    with pytest.raises(AssertionError, match=r"agent_commands\.json is missing; record it on a lab of virtual servers"):
        agent_recording.recorded()


@pytest.mark.parametrize("text", [
    "{}", '{"enroll": [], "provision": [{}], "deprovision_hosts": []}',
    '{"enroll": [{}], "provision": [{}], "deprovision_hosts": [{}]}'])
def test_a_recording_without_one_of_the_phases_is_none(monkeypatch, tmp_path, text):
    monkeypatch.setattr(agent_recording, "RECORDED", tmp_path / "agent_commands.json")
    (tmp_path / "agent_commands.json").write_text(text)
    with pytest.raises(AssertionError, match=r"expected .'provision', 'deprovision_hosts'"):
        agent_recording.recorded()

# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What agents say that they reached, as anybody may have written it, and the playbook that shows it."""
from __future__ import annotations

import json
import os
import sys

import pytest
from fakes.ansible_process import ansible_playbook
from fakes.http_ironic import HttpIronic
from fakes.playbook import recap

from ansible_collections.metal3.baremetal.plugins.module_utils._network import agent_answers

RIGHT = {"kind": "tcp", "name": "Ironic", "target": "192.0.2.10:6385", "found": "a connection", "ok": True}
STEERING = "\x1b]0;a\x07\x1b[2J\x9b31m\u202e"


def of(answers):
    return agent_answers.of_node({"inventory": {"inventory": {agent_answers.FIELD: answers}, "plugin_data": {}}})


def test_what_agents_write_is_read():
    assert of([RIGHT, dict(RIGHT, ok=False)]) == [RIGHT, dict(RIGHT, ok=False)]


@pytest.mark.parametrize("node", [
    None, 5, {}, {"inventory": None}, {"inventory": "x"}, {"inventory": {"inventory": []}}, {"inventory": {
        "inventory": {"disks": []}}}])
def test_a_node_without_answers_has_none(node):
    assert agent_answers.of_node(node) == []


@pytest.mark.parametrize("answers", ["x", 5, {}, True, [5], [None], [[]], [{}], [{"ok": "true"}], [{"ok": 1}]])
def test_another_form_is_no_right_answer(answers):
    found = of(answers)
    assert found and not any(answer["ok"] for answer in found)
    assert all(isinstance(answer[name], str) for answer in found for name in agent_answers.TEXTS)


def test_answers_are_plain_lines_of_bounded_length_and_number():
    found = of([dict.fromkeys(agent_answers.TEXTS, STEERING + "a\nb" * 500)] * 5000)
    assert len(found) == 1001 and found[-1]["found"].startswith("5000 answers")
    assert all(text.isprintable() and len(text) < 400 for answer in found
               for text in (answer[name] for name in agent_answers.TEXTS))


@pytest.fixture(name="play")
def playbook(tmp_path):
    """Return a callable that runs the playbook over a server with an agent's answers."""
    def run(answers, **variables):
        with HttpIronic() as server:
            uuid = server.ironic.add("metal3~s1", "manageable")
            server.ironic.answers["GET", f"/nodes/{uuid}/inventory"] = {
                "inventory": {agent_answers.FIELD: answers}, "plugin_data": {}}
            (tmp_path / "hosts.json").write_text(json.dumps({
                "management": {"hosts": {"localhost": None}}, "baremetal": {"hosts": {"s1": None}}}))
            inherited = dict((key, value) for key, value in os.environ.items()
                             if not key.startswith(("OS_", "K8S_AUTH_", "KUBE", "ANSIBLE_")))
            code, output, errors = ansible_playbook(
                ["metal3.baremetal.network_check", "-i", "hosts.json", "-e", json.dumps({
                    "ansible_python_interpreter": sys.executable, "ansible_connection": "local",
                    "network_check_agents": True, **variables})],
                tmp_path, dict(inherited, HOME=str(tmp_path), OS_ENDPOINT=server.url))
        return code, output + errors
    return run


def test_the_playbook_shows_answers_and_fails_for_wrong_ones(play):
    code, output = play([RIGHT])
    assert code == 0 and "Ironic 192.0.2.10:6385: a connection" in output, output
    code, output = play([RIGHT, dict(RIGHT, found="no answer within 5 s", ok=False)])
    assert code and "the agent found 192.0.2.10:6385: no answer within 5 s" in output, output


def test_what_an_agent_writes_steers_no_terminal_and_ends_no_run_of_others(play):
    code, output = play([dict(RIGHT, found=STEERING, target=STEERING, ok=False)])
    assert code and recap(output)["s1"] == (0, 1), output
    assert not [sign for sign in STEERING if sign != "a" and not sign.isprintable() and sign in output], ascii(output)
    code, output = play({"a": STEERING})
    assert code and "the agent's report" in output and "\x1b" not in output, output


@pytest.mark.parametrize("given, reported", [
    ({"request_timeout_seconds": "soon"}, "request_timeout_seconds"),
    ({"client_certificate": "a.crt"}, "client_certificate")])
def test_the_playbook_gives_all_options_of_metal3_ironic_on(play, given, reported):
    """Those of a client certificate were left out, so that an Ironic that asks for one was not read."""
    code, output = play([RIGHT], metal3_ironic={})
    assert code == 0, output
    code, output = play([RIGHT], metal3_ironic=given)
    assert code and reported in output, output

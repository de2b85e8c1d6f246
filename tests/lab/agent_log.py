# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that Ironic sends to an agent, out of what its client logs at the level DEBUG.

The lines are those of ironic/drivers/modules/agent_client.py. How often Ironic asks for the status of commands depends
on how long they take, so those questions are not commands here; their answers are the ends of commands that run in the
background. Parameters are not in the log: each method of the client sends its own, and an agent that does not know one
answers with an error (tests/lab/test_agent_contract.py compares the signatures).
"""
from __future__ import annotations

import ast
import contextlib
import re

_SENT = re.compile(r"Executing agent command (\S+) for node (\S+) with params (\{.*\})")
_ANSWERED = re.compile(r"Agent command (\S+) for node (\S+) returned result (.*), error (.*), HTTP status code (\w+)")
_STATUS = re.compile(r"Status of agent commands for node (\S+): (.*) get_commands_status ")
_ENTRY = re.compile(r'(?:^|; )(\w+): result "(.*?)", error "(.*?)"(?=; \w+: result "|$)')
_BUSY = "409"
# The machine or its agent ends with them: whether anybody still reads their answer is a matter of moments.
ENDING = ("standby.power_off", "standby.reboot", "standby.run_image", "system.lockdown")


def commands(text, node):
    """Return the commands that a node's agent was sent and has taken, in order.

    One that was refused because another one ran, or got no answer, is left out if Ironic has sent it once more.

    :param text: lines of the log
    :param node: UUID of the node
    :return: [{"command": its name, "waits": whether the agent was to answer at its end only, "failed": whether it
        answered with an error, "step": name and interface of the step for a command that executes one, "answer": sorted
        keys of the result, or its type when it has none}]
    """
    found = []
    for line in text.splitlines():
        sent, answered, status = _SENT.search(line), _ANSWERED.search(line), _STATUS.search(line)
        if sent and sent.group(2) == node:
            if found and found[-1]["command"] == sent.group(1) and not found[-1]["taken"]:
                found.pop()
            found.append({"command": sent.group(1), "waits": ast.literal_eval(sent.group(3))["wait"] == "true",
                          "failed": False, "taken": False})
        elif answered and answered.group(2) == node and found and found[-1]["command"] == answered.group(1):
            found[-1]["taken"] = answered.group(5) != _BUSY
            _end(found[-1], answered.group(3), answered.group(4))
        elif status and status.group(1) == node and found and not found[-1]["waits"]:
            entries = [entry for entry in _ENTRY.findall(status.group(2))
                       if entry[0] == found[-1]["command"].partition(".")[2]]
            if entries:
                # The agent may have taken a command whose answer was lost.
                found[-1]["taken"] = True
                _end(found[-1], *entries[-1][1:])
    return [{key: value for key, value in command.items() if key != "taken"} for command in found]


def _end(command, result, error):
    command["failed"] = error != "None"
    if command["command"] in ENDING:
        return
    # What is no plain data has no form to compare.
    command["answer"] = "other"
    with contextlib.suppress(ValueError, SyntaxError):
        value = ast.literal_eval(result)
        command["answer"] = sorted(value) if isinstance(value, dict) else type(value).__name__
        for step in (value[key] for key in command["answer"] if isinstance(value, dict) and key.endswith("_step")):
            command["step"] = f"{step['interface']}.{step['step']}"

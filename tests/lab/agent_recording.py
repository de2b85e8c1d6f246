# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ironic sends to an agent while it cleans and deploys a server, and in which form it is answered.

Recorded from Ironic's log of everything: that of a virtual server, whose agent is the real one, is in
data/agent_commands.json, and simulated servers are held to it.
"""
from __future__ import annotations

import ast
import contextlib
import json
import re

from support import REPOSITORY, only

RECORDED = REPOSITORY / "tests" / "lab" / "data" / "agent_commands.json"
PHASES = ("enroll", "provision", "deprovision_hosts")
DEBUG = {"ironic_settings": {"DEFAULT": {"debug": "true"}}}
# Ironic's, drivers/modules/agent_client.py.
_SENT = re.compile(r"Executing agent command (\S+) for node (\S+) with params (\{.*\})")
_ANSWERED = re.compile(
    r"Agent command (\S+) for node (\S+) returned result (.*), error (.*), HTTP status code (\d+)")


def commands(text, node):
    """Return the commands in an Ironic's log, in order: name, whether it is waited for, and what its answer has.

    :param text: lines of the log
    :param node: UUID of the node
    """
    found = []
    for line in text.splitlines():
        sent, answered = _SENT.search(line), _ANSWERED.search(line)
        if sent and sent.group(2) == node:
            found.append({"command": sent.group(1), "waits": ast.literal_eval(sent.group(3))["wait"] == "true"})
        elif answered and answered.group(2) == node:
            found[-1].update(answer=_keys(answered.group(3)), status=int(answered.group(5)),
                             failed=answered.group(4) != "None")
    return found


def _keys(text):
    # What is longer than a line, or no plain data, is no dictionary to compare.
    with contextlib.suppress(ValueError, SyntaxError):
        value = ast.literal_eval(text)
        return sorted(value) if isinstance(value, dict) else type(value).__name__
    return "other"


@contextlib.contextmanager
def recording(lab, name):
    """Give a function that returns the commands for a server since it was called last; Ironic logs everything."""
    lab.playbook("install", "--tags", "ironic", extra=DEBUG, seconds=900).ok()
    log = lab.dir / "log" / "ironic.log"
    position = [log.stat().st_size]

    def since():
        with open(log, "rb") as stream:
            stream.seek(position[0])
            text = stream.read()
        position[0] += len(text)
        return commands(text.decode(errors="replace"), lab.nodes()[name].id)

    try:
        yield since
    finally:
        lab.playbook("install", "--tags", "ironic", seconds=900).ok()


def recorded():
    """Return what was recorded of a virtual server: ``{phase: commands}``."""
    return json.loads(RECORDED.read_text())


def of_way(lab, name, arguments, seconds):
    """Enrol, provision and deprovision a server, and return the commands of each, ``{phase: commands}``.

    :param lab: a Lab
    :param name: the server's name
    :param arguments: further arguments of the playbooks
    :param seconds: how long each may take
    """
    runs = {"enroll": (), "provision": (), "deprovision_hosts": ("-e", "metal3_confirm=1")}
    assert tuple(runs) == PHASES
    lab.remove_hosts(name)
    with recording(lab, name) as since:
        found = {}
        for playbook, confirmed in runs.items():
            lab.playbook(playbook, *arguments, *only(name), *confirmed, seconds=seconds).ok()
            found[playbook] = since()
    return found
